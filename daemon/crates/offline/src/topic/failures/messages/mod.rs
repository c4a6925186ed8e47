//! The meanings of messages of common programs: pure data, grouped by subject. Nothing here reads output; that is in `super`.

mod code;
mod files;
mod git;
mod machine;
mod programs;

use std::sync::LazyLock;

/// The inspection that adds to the message's own text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Look {
    /// None: the message is sufficient.
    Nothing,
    /// Programs of a similar name, and the package that has it.
    Command,
    /// The permissions of the file.
    Denied,
    /// Files of a similar name.
    Missing,
    /// The process that holds the port.
    Port,
    /// The file system that is full.
    Space,
    /// The files in conflict.
    Conflict,
    /// The project's own list of modules.
    Module,
    /// The first line of the script.
    Interpreter,
    /// Other versions of the library.
    Library,
    /// The state of the network.
    Network,
    /// The port, which may have no listener.
    Refused,
    /// The first error of a compiler or interpreter, with its place.
    Code,
    /// The line itself holds the remedy, after this text.
    Remedy(&'static str),
}

/// Parts of a message, in lower case; its meaning; the inspection that adds to it.
pub(super) type Message = (&'static [&'static str], &'static str, Look);

/// The messages, specific ones first: of two that fit the same line the upper one counts. Modules precede files, since their messages name
/// files, too; files are last, since their words occur in many messages.
pub(super) static MESSAGES: LazyLock<Vec<Message>> =
    LazyLock::new(|| [programs::MESSAGES, machine::MESSAGES, git::MESSAGES, code::MESSAGES, files::MESSAGES].concat());

/// The conventional meaning of an exit status.
pub(super) fn status_meaning(status: i32) -> Option<&'static str> {
    Some(match status {
        2 => "Status 2 often means that the command was used wrongly.",
        124 => "Status 124: `timeout` ended it because it took too long.",
        126 => "Status 126: the file was found but may not be run.",
        127 => "Status 127: there is no such command.",
        130 => "Status 130: it was interrupted with Ctrl-C.",
        131 => "Status 131: it was ended with Ctrl-\\.",
        134 => "Status 134: it aborted, usually after a failed internal check.",
        136 => "Status 136: an arithmetic error, such as a division by zero.",
        137 => "Status 137: it was killed by force, often because memory ran out.",
        139 => "Status 139: it crashed (segmentation fault): it accessed memory that is not its own, a bug in it.",
        141 => {
            "Status 141: the program it wrote to had already ended (a broken pipe), as with `| head`. That is rarely a fault."
        }
        143 => "Status 143: it was asked to end.",
        148 => "Status 148: it was suspended with Ctrl-Z; `fg` resumes it.",
        255 => "Status 255: with `ssh` it means that the connection failed.",
        _ => return None,
    })
}
