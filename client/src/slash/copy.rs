//! The code blocks of the last answer, taken from its text as it comes, for `/copy`.

use cohab_shell_relay::sanitize::sanitize;

/// Answers beyond this size are not kept, in bytes.
const MAX_ANSWER_BYTES: usize = 1024 * 1024;

/// Collects the text of an answer.
#[derive(Clone, Debug, Default)]
pub struct LastAnswer {
    text: String,
}

impl LastAnswer {
    /// Another answer begins, or this one anew.
    pub fn restart(&mut self) {
        self.text.clear();
    }

    /// Takes a piece. What lies beyond the bound is lost.
    pub fn push(&mut self, piece: &str) {
        if self.text.len() + piece.len() <= MAX_ANSWER_BYTES {
            self.text.push_str(piece);
        }
    }

    /// The fenced blocks, in their order, harmless and without their last line end: what is pasted at a prompt must not run by
    /// itself. An open block counts.
    #[must_use]
    pub fn code_blocks(&self) -> Vec<String> {
        let mut blocks = Vec::new();
        let mut open: Option<(Fence, String)> = None;
        for line in self.text.lines() {
            match open.as_mut() {
                Some((fence, block)) if !fence.is_closed_by(line) => {
                    block.push_str(fence.unindented(line));
                    block.push('\n');
                }
                Some(_) => blocks.extend(open.take().map(|(_, block)| block)),
                None => open = Fence::opened_by(line).map(|fence| (fence, String::new())),
            }
        }
        blocks.extend(open.map(|(_, block)| block));
        blocks.iter().map(|block| sanitize(block).trim_end_matches('\n').to_owned()).collect()
    }
}

/// The mark around a block of code.
#[derive(Debug)]
struct Fence {
    mark: char,
    length: usize,
    indent: usize,
}

impl Fence {
    fn opened_by(line: &str) -> Option<Self> {
        let (indent, mark, length, rest) = Self::measure(line)?;
        // A backtick behind the fence makes it code within a line.
        (length >= 3 && !(mark == '`' && rest.contains('`'))).then_some(Self { mark, length, indent })
    }

    fn is_closed_by(&self, line: &str) -> bool {
        Self::measure(line)
            .is_some_and(|(_, mark, length, rest)| mark == self.mark && length >= self.length && rest.trim().is_empty())
    }

    fn measure(line: &str) -> Option<(usize, char, usize, &str)> {
        let text = line.trim_start_matches([' ', '>']);
        let mark = text.chars().next().filter(|mark| matches!(mark, '`' | '~'))?;
        let rest = text.trim_start_matches(mark);
        Some((line.len() - text.len(), mark, text.len() - rest.len(), rest))
    }

    /// A line without the indent that its fence has, in a list say.
    fn unindented<'a>(&self, line: &'a str) -> &'a str {
        let blank = line.bytes().take(self.indent).take_while(|byte| matches!(byte, b' ' | b'>')).count();
        &line[blank..]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn blocks(text: &str) -> Vec<String> {
        let mut answer = LastAnswer::default();
        // In pieces of one character: only the whole counts.
        text.chars().for_each(|c| answer.push(&c.to_string()));
        answer.code_blocks()
    }

    #[test]
    fn fenced_blocks_are_found_as_they_were_written() {
        let text = "Do:\n```sh\nls -l\n\n  cd x\n```\nor\n~~~~\na ``` b\n~~~\n~~~~\n- in a list\n  ```\n  one\n    two\n  ```\n";
        assert_eq!(blocks(text), ["ls -l\n\n  cd x", "a ``` b\n~~~", "one\n  two"]);
    }

    #[test]
    fn an_open_block_counts_and_code_within_a_line_does_not() {
        assert_eq!(blocks("```py\nx = 1\ny"), ["x = 1\ny"]);
        assert!(blocks("```a``` and `b`\ntext").is_empty());
        assert!(blocks("").is_empty());
    }

    #[test]
    fn what_is_copied_is_harmless() {
        assert_eq!(blocks("```\nls\u{1b}[201~\rrm\u{7}\n```"), [sanitize("ls\u{1b}[201~\rrm\u{7}")]);
        assert!(!blocks("```\nls\u{1b}[201~\rrm\u{7}\n```")[0].contains(['\u{1b}', '\r', '\u{7}']));
    }

    #[test]
    fn a_giant_answer_is_bounded() {
        let mut answer = LastAnswer::default();
        (0..3_000).for_each(|_| answer.push(&"x".repeat(1_000)));
        assert!(answer.text.len() <= MAX_ANSWER_BYTES);
        answer.restart();
        assert!(answer.code_blocks().is_empty());
    }
}
