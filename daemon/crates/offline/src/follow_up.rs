//! Understands what continues the turn before: the number of a proposal, "do it", the value that was missing, "again for ~/Downloads",
//! "it". The assistant keeps no state: the question of that turn is understood once more.

use super::{
    references::points_back,
    table::Request,
    turns::PastTurn,
    understanding::{Understood, understand},
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
    let words: Vec<&str> = tokens.iter().map(|token| token.norm.as_str()).collect();
    if let Some(place) = choice(&words) {
        return match last() {
            Understood::Unsure(mut requests) if place < requests.len() => Some(requests.swap_remove(place)),
            _ => None,
        };
    }
    let repeated = repeats(&tokens);
    match own {
        Understood::Table(request) if request.lacks_value() && points_back(text) => match last() {
            Understood::Table(last) => request.with_values_of(&last),
            _ => None,
        },
        Understood::Table(_) | Understood::Patterns(_) if repeated.is_none() => None,
        _ => match last() {
            Understood::Table(request) => match repeated {
                Some([]) => Some(request),
                Some(values) => request.with_other(values),
                None => request.with_missing(&tokens),
            },
            _ => None,
        },
    }
}

/// The place of the chosen proposal, counted from 0.
fn choice(words: &[&str]) -> Option<usize> {
    const FIRST: [&str; 12] =
        ["yes", "y", "yep", "yeah", "sure", "ok", "okay", "ja", "do it", "go ahead", "please do", "yes please"];
    const PLACES: [[&str; 4]; 3] =
        [["1", "first", "one", "1st"], ["2", "second", "two", "2nd"], ["3", "third", "three", "3rd"]];
    let said = words.join(" ");
    if FIRST.contains(&said.as_str()) {
        return Some(0);
    }
    let bare: Vec<&&str> =
        words.iter().filter(|word| !["the", "number", "one", "take", "nr"].contains(*word)).collect();
    let place = |word: &str| PLACES.iter().position(|names| names.contains(&word));
    match bare[..] {
        [word] => place(word),
        [] if words.contains(&"one") => Some(0),
        _ => None,
    }
}

/// The words behind "again for", "and in", "what about"; `None` if nothing is repeated.
fn repeats(tokens: &[Token]) -> Option<&[Token]> {
    const STARTS: [&[&str]; 12] = [
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
        &["again"],
        &["and"],
    ];
    let begins = |start: &&[&str]| {
        start.len() <= tokens.len() && start.iter().zip(tokens).all(|(word, token)| *word == token.norm)
    };
    let start = STARTS.iter().find(|start| begins(start))?;
    let rest = &tokens[start.len()..];
    let is_link = |token: &&Token| ["for", "in", "with", "on", "to"].contains(&token.norm.as_str());
    let rest = &rest[usize::from(start == &&["again"][..] && rest.first().as_ref().is_some_and(is_link))..];
    // "and delete it" is a request of its own.
    let is_bare_again = rest.is_empty() && start == &&["again"][..];
    (is_bare_again || rest.len() == 1 || rest.len() <= 2 && rest.iter().any(|token| token.is_name)).then_some(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_choice_is_read() {
        let choice = |text: &str| choice(&text.split(' ').collect::<Vec<_>>());
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
        for text in ["4", "show the first line", "yesterday", "12"] {
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
        for text in ["and delete the old ones", "what about that thing there", "againx"] {
            assert_eq!(rest(text), None, "{text}");
        }
    }
}
