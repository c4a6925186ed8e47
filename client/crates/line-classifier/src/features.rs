//! Converts a line to features, numbers between about 0 and 1.

use super::{
    feature_names::FEATURES,
    first_word::{Standing, is_assignment},
    line::{Line, Shape, Token},
    words::{Lower, is_contraction, is_predicate, opens_request},
};

/// One number for each of [`FEATURES`].
pub type Features = [f32; FEATURES.len()];

/// Counts over the words of a line.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    tokens: usize,
    others: usize,
    stop: usize,
    strong: usize,
    contractions: usize,
    plain: usize,
    capitals: usize,
    shouted: usize,
    flags: usize,
    paths: usize,
    numbers: usize,
}

impl Counts {
    fn of(line: &Line<'_>) -> Self {
        let mut counts = Self { tokens: line.tokens.len(), others: line.rest().len(), ..Self::default() };
        for (at, token) in line.tokens.iter().enumerate() {
            counts.plain += usize::from(token.is_plain());
            counts.contractions += usize::from(token.is_plain() && is_contraction(token.word));
            counts.shouted += usize::from(is_shouted(token.word));
            if at > 0 {
                counts.stop += usize::from(token.is_stop());
                counts.strong += usize::from(token.is_strong());
                counts.flags += usize::from(token.shape == Shape::Flag);
                counts.paths += usize::from(token.shape == Shape::Path);
                counts.numbers += usize::from(token.shape == Shape::Number);
                counts.capitals += usize::from(token.word.starts_with(|char: char| char.is_ascii_uppercase()));
            }
        }
        counts
    }
}

/// The features of a line with this standing of its first word.
#[must_use]
pub fn features(line: &Line<'_>, standing: Standing) -> Features {
    let counts = Counts::of(line);
    let mut values = Values { features: [0.0; FEATURES.len()], next: 0 };
    first_word(&mut values, line, standing);
    sentence(&mut values, line, counts);
    signs(&mut values, line, counts);
    products(&mut values, line, standing, counts);
    debug_assert_eq!(values.next, FEATURES.len(), "a number for each name");
    values.features
}

/// Numbers in the order of [`FEATURES`].
struct Values {
    features: Features,
    next: usize,
}

impl Values {
    fn push(&mut self, value: f32) {
        if let Some(slot) = self.features.get_mut(self.next) {
            *slot = value;
        }
        self.next += 1;
    }

    fn flag(&mut self, holds: bool) {
        self.push(f32::from(u8::from(holds)));
    }

    /// A count as a number that reaches its maximum of 1 at `most`.
    fn count(&mut self, count: usize, most: u16) {
        self.push(count.min(usize::from(most)) as f32 / f32::from(most));
    }

    fn share(&mut self, part: usize, whole: usize) {
        self.push(if whole == 0 { 0.0 } else { part as f32 / whole as f32 });
    }
}

fn first_word(values: &mut Values, line: &Line<'_>, standing: Standing) {
    let first = line.first();
    let text = first.map_or("", |first| first.text);
    let lower = Lower::of(first.map_or("", |first| first.word));
    values.flag(standing.resolves);
    values.flag(standing.is_well_known);
    values.flag(standing.resolves && standing.is_well_known);
    values.flag(!standing.is_known());
    values.flag(standing.is_builtin);
    values.flag(first.is_some_and(|first| first.shape == Shape::Path));
    values.flag(is_assignment(text));
    values.flag(text.starts_with(|char: char| char.is_ascii_punctuation()));
    values.flag(text.starts_with(|char: char| char.is_uppercase()));
    values.flag(!text.is_empty() && text.bytes().all(|byte| byte.is_ascii_lowercase()));
    values.flag(text.bytes().any(|byte| byte.is_ascii_digit()));
    values.flag(text.len() > 2 && text.bytes().skip(1).any(|byte| b"-_.+".contains(&byte)));
    values.flag(text.ends_with([',', ':']));
    values.flag(opens_request(&lower));
    values.flag(opens_request(&lower) && !standing.is_known());
    values.flag(lower.as_str().ends_with("ly") || lower.as_str().ends_with("ing"));
}

fn sentence(values: &mut Values, line: &Line<'_>, counts: Counts) {
    let second = line.tokens.get(1);
    let last = line.rest().last();
    values.count(counts.tokens, 12);
    values.flag(counts.tokens == 1);
    values.flag(counts.tokens == 2);
    values.flag(counts.tokens == 3);
    values.flag(!line.text.is_ascii());
    values.flag(counts.shouted > 0);
    values.count(counts.capitals, 3);
    values.share(counts.stop, counts.others);
    values.count(counts.stop, 5);
    values.share(counts.strong, counts.others);
    values.count(counts.strong, 3);
    values.flag(counts.strong > 0);
    values.flag(second.is_some_and(Token::is_strong));
    values.flag(second.is_some_and(Token::is_stop));
    values.flag(second.is_some_and(|second| is_predicate(second.word)));
    values.flag(last.is_some_and(Token::is_strong));
    values.flag(last.is_some_and(|last| last.is_plain() && !last.is_stop()));
    values.flag(counts.contractions > 0);
    values.share(counts.plain, counts.tokens);
    values.flag(counts.plain == counts.tokens);
    values.flag(line.text.ends_with('?') || line.is_question());
    values.flag(line.text.ends_with('!'));
    values.flag(line.text.ends_with('.') && counts.tokens > 2);
    values.flag(line.text.ends_with(':'));
    values.flag(line.signs.comma);
}

fn signs(values: &mut Values, line: &Line<'_>, counts: Counts) {
    let signs = line.signs;
    values.count(counts.flags, 3);
    values.flag(counts.flags > 0);
    values.flag(line.tokens.get(1).is_some_and(|second| second.shape == Shape::Flag));
    values.flag(signs.pipe);
    values.flag(signs.redirection);
    values.flag(signs.separator);
    values.flag(signs.background);
    values.flag(signs.substitution);
    values.flag(signs.variable);
    values.flag(signs.backtick);
    values.flag(signs.glob);
    values.flag(signs.brace);
    values.flag(signs.backslash);
    values.flag(signs.equals);
    values.flag(signs.call);
    values.flag(signs.remark);
    values.flag(signs.placeholder);
    values.flag(signs.comparison);
    values.flag(signs.open_quote);
    values.count(usize::from(signs.quotes), 3);
    values.flag(signs.quotes > 0);
    values.count(counts.paths, 3);
    values.share(counts.paths, counts.others);
    values.flag(counts.numbers > 0);
}

fn products(values: &mut Values, line: &Line<'_>, standing: Standing, counts: Counts) {
    let (known, all_plain) = (standing.is_known(), counts.plain == counts.tokens);
    let second = line.tokens.get(1);
    let signs = line.signs;
    let has_signs =
        counts.flags > 0 || counts.paths > 0 || signs.variable || signs.glob || signs.equals || signs.quotes > 0;
    values.flag(known && counts.strong > 0 && counts.flags == 0);
    values.flag(known && all_plain);
    values.flag(known && counts.tokens == 2);
    values.flag(known && has_signs);
    values.flag(known && has_signs && counts.strong == 0);
    values.flag(!known && all_plain);
    values.flag(!known && counts.flags == 0 && counts.tokens > 2);
    values.flag(!known && counts.flags > 0);
    values.flag(known && second.is_some_and(Token::is_stop));
    values.flag(known && second.is_some_and(|second| second.shape == Shape::Path));
    values.flag(known && counts.tokens >= 5 && counts.plain * 4 >= counts.tokens * 3);
    values.flag(known && counts.stop == 0);
    values.flag(known && counts.stop == 0 && counts.tokens == 3);
    values.flag(!known && counts.stop == 0);
    values.flag(!known && counts.stop == 0 && counts.tokens <= 3);
    values.flag(counts.flags > 0 && counts.strong > 0);
    values.flag(standing.resolves && counts.strong == 0 && !all_plain);
}

/// Whether a word is in capitals: `RAM`, `HTTP`.
fn is_shouted(word: &str) -> bool {
    word.len() >= 3 && word.bytes().all(|byte| byte.is_ascii_uppercase())
}
