//! Messages of compilers, tests, shells and interpreters, and their meanings.

use super::{Look, Message};

pub(super) const MESSAGES: &[Message] = &[
    (
        &["test result: failed", "tests failed", "test failed", "failures=", "--- fail:", "failing"],
        "A test failed.",
        Look::Code,
    ),
    (
        &["error[e", "could not compile"],
        "The Rust compiler rejects the code; `rustc --explain CODE` explains an error.",
        Look::Code,
    ),
    (
        &["undefined reference", "ld returned", "linker command failed", "linking with `cc` failed"],
        "The linker cannot find a function: a library or an object file is missing.",
        Look::Code,
    ),
    (&["no rule to make target"], "`make` has no rule for that: a typo, or a missing source file.", Look::Code),
    (
        &["segmentation fault", "core dumped"],
        "The program accessed memory that is not its own: a bug in it.",
        Look::Nothing,
    ),
    (
        &[
            "syntax error near",
            "unexpected end of file",
            "unexpected eof",
            "unmatched \"",
            "unmatched '",
            "quotes are not balanced",
            "unexpected end of string",
        ],
        "The shell could not read the line: a quote or bracket is not closed, or a `then`, `do` or `fi` is missing.",
        Look::Nothing,
    ),
];
