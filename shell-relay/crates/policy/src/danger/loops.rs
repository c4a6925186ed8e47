//! Finds loops that never end and use something up.

use cohab_shell_syntax::Scan;

/// The beginnings of loops that do not end by themselves.
const ENDLESS: &[&str] =
    &["while true", "while :", "until false", "while [ 1 ]", "while ((1))", "for ((;;))", "for (( ; ; ))"];
/// Programs that leave something behind each time.
const MAKING: &[&str] = &["mkdir", "mktemp", "touch", "cp", "dd", "fallocate", "truncate", "tee"];

/// Whether an endless loop starts commands in the background, or makes files and never waits.
pub(super) fn starts_without_end(text: &str, scan: &Scan) -> bool {
    if !ENDLESS.iter().any(|start| text.contains(start)) {
        return false;
    }
    let has = |names: &[&str]| {
        scan.commands.iter().filter_map(|command| command.words.first()).any(|word| names.contains(&word.text.as_str()))
    };
    let without_other_signs = ["&&", ">&", "&>"].iter().fold(text.to_owned(), |text, sign| text.replace(sign, ""));
    without_other_signs.contains('&') || has(MAKING) && !has(&["sleep", "read", "wait"])
}

#[cfg(test)]
mod tests {
    use cohab_shell_syntax::scan;

    use super::*;

    #[test]
    fn a_loop_that_uses_the_machine_up_is_told_from_one_that_waits() {
        for line in ["while true; do bash & done", "while :; do mkdir x; cd x; done", "until false; do x & done"] {
            assert!(starts_without_end(line, &scan(line)), "{line}");
        }
        for line in [
            "while true; do date; sleep 1; done",
            "while true; do touch x; sleep 9; done 2>&1",
            "mkdir a && cd a",
            "x &",
        ] {
            assert!(!starts_without_end(line, &scan(line)), "{line}");
        }
    }
}
