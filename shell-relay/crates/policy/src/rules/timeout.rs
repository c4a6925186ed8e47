//! Judges `timeout`, which runs another program for so long. Both are locked.

use cohab_shell_syntax::Word;

use super::{Place, Refusal, ask, assess_words, input, is_plain_name};

/// Options without a value.
const FLAGS: [&str; 4] = ["--foreground", "--preserve-status", "-v", "--verbose"];

pub(super) fn assess(words: &[Word], place: Place<'_>, has_input: bool) -> Result<(), Refusal> {
    let Some((name, words)) = command_of(words).and_then(<[Word]>::split_first) else {
        return ask("`timeout` without a command, or with an option that is not known");
    };
    if !is_plain_name(name) || !place.context.confines(&name.text) {
        return ask(format!("`timeout` runs `{}`, which the lock does not keep from harm", name.text));
    }
    if let Some(reason) = input::why_it_never_ends(&name.text, words, has_input) {
        return ask(reason);
    }
    assess_words(&name.text, words, place, has_input)
}

/// The command in the words behind `timeout`; `None` if an option or the time is not known.
pub(super) fn command_of(words: &[Word]) -> Option<&[Word]> {
    let mut words = words;
    while let Some((option, rest)) = words.split_first().filter(|(option, _)| option.text.starts_with('-')) {
        let takes_value = option.text == "-k";
        let is_known = takes_value || FLAGS.contains(&option.text.as_str()) || option.text.starts_with("--kill-after=");
        words = rest.get(usize::from(takes_value)..).filter(|_| is_known && !option.has_glob)?;
    }
    words.split_first().filter(|(time, _)| is_time(&time.text)).map(|(_, command)| command)
}

/// `5`, `2.5s`, `1m`.
fn is_time(time: &str) -> bool {
    let number = time.strip_suffix(['s', 'm', 'h', 'd']).unwrap_or(time);
    number.parse::<f64>().is_ok_and(|number| number > 0.0) && number.starts_with(|sign: char| sign.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::super::super::{Context, Level, Lock, assess_line};

    #[test]
    fn the_command_that_is_run_counts() {
        let context = Context::new(Path::new("/home/ann/work/app"), Path::new("/home/ann"));
        let level = |line: &str, lock| assess_line(line, Context { lock, ..context }).level;
        for line in ["timeout 5 ls -l", "timeout -k 1 2m du -sh .", "ls | timeout --kill-after=1 3s cat"] {
            assert_eq!(level(line, Some(Lock::UNNAMED)), Level::Allow, "{line}");
            assert_ne!(level(line, None), Level::Allow, "{line}");
        }
        for line in [
            "timeout 5 rm a",
            "timeout 5",
            "timeout x ls",
            "timeout -5 ls",
            "timeout 5 tail -f a.log",
            "timeout -s KILL 5 ls",
            "timeout 5 cat",
            "timeout 5 docker ps",
            "timeout 5 cd /",
            "timeout 5 timeout 5 touch a",
            "timeout 5 cat .env",
            "timeout $(id) ls",
        ] {
            assert_ne!(level(line, Some(Lock::UNNAMED)), Level::Allow, "{line}");
        }
    }
}
