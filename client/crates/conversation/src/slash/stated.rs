//! Finds the fact in a question that states one: "remember that staging is on host blue". Pure.

/// Beginnings of a statement. The longest come first.
const OPENINGS: [&str; 6] =
    ["please remember that ", "please remember: ", "please remember ", "remember that ", "remember: ", "remember "];
/// Words that make a question out of "remember ...": it asks whether the assistant remembers.
const ASKING: [&str; 9] = ["when ", "what ", "where ", "who ", "why ", "how ", "which ", "whether ", "if "];

/// The fact that a question states in so many words. `None` for anything else, also for "remember to ..." and "remember what ...".
///
/// `Remember that staging is on host blue` states `staging is on host blue`; `remember what I did yesterday?` states nothing.
#[must_use]
pub(super) fn stated(question: &str) -> Option<&str> {
    let question = question.trim();
    let begins_with =
        |text: &str, opening: &str| text.get(..opening.len()).is_some_and(|start| start.eq_ignore_ascii_case(opening));
    let opening = OPENINGS.into_iter().find(|opening| begins_with(question, opening))?;
    let fact = question.get(opening.len()..)?.trim();
    let asks =
        fact.ends_with('?') || begins_with(fact, "to ") || ASKING.into_iter().any(|word| begins_with(fact, word));
    (!asks && fact.contains(char::is_whitespace)).then_some(fact)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_fact_is_what_is_stated_in_so_many_words() {
        for (question, fact) in [
            ("remember that staging is on host blue", Some("staging is on host blue")),
            ("Please remember: the NAS is nas.lan", Some("the NAS is nas.lan")),
            ("remember I prefer ripgrep over grep", Some("I prefer ripgrep over grep")),
            ("remember that -- \"x\"  is  'y'", Some("-- \"x\"  is  'y'")),
            ("remember that", None),
            ("remember", None),
            ("remember me", None),
            ("remember to call the plumber", None),
            ("remember what I did yesterday", None),
            ("remember that file from yesterday?", None),
            ("do you remember that staging is on blue", None),
            ("rememberthat staging is on blue", None),
            ("", None),
        ] {
            assert_eq!(stated(question), fact, "{question}");
        }
    }

    proptest! {
        #[test]
        fn a_stated_fact_is_a_part_of_the_question(question in "(remember )?(that )?(?s).{0,60}") {
            if let Some(fact) = stated(&question) {
                prop_assert!(question.contains(fact) && fact.trim() == fact && !fact.is_empty());
            }
        }
    }
}
