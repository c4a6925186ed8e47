//! Finds files that a line gets from the network and then runs.

use cohab_shell_syntax::{LooseWord, Scan};

use super::code;

const FETCHERS: &[&str] = &["curl", "wget", "aria2c"];

/// Whether a command runs, or makes a program of, a file that an earlier command fetched from the network.
pub(super) fn is_run(scan: &Scan) -> bool {
    let mut fetched: Vec<&str> = Vec::new();
    let mut has_cloned = false;
    for command in &scan.commands {
        let Some((name, arguments)) = command.words.split_first() else { continue };
        let verb = name.text.rsplit('/').next().unwrap_or_default();
        if FETCHERS.contains(&verb) {
            fetched.extend(outputs(arguments));
            fetched.extend(command.redirects.iter().filter(|one| one.writes).map(|one| plain(&one.target.text)));
            continue;
        }
        if verb == "git" && arguments.iter().any(|word| word.text == "clone") {
            has_cloned = true;
            continue;
        }
        // The folder of a path at that time is not followed.
        let is_of_folder =
            |word: &LooseWord| !word.text.starts_with('/') && word.text.contains('/') && !word.text.contains(':');
        let runs_cloned = is_of_folder(name)
            || (code::is_shell(verb) && arguments.iter().any(|word| !word.text.starts_with('-')))
            || matches!(verb, "make" | "gmake" | "source" | ".")
            || (code::is_interpreter(verb) && arguments.iter().any(is_script));
        if has_cloned && runs_cloned {
            return true;
        }
        let is_fetched = |word: &LooseWord| fetched.contains(&plain(&word.text));
        let runs_operand = code::is_interpreter(verb) || matches!(verb, "source" | "." | "chmod" | "sudo");
        if is_fetched(name) || (runs_operand && arguments.iter().any(is_fetched)) {
            return true;
        }
    }
    false
}

/// Whether a word is the file of a script.
fn is_script(word: &LooseWord) -> bool {
    !word.text.starts_with('-')
        && [".py", ".sh", ".rb", ".pl", ".js", ".mjs", ".ts", ".php", ".lua"].iter().any(|end| word.text.ends_with(end))
}

/// Names that a fetcher may write to, as far as its words show.
fn outputs(arguments: &[LooseWord]) -> impl Iterator<Item = &str> {
    arguments.iter().flat_map(|word| {
        let text = word.text.as_str();
        let attached = text.strip_prefix("-o").or_else(|| text.strip_prefix("-O"));
        let long = text.strip_prefix("--").and_then(|option| option.split_once('=')).map(|(_, value)| value);
        // The last part of an address names the file if nothing else does.
        let last = text.rsplit('/').next().filter(|_| text.contains("://"));
        let whole = (!text.starts_with('-')).then_some(text);
        [attached, long, last, whole].into_iter().flatten().map(plain).filter(|name| !name.is_empty())
    })
}

fn plain(path: &str) -> &str {
    path.strip_prefix("./").unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use cohab_shell_syntax::scan;

    use super::*;

    #[test]
    fn what_is_fetched_and_run_is_known_by_its_name() {
        for line in [
            "wget http://x/y -O /tmp/y && sh /tmp/y",
            "wget http://x/install.sh; bash install.sh",
            "curl -o a http://x && chmod +x a && ./a",
            "curl -sSL http://x > a.py; python3 ./a.py",
            "curl -O http://x/i.sh; . ./i.sh",
            "curl --output=b http://x\n./b",
            "git clone http://x/y && cd y && ./install.sh",
            "git clone http://x/y; make -C y",
            "git clone http://x/y && python3 y/setup.py install",
        ] {
            assert!(is_run(&scan(line)), "{line}");
        }
        for line in [
            "git clone http://x/y && cd y && ls -l src/",
            "./x; git clone http://x/y",
            "wget http://x/a.tgz; tar tf a.tgz",
            "sh a; curl -o a http://x",
            "curl http://x/a.txt | cat",
            "sh x",
        ] {
            assert!(!is_run(&scan(line)), "{line}");
        }
    }
}
