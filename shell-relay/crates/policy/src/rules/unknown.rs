//! Judges programs that are in no table: asked about, unless the user lets the lock alone keep them from harm.

use cohab_shell_syntax::Word;

use super::{
    super::{Context, Lock, danger, options, paths},
    Refusal, ask, check_path_text, purposes,
};

/// Judges a program without a row. With `approval.confined = "all"` it runs behind the lock, where it cannot change or send anything; a
/// file that it would read must not be secret.
pub(super) fn assess(name: &str, words: &[Word], context: Context<'_>) -> Result<(), Refusal> {
    if let Some(reason) = why_never(name) {
        return ask(reason);
    }
    let may_be_confined = context.lock.is_some_and(Lock::takes_unknown) && context.confines(name);
    if !may_be_confined || danger::is_there_to_act(name) || options::has_phrases(name) {
        return ask(purposes::of_program(name));
    }
    words.iter().try_for_each(|word| check_word(word, context))
}

/// A problem that the lock does not prevent; `None` if none is known.
fn why_never(name: &str) -> Option<String> {
    match name {
        "vi" | "vim" | "nvim" | "nano" | "emacs" | "more" | "most" | "htop" | "btop" | "mc" | "ranger" | "tmux"
        | "screen" | "info" => Some(format!("takes over the whole screen: `{name}`")),
        "watch" | "yes" => Some(format!("never ends by itself: `{name}`")),
        "passwd" | "ssh" | "su" | "sudo" | "doas" => Some(format!("may ask for a password: `{name}`")),
        _ => None,
    }
}

/// Checks all parts of a word that may be a path: the word, the text behind `=`, and behind an option of one letter.
fn check_word(word: &Word, context: Context<'_>) -> Result<(), Refusal> {
    let check = |text: &str, has_tilde| check_path_text(text, has_tilde, context, paths::read_risk);
    check(&word.text, word.has_tilde)?;
    if let Some((_, value)) = word.text.split_once('=') {
        check(value, false)?;
    }
    match word.text.char_indices().nth(2) {
        Some((at, _)) if word.text.starts_with('-') => check(&word.text[at..], false),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::super::super::{Context, Level, Lock, assess_line};

    fn level(line: &str, lock: Option<Lock<'static>>) -> Level {
        let context = Context::new(Path::new("/home/ann/work/app"), Path::new("/home/ann"));
        assess_line(line, Context { lock, ..context }).level
    }

    const ALL: Lock<'static> = Lock::UNNAMED.with_unknown_programs(true);

    #[test]
    fn unknown_programs_run_unasked_only_behind_a_lock_that_takes_them() {
        for line in
            ["gdalinfo dem.tif | grep Size", "frobnicate --level=3 data/*.csv", "for f in *.nc; do ncdump -h $f; done"]
        {
            assert_eq!(level(line, None), Level::Ask, "{line}");
            assert_eq!(level(line, Some(Lock::UNNAMED)), Level::Ask, "{line}");
            assert_eq!(level(line, Some(ALL)), Level::Allow, "{line}");
        }
    }

    #[test]
    fn what_the_lock_does_not_keep_from_harm_is_asked() {
        for line in [
            "frobnicate ~/.ssh/id_ed25519",
            "frobnicate --key=/home/ann/.ssh/id_ed25519",
            "frobnicate -k/home/ann/.ssh/id_ed25519",
            "frobnicate .env",
            "frobnicate > out",
            "./frobnicate",
            "python3 -c 'import frobnicate'",
            "bash -c ./frobnicate",
            "make -n",
            "setsid frobnicate",
            "ssh host",
            "sudo frobnicate",
            "nvim x",
            "cargo frobnicate",
            "docker frobnicate",
            "npm run x",
            "git frobnicate",
            "touch x",
            "curl -O https://example.invalid/x",
            "kubeadm reset",
            "eval frobnicate",
            "frobnicate &",
        ] {
            assert_ne!(level(line, Some(ALL)), Level::Allow, "{line}");
        }
    }
}
