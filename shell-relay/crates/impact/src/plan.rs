//! Plans the file lookups for a command line: the patterns that it enters, removes, replaces or matches. Pure.

use std::{collections::BTreeMap, path::PathBuf};

use super::words::{PatternWord, WordPiece, WordToken, tokens};

/// More words than this are not looked at one by one.
const MAX_TARGETS: usize = 200;
/// Words behind which other rules hold than those of simple commands.
const KEYWORDS: &[&str] = &[
    "if", "then", "else", "elif", "fi", "for", "while", "until", "do", "done", "case", "esac", "function", "select",
    "begin", "end", "switch", "eval", "source", ".", "repeat", "coproc", "!", "[[",
];
/// What runs the command behind it as it is.
const PREFIXES: &[&str] = &["command", "nohup", "time", "sudo", "doas", "builtin"];
/// Programs that change no file by themselves. Their redirections are read apart from them.
const QUIET: &[&str] = &[
    "alias", "awk", "basename", "cat", "cut", "date", "df", "diff", "dirname", "du", "echo", "env", "exit", "export",
    "false", "file", "grep", "head", "hostname", "id", "jq", "kill", "less", "ls", "man", "printf", "ps", "pwd",
    "read", "realpath", "rg", "seq", "set", "sleep", "sort", "stat", "tail", "test", "tr", "true", "type", "umask",
    "uname", "unalias", "uniq", "unset", "wait", "wc", "which", "whoami", "xxd", "[",
];
/// Subcommands of git that change no file of the user.
const QUIET_GIT: &[&str] = &[
    "add",
    "blame",
    "branch",
    "commit",
    "config",
    "describe",
    "diff",
    "fetch",
    "log",
    "ls-files",
    "ls-tree",
    "push",
    "remote",
    "rev-parse",
    "shortlog",
    "show",
    "status",
    "tag",
];
/// Options of `truncate` with a value.
const SIZES: &[&str] = &["-s", "-r", "--size", "--reference"];
/// Options of `sed` with a script.
const SCRIPTS: &[&str] = &["-e", "-f", "--expression", "--file"];
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

/// What is to be looked at, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// What is known.
    pub home: PathBuf,
    /// Where the line begins.
    pub cwd: PathBuf,
    /// The looks.
    pub steps: Vec<PlanStep>,
}

/// One look.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PlanStep {
    /// The shell goes there.
    Enter(Pattern),
    /// These are removed, with what is in them or not.
    Remove(Vec<Pattern>, bool),
    /// Something below these is removed.
    RemoveBelow(Vec<Pattern>),
    /// The content of these is replaced.
    Replace(Vec<Pattern>),
    /// The first go to where the last says, and stay where they are unless they are moved.
    Transfer(Vec<Pattern>, bool),
    /// These are written to, or made.
    Write(Vec<Pattern>),
    /// The changes of files by a program that nothing is known about, as a phrase.
    Unseen(String),
    /// A pattern in any other command.
    Match(Pattern),
    /// Uncertain, and why.
    Unknown(String),
    /// From here on the shell's folder is uncertain.
    Lost,
}

/// A word that names files. Pieces stand for letters, `*` and `?`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    /// As written.
    pub raw: String,
    /// Its letters; `None` is `*`, `Some(None)` is `?`.
    pub letters: Vec<Option<Option<char>>>,
}

impl Pattern {
    /// Whether it can stand for more than one name.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.letters.iter().any(|letter| !matches!(letter, Some(Some(_))))
    }
}

impl Plan {
    /// Whether there is something to say before the command runs.
    #[must_use]
    pub fn is_worth_a_look(&self) -> bool {
        !self.steps.iter().all(|step| matches!(step, PlanStep::Write(_) | PlanStep::Unseen(_)))
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
        for token in tokens.iter().chain([&WordToken::Next]) {
            match token {
                WordToken::Word(word) => match file.take() {
                    Some(WordToken::Output) => replaced.push(word),
                    Some(WordToken::Append) => written.push(word),
                    Some(_) => {}
                    None => words.push(word),
                },
                WordToken::Output | WordToken::Append | WordToken::OtherFile => file = Some(token),
                WordToken::Next | WordToken::Pipe => {
                    self.command(&std::mem::take(&mut words));
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

    fn command(&mut self, words: &[&PatternWord]) {
        let Some((first, rest)) = words.split_first() else { return };
        let Some(name) = first.literal() else { return self.unknown("which command runs".into()) };
        let verb = name.rsplit('/').next().unwrap_or_default();
        if PREFIXES.contains(&verb) && !rest.first().is_some_and(|word| word.raw.starts_with('-')) {
            return self.command(rest);
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
            "mv" | "cp" => self.transfer(rest, verb == "mv"),
            "truncate" => self.replace(&without_values(rest, SIZES)),
            "tee" if !rest.iter().any(|word| matches!(word.raw.as_str(), "-a" | "--append")) => self.replace(rest),
            "find" => self.find(rest),
            "touch" | "mkdir" | "ln" | "tee" => self.write(&operands(rest)),
            "sed" => self.sed(rest),
            "git" => self.git(rest),
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

    fn replace(&mut self, words: &[&PatternWord]) {
        if let Some(targets) = self.patterns(&operands(words))
            && !targets.is_empty()
        {
            self.steps.push(PlanStep::Replace(targets));
        }
    }

    fn write(&mut self, words: &[&PatternWord]) {
        if let Some(targets) = self.patterns(words)
            && !targets.is_empty()
        {
            self.steps.push(PlanStep::Write(targets));
        }
    }

    /// `sed -i` writes to all operands, but the first is the script if no option has one.
    fn sed(&mut self, words: &[&PatternWord]) {
        if words.iter().any(|word| is_option(word, 'i', "--in-place")) {
            let has_script = words.iter().any(|word| SCRIPTS.contains(&word.raw.as_str()));
            let mut files = operands(&without_values(words, SCRIPTS));
            files.drain(..files.len().min(usize::from(!has_script)));
            self.write(&files);
        }
        self.matched(words);
    }

    fn git(&mut self, words: &[&PatternWord]) {
        let subcommand = words.first().map(|word| word.raw.as_str()).unwrap_or_default();
        let files = match words.iter().position(|word| word.raw == "--") {
            Some(dashes) => &words[dashes + 1..],
            None if subcommand == "restore" => words.get(1..).unwrap_or_default(),
            None => &[],
        };
        let is_plain = !files.is_empty() && files.iter().all(|word| !word.raw.starts_with(['-', ':']));
        match subcommand {
            "checkout" | "restore" if is_plain => self.write(files),
            _ if QUIET_GIT.contains(&subcommand) || subcommand.is_empty() => {}
            _ => self.steps.push(PlanStep::Unseen(format!("what `git {subcommand}` changes in files"))),
        }
        self.matched(words);
    }

    fn transfer(&mut self, words: &[&PatternWord], is_move: bool) {
        let has = |letter: char, long: &str| words.iter().any(|word| is_option(word, letter, long));
        if has('t', "--target-directory") || has('T', "--no-target-directory") {
            return self.unknown("what is replaced where options name the place".into());
        }
        if has('n', "--no-clobber") {
            return;
        }
        if let Some(targets) = self.patterns(&operands(words))
            && targets.len() >= 2
        {
            self.steps.push(PlanStep::Transfer(targets, is_move));
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
        self.matched(words);
        if !QUIET.contains(&verb) {
            self.steps.push(PlanStep::Unseen(format!("what `{verb}` changes in files")));
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

/// Without the values of these options.
fn without_values<'a>(words: &[&'a PatternWord], options: &[&str]) -> Vec<&'a PatternWord> {
    let mut kept = Vec::new();
    let mut skips = false;
    for word in words {
        if !std::mem::replace(&mut skips, options.contains(&word.raw.as_str())) {
            kept.push(*word);
        }
    }
    kept
}
