//! Where that comes from which a line prints: from the workspace and the system, or from elsewhere. Only the text is looked at;
//! in doubt between the two it is elsewhere where a name or path says so, else the workspace's own.

use std::path::{Component, Path, PathBuf};

use super::{
    Context,
    danger::{hands_on, talks_to_network},
    scan::{self, LooseCommand, LooseWord},
};

/// What belongs to the system's owner. Logs do not: others write what stands in them.
const SYSTEM: &[&str] = &[
    "/etc",
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/proc",
    "/sys",
    "/dev",
    "/boot",
    "/opt",
    "/nix/store",
];
/// They print what was put onto the clipboard anywhere.
const CLIPBOARD: &[&str] = &["xclip", "xsel", "wl-paste", "pbpaste", "termux-clipboard-get"];
/// What code that is handed on names when it asks the network.
const NETWORK_WORDS: &[&str] =
    &["urllib", "requests", "httpx", "aiohttp", "socket", "http.client", "fetch", "TCPSocket", "Net::HTTP", "LWP"];

/// What outside of `workspace`, a folder, the output of `line` may hold: a name for people, such as `curl` or `/tmp/notes`. `None`
/// if all of it is the workspace's or the system's own.
#[must_use]
pub fn outside_source(line: &str, context: Context<'_>, workspace: &Path) -> Option<String> {
    let scan = scan::scan(line);
    if scan.is_incomplete {
        return Some("a line that is too long to be followed".into());
    }
    scan.commands.iter().find_map(|command| of_command(command, context, workspace))
}

/// Whether a file is outside of `workspace` and not the system's. Both are absolute.
#[must_use]
pub fn is_outside(path: &Path, workspace: &Path) -> bool {
    let path = plain(path);
    !path.starts_with(workspace) && !SYSTEM.iter().any(|root| path.starts_with(root))
}

fn of_command(command: &LooseCommand, context: Context<'_>, workspace: &Path) -> Option<String> {
    let redirected = command.redirects.iter().filter(|redirect| !redirect.writes).map(|redirect| &redirect.target);
    let words = || command.words.iter().chain(redirected.clone()).map(|word| word.text.as_str());
    let assigned = command.assignments.iter().map(|(_, value)| value.as_str());
    let named = words().chain(assigned).find_map(|word| outside_word(word, context, workspace));
    named.or_else(|| outside_program(&command.words, command.input.as_deref()))
}

fn outside_program(words: &[LooseWord], input: Option<&str>) -> Option<String> {
    let (name, arguments) = words.split_first()?;
    let verb = name.text.rsplit('/').next().unwrap_or_default();
    let texts: Vec<&str> = arguments.iter().map(|word| word.text.as_str()).collect();
    if talks_to_network(verb, &texts) || CLIPBOARD.contains(&verb) {
        return Some(verb.to_owned());
    }
    if !hands_on(verb) {
        return None;
    }
    let is_name = |c: char| c.is_ascii_alphanumeric() || "_.+-:".contains(c);
    let handed = texts.iter().copied().chain(input);
    handed.flat_map(|text| text.split(|c| !is_name(c))).find_map(|token| {
        let is_code = NETWORK_WORDS
            .iter()
            .any(|word| token.strip_prefix(word).is_some_and(|rest| rest.is_empty() || rest.starts_with('.')));
        let asks = is_code || talks_to_network(token, &texts) || CLIPBOARD.contains(&token);
        asks.then(|| token.to_owned())
    })
}

/// The address or the path outside that a word holds.
fn outside_word(word: &str, context: Context<'_>, workspace: &Path) -> Option<String> {
    if word.contains("://") && !word.contains("file://") {
        return Some(word.to_owned());
    }
    let parts = word.split(['=', ':', ',']).filter(|part| {
        part.starts_with('/') || *part == "~" || part.starts_with("~/") || part.split('/').any(|name| name == "..")
    });
    let outside = parts.filter_map(|part| {
        let path = match part.strip_prefix('~') {
            Some(rest) => context.home.join(rest.trim_start_matches('/')),
            None => context.cwd.join(part),
        };
        is_outside(&path, workspace).then(|| part.to_owned())
    });
    outside.into_iter().next()
}

/// The path without `.` and `..`, by its text alone.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                plain.pop();
            }
            other => plain.push(other),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(line: &str) -> Option<String> {
        let (cwd, home) = (Path::new("/home/ann/shop/src"), Path::new("/home/ann"));
        outside_source(line, Context::new(cwd, home), Path::new("/home/ann/shop"))
    }

    #[test]
    fn what_the_workspace_and_the_system_hold_is_not_from_outside() {
        let lines = [
            "cat main.rs",
            "git log --oneline | head -n 3",
            "grep -rn TODO ..",
            "cat /etc/os-release /proc/meminfo",
            "cargo test 2>&1 | tail -n 20",
            "sh -c 'ls -l'",
            "for f in *.rs; do wc -l \"$f\"; done",
            "python3 tools/count.py --out=../report.txt",
            "cat ../README.md > /tmp/copy",
            "echo curl is a program",
        ];
        for line in lines {
            assert_eq!(source(line), None, "{line}");
        }
    }

    #[test]
    fn what_comes_from_elsewhere_says_from_where() {
        let lines = [
            ("curl -s example.com/x", "curl"),
            ("git clone x:y", "git"),
            ("git fetch origin", "git"),
            ("npm view left-pad", "npm"),
            ("sudo -n wget -qO- example.com", "wget"),
            ("bash -c 'curl -s example.com'", "curl"),
            ("bash <<E\ncurl -s example.com\nE", "curl"),
            ("echo \"$(dig +short example.com)\"", "dig"),
            ("python3 -c 'import urllib.request as u; print(u)'", "urllib.request"),
            ("cat /tmp/notes", "/tmp/notes"),
            ("cat < ~/mail", "~/mail"),
            ("F=/var/tmp/x; cat $F", "/var/tmp/x"),
            ("cd ../../other && cat README.md", "../../other"),
            ("dd if=/home/bob/x", "/home/bob/x"),
            ("xclip -o", "xclip"),
            ("tool https://example.com/a", "https://example.com/a"),
            ("find / -name x", "/"),
        ];
        for (line, from) in lines {
            assert_eq!(source(line).as_deref(), Some(from), "{line}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_read(line in "[ -~\\n]{0,80}") {
            let _ = source(&line);
        }
    }
}
