//! The parts that words have in questions about what was done, from a table. Pure.

use std::{
    collections::{HashMap, HashSet},
    sync::LazyLock,
};

/// Declares the parts with their names in the table, which says what they are.
macro_rules! parts {
    ($($part:ident $name:literal;)+) => {
        /// The part of a word in a question.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub(super) enum WordPart {
            $($part),+
        }

        const NAMES: &[(WordPart, &str)] = &[$((WordPart::$part, $name)),+];
    };
}

parts! {
    Succeeded "succeeded";
    Failed "failed";
    Act "act";
    Irregular "irregular";
    NoPast "no_past";
    Subject "subject";
    Property "property";
    Request "request";
    Recollection "recollection";
    OtherAct "other_act";
    OtherThing "other_thing";
    Text "text";
    Advice "advice";
    Saying "saying";
    Recalling "recalling";
    Question "question";
    Definite "definite";
    Own "own";
    Person "person";
    Adverb "adverb";
    NoAnswer "no_answer";
    Condition "condition";
    Habit "habit";
    HabitualAct "habitual_act";
}

static WORDS: LazyLock<HashMap<WordPart, HashSet<&str>>> = LazyLock::new(|| {
    let rows = include_str!("phrases.table").lines().filter_map(|row| row.split_once(" : "));
    let rows = rows.filter_map(|(name, words)| {
        let (part, _) = NAMES.iter().find(|(_, known)| *known == name)?;
        Some((*part, words.split_whitespace().collect()))
    });
    rows.collect()
});

/// Whether a word in lower case can have this part.
pub(super) fn is(part: WordPart, word: &str) -> bool {
    WORDS.get(&part).is_some_and(|words| words.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_row_is_a_part_and_each_part_a_row() {
        let rows = include_str!("phrases.table").lines().filter(|row| !row.starts_with('#'));
        let names: Vec<&str> = rows.filter_map(|row| Some(row.split_once(" : ")?.0)).collect();
        assert_eq!(names, NAMES.iter().map(|(_, name)| *name).collect::<Vec<_>>());
        assert!(is(WordPart::Subject, "command") && !is(WordPart::Subject, "nginx"));
    }
}
