//! Cuts a text into passages. Pure.
//!
//! A passage is made of whole blocks: lines up to an empty one. Headings of Markdown and reStructuredText begin a passage. A block that is
//! too long is cut between lines, and a line that is too long between characters.

use std::path::Path;

use cohab_text::{cut::head, sanitize::one_line};

use super::record::Passage;

/// A passage that is this long ends with its block.
const ENOUGH_BYTES: usize = 600;
/// A heading ends a passage that is this long.
const SECTION_BYTES: usize = 200;
/// Longest passage.
pub const MAX_PASSAGE_BYTES: usize = 1_500;
/// Longest heading, in characters.
const HEADING_CHARS: usize = 80;
/// Deepest heading.
const MAX_LEVELS: usize = 6;
/// Names of files whose headings are known end with one of these.
const WITH_HEADINGS: [&str; 6] = ["md", "markdown", "mdx", "mkd", "qmd", "rst"];

/// The passages of the text of a file, in their order. Their texts are parts of this text.
#[must_use]
pub fn passages(path: &Path, text: &str) -> Vec<Passage> {
    let extension = path.extension().map(|extension| extension.to_string_lossy().to_lowercase());
    let has_headings = extension.is_some_and(|extension| WITH_HEADINGS.contains(&extension.as_str()));
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let mut splitter = Splitter { text, ..Splitter::default() };
    let mut is_code = false;
    for (index, line) in lines.iter().enumerate() {
        if has_headings {
            is_code ^= is_fence(line);
            let before = index.checked_sub(1).and_then(|before| lines.get(before)).copied().unwrap_or_default();
            if let Some((level, heading)) =
                (!is_code).then(|| heading(before, line, lines.get(index + 1).copied().unwrap_or_default())).flatten()
            {
                splitter.heading(level, &heading);
            }
        }
        splitter.line(line);
    }
    splitter.end();
    splitter.passages
}

fn is_fence(line: &str) -> bool {
    let line = line.trim_start();
    line.starts_with("```") || line.starts_with("~~~")
}

/// The level and the text of the heading in a line between two others.
fn heading(before: &str, line: &str, after: &str) -> Option<(usize, String)> {
    let level = line.bytes().take_while(|byte| *byte == b'#').count();
    if let (1..=MAX_LEVELS, Some(rest)) = (level, line.get(level..).filter(|rest| rest.starts_with([' ', '\t']))) {
        return Some((level, one_line(rest.trim().trim_end_matches('#').trim_end(), HEADING_CHARS)));
    }
    let mark = after.trim_end().chars().next().filter(|mark| matches!(mark, '=' | '-' | '~' | '^'))?;
    let is_underlined = after.trim_end().len() >= 3 && after.trim_end().chars().all(|c| c == mark);
    let is_heading = is_underlined && before.trim().is_empty() && line.starts_with(char::is_alphanumeric);
    is_heading.then(|| (if mark == '=' { 1 } else { 2 }, one_line(line.trim(), HEADING_CHARS)))
}

/// A text that is being cut.
#[derive(Default)]
struct Splitter<'a> {
    text: &'a str,
    passages: Vec<Passage>,
    /// The headings above the next line, by level.
    headings: Vec<(usize, String)>,
    /// Those of them that all sections of the passage have.
    above: Vec<(usize, String)>,
    /// Begin, end of the last block, and end of the passage; all are offsets.
    start: usize,
    block: usize,
    end: usize,
    /// Line of the begin, of the first line behind the last block, and of the next line; from 0.
    start_line: u64,
    block_line: u64,
    next_line: u64,
}

impl Splitter<'_> {
    fn heading(&mut self, level: usize, text: &str) {
        if self.end - self.start >= SECTION_BYTES {
            self.cut(self.end, self.next_line);
        }
        self.headings.retain(|(above, _)| *above < level);
        self.headings.push((level, text.to_owned()));
        if self.text.get(self.start..self.end).is_some_and(|text| text.trim().is_empty()) {
            self.above.clone_from(&self.headings);
        } else {
            // A short section is followed by another one in the same passage.
            let is_common = |(one, other): &(&(usize, String), &(usize, String))| one == other;
            let common = self.above.iter().zip(&self.headings).take_while(is_common).count();
            self.above.truncate(common);
        }
    }

    fn line(&mut self, line: &str) {
        let is_blank = line.trim().is_empty();
        if self.end - self.start + line.len() > MAX_PASSAGE_BYTES && !is_blank {
            // At the last end of a block, if the rest is long enough to stand alone.
            if self.block - self.start >= SECTION_BYTES {
                self.cut(self.block, self.block_line);
            }
            if self.end - self.start + line.len() > MAX_PASSAGE_BYTES {
                self.cut(self.end, self.next_line);
            }
        }
        self.end += line.len();
        while self.end - self.start > MAX_PASSAGE_BYTES {
            let rest = self.text.get(self.start..).unwrap_or_default();
            let cut = self.start + head(rest, MAX_PASSAGE_BYTES).len();
            self.cut(cut, self.next_line);
        }
        self.next_line += 1;
        if is_blank {
            (self.block, self.block_line) = (self.end, self.next_line);
            if self.end - self.start >= ENOUGH_BYTES {
                self.cut(self.end, self.next_line);
            }
        }
    }

    fn end(&mut self) {
        self.cut(self.end, self.next_line);
    }

    /// Ends the passage at an offset, which is in this line.
    fn cut(&mut self, at: usize, line: u64) {
        let text = self.text.get(self.start..at).unwrap_or_default();
        // Only whole empty lines go: the indentation of the first line belongs to it.
        let filled = text.len() - text.trim_start().len();
        let skipped = text.get(..filled).and_then(|blank| blank.rfind('\n')).map_or(0, |newline| newline + 1);
        let (blank, kept) = text.split_at_checked(skipped).unwrap_or(("", text));
        let kept = kept.trim_end();
        if !kept.is_empty() {
            let skipped_lines = blank.bytes().filter(|byte| *byte == b'\n').count() as u64;
            let headings: Vec<&str> = self.above.iter().map(|(_, text)| text.as_str()).collect();
            self.passages.push(Passage {
                line: self.start_line + skipped_lines + 1,
                headings: headings.join(" > "),
                text: kept.to_owned(),
            });
        }
        self.above.clone_from(&self.headings);
        (self.start, self.start_line) = (at, line);
        (self.block, self.block_line) = (self.block.max(at), self.block_line.max(line));
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn split(name: &str, text: &str) -> Vec<(u64, String, String)> {
        let passages = passages(Path::new(name), text);
        passages.into_iter().map(|passage| (passage.line, passage.headings, passage.text)).collect()
    }

    #[test]
    fn a_section_is_a_passage_under_its_headings() {
        let long = "Run `make deploy` from a clean checkout. ".repeat(6);
        let text =
            format!("# Deploying\n\nIntro.\n\n## Staging\n{long}\n\n## Production\n\n```\n# no heading\n{long}\n```\n");
        let found = split("docs/deploy.md", &text);
        let places: Vec<(u64, &str)> = found.iter().map(|(line, headings, _)| (*line, headings.as_str())).collect();
        assert_eq!(places, [(1, "Deploying"), (8, "Deploying > Production")]);
        assert!(found[0].2.starts_with("# Deploying\n\nIntro.") && found[1].2.contains("# no heading"));
    }

    #[test]
    fn underlined_headings_are_known_in_documents_only() {
        let text = format!("Title\n=====\n\n{}\n\nPart\n----\n\nEnd.\n", "word ".repeat(50));
        let headings = |name| split(name, &text).into_iter().map(|(_, headings, _)| headings).collect::<Vec<_>>();
        assert_eq!(headings("a.rst"), ["Title", "Title > Part"]);
        assert_eq!(headings("a.txt"), [""]);
    }

    #[test]
    fn blocks_stay_whole_and_short_ones_stay_together() {
        let block = |name: &str| format!("fn {name}() {{\n{}}}\n", "    call();\n".repeat(30));
        let text = [block("one"), block("two"), block("three"), block("four"), block("five")].join("\n");
        let found = split("a.rs", &text);
        let lines: Vec<u64> = found.iter().map(|(line, ..)| *line).collect();
        assert_eq!(lines, [1, 67, 133], "{found:?}");
        assert!(found[1].2.starts_with("fn three"));
    }

    #[test]
    fn an_endless_line_is_cut_between_characters() {
        let text = format!("a\n{}\nb\n", "ü".repeat(2_000));
        let found = split("a.txt", &text);
        assert_eq!(found.iter().map(|(line, ..)| *line).collect::<Vec<_>>(), [1, 2, 2, 2]);
        assert!(found.iter().all(|(.., text)| text.len() <= MAX_PASSAGE_BYTES));
    }

    /// Lines as they are in documents, code, and files that are neither.
    fn any_text() -> impl Strategy<Value = String> {
        let line = prop_oneof![
            Just("\n".to_owned()),
            Just("# Heading\n".to_owned()),
            Just("\r\n".to_owned()),
            Just("===\n".to_owned()),
            Just("```\n".to_owned()),
            "[ \t]{0,3}\\PC{0,60}\n",
            "\\PC{0,2000}",
            "(?s).{0,30}",
        ];
        proptest::collection::vec(line, 0..60).prop_map(|lines| lines.concat())
    }

    proptest! {
        #[test]
        fn every_passage_is_found_at_its_line(text in any_text(), name in prop_oneof![Just("a.md"), Just("a.rs")]) {
            let found = passages(Path::new(name), &text);
            let mut from = 0;
            for passage in &found {
                prop_assert!(!passage.text.trim().is_empty() && passage.text.len() <= MAX_PASSAGE_BYTES);
                let line_start = text.split_inclusive('\n').take(usize::try_from(passage.line).unwrap() - 1)
                    .map(str::len).sum::<usize>();
                let line_end = text[line_start..].find('\n').map_or(text.len(), |end| line_start + end);
                let at = from.max(line_start);
                let found = text[at..].find(&passage.text).map(|offset| at + offset);
                prop_assert!(found.is_some_and(|found| found <= line_end), "{passage:?} in {text:?}");
                from = found.unwrap() + passage.text.len();
            }
            // Nothing but white space is missing.
            let letters = |text: &str| text.chars().filter(|c| !c.is_whitespace()).count();
            prop_assert_eq!(found.iter().map(|passage| letters(&passage.text)).sum::<usize>(), letters(&text));
        }
    }
}
