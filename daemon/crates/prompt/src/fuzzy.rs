//! Finds rows by words of which some letters may be missing. Pure.

use super::Row;

/// A shorter word must be in a text as it is: its letters alone are in most texts.
const MIN_LETTERS: usize = 3;

/// The indices of the rows that match all words of `filter`, the best first; all rows without words. A word matches a text that contains
/// it, or its letters in this order with no more letters between them than the word has: `opnrtr` finds `OpenRouter`.
///
/// Rows that match equally well keep their order.
pub(super) fn matching(rows: &[Row], filter: &str) -> Vec<usize> {
    let filter = filter.to_lowercase();
    let words: Vec<Vec<char>> = filter.split_whitespace().map(|word| word.chars().collect()).collect();
    let cost = |row: &Row| -> Option<usize> {
        let text = format!("{} {} {}", row.name, row.remark, row.keywords).to_lowercase();
        let text: Vec<char> = text.chars().collect();
        words.iter().map(|word| cost(&text, word)).sum()
    };
    let mut found: Vec<(usize, usize)> =
        rows.iter().enumerate().filter_map(|(index, row)| Some((cost(row)?, index))).collect();
    found.sort_unstable();
    found.into_iter().map(|(_, index)| index).collect()
}

/// How far the text is from the word: 0 begins with it, 1 has a word that begins with it, 2 contains it, more has letters between. `None`
/// if it does not match.
fn cost(text: &[char], word: &[char]) -> Option<usize> {
    let is_start = |at: usize| at == 0 || !text[at - 1].is_alphanumeric();
    let starts = (0..text.len()).filter(|at| text[*at] == word[0]);
    starts
        .filter_map(|at| match letters_between(&text[at..], word)? {
            0 if at == 0 => Some(0),
            0 if is_start(at) => Some(1),
            0 => Some(2),
            between if word.len() >= MIN_LETTERS => Some(2 + between),
            _ => None,
        })
        .min()
}

/// The letters between those of the word, which the text begins with. `None` if there are more than the word has, or a letter is missing.
fn letters_between(text: &[char], word: &[char]) -> Option<usize> {
    let mut at = 0;
    for letter in word {
        at += 1 + text.get(at..(2 * word.len()).min(text.len()))?.iter().position(|one| one == letter)?;
    }
    Some(at - word.len())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn found(rows: &[&str], filter: &str) -> Vec<String> {
        let rows: Vec<Row> = rows.iter().map(|name| Row::new(name, "")).collect();
        matching(&rows, filter).into_iter().map(|index| rows[index].name.clone()).collect()
    }

    #[test]
    fn letters_may_be_missing_but_not_many() {
        let rows = ["Anthropic", "OpenAI", "OpenRouter", "Mistral"];
        assert_eq!(found(&rows, "opnrtr"), ["OpenRouter"]);
        assert_eq!(found(&rows, "mstl"), ["Mistral"]);
        assert_eq!(found(&rows, "oai"), ["OpenAI"]);
        assert!(found(&rows, "ai").len() == 1, "two letters must stand together");
        assert!(found(&["another server, anything that has an URL"], "nothing like").is_empty());
    }

    #[test]
    fn better_matches_come_first_and_equals_keep_their_order() {
        let rows = ["undisked", "a disk", "d-i-s-k", "disk 1", "disk 2"];
        assert_eq!(found(&rows, "disk"), ["disk 1", "disk 2", "a disk", "undisked", "d-i-s-k"]);
        assert_eq!(found(&rows, "  "), rows);
        assert_eq!(found(&rows, "2 DISK"), ["disk 2"]);
    }

    #[test]
    fn remarks_and_keywords_are_found_too() {
        let rows = [Row::new("a", "~/shop").found_by("why is it slow"), Row::new("b", "")];
        assert_eq!((matching(&rows, "shop"), matching(&rows, "slow")), (vec![0], vec![0]));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn a_row_is_found_by_any_part_of_itself(name in "[a-zé日]{1,12}", from in 0usize..12, to in 0usize..12) {
            let letters: Vec<char> = name.chars().collect();
            let (from, to) = (from.min(letters.len()), to.min(letters.len()));
            let part: String = letters[from.min(to)..from.max(to)].iter().collect();
            prop_assert_eq!(found(&[&name], &part), [name]);
        }
    }
}
