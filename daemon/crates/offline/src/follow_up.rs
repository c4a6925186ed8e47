//! Understands what continues the turn before: the number of a proposal, "do it", the value that was missing, "again for ~/Downloads",
//! "it". The assistant keeps no state: the question of that turn is understood once more.

use super::{
    pick::Pick,
    references::points_back,
    table::Request,
    turns::PastTurn,
    understanding::{Understood, understand},
    values::read_number,
    words::{Token, split},
};

/// Longer texts are requests of their own.
const MOST_WORDS: usize = 7;

/// What a question means after the turns before it.
pub(super) fn understand_after(text: &str, before: &[PastTurn<'_>]) -> Understood {
    let own = understand(text);
    let Some((last, earlier)) = before.split_last().filter(|_| split(text).len() <= MOST_WORDS) else { return own };
    let last = || understand_after(&last.question.text, earlier);
    match continued(text, &own, last) {
        Some(request) => Understood::Table(request),
        None => own,
    }
}

/// The request of the turn before, as the text continues it.
fn continued(text: &str, own: &Understood, last: impl FnOnce() -> Understood) -> Option<Request> {
    let tokens = split(text);
    let (place, repeated) = (choice(&tokens), repeats(&tokens));
    let is_value = matches!(&tokens[..], [value] if value.is_name);
    let is_own = match own {
        Understood::Table(request) => !request.lacks_value() || !points_back(text),
        Understood::Patterns(_) | Understood::Past => true,
        Understood::Unsure(_) => false,
    };
    if is_own && place.is_none() && repeated.is_none() && !is_value {
        return None;
    }
    match (last(), own, repeated) {
        (Understood::Patterns(_) | Understood::Past, ..) => None,
        (Understood::Unsure(mut requests), ..) => {
            place.filter(|place| *place < requests.len()).map(|place| requests.swap_remove(place))
        }
        (Understood::Table(last), Understood::Table(request), None) if !is_own => request.with_values_of(&last),
        (Understood::Table(last), _, Some([])) => Some(last),
        (Understood::Table(last), _, Some(values)) => last.with_other(values),
        // "yes" is no value, "3" may be one.
        (Understood::Table(last), _, None) if is_value || place.is_none() => last.with_missing(&tokens),
        (Understood::Table(_), ..) => None,
    }
}

/// The place of the chosen proposal, counted from 0.
fn choice(tokens: &[Token]) -> Option<usize> {
    const FIRST: [&str; 12] =
        ["yes", "y", "yep", "yeah", "sure", "ok", "okay", "ja", "do it", "go ahead", "please do", "yes please"];
    let words: Vec<&str> = tokens.iter().map(|token| token.norm.as_str()).collect();
    if FIRST.contains(&words.join(" ").as_str()) {
        return Some(0);
    }
    let is_around = |word: &&&str| ["the", "number", "one", "take", "nr"].contains(*word);
    let bare: Vec<&&str> = words.iter().filter(|word| !is_around(word)).collect();
    match bare[..] {
        [word] => match Pick::read(word) {
            Some(Pick::Nth(place)) => Some(place),
            _ => usize::try_from(read_number(word)?).ok()?.checked_sub(1),
        },
        [] if words.contains(&"one") => Some(0),
        _ => None,
    }
}

/// The words behind "again for", "and in", "what about"; `None` if nothing is repeated.
fn repeats(tokens: &[Token]) -> Option<&[Token]> {
    const STARTS: [&[&str]; 12] = [
        &["again", "for"],
        &["again", "in"],
        &["and", "for"],
        &["and", "in"],
        &["and", "with"],
        &["what", "about"],
        &["how", "about"],
        &["same", "for"],
        &["the", "same", "for"],
        &["same", "in"],
        &["now", "for"],
        &["now", "in"],
    ];
    let begins = |start: &&&[&str]| {
        start.len() <= tokens.len() && start.iter().zip(tokens).all(|(word, token)| *word == token.norm)
    };
    match (STARTS.iter().find(begins), tokens) {
        (None, [again]) if again.norm == "again" => Some(&[]),
        // "and push" is a request of its own.
        (None, [and, rest @ ..]) if and.norm == "and" && matches!(rest, [name] if name.is_name) => Some(rest),
        (Some(start), _) => Some(&tokens[start.len()..]).filter(|rest| rest.len() == 1),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_choice_is_read() {
        let choice = |text: &str| choice(&split(text));
        for (text, place) in [
            ("yes", 0),
            ("do it", 0),
            ("2", 1),
            ("the third one", 2),
            ("number 2", 1),
            ("the first", 0),
            ("take the second one", 1),
        ] {
            assert_eq!(choice(text), Some(place), "{text}");
        }
        for text in ["0", "show the first line", "yesterday", "a.txt"] {
            assert_eq!(choice(text), None, "{text}");
        }
    }

    #[test]
    fn what_is_repeated_is_read() {
        let rest = |text: &str| {
            let tokens = split(text);
            repeats(&tokens).map(|rest| rest.iter().map(|token| token.raw.clone()).collect::<Vec<_>>())
        };
        assert_eq!(rest("again"), Some(vec![]));
        assert_eq!(rest("again for ~/Downloads"), Some(vec!["~/Downloads".to_owned()]));
        assert_eq!(rest("and in /tmp?"), Some(vec!["/tmp".to_owned()]));
        assert_eq!(rest("what about b.txt"), Some(vec!["b.txt".to_owned()]));
        assert_eq!(rest("and b.txt"), Some(vec!["b.txt".to_owned()]));
        for text in ["and push", "and delete the old ones", "what about that thing there", "againx"] {
            assert_eq!(rest(text), None, "{text}");
        }
    }
}
