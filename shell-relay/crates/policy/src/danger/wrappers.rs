//! Unwraps programs that run the command in their arguments.

use cohab_shell_syntax::LooseWord;

use super::super::options;

/// Wrappers, with the options that take the next word and the number of operands in front of the command.
const WRAPPERS: &[(&str, &str, usize)] = &[
    ("env", "uCS", 0),
    ("nice", "n", 0),
    ("ionice", "cn", 0),
    ("timeout", "ks", 1),
    ("nohup", "", 0),
    ("stdbuf", "ioe", 0),
    ("setsid", "", 0),
    ("command", "", 0),
    ("builtin", "", 0),
    ("exec", "a", 0),
    ("time", "fo", 0),
    ("sudo", "ugpCDhRTtr", 0),
    ("doas", "uC", 0),
    ("pkexec", "", 0),
    ("runuser", "ugG", 0),
    ("xargs", "IndPLEsa", 0),
    ("parallel", "jINS", 0),
    ("watch", "n", 0),
    ("strace", "eopsuEaI", 0),
    ("ltrace", "eopsun", 0),
    ("chroot", "", 1),
    ("unshare", "", 0),
    ("nsenter", "tSG", 0),
    ("busybox", "", 0),
    ("toybox", "", 0),
    ("taskset", "", 1),
    ("chrt", "", 1),
    ("flock", "wE", 1),
    ("setarch", "", 1),
    ("proxychains", "f", 0),
    ("proxychains4", "f", 0),
    ("torsocks", "", 0),
    ("faketime", "", 1),
    ("dbus-run-session", "", 0),
    ("xvfb-run", "ns", 0),
    ("catchsegv", "", 0),
    ("firejail", "", 0),
    ("systemd-run", "puM", 0),
    ("caffeinate", "tw", 0),
    ("rlwrap", "", 0),
    ("unbuffer", "", 0),
    ("noglob", "", 0),
    ("nocorrect", "", 0),
    ("then", "", 0),
    ("-", "", 0),
    ("repeat", "", 1),
    ("and", "", 0),
    ("or", "", 0),
    ("not", "", 0),
    ("begin", "", 0),
    ("chronic", "", 0),
    ("ifne", "", 0),
    ("entr", "", 0),
    ("hyperfine", "wmMr", 0),
    ("perf", "", 1),
    ("valgrind", "", 0),
    ("script", "", 0),
    ("direnv", "", 2),
    ("nix-shell", "p", 0),
];

/// Programs with an option whose value is a shell text.
const TEXT_OPTIONS: &[(&str, &[&str])] = &[
    ("su", &["-c", "--command"]),
    ("runuser", &["-c", "--command"]),
    ("script", &["-c", "--command"]),
    ("flock", &["-c", "--command"]),
    ("env", &["-S", "--split-string"]),
    ("sg", &["-c"]),
    ("nix-shell", &["--run", "--command"]),
    ("tmux", &["-c"]),
    ("split", &["--filter"]),
    ("tar", &["--to-command", "-I", "--use-compress-program"]),
    ("man", &["-P", "--pager"]),
    ("sort", &["--compress-program"]),
    ("rg", &["--pre"]),
    ("ssh", &["-o"]),
    ("rsync", &["-e", "--rsh"]),
    ("git", &["--upload-pack", "--exec", "-x", "--extcmd"]),
    ("docker", &["-c"]),
];

/// Whether a program only runs another command, in some other way.
pub(crate) fn is_wrapper(verb: &str) -> bool {
    WRAPPERS.iter().any(|(name, ..)| *name == verb)
}

/// Whether `find` runs anything else than a program that reads the found files.
pub(super) fn runs_what_it_finds(verb: &str, arguments: &[LooseWord]) -> bool {
    let names = arguments.windows(2).filter(|pair| pair[0].text == "-exec").map(|pair| pair[1].text.as_str());
    let is_last = arguments.last().is_some_and(|word| word.text == "-exec");
    verb == "find" && (is_last || names.into_iter().any(|name| !options::reads_operands(name)))
}

/// The command that a wrapper runs, from its name on.
pub(super) fn inner_command<'a>(verb: &str, arguments: &'a [LooseWord]) -> Option<&'a [LooseWord]> {
    if matches!(verb, "find" | "fd" | "fdfind") {
        let actions = ["-exec", "-execdir", "-ok", "-okdir", "-x", "-X", "--exec", "--exec-batch"];
        let action = arguments.iter().position(|word| actions.contains(&word.text.as_str()))?;
        return Some(&arguments[action + 1..]).filter(|inner| !inner.is_empty());
    }
    let (_, taking, operands) = WRAPPERS.iter().find(|(name, ..)| *name == verb)?;
    let mut at = 0;
    while let Some(word) = arguments.get(at) {
        let text = word.text.as_str();
        let is_assignment = verb == "env" && text.contains('=') && !text.starts_with('-');
        match text.strip_prefix('-') {
            Some("-") => {
                at += 1;
                break;
            }
            Some(option) if option.len() == 1 && taking.contains(option) => at += 2,
            Some(_) => at += 1,
            None if is_assignment => at += 1,
            None => break,
        }
    }
    arguments.get(at + operands..).filter(|inner| !inner.is_empty())
}

/// Texts among the arguments that are run as shell code.
pub(super) fn inner_texts(verb: &str, arguments: &[LooseWord]) -> Vec<LooseWord> {
    if super::code::is_shell(verb) {
        let flag = arguments.iter().position(|word| {
            word.text.strip_prefix('-').is_some_and(|flags| !flags.starts_with('-') && flags.contains('c'))
        });
        return flag
            .and_then(|flag| arguments[flag + 1..].iter().find(|word| !word.text.starts_with('-')))
            .cloned()
            .into_iter()
            .collect();
    }
    match verb {
        "eval" | "watch" | "ssh" | "slogin" | "trap" => joined(verb, arguments).into_iter().collect(),
        "alias" => arguments
            .iter()
            .filter_map(|word| {
                word.text.split_once('=').map(|(_, code)| LooseWord { text: code.to_owned(), ..word.clone() })
            })
            .collect(),
        _ => option_texts(verb, arguments),
    }
}

fn joined(verb: &str, arguments: &[LooseWord]) -> Option<LooseWord> {
    let mut words = arguments;
    while let [first, rest @ ..] = words {
        if !first.text.starts_with('-') {
            break;
        }
        let takes_next = first.text.len() == 2
            && matches!(verb, "ssh" | "slogin" | "watch")
            && "bcDeFIiJlLmnOopQRSWw".contains(&first.text[1..]);
        words = if takes_next { rest.get(1..).unwrap_or_default() } else { rest };
    }
    if matches!(verb, "ssh" | "slogin") {
        words = words.get(1..)?;
    }
    if verb == "trap" {
        words = words.get(..1)?;
    }
    let text = words.iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(" ");
    let expands = verb == "eval" && words.iter().any(|word| word.expands);
    (!text.is_empty()).then_some(LooseWord { text, expands, ..LooseWord::default() })
}

fn option_texts(verb: &str, arguments: &[LooseWord]) -> Vec<LooseWord> {
    let Some((_, options)) = TEXT_OPTIONS.iter().find(|(name, _)| *name == verb) else { return Vec::new() };
    let separate =
        arguments.windows(2).filter(|pair| options.contains(&pair[0].text.as_str())).map(|pair| pair[1].clone());
    let attached = arguments.iter().filter_map(|word| {
        let (option, value) = word.text.split_once('=')?;
        options.contains(&option).then(|| LooseWord { text: value.to_owned(), ..word.clone() })
    });
    separate.chain(attached).collect()
}
