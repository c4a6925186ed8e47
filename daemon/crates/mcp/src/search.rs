//! Finds tools by words. Pure.

use crate::listing::ListedTool;

/// What a word in the name counts, against one in the description.
const NAME_WEIGHT: u32 = 4;

/// The words of a text, in small letters; `getTime` has two.
pub(crate) fn words(text: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut last = ' ';
    for letter in text.chars() {
        let begins =
            letter.is_alphanumeric() && (!last.is_alphanumeric() || letter.is_uppercase() && last.is_lowercase());
        if begins {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut().filter(|_| letter.is_alphanumeric()) {
            word.extend(letter.to_lowercase());
        }
        last = letter;
    }
    words
}

/// How well a tool of a server fits; 0 if not at all.
pub(crate) fn score(wanted: &[String], server: &str, tool: &ListedTool) -> u32 {
    let of_name: Vec<String> = words(&tool.name).into_iter().chain(words(server)).collect();
    let of_description = words(&tool.description);
    let fits = |known: &[String], word: &String| {
        u32::from(known.iter().any(|one| one == word || word.len() > 3 && one.starts_with(word.as_str())))
    };
    wanted.iter().map(|word| NAME_WEIGHT * fits(&of_name, word) + fits(&of_description, word)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_in_the_name_count_more() {
        let tool = |name: &str, description: &str| ListedTool {
            name: name.into(),
            description: description.into(),
            schema: "{}".into(),
            claims_to_read: false,
            digest: String::new(),
        };
        assert_eq!(words("get_currentTime v2"), ["get", "current", "time", "v2"]);
        let wanted = words("current time");
        let [by_name, by_description, none] =
            [tool("getCurrentTime", ""), tool("now", "The current time."), tool("add", "Adds numbers.")]
                .map(|tool| score(&wanted, "clock", &tool));
        assert!(by_name > by_description && by_description > 0 && none == 0, "{by_name} {by_description}");
        assert!(score(&words("clock"), "clock", &tool("add", "")) > 0, "the server's name counts");
    }
}
