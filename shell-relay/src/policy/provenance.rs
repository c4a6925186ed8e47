//! Where that comes from which a line prints: from the workspace and the system, or from elsewhere. Only the text is looked at;
//! in doubt between the two it is elsewhere where a name or path says so, else the workspace's own.

use std::path::{Component, Path, PathBuf};

use super::{
    Context,
    danger::{hands_on, is_loopback, talks_to_network, tells_network},
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

/// Whether `line` may tell another host something, by its text alone. Such a line is asked about each time: where data goes is
/// decided when it goes.
#[must_use]
pub fn reaches_out(line: &str) -> bool {
    let scan = scan::scan(line);
    scan.is_incomplete
        || scan.commands.iter().any(|command| {
            let has_address = command.words.iter().any(|word| is_address(&word.text));
            has_address || program_that(&command.words, command.input.as_deref(), &tells_network).is_some()
        })
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
    program_that(words, input, &|verb, arguments| talks_to_network(verb, arguments) || CLIPBOARD.contains(&verb))
}

/// The program of a command, or one that it is told to run, of which `is_meant` holds with its arguments.
fn program_that(words: &[LooseWord], input: Option<&str>, is_meant: &dyn Fn(&str, &[&str]) -> bool) -> Option<String> {
    let (name, arguments) = words.split_first()?;
    let verb = name.text.rsplit('/').next().unwrap_or_default();
    let texts: Vec<&str> = arguments.iter().map(|word| word.text.as_str()).collect();
    if is_meant(verb, &texts) {
        return Some(verb.to_owned());
    }
    if !hands_on(verb) {
        return None;
    }
    let is_name = |c: char| c.is_ascii_alphanumeric() || "_.+-:".contains(c);
    let handed = texts.iter().copied().chain(input);
    let tokens: Vec<&str> =
        handed.flat_map(|text| text.split(|c| !is_name(c))).filter(|token| !token.is_empty()).collect();
    let is_code = |token: &str| {
        NETWORK_WORDS
            .iter()
            .any(|word| token.strip_prefix(word).is_some_and(|rest| rest.is_empty() || rest.starts_with('.')))
    };
    let mut programs = tokens.iter().enumerate();
    let found = programs.find(|(at, token)| is_code(token) || is_meant(token, &tokens[at + 1..]));
    found.map(|(_, token)| (*token).to_owned())
}

/// Whether a word is an address of another host.
fn is_address(word: &str) -> bool {
    word.contains("://") && !word.contains("file://") && !is_loopback(word)
}

/// The address or the path outside that a word holds.
fn outside_word(word: &str, context: Context<'_>, workspace: &Path) -> Option<String> {
    if is_address(word) {
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

    #[test]
    fn what_tells_another_host_something_reaches_out() {
        let lines = [
            ("git push", true),
            ("git log", false),
            ("curl -s example.com", true),
            ("curl -s localhost:8080/health", false),
            ("curl -s http://127.0.0.1:1/a http://example.com", true),
            ("curl -x proxy:1 http://localhost", true),
            ("curl -d @notes \"$URL\"", true),
            ("cargo add serde", false),
            ("cargo publish", true),
            ("sh -c 'ssh host ls'", true),
            ("xclip -o", false),
            ("tool https://example.com/a", true),
            ("cat main.rs", false),
        ];
        for (line, is_out) in lines {
            assert_eq!(reaches_out(line), is_out, "{line}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_read(line in "[ -~\\n]{0,80}") {
            let _ = (source(&line), reaches_out(&line));
        }
    }
}
