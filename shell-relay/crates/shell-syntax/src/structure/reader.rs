//! Reads a line of bash or zsh from left to right, and writes the plain commands that it runs.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    ops::Range,
};

use cohab_shell_state::shell::Shell;

use super::{
    commands::{Computed, ComputedKind, Read, Structure},
    out::Out,
    values::{SEPARATORS, Source, Value, is_name},
};
use crate::vocabulary::Vocabulary;

/// Deepest nesting of lists of commands that is followed.
pub(super) const MAX_DEPTH: usize = 6;
/// Largest number of commands that are followed, those of a loop counted each time.
pub(super) const MAX_STEPS: usize = 1000;

/// The signs that end a word outside of quotes.
pub(super) const ENDS_WORD: &str = " \t\n;&|<>()";
pub(super) const CODE_IN_TEXT: &str = "has a text that a shell may run as code";
/// No known reason would say more than the line itself.
pub(super) const NOT_READ: Refused = None;
pub(super) const FOLDER_CHANGES: &str = "changes to directories that are not known beforehand";

pub(super) type Refused = Option<&'static str>;

/// Variables that are given a value more than once, and whether it is a number each time; and the one of [`SEPARATORS`].
pub(super) type Changing = BTreeMap<String, bool>;

/// The end of a list of commands.
#[derive(Clone, Copy)]
pub(super) enum Until<'a> {
    End,
    Parenthesis,
    Words(&'a [&'a str]),
    Case,
}

/// The number of constructs around the current place of a reader.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Around {
    pub loops: usize,
    /// Changes in them are gone behind them.
    pub subshells: usize,
    /// Lists of commands.
    pub depth: usize,
}

/// The pipe at the current place of a reader.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Pipe {
    /// A pipe leads to the next command.
    pub is_piped: bool,
    /// The pipe so far holds more than simple commands.
    pub has_compound: bool,
}

/// What makes a text of the line code to a shell.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct CodeInTexts {
    /// A program gets a text that is code to a shell which computes with it.
    pub holds_code: bool,
    /// The line's shell computes with something.
    pub computes: bool,
}

/// See the module's description.
#[derive(Clone, Debug)]
pub(super) struct Reader<'a> {
    pub shell: Shell,
    pub vocabulary: &'a dyn Vocabulary,
    pub line: &'a str,
    pub at: usize,
    pub out: Out,
    /// The lists of commands in substitutions, in the order of their numbers.
    pub lists: Vec<Out>,
    pub variables: HashMap<String, Value>,
    /// Variables that the line uses without setting them.
    pub environment: BTreeSet<String>,
    /// Functions of the line.
    pub functions: BTreeSet<String>,
    /// Number of function bodies around the current place.
    pub open_functions: usize,
    /// Names of commands so far.
    pub called: BTreeSet<String>,
    pub changing: Changing,
    /// The places where each variable is given a value, and whether it is a number there.
    pub assigned: BTreeMap<String, BTreeMap<usize, bool>>,
    /// The variables in the order in which they were given values, and whether they had an earlier value of the line's.
    pub log: Vec<(String, bool)>,
    pub around: Around,
    pub steps: usize,
    pub pipe: Pipe,
    pub has_xargs: bool,
    /// The line has groups, conditions or loops.
    pub has_blocks: bool,
    /// The start of the rest of the line, behind the command at its front that changes the folder.
    pub behind_cd: usize,
    /// The command means nothing else with fewer words.
    pub may_lack: bool,
    /// The line has more than plain commands.
    pub has_more: bool,
    /// The word belongs to a builtin to which it is a text.
    pub is_text: bool,
    pub code: CodeInTexts,
}

impl<'a> Reader<'a> {
    pub(super) fn new(shell: Shell, line: &'a str, vocabulary: &'a dyn Vocabulary, changing: Changing) -> Self {
        Self {
            shell,
            vocabulary,
            line,
            at: 0,
            out: Out::default(),
            lists: Vec::new(),
            variables: HashMap::new(),
            environment: BTreeSet::new(),
            functions: BTreeSet::new(),
            open_functions: 0,
            called: BTreeSet::new(),
            changing,
            assigned: BTreeMap::new(),
            log: Vec::new(),
            around: Around::default(),
            steps: 0,
            pipe: Pipe::default(),
            has_xargs: false,
            has_blocks: false,
            behind_cd: 0,
            may_lack: false,
            has_more: false,
            is_text: false,
            code: CodeInTexts::default(),
        }
    }

    /// Reads the whole line.
    pub(super) fn read(mut self) -> Read<Self> {
        self.list(Until::End)?;
        if self.has_more { Ok(self) } else { Err(NOT_READ) }
    }

    pub(super) fn changing(&self) -> Changing {
        let more_than_once = self.assigned.iter().filter(|(name, places)| places.len() > 1 || *name == SEPARATORS);
        more_than_once.map(|(name, places)| (name.clone(), places.values().all(|is_number| *is_number))).collect()
    }

    /// The commands, those of substitutions last.
    pub(super) fn finish(self) -> Read<Structure> {
        if self.has_xargs && self.has_blocks {
            return Err(Some("`xargs` runs a command on what is not known"));
        }
        if self.code.holds_code && self.code.computes {
            return Err(Some(CODE_IN_TEXT));
        }
        let mut out = self.out;
        for list in self.lists.iter().filter(|list| !list.text.is_empty()) {
            out.append(list)?;
        }
        let computed = out.marks.drain(..).map(|(place, source)| {
            let kind = match source {
                Source::Number => ComputedKind::Number,
                Source::Matches => ComputedKind::Known,
                Source::Any => ComputedKind::Any,
            };
            Computed { place, kind }
        });
        let computed = computed.collect();
        let environment = self.environment.into_iter().collect();
        Ok(Structure { text: out.text, computed, environment, behind_cd: self.behind_cd })
    }

    pub(super) fn rest(&self) -> &'a str {
        &self.line[self.at..]
    }

    pub(super) fn next(&self) -> Option<char> {
        self.rest().chars().next()
    }

    pub(super) fn eat(&mut self, text: &str) -> bool {
        let is_there = self.rest().starts_with(text);
        self.at += if is_there { text.len() } else { 0 };
        is_there
    }

    pub(super) fn expect(&mut self, text: &str) -> Read<()> {
        if self.eat(text) { Ok(()) } else { Err(NOT_READ) }
    }

    pub(super) fn skip_blanks(&mut self) {
        while self.eat(" ") || self.eat("\t") {}
    }

    pub(super) fn skip_space(&mut self) {
        while self.eat(" ") || self.eat("\t") || self.eat("\n") {}
    }

    /// The bare word that begins here.
    pub(super) fn bare_word(&self) -> &'a str {
        let rest = self.rest();
        &rest[..rest.find(|c: char| ENDS_WORD.contains(c)).unwrap_or(rest.len())]
    }

    /// Takes this word, if it is the next one.
    pub(super) fn eat_word(&mut self, word: &str) -> bool {
        self.bare_word() == word && self.eat(word)
    }

    pub(super) fn expect_word(&mut self, word: &str) -> Read<()> {
        self.skip_space();
        if self.eat_word(word) { Ok(()) } else { Err(NOT_READ) }
    }

    /// Goes one level further down; the caller goes up again.
    pub(super) fn go_deeper(&mut self, most: usize) -> Read<()> {
        self.around.depth += 1;
        if self.around.depth > most { Err(Some("nests too deep to be checked")) } else { Ok(()) }
    }

    /// Reads commands up to their end sign, which is not consumed.
    pub(super) fn list(&mut self, until: Until<'_>) -> Read<()> {
        self.go_deeper(MAX_DEPTH)?;
        let mut is_empty = true;
        loop {
            self.skip_space();
            if self.is_at(until) {
                break;
            }
            self.joined()?;
            is_empty = false;
            self.skip_blanks();
            if self.is_at(until) {
                break;
            }
            if self.rest().starts_with(";;") || !(self.eat(";") || self.eat("\n")) {
                return Err(if self.next() == Some('&') { Some("runs a command in the background") } else { NOT_READ });
            }
        }
        self.around.depth -= 1;
        if is_empty { Err(Some("contains no command")) } else { Ok(()) }
    }

    fn is_at(&self, until: Until<'_>) -> bool {
        match until {
            Until::End => self.rest().is_empty(),
            Until::Parenthesis => self.next() == Some(')'),
            Until::Words(words) => words.contains(&self.bare_word()),
            Until::Case => self.rest().starts_with(";;") || self.bare_word() == "esac",
        }
    }

    /// Pipes joined by `&&` and `||`.
    pub(super) fn joined(&mut self) -> Read<()> {
        self.pipe()?;
        let scope = self.log.len();
        loop {
            self.skip_blanks();
            if !(self.eat("&&") || self.eat("||")) {
                break;
            }
            // The commands in front may not have run.
            self.leave(scope);
            self.skip_space();
            self.pipe()?;
        }
        self.leave(scope);
        Ok(())
    }

    fn pipe(&mut self) -> Read<()> {
        while self.eat_word("!") || self.eat_word("time") {
            self.skip_blanks();
            self.has_more = true;
        }
        let (scope, had_compound) = (self.log.len(), self.pipe.has_compound);
        let start = self.out.text.len();
        self.pipe.has_compound = false;
        self.command()?;
        loop {
            self.skip_blanks();
            if self.rest().starts_with("||") || !self.eat("|") {
                break;
            }
            if self.next() == Some('&') {
                return Err(NOT_READ);
            }
            self.skip_space();
            // Each command of a pipe runs in a separate shell.
            self.leave(scope);
            self.pipe.is_piped = self.out.text.len() > start;
            self.command()?;
            self.pipe.is_piped = false;
            self.leave(scope);
        }
        self.pipe.has_compound = had_compound;
        Ok(())
    }

    /// Leaves a part that may not have run, or ran in a separate shell: the variables that were given values since `scope`, a length of
    /// the log, may hold their earlier values.
    pub(super) fn leave(&mut self, scope: usize) {
        for (name, had_value) in &self.log[scope..] {
            if !(*had_value && self.changing.get(name) == Some(&true)) {
                self.variables.insert(name.clone(), Value::Computed(Source::Any));
            }
        }
    }

    /// The list of commands in a substitution that ends with `)`: its number.
    pub(super) fn substituted(&mut self) -> Read<usize> {
        let outer_out = std::mem::take(&mut self.out);
        let (is_piped, has_compound, is_text, scope) =
            (self.pipe.is_piped, self.pipe.has_compound, self.is_text, self.log.len());
        (self.pipe.is_piped, self.pipe.has_compound) = (false, false);
        self.has_more = true;
        if self.rest().trim_start().starts_with('<') && !self.rest().trim_start().starts_with("<(") {
            // The shell itself reads the file.
            self.skip_blanks();
            let redirects = self.redirects()?;
            let outer = (is_piped, has_compound, is_text);
            (self.pipe.is_piped, self.pipe.has_compound, self.is_text) = outer;
            self.out = outer_out;
            self.stand_for_redirects(&redirects);
            self.expect(")")?;
            return Ok(self.lists.len() - 1);
        }
        self.around.subshells += 1;
        self.list(Until::Parenthesis)?;
        self.around.subshells -= 1;
        self.leave(scope);
        self.expect(")")?;
        (self.pipe.is_piped, self.pipe.has_compound, self.is_text) = (is_piped, has_compound, is_text);
        let list = std::mem::replace(&mut self.out, outer_out);
        self.lists.push(list);
        Ok(self.lists.len() - 1)
    }

    /// Adds commands for a construct that runs none, so that it is judged all the same.
    pub(super) fn aside(&mut self, text: String) {
        self.lists.push(Out { text, ..Out::default() });
    }

    /// The variable gets this value here.
    pub(super) fn assign(&mut self, name: &str, at: usize, value: Value) {
        self.assign_from(name, at, value, true);
    }

    /// As [`assign`](Self::assign); a value that `is_own` does not come from another variable, which may hold another value the next
    /// time.
    pub(super) fn assign_from(&mut self, name: &str, at: usize, value: Value, is_own: bool) {
        let is_number = matches!(&value, Value::Computed(source) if source.is_number())
            || matches!(&value, Value::Text(text) if text.bytes().all(|byte| byte.is_ascii_digit()));
        // Each time a loop comes by here.
        let seen = self.assigned.entry(name.to_owned()).or_default().entry(at).or_insert(true);
        *seen &= is_number && is_own;
        let value = match self.changing.get(name) {
            Some(true) => Value::Computed(Source::Number),
            Some(false) => Value::Computed(Source::Any),
            None => value,
        };
        let had_value = self.variables.get(name).is_some_and(|value| *value != Value::Computed(Source::Any));
        self.log.push((name.to_owned(), had_value));
        self.variables.insert(name.to_owned(), value);
    }

    /// The value of a variable of the shell's environment; `None` if it may be secret, or is not known.
    pub(super) fn of_environment(&self, name: &str) -> Option<Value> {
        let is_number = self.vocabulary.is_number(name) && self.shell != Shell::Fish;
        let source = if is_number { Source::Number } else { Source::Any };
        self.vocabulary.may_be_shown(name).then_some(Value::Computed(source))
    }

    /// Whether a line may use this name for a variable: only the line itself reads such a variable.
    pub(super) fn is_own_name(&self, name: &str) -> bool {
        is_name(name)
            && !name.starts_with("__")
            && !name.starts_with("fish_")
            && name != "_"
            && self.vocabulary.is_free(name, self.shell)
    }

    /// The text at these bytes of the line.
    pub(super) fn text(&self, range: Range<usize>) -> &'a str {
        &self.line[range]
    }
}
