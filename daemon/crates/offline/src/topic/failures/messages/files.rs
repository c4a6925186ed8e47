//! Messages about files, permissions and wrong usage, and their meanings.

use super::{Look, Message};

pub(super) const MESSAGES: &[Message] = &[
    (&["unbound variable", "parameter not set"], "The script uses a variable that is not set.", Look::Nothing),
    (
        &["no matches found", "no matches for wildcard"],
        "No file fits the pattern, and this shell does not pass it on: quote it if the program should see it.",
        Look::Nothing,
    ),
    (&["event not found"], "`!` recalls an earlier line of the history; put it into single quotes.", Look::Nothing),
    (
        &["permission denied", "permissionerror", "eacces", "keine berechtigung"],
        "You do not have permission to do that.",
        Look::Denied,
    ),
    (&["operation not permitted", "eperm"], "Only the owner or root may do that.", Look::Denied),
    (
        &[
            "no such file or directory",
            "enoent",
            "filenotfounderror",
            "does not exist",
            "datei oder verzeichnis nicht gefunden",
        ],
        "There is no file or folder of that name.",
        Look::Missing,
    ),
    (&["is a directory", "eisdir"], "It is a folder, but a file was expected.", Look::Nothing),
    (&["not a directory", "enotdir"], "It is a file, but a folder was expected.", Look::Nothing),
    (&["file exists", "eexist", "already exists"], "A file or folder of that name already exists.", Look::Nothing),
    (&["directory not empty", "enotempty"], "The folder still holds files.", Look::Nothing),
    (
        &[
            "invalid option",
            "unrecognized option",
            "unrecognized argument",
            "unknown option",
            "unexpected argument",
            "illegal option",
        ],
        "The program does not know that option; its `--help` lists the options.",
        Look::Nothing,
    ),
    (
        &["missing operand", "missing file operand", "too few arguments", "following required arguments"],
        "An argument is missing, such as the name of a file.",
        Look::Nothing,
    ),
    (
        &[
            "error ts",
            "error: ",
            ": error",
            "undeclared",
            "syntaxerror",
            "traceback (most recent call last)",
            "uncaught",
            "exception in thread",
            "panicked at",
        ],
        "The program or its compiler reports an error.",
        Look::Code,
    ),
];
