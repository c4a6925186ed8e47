//! Reads labelled lines and splits them into parts.

use std::{collections::BTreeSet, fmt::Write as _};

use cohab_line_classifier::{Decision, weights::hash};

/// Percent of all lines that are held out.
const HELD_OUT_PERCENT: u64 = 15;
/// Percent of all lines that are used only for the threshold.
const TUNING_PERCENT: u64 = 12;

/// Names of programs.
pub(crate) type NameSet = BTreeSet<String>;

/// The use of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    Fit,
    Tuning,
    HeldOut,
}

/// The source of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    /// The data.
    Corpus,
    /// Written for this program, in the style of people at a prompt.
    Spoken,
    /// Made from others.
    Variant,
}

/// A line of known kind.
#[derive(Clone, Debug)]
pub(crate) struct Sample<'a> {
    pub(crate) text: &'a str,
    pub(crate) decision: Decision,
    pub(crate) part: Part,
    pub(crate) source: Source,
    /// A number that depends on the line only.
    pub(crate) hash: u64,
}

impl Sample<'_> {
    pub(crate) fn is_language(&self) -> bool {
        self.decision == Decision::Assistant
    }

    pub(crate) fn first_word(&self) -> &str {
        self.text.split_whitespace().next().unwrap_or_default()
    }
}

/// All labelled lines of a file; others are left out.
pub(crate) fn read(text: &str, source: Source) -> impl Iterator<Item = Sample<'_>> {
    text.lines().filter_map(move |line| sample(line, source))
}

fn sample(line: &str, source: Source) -> Option<Sample<'_>> {
    let (label, text) = line.split_once('\t')?;
    let decision = match label {
        "shell" => Decision::Shell,
        "ai" => Decision::Assistant,
        _ => return None,
    };
    let hash = hash(normalised(text).as_bytes(), 0);
    let part = match hash % 100 {
        0..HELD_OUT_PERCENT => Part::HeldOut,
        HELD_OUT_PERCENT.. if hash % 100 < HELD_OUT_PERCENT + TUNING_PERCENT => Part::Tuning,
        _ => Part::Fit,
    };
    Some(Sample { text, decision, part, source, hash })
}

/// The words of a line in small letters, so that lines with the same words land on one side.
fn normalised(text: &str) -> String {
    let words = text.split(|char: char| !char.is_alphanumeric()).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join(" ").to_lowercase()
}

/// Lines as test data: `shell`, `ai`, or `ai+` where the first word is the name of a command.
pub(crate) fn write<'a>(samples: impl Iterator<Item = &'a Sample<'a>>, names: &NameSet) -> String {
    let mut text = String::new();
    for sample in samples {
        let label = match (sample.is_language(), names.contains(sample.first_word())) {
            (false, _) => "shell",
            (true, false) => "ai",
            (true, true) => "ai+",
        };
        let _ = writeln!(text, "{label}\t{}", sample.text);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_with_the_same_words_are_on_one_side() {
        let part = |line: &'static str| read(line, Source::Corpus).next().expect("a line").part;
        for (one, other) in [("ai\tshow the files", "ai\tShow  the files."), ("shell\tls -la", "shell\tls  --la")] {
            assert_eq!(part(one), part(other), "{one}");
        }
    }

    #[test]
    fn each_part_gets_its_share_and_other_rows_are_left_out() {
        let text: String = (0..10_000).map(|number| format!("ai\tline number {number}\n")).collect();
        let of = |part| read(&text, Source::Corpus).filter(|sample| sample.part == part).count();
        assert!((1_350..1_650).contains(&of(Part::HeldOut)), "{}", of(Part::HeldOut));
        assert!((1_050..1_350).contains(&of(Part::Tuning)), "{}", of(Part::Tuning));
        assert_eq!(read("no label\nother\tx\n\n", Source::Corpus).count(), 0);
    }

    #[test]
    fn test_data_tells_whether_a_sentence_begins_with_a_name() {
        let names = NameSet::from(["find".to_owned()]);
        let text = "shell\tfind .\nai\tfind the file\nai\tshow it\n";
        let samples: Vec<_> = read(text, Source::Corpus).collect();
        assert_eq!(write(samples.iter(), &names), "shell\tfind .\nai+\tfind the file\nai\tshow it\n");
    }
}
