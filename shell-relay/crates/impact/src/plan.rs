//! Plans the file lookups for a command line: the patterns that it enters, removes, replaces or matches. Pure.

use std::{collections::BTreeMap, path::PathBuf};

use super::{
    git,
    unpack::{self, Unpacked},
    words::{PatternWord, WordPiece, WordToken, tokens},
    writers::{self, Writes},
};

pub use crate::steps::{GitStep, Lister, PatchStep, Pattern, Plan, PlanStep, TransferKind, UnpackStep};

/// More words than this are not looked at one by one.
const MAX_TARGETS: usize = 200;
/// Words behind which other rules hold than those of simple commands.
const KEYWORDS: &[&str] = &[
    "if", "then", "else", "elif", "fi", "for", "while", "until", "do", "done", "case", "esac", "function", "select",
    "begin", "end", "switch", "eval", "source", ".", "repeat", "coproc", "!", "[[",
];
/// What runs the command behind it as it is.
const PREFIXES: &[&str] = &["command", "nohup", "time", "sudo", "doas", "builtin"];
/// Where nothing is replaced.
const SINKS: &[&str] = &["/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty"];

/// What is known of the shell.
#[derive(Clone, Debug)]
pub struct Known {
    /// The user's home.
    pub home: PathBuf,
    /// Folder of the shell.
    pub cwd: PathBuf,
    /// Variables whose value is known for sure.
    pub variables: BTreeMap<String, String>,
}

impl Known {
    /// What is known wherever a shell is: `HOME` and `PWD`.
    #[must_use]
    pub fn of(home: PathBuf, cwd: PathBuf) -> Self {
        let text = |path: &PathBuf| path.to_str().map(ToOwned::to_owned);
        let variables = [("HOME", text(&home)), ("PWD", text(&cwd))];
        let variables = variables.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect();
        Self { home, cwd, variables }
    }
}

/// Reads the line. Nothing to be looked at is an empty plan.
#[must_use]
pub fn plan(line: &str, known: &Known) -> Plan {
    let mut planner = Planner { known, steps: Vec::new() };
    match tokens(line) {
        Ok(tokens) => planner.read(&tokens),
        // Only where something might have been looked at is it worth a word.
        Err(what) if is_of_interest(line) => planner.unknown(what.to_owned()),
        Err(what) => planner.steps.push(PlanStep::Unseen(what.to_owned())),
    }
    Plan { home: known.home.clone(), cwd: known.cwd.clone(), steps: planner.steps }
}

/// Whether a line that cannot be read may remove or replace something.
fn is_of_interest(line: &str) -> bool {
    line.contains('>') || names_removal(line)
}

/// Whether a text has a word that removes or replaces files.
fn names_removal(text: &str) -> bool {
    let names = ["rm", "rmdir", "mv", "cp", "unlink", "shred", "truncate", "-delete", "tee"];
    text.split(|c: char| c.is_whitespace() || ";|&(){}`'\"".contains(c)).any(|word| names.contains(&word))
}

struct Planner<'a> {
    known: &'a Known,
    steps: Vec<PlanStep>,
}

impl Planner<'_> {
    fn unknown(&mut self, what: String) {
        let step = PlanStep::Unknown(what);
        if !self.steps.contains(&step) {
            self.steps.push(step);
        }
    }

    fn read(&mut self, tokens: &[WordToken]) {
        let mut words: Vec<&PatternWord> = Vec::new();
        let (mut replaced, mut written): (Vec<&PatternWord>, Vec<&PatternWord>) = (Vec::new(), Vec::new());
        let mut file: Option<&WordToken> = None;
        let mut input: Option<&PatternWord> = None;
        for token in tokens.iter().chain([&WordToken::Next]) {
            match token {
                WordToken::Word(word) => match file.take() {
                    Some(WordToken::Output) => replaced.push(word),
                    Some(WordToken::Append) => written.push(word),
                    Some(_) => input = Some(word),
                    None => words.push(word),
                },
                WordToken::Output | WordToken::Append | WordToken::OtherFile => file = Some(token),
                WordToken::Next | WordToken::Pipe => {
                    self.command(&std::mem::take(&mut words), input.take());
                    self.redirected(std::mem::take(&mut replaced), PlanStep::Replace);
                    self.redirected(std::mem::take(&mut written), PlanStep::Write);
                }
            }
        }
    }

    fn redirected(&mut self, mut files: Vec<&PatternWord>, step: fn(Vec<Pattern>) -> PlanStep) {
        files.retain(|word| !word.literal().is_some_and(|path| SINKS.contains(&path.as_str())));
        if let Some(files) = self.patterns(&files)
            && !files.is_empty()
        {
            self.steps.push(step(files));
        }
    }

    /// `input` is the file that the command reads as its standard input.
    fn command(&mut self, words: &[&PatternWord], input: Option<&PatternWord>) {
        let Some((first, rest)) = words.split_first() else { return };
        let Some(name) = first.literal() else { return self.unknown("which command runs".into()) };
        let verb = name.rsplit('/').next().unwrap_or_default();
        if PREFIXES.contains(&verb) && !rest.first().is_some_and(|word| word.raw.starts_with('-')) {
            return self.command(rest, input);
        }
        if KEYWORDS.contains(&verb) || first.raw.contains('=') {
            return self.unknown("what depends on other parts of the command".into());
        }
        if words.len() > MAX_TARGETS {
            return self.unknown(format!("what {} words name", words.len()));
        }
        match verb {
            "cd" => self.enter(rest),
            "pushd" | "popd" => self.steps.push(PlanStep::Lost),
            "rm" | "unlink" | "shred" => self.remove(rest, verb == "rm" && is_recursive(rest)),
            "rmdir" => self.remove(rest, false),
            "mv" => self.transfer(rest, TransferKind::Move),
            "cp" => self.transfer(rest, TransferKind::Copy),
            "ln" => self.transfer(rest, TransferKind::Link),
            "rsync" => self.rsync(rest),
            "find" => self.find(rest),
            "git" => self.git(rest),
            "patch" => self.patch(rest, input),
            "tar" | "bsdtar" | "gtar" | "unzip" => self.unpack(verb, rest),
            _ => self.others(verb, rest),
        }
    }

    fn enter(&mut self, words: &[&PatternWord]) {
        let target = match words {
            [one] if !one.raw.starts_with('-') => self.patterns(words).and_then(|mut patterns| patterns.pop()),
            [] => Some(Pattern { raw: "~".into(), letters: as_letters(&self.known.home.to_string_lossy()).collect() }),
            _ => None,
        };
        self.steps.push(target.map_or(PlanStep::Lost, PlanStep::Enter));
    }

    fn remove(&mut self, words: &[&PatternWord], is_recursive: bool) {
        if let Some(targets) = self.patterns(&operands(words)) {
            self.steps.push(PlanStep::Remove(targets, is_recursive));
        }
    }

    /// Adds a step about the files that these words name, if there are any.
    fn files(&mut self, words: &[PatternWord], step: impl FnOnce(Vec<Pattern>) -> PlanStep) {
        if let Some(targets) = self.patterns(&words.iter().collect::<Vec<_>>())
            && !targets.is_empty()
        {
            self.steps.push(step(targets));
        }
    }

    fn unseen(&mut self, what: String) {
        self.steps.push(PlanStep::Unseen(what));
    }

    fn git(&mut self, words: &[&PatternWord]) {
        let (folder, words) = match words {
            [option, folder, rest @ ..] if option.raw == "-C" => (Some(*folder), rest),
            _ => (None, words),
        };
        let Some((name, rest)) = words.split_first() else { return };
        let subcommand = name.raw.as_str();
        self.matched(rest);
        let Some(change) = git::change(subcommand, rest) else {
            return self.unseen(format!("what `git {subcommand}` changes in files"));
        };
        if let Some(phrase) = change.says {
            return self.unseen(phrase.to_owned());
        }
        if change.parts.is_empty() {
            return;
        }
        let values: Vec<PatternWord> = change.arguments.values.into_iter().map(|(_, value)| value).collect();
        let patterns =
            |words: &[PatternWord]| words.iter().map(|word| self.pattern(word)).collect::<Result<Vec<_>, _>>();
        let step = (|| {
            Ok(GitStep {
                subcommand: subcommand.to_owned(),
                parts: change.parts,
                folder: folder.map(|folder| self.pattern(folder)).transpose()?,
                options: change.arguments.options,
                values: patterns(&values)?,
                operands: patterns(&change.arguments.operands)?,
                paths: patterns(&change.arguments.behind)?,
            })
        })();
        match step {
            Ok(step) => self.steps.push(PlanStep::Git(step)),
            Err(what) => self.unknown(what),
        }
    }

    /// `patch < FILE`, `patch -i FILE`.
    fn patch(&mut self, words: &[&PatternWord], input: Option<&PatternWord>) {
        let patch = unpack::patch(words, input);
        let step = patch.and_then(|patch| {
            let file = self.pattern(&patch.file).ok()?;
            let folder = patch.folder.map(|folder| self.pattern(&folder)).transpose().ok()?;
            Some(PatchStep { file, strip: patch.strip, folder })
        });
        match step {
            Some(step) => self.steps.push(PlanStep::Patch(step)),
            None => self.unseen("what `patch` changes in files".to_owned()),
        }
    }

    fn unpack(&mut self, program: &str, words: &[&PatternWord]) {
        let unknown = || PlanStep::Unseen(format!("what `{program}` changes in files"));
        let step = match unpack::unpack(program, words) {
            Unpacked::Nothing => return,
            Unpacked::Written(file) => {
                self.pattern(&file).map_or_else(|_| unknown(), |file| PlanStep::Write(vec![file]))
            }
            Unpacked::Unclear => unknown(),
            Unpacked::From { lister, archive, folder, strip } => {
                let folder = folder.map(|folder| self.pattern(&folder)).transpose();
                match (self.pattern(&archive), folder) {
                    (Ok(archive), Ok(folder)) => PlanStep::Unpack(UnpackStep { lister, archive, folder, strip }),
                    _ => unknown(),
                }
            }
        };
        self.steps.push(step);
    }

    /// Local copies only: what is on another machine is out of reach.
    fn rsync(&mut self, words: &[&PatternWord]) {
        let removes_others = words.iter().any(|word| word.raw.starts_with("--del"));
        let is_remote = |word: &&PatternWord| word.raw.split('/').next().is_some_and(|start| start.contains(':'));
        let has_values = words.iter().any(|word| unpack::RSYNC_VALUES.contains(&word.raw.as_str()));
        if has_values || words.iter().any(is_remote) {
            return self.unseen("what `rsync` changes in files".to_owned());
        }
        if words.iter().any(|word| is_option(word, 'n', "--dry-run")) {
            return;
        }
        self.transfer_to(&operands(words), TransferKind::Sync { removes_others });
    }

    fn transfer(&mut self, words: &[&PatternWord], kind: TransferKind) {
        let has = |letter: char, long: &str| words.iter().any(|word| is_option(word, letter, long));
        if has('t', "--target-directory") || has('T', "--no-target-directory") {
            return self.unknown("what is replaced where options name the place".into());
        }
        if kind != TransferKind::Link && has('n', "--no-clobber") {
            return;
        }
        self.transfer_to(&operands(words), kind);
    }

    fn transfer_to(&mut self, words: &[&PatternWord], kind: TransferKind) {
        if let Some(mut targets) = self.patterns(words) {
            // `ln -s TARGET` makes the link here.
            if kind == TransferKind::Link && targets.len() == 1 {
                targets.push(Pattern::of("."));
            }
            if targets.len() >= 2 {
                self.steps.push(PlanStep::Transfer(targets, kind));
            }
        }
    }

    fn find(&mut self, words: &[&PatternWord]) {
        let is_removal = words.iter().any(|word| word.raw == "-delete")
            || words.windows(2).any(|two| {
                two[0].raw.starts_with("-exec") && matches!(two[1].raw.as_str(), "rm" | "rmdir" | "shred" | "unlink")
            });
        if !is_removal {
            return;
        }
        let roots =
            words.iter().take_while(|word| !word.raw.starts_with(['-', '(', '!', '\\'])).copied().collect::<Vec<_>>();
        let here = PatternWord { pieces: vec![WordPiece::Text(".".into())], raw: ".".into() };
        let roots = if roots.is_empty() { self.patterns(&[&here]) } else { self.patterns(&roots) };
        if let Some(roots) = roots {
            self.steps.push(PlanStep::RemoveBelow(roots));
        }
    }

    /// Patterns in a command that is not known to remove anything.
    fn others(&mut self, verb: &str, words: &[&PatternWord]) {
        if words.iter().any(|word| names_removal(&word.raw)) {
            return self.unknown(format!("what `{verb}` makes of its words"));
        }
        match writers::writes(verb, words) {
            Some(all) => all.into_iter().for_each(|writes| self.writes(writes)),
            None => self.unseen(format!("what `{verb}` changes in files")),
        }
        self.matched(words);
    }

    fn writes(&mut self, writes: Writes) {
        match writes {
            Writes::Replaced(files) => self.files(&files, PlanStep::Replace),
            Writes::Written(files) => self.files(&files, PlanStep::Write),
            Writes::Folders(files) => self.files(&files, PlanStep::MakeFolders),
            Writes::Copied(files) => self.transfer_to(&files.iter().collect::<Vec<_>>(), TransferKind::Copy),
            Writes::Attributes(files, is_deep) => self.files(&files, |files| PlanStep::Attributes(files, is_deep)),
            Writes::Below(files, endings) if files.is_empty() => {
                self.steps.push(PlanStep::WriteBelow(Vec::new(), endings));
            }
            Writes::Below(files, endings) => self.files(&files, |files| PlanStep::WriteBelow(files, endings)),
            Writes::Says(phrase) => self.unseen(phrase.to_owned()),
        }
    }

    fn matched(&mut self, words: &[&PatternWord]) {
        for word in words
            .iter()
            .filter(|word| word.pieces.iter().any(|piece| matches!(piece, WordPiece::Star | WordPiece::One)))
        {
            if let Some(pattern) = self.pattern(word).ok().filter(Pattern::is_open) {
                self.steps.push(PlanStep::Match(pattern));
            }
        }
    }

    /// What the words name; `None`, and noted, if one of them is uncertain.
    fn patterns(&mut self, words: &[&PatternWord]) -> Option<Vec<Pattern>> {
        match words.iter().map(|word| self.pattern(word)).collect() {
            Ok(patterns) => Some(patterns),
            Err(what) => {
                self.unknown(what);
                None
            }
        }
    }

    fn pattern(&self, word: &PatternWord) -> Result<Pattern, String> {
        let mut letters = Vec::new();
        for piece in &word.pieces {
            match piece {
                WordPiece::Star => letters.push(None),
                WordPiece::One => letters.push(Some(None)),
                WordPiece::Text(text) => letters.extend(as_letters(text)),
                WordPiece::Tilde => letters.extend(as_letters(&self.known.home.to_string_lossy())),
                WordPiece::Variable(name, is_quoted) => {
                    let value =
                        self.known.variables.get(name).ok_or_else(|| format!("what ${name} holds in the shell"))?;
                    let is_split = value.is_empty() || value.contains(|c: char| c.is_whitespace() || "*?[".contains(c));
                    if !is_quoted && is_split {
                        return Err(format!("what the shell makes of ${name}"));
                    }
                    letters.extend(as_letters(value));
                }
            }
        }
        Ok(Pattern { raw: word.raw.clone(), letters })
    }
}

fn as_letters(text: &str) -> impl Iterator<Item = Option<Option<char>>> {
    text.chars().map(|c| Some(Some(c)))
}

fn operands<'a>(words: &[&'a PatternWord]) -> Vec<&'a PatternWord> {
    let end = words.iter().position(|word| word.raw == "--").unwrap_or(words.len());
    let (before, behind) = words.split_at(end);
    let plain = before.iter().filter(|word| !word.raw.starts_with('-') || word.raw == "-");
    plain.chain(behind.iter().skip(1)).copied().collect()
}

fn is_option(word: &PatternWord, letter: char, long: &str) -> bool {
    let is_short = word.raw.starts_with('-') && !word.raw.starts_with("--") && word.raw.contains(letter);
    is_short || word.raw.starts_with(long)
}

fn is_recursive(words: &[&PatternWord]) -> bool {
    let end = words.iter().position(|word| word.raw == "--").unwrap_or(words.len());
    words[..end].iter().any(|word| is_option(word, 'r', "--recursive") || is_option(word, 'R', "--recursive"))
}
