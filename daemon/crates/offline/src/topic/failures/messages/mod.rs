//! Meanings of messages of common programs: pure data, grouped by subject.

mod code;
mod files;
mod git;
mod machine;
mod programs;

use std::sync::LazyLock;

/// What to look at to say more than the message does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Look {
    /// The message says it all.
    Nothing,
    /// Programs of a similar name, and the package that has it.
    Command,
    /// Who may do what with the file.
    Denied,
    /// Files of a similar name.
    Missing,
    /// Who holds the port.
    Port,
    /// Which file system is full.
    Space,
    /// Which files are in conflict.
    Conflict,
    /// What the project says about its modules.
    Module,
    /// The first line of the script.
    Interpreter,
    /// Other versions of the library.
    Library,
    /// Whether there is a network at all.
    Network,
    /// Whether anything listens there.
    Refused,
    /// The first error of a compiler or interpreter, with its place.
    Code,
    /// The line itself holds the remedy, behind this text.
    Remedy(&'static str),
}

/// Parts of a message, in lower case; what it means; what else to look at.
pub(super) type Message = (&'static [&'static str], &'static str, Look);

/// The messages, the specific first: of two that fit the same line the upper one counts. Modules stand before files, as their
/// messages name files, too; files stand last, as their words stand in many messages.
pub(super) static MESSAGES: LazyLock<Vec<Message>> =
    LazyLock::new(|| [programs::MESSAGES, machine::MESSAGES, git::MESSAGES, code::MESSAGES, files::MESSAGES].concat());

/// What an exit status means by convention.
pub(super) fn status_meaning(status: i32) -> Option<&'static str> {
    Some(match status {
        2 => "Status 2 often means a wrong use of the command.",
        124 => "Status 124: `timeout` ended it because it took too long.",
        126 => "Status 126: the file was found but may not be run.",
        127 => "Status 127: there is no such command.",
        130 => "Status 130: it was interrupted with Ctrl-C.",
        131 => "Status 131: it was ended with Ctrl-\\.",
        134 => "Status 134: it aborted itself, which a failed check inside of it does.",
        136 => "Status 136: it divided by zero or the like.",
        137 => "Status 137: it was killed by force, often because memory ran out.",
        139 => "Status 139: it crashed (segmentation fault): it touched memory it must not, a bug in it.",
        141 => {
            "Status 141: the program it wrote to had already ended (a broken pipe), as with `| head`. That is rarely a fault."
        }
        143 => "Status 143: it was asked to end.",
        148 => "Status 148: it was put aside with Ctrl-Z; `fg` brings it back.",
        255 => "Status 255: with `ssh` it means that the connection failed.",
        _ => return None,
    })
}
