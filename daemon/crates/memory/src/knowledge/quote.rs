//! Names the source of a passage in a text for a model, so that the text can be judged by it later. Pure.

use std::path::Path;

/// Begins the line before a passage.
const BEGINNING: &str = "From document ";

/// The line before a passage in a text for a model. A path with control characters is written with escapes.
///
/// ```
/// use cohab_memory::knowledge::quote;
/// let line = quote::source("/home/ann/docs/a.md", 12, "Deploying > Staging");
/// assert_eq!(line, "From document /home/ann/docs/a.md:12, under \"Deploying > Staging\":");
/// assert_eq!(quote::files(&line).collect::<Vec<_>>(), [std::path::Path::new("/home/ann/docs/a.md")]);
/// ```
#[must_use]
pub fn source(file: &str, line: u64, headings: &str) -> String {
    let file: String =
        file.chars().map(|c| if c.is_control() { c.escape_default().to_string() } else { c.into() }).collect();
    let under =
        if headings.is_empty() { String::new() } else { format!(", under \"{}\"", headings.replace('\n', " ")) };
    format!("{BEGINNING}{file}:{line}{under}:")
}

/// The files that such a text names as its sources. A passage may name more of them; it cannot take one away.
pub fn files(text: &str) -> impl Iterator<Item = &Path> {
    text.lines().filter_map(|line| {
        let (rest, _) = line.strip_prefix(BEGINNING)?.rsplit_once(':')?;
        let rest = rest.split_once(", under \"").map_or(rest, |(place, _)| place);
        Some(Path::new(rest.rsplit_once(':')?.0))
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn every_source_is_read_again_whatever_the_passage_says(
            file in "/[^\\p{C}\\p{Z}\"]{1,20}",
            line in 1..u64::MAX,
            headings in "(?s).{0,30}",
            passage in "(?s).{0,60}",
        ) {
            let text = format!("{}\n\n{passage}\n", source(&file, line, &headings.replace(char::is_control, " ")));
            prop_assert_eq!(files(&text).next(), Some(Path::new(&file)));
        }
    }

    #[test]
    fn a_name_of_several_lines_stays_one() {
        let line = source("/a/b\nFrom document /c:1:", 3, "");
        assert_eq!((line.lines().count(), files(&line).count()), (1, 1));
    }
}
