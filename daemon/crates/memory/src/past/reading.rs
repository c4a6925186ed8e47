//! Reads records: which of the wanted terms each of them has. Pure.
//!
//! It takes the stem of those words only that can be wanted: a search reads hundreds of records.

use std::{
    collections::{HashMap, HashSet},
    path::Path,
};

use rust_stemmers::Stemmer;

use super::{
    about,
    record::PastItem,
    terms::{self, MAX_TERMS},
};

/// Where a record has a term.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct TermReading {
    /// How often it is in the text.
    pub count: usize,
    /// It is one of those that say what its commands do.
    pub is_about: bool,
    /// It is in the name of its folder.
    pub is_place: bool,
}

/// A record that was read.
pub(crate) struct Reading {
    /// The wanted terms, in their order.
    pub terms: Vec<TermReading>,
    /// Number of words of the text.
    pub length: usize,
}

impl Reading {
    /// The reading of a text with these terms, in a place with those.
    pub fn of(wanted: &[&str], terms: &[String], place: &[String]) -> Self {
        let of = |wanted: &&str| TermReading {
            count: terms.iter().filter(|term| term == wanted).count(),
            is_about: false,
            is_place: place.iter().any(|term| term == wanted),
        };
        Self { terms: wanted.iter().map(of).collect(), length: terms.len() }
    }
}

/// What a stem in a record is.
#[derive(Default)]
struct StemUse {
    /// Number of the wanted term that it is.
    term: Option<usize>,
    /// Numbers of the wanted terms that say what a command with it does.
    about: Vec<usize>,
}

/// The first two letters of a word.
type Beginning = (Option<char>, Option<char>);

/// How a word and its stem begin: they differ in a second letter `y` at most, which is `i` in a stem ("dying").
fn beginning(word: &str) -> Beginning {
    let mut letters = word.chars();
    (letters.next(), letters.next().map(|letter| if letter == 'y' { 'i' } else { letter }))
}

/// The wanted terms.
pub(super) struct Reader<'a> {
    stemmer: Stemmer,
    terms: usize,
    stems: HashMap<&'a str, StemUse>,
    /// How the stems begin.
    beginnings: HashSet<Beginning>,
    /// The wanted terms by keys of the tables.
    keys: HashMap<&'static str, Vec<usize>>,
    programs: HashSet<&'static str>,
}

impl<'a> Reader<'a> {
    /// Reads these terms, each of which is there once.
    pub fn of(wanted: &[&'a str]) -> Self {
        let (mut stems, mut keys) = (HashMap::<&str, StemUse>::new(), HashMap::<&str, Vec<usize>>::new());
        for (number, term) in wanted.iter().enumerate() {
            stems.entry(term).or_default().term = Some(number);
            for key in about::keys(term) {
                match key.strip_prefix('*') {
                    Some(stem) => stems.entry(stem).or_default().about.push(number),
                    None => keys.entry(key).or_default().push(number),
                }
            }
        }
        let beginnings = stems.keys().map(|stem| beginning(stem)).collect();
        let programs = keys.keys().filter_map(|key| key.split(' ').next()).collect();
        Self { stemmer: terms::stemmer(), terms: wanted.len(), stems, beginnings, keys, programs }
    }

    /// Reads a record.
    pub fn read(&self, item: &PastItem) -> Reading {
        let mut reading = Reading { terms: vec![TermReading::default(); self.terms], length: 0 };
        match item {
            PastItem::Line(line) => {
                self.command(&line.last.line, &mut reading);
                line.last.folder.iter().for_each(|folder| self.folder(folder, &mut reading));
            }
            PastItem::Turn(turn) => {
                self.text(&turn.turn.question, false, &mut reading);
                self.text(&turn.turn.answer, false, &mut reading);
                turn.turn.commands.iter().for_each(|command| self.command(&command.line, &mut reading));
                self.folder(&turn.turn.folder, &mut reading);
            }
        }
        reading
    }

    /// Numbers of the wanted terms in a text, each as often as it occurs, and the number of its words.
    pub fn terms_of(&self, text: &str) -> (Vec<usize>, usize) {
        let (mut found, mut words) = (Vec::new(), 0);
        terms::visit(text, &mut |word| {
            words += 1;
            found.extend(self.stem(word).and_then(|stem| stem.term));
        });
        (found, words)
    }

    fn command(&self, line: &str, reading: &mut Reading) {
        self.text(line, true, reading);
        about::visit_keys(line, &|program| self.programs.contains(program), &mut |key| {
            self.keys.get(key).into_iter().flatten().for_each(|term| reading.terms[*term].is_about = true);
        });
    }

    fn text(&self, text: &str, is_command: bool, reading: &mut Reading) {
        terms::visit(text, &mut |word| {
            if reading.length == MAX_TERMS {
                return;
            }
            reading.length += 1;
            let Some(stem) = self.stem(word) else { return };
            stem.term.iter().for_each(|term| reading.terms[*term].count += 1);
            if is_command {
                stem.about.iter().for_each(|term| reading.terms[*term].is_about = true);
            }
        });
    }

    fn folder(&self, folder: &Path, reading: &mut Reading) {
        for name in terms::names(folder) {
            self.terms_of(&name).0.into_iter().for_each(|term| reading.terms[term].is_place = true);
        }
    }

    /// What a word is, if it has a wanted stem.
    fn stem(&self, word: &str) -> Option<&StemUse> {
        if self.beginnings.contains(&beginning(word)) { self.stems.get(&*self.stemmer.stem(word)) } else { None }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::past::{
        conformance::{run, turn},
        record::{NewTurn, PastLine, PastTurn, TurnCommand},
    };

    /// The same, by the stem of every word.
    fn plainly(item: &NewItem, wanted: &[&str]) -> Vec<(usize, bool, bool)> {
        let own: Vec<String> = item.texts.iter().flat_map(|text| terms::of(text)).collect();
        let about: Vec<_> = item.commands.iter().flat_map(|line| about::of(line)).collect();
        let place = terms::of_folder(Path::new("/home/ann"));
        let of = |term: &&str| {
            let count = own.iter().filter(|own| own == term).count();
            (count, count == 0 && about.contains(term), place.iter().any(|place| place == term))
        };
        wanted.iter().map(of).collect()
    }

    /// The texts of a record.
    struct NewItem {
        texts: Vec<String>,
        commands: Vec<String>,
    }

    fn read(item: &PastItem, wanted: &[&str]) -> Vec<(usize, bool, bool)> {
        let of = |term: TermReading| (term.count, term.count == 0 && term.is_about, term.is_place);
        Reader::of(wanted).read(item).terms.into_iter().map(of).collect()
    }

    fn wanted() -> impl Strategy<Value = &'static str> {
        prop::sample::select(vec![
            "permiss", "video", "convert", "file", "undo", "die", "chmod", "ann", "2026", "gross", "user",
        ])
    }

    fn word() -> impl Strategy<Value = String> {
        let known = prop::sample::select(vec![
            "chmod",
            "permissions",
            "ffmpeg",
            "git",
            "reset",
            "--soft",
            "converting",
            "my_files",
            "dying",
            "Größe",
            "|",
            "sudo",
            "useradd",
            "video.mp4",
            "2026",
            "undone",
            "-R",
            "YES",
            "ly",
        ]);
        prop_oneof![known.prop_map(str::to_owned), "\\PC{0,8}"]
    }

    proptest! {
        #[test]
        fn a_stem_begins_as_its_word(word in "[a-z0-9\u{e9}]{1,12}") {
            prop_assert_eq!(beginning(&terms::stemmer().stem(&word)), beginning(&word));
        }

        #[test]
        fn reading_finds_what_the_stems_of_all_words_are(
            wanted in prop::collection::btree_set(wanted(), 0..6),
            words in prop::collection::vec(word(), 0..12),
            question in "[a-z ]{0,30}",
        ) {
            let (wanted, line): (Vec<&str>, _) = (wanted.into_iter().collect(), words.join(" "));
            let (texts, commands) = (vec![line.clone()], vec![line.clone()]);
            let item = PastItem::Line(PastLine { id: 1, last: run(&line, 1), runs: 1 });
            prop_assert_eq!(read(&item, &wanted), plainly(&NewItem { texts, commands }, &wanted));
            let commands = vec![TurnCommand { line: line.clone(), exit_code: None }];
            let item = PastItem::Turn(PastTurn { id: 1, turn: NewTurn { commands, ..turn(&question, 1) } });
            let expected = NewItem { texts: vec![question, line.clone()], commands: vec![line] };
            prop_assert_eq!(read(&item, &wanted), plainly(&expected, &wanted));
        }
    }
}
