//! Commands to the assistant itself: what follows the prefix and begins with `/`, as `? /help`. This list registers them; help,
//! parsing, completion and the nearest match come from it. Pure.

pub mod completion;
mod nearest;
pub mod own_output;
pub(crate) mod say;
mod stated;

/// What a command does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CommandKind {
    /// Lists the commands.
    Help,
    /// Shows or changes who answers.
    Model,
    /// Begins a new conversation.
    New,
    /// Takes back what the last turn changed in the shell.
    Undo,
    /// Takes the conversation back to an earlier question.
    Rewind,
    /// Shows what the last turn, or the conversation, changed in files.
    Diff,
    /// Shows the output of a step.
    Output,
    /// Asks the last question again.
    Retry,
    /// Holds the answer that is coming.
    Pause,
    /// Continues a turn that is held, or that the daemon's end interrupted.
    Resume,
    /// Works on a question behind the prompt.
    Background,
    /// Lists what is worked on behind the prompt.
    Tasks,
    /// Answers until a check succeeds.
    Goal,
    /// Lets several models debate a question.
    Debate,
    /// Lets programs elsewhere run commands in this shell.
    Share,
    /// Ends that.
    Unshare,
    /// Shortens the conversation.
    Compact,
    /// Lists conversations.
    Sessions,
    /// Shows or changes what may run unasked.
    Approve,
    /// Remembers a fact.
    Remember,
    /// Lists the remembered facts.
    Memory,
    /// Deletes remembered facts.
    Forget,
    /// Shows what the conversation took.
    Cost,
    /// Shows what the model is sent.
    Context,
    /// Copies a code block.
    Copy,
    /// Puts a code block on the prompt.
    Insert,
    /// Lists keys.
    Keys,
    /// Shows commands as they were typed.
    Typed,
    /// Looks whether everything is as it should be.
    Doctor,
}

/// One command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SlashCommand {
    /// Without the slash: lower-case letters.
    pub name: &'static str,
    /// What may follow, for people; empty if nothing.
    pub arguments: &'static str,
    /// What it does, in one short line.
    pub meaning: &'static str,
    /// What it does.
    pub kind: CommandKind,
}

/// All of them, in the order of the help.
pub(crate) const COMMANDS: [SlashCommand; 29] = [
    command("help", "", "list these commands", CommandKind::Help),
    command("keys", "", "list the keys", CommandKind::Keys),
    command("model", "[NAME|TIER]", "show or change the model", CommandKind::Model),
    command("new", "", "begin a new conversation", CommandKind::New),
    command("undo", "", "undo the changes of the last turn", CommandKind::Undo),
    command("rewind", "", "go back to an earlier question", CommandKind::Rewind),
    command("diff", "[session]", "show what changed in files", CommandKind::Diff),
    command("output", "[N]", "show the whole output of a step", CommandKind::Output),
    command("retry", "", "ask the last question again", CommandKind::Retry),
    command("pause", "", "hold the answer after its step", CommandKind::Pause),
    command("resume", "", "continue a held or interrupted answer", CommandKind::Resume),
    command("bg", "QUESTION", "work on it while the prompt is free", CommandKind::Background),
    command("tasks", "", "list what is worked on behind the prompt", CommandKind::Tasks),
    command("debate", "QUESTION", "let several models debate a question", CommandKind::Debate),
    command("goal", "WHAT :: COMMAND", "go on until a command succeeds", CommandKind::Goal),
    command("share", "[NAME]", "let agents elsewhere use this shell", CommandKind::Share),
    command("unshare", "", "stop sharing this shell", CommandKind::Unshare),
    command("compact", "", "shorten the conversation", CommandKind::Compact),
    command("sessions", "[WORDS]", "list or search conversations", CommandKind::Sessions),
    command("remember", "TEXT", "remember a fact", CommandKind::Remember),
    command("memory", "", "list the remembered facts", CommandKind::Memory),
    command("forget", "WORDS", "delete the facts with these words", CommandKind::Forget),
    command("approve", "[ask|read-only|auto|all]", "show or change what runs unasked", CommandKind::Approve),
    command("cost", "", "show tokens and cost so far", CommandKind::Cost),
    command("context", "", "show what the model is sent", CommandKind::Context),
    command("copy", "[N]", "copy a code block of the last answer", CommandKind::Copy),
    command("insert", "[N]", "put a code block on the prompt, unrun", CommandKind::Insert),
    command("typed", "", "show the last commands as typed", CommandKind::Typed),
    command("doctor", "", "check the installation", CommandKind::Doctor),
];

const fn command(
    name: &'static str,
    arguments: &'static str,
    meaning: &'static str,
    kind: CommandKind,
) -> SlashCommand {
    SlashCommand { name, arguments, meaning, kind }
}

/// What a question is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Parsed<'a> {
    /// A question for the model, also if it begins with a path.
    Question,
    /// A command, and what follows it.
    Command(&'static SlashCommand, &'a str),
    /// No command, but meant as one: the word, and what it may have been.
    Unknown(&'a str, Option<&'static SlashCommand>),
}

/// Looks what a question is. Only one lower-case word right behind the slash counts, and only if it is a command or nearly one, or
/// stands alone. "remember that ..." is `/remember` in other words, so that it needs no model; a question that ends with ` &` is one for
/// behind the prompt.
#[must_use]
pub(crate) fn parse(question: &str) -> Parsed<'_> {
    let Some(rest) = question.strip_prefix('/') else {
        if let Some(task) = question.strip_suffix(" &").map(str::trim).filter(|task| !task.is_empty()) {
            let background = COMMANDS.iter().find(|command| command.kind == CommandKind::Background);
            return background.map_or(Parsed::Question, |command| Parsed::Command(command, task));
        }
        let remember = COMMANDS.iter().find(|command| command.kind == CommandKind::Remember);
        let stated = remember.zip(stated::stated(question));
        return stated.map_or(Parsed::Question, |(command, fact)| Parsed::Command(command, fact));
    };
    let (word, words) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    if word.is_empty()
        || !word.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-_".contains(&byte))
    {
        return Parsed::Question;
    }
    if let Some(command) = COMMANDS.iter().find(|command| command.name == word) {
        // The daemon reads these: they are turns.
        let is_turn = match command.kind {
            CommandKind::Goal => is_goal(words),
            CommandKind::Debate => !words.trim().is_empty(),
            CommandKind::Share => true,
            _ => false,
        };
        if is_turn {
            return Parsed::Question;
        }
        return Parsed::Command(command, words.trim());
    }
    if nearest::is_folder(word) {
        return Parsed::Question;
    }
    match nearest::to(word) {
        None if !words.trim().is_empty() => Parsed::Question,
        nearest => Parsed::Unknown(word, nearest),
    }
}

/// The word behind the slash of a question that begins with one.
#[must_use]
pub(crate) fn word(question: &str) -> &str {
    question.strip_prefix('/').unwrap_or(question).split_whitespace().next().unwrap_or_default()
}

/// Whether a goal and the command that checks it stand there.
fn is_goal(words: &str) -> bool {
    let parts = words.rsplit_once("::").map(|(what, check)| [what.trim(), check.trim()]);
    parts.is_some_and(|parts| parts.iter().all(|part| !part.is_empty()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_known_with_what_follows_them() {
        for command in COMMANDS.iter().filter(|command| command.kind != CommandKind::Share) {
            assert_eq!(parse(&format!("/{}", command.name)), Parsed::Command(command, ""));
        }
        assert_eq!((parse("/share"), parse("/share web")), (Parsed::Question, Parsed::Question), "it is a turn");
        assert!(
            matches!(parse("/model  gpt 5 "), Parsed::Command(command, "gpt 5") if command.kind == CommandKind::Model)
        );
        assert!(matches!(parse("/help\tme"), Parsed::Command(command, "me") if command.kind == CommandKind::Help));
    }

    #[test]
    fn a_goal_with_a_check_is_a_question_and_one_without_is_misused() {
        assert_eq!(parse("/goal the tests pass :: cargo test"), Parsed::Question);
        for misused in ["/goal", "/goal the tests pass", "/goal :: x", "/goal x ::"] {
            assert!(
                matches!(parse(misused), Parsed::Command(command, _) if command.kind == CommandKind::Goal),
                "{misused}"
            );
        }
    }

    #[test]
    fn a_stated_fact_is_the_command_that_remembers_it() {
        for question in ["/remember staging is on  \"blue\"", "remember that staging is on  \"blue\""] {
            assert!(
                matches!(parse(question), Parsed::Command(command, "staging is on  \"blue\"") if command.name == "remember"),
                "{question}"
            );
        }
        assert_eq!(parse("remember what I did"), Parsed::Question);
    }

    #[test]
    fn a_slip_finds_the_command_that_was_meant() {
        for (typed, meant) in [
            ("/modle", "model"),
            ("/mdoel gpt", "model"),
            ("/hlep", "help"),
            ("/sesions foo", "sessions"),
            ("/cots", "cost"),
            ("/contxt", "context"),
            ("/aprove all", "approve"),
            ("/sess", "sessions"),
            ("/clear", "new"),
            ("/usage", "cost"),
            ("/mode", "model"),
            ("/remeber x is y", "remember"),
            ("/mem", "memory"),
            ("/memories", "memory"),
            ("/forgot x", "forget"),
        ] {
            let found = match parse(typed) {
                Parsed::Unknown(_, Some(command)) => command.name,
                other => panic!("{typed}: {other:?}"),
            };
            assert_eq!(found, meant, "{typed}");
        }
        assert_eq!(parse("/frobnicate"), Parsed::Unknown("frobnicate", None));
    }

    #[test]
    fn a_path_is_a_question() {
        for question in [
            "/usr/bin/ls what is this",
            "/usr/bin/ls",
            "/etc",
            "/tmp is full, why",
            "/dev what is in it",
            "/opt why so large",
            "/app does not start",
            "/home",
            "/frobnicate what is this",
            "/help/me",
            "/Help",
            "/help.txt what is in it",
            "/",
            "/ is full",
            "why",
            "what does /help do",
            "//new",
            "",
        ] {
            assert_eq!(parse(question), Parsed::Question, "{question}");
        }
    }

    #[test]
    fn every_command_is_a_word_that_shells_can_complete_and_its_help_fits_a_line() {
        for command in &COMMANDS {
            assert!(command.name.bytes().all(|byte| byte.is_ascii_lowercase()), "{}", command.name);
            assert!(command.meaning.len() <= 44, "{}", command.meaning);
            assert!(!nearest::is_folder(command.name));
        }
    }
}
