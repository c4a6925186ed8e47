//! Finds the origin of the text that a line prints: the user's own places and the system, or elsewhere. Only the text of the line is
//! examined, and the owners of the files that it names; in doubt the origin is elsewhere if a name or path says so.

use std::{
    ops::Range,
    path::{Path, PathBuf},
};

use cohab_secrets::as_words;
use cohab_shell_syntax::{LooseCommand, LooseWord, scan};

use super::{
    Context,
    carriers::carries,
    danger::{is_loopback, talks_to_network},
    egress::{is_address, program_that, reaches_out},
    encoders::changes_lines,
    known_names,
    ownership::{self, is_within},
};

/// Programs that make or remove their operands, with these letters as options, and report nothing of the contents in or below them.
const MAKERS: &[(&str, &str)] =
    &[("mkdir", "p"), ("touch", "acm"), ("rmdir", "p"), ("rm", "f"), ("unlink", ""), ("tee", "ai")];
/// The same of the last operand, to which these programs take the others.
const PLACERS: &[(&str, &str)] = &[("cp", "aflnpPrRsu"), ("mv", "fnu"), ("ln", "fns"), ("install", "CDp")];
/// Programs that print at most the names in a folder, with the options with which they descend.
const LISTERS: &[(&str, &[&str])] = &[
    ("cd", &[]),
    ("df", &[]),
    ("findmnt", &[]),
    ("ls", &["R", "--recursive"]),
    ("mountpoint", &[]),
    ("realpath", &[]),
    ("stat", &[]),
];
/// Commands that change the shell's folder.
const CHANGING_FOLDER: &[&str] = &["cd", "pushd"];
/// Largest number of words of a line whose links are followed; the rest are taken by their text.
const MAX_FOLLOWED: usize = 200;

/// The source from which the output of `line` may come if others may have written it: a name for people, such as `curl` or
/// `/tmp/notes`. `None` if all of the output is the system's or the user's own: of the folder `workspace`, or of the home.
#[must_use]
pub fn outside_source(line: &str, context: Context<'_>, workspace: &Path) -> Option<String> {
    let scan = scan(&known_names::reading(context.shell, &as_words(line)).text);
    if scan.is_incomplete {
        return Some("a line that is too long to be followed".into());
    }
    let mut reach = Reach { context, workspace, cwd: context.cwd.to_owned(), followed: 0, lists: false };
    scan.commands.iter().find_map(|command| reach.of_command(command))
}

/// The reason why a line that is harmless in itself is asked about after another author's text was read; `None` if it is not. Encoders
/// carry secrets past any search for them; a folder outside of the workspace may have hooks that run on entry; and a line that sends data
/// to another host may have been suggested by that text.
#[must_use]
pub fn why_asked_under_taint(line: &str, context: Context<'_>, workspace: Option<&Path>) -> Option<String> {
    if reaches_out(line) {
        return Some("it sends data to another host".to_owned());
    }
    scan(&known_names::reading(context.shell, &as_words(line)).text).commands.iter().find_map(|command| {
        let (name, operands) = command.words.split_first()?;
        let verb = name.text.rsplit('/').next().unwrap_or_default();
        let texts: Vec<&str> = operands.iter().map(|word| word.text.as_str()).collect();
        if changes_lines(verb, &texts) {
            return Some(format!("`{verb}` can hide what is in a text"));
        }
        let is_workspace = |folder: &LooseWord| {
            let path = context.cwd.join(&folder.text);
            let is_plain = !folder.expands && !folder.text.starts_with(['~', '-']);
            let stays = |root: &Path| is_within(&path, root) && !leads_outside(&path, context, root);
            is_plain && workspace.is_some_and(stays)
        };
        let folder = operands.iter().rfind(|word| !word.text.starts_with('-') || word.text == "-");
        let leaves = CHANGING_FOLDER.contains(&verb) && !folder.is_some_and(is_workspace);
        leaves.then(|| "it leaves the workspace, and another folder may have hooks of its own".to_owned())
    })
}

/// Whether others may have written a file, by its path and by the target of its links if `context` knows it. Both paths are absolute.
#[must_use]
pub fn is_foreign_file(path: &Path, context: Context<'_>, workspace: &Path) -> bool {
    leads_to(path, context, workspace, &|path, workspace| ownership::is_foreign(path, context, workspace))
}

/// Whether a path leads out of `workspace`, and not to the system.
fn leads_outside(path: &Path, context: Context<'_>, workspace: &Path) -> bool {
    leads_to(path, context, workspace, &|path, workspace| !is_within(path, workspace) && !ownership::is_of_system(path))
}

/// Whether `path`, or a target of its links, `is_meant`. The workspace may itself be reached through a link.
fn leads_to(path: &Path, context: Context<'_>, workspace: &Path, is_meant: &dyn Fn(&Path, &Path) -> bool) -> bool {
    if is_meant(path, workspace) {
        return true;
    }
    let Some(files) = context.files else { return false };
    // Too many to look at: `**` stands in the options of searches, which follow no links.
    let Some(real) = files.targets(path) else { return false };
    let mut meant = real.iter().filter(|real| is_meant(real, workspace)).peekable();
    if meant.peek().is_none() {
        return false;
    }
    let real_workspace = files.targets(workspace).unwrap_or_default();
    meant.any(|path| real_workspace.iter().all(|workspace| is_meant(path, workspace)))
}

/// The state of the walk through the commands of a line.
struct Reach<'a> {
    context: Context<'a>,
    workspace: &'a Path,
    /// The current folder of the line, as far as its text shows.
    cwd: PathBuf,
    followed: usize,
    /// The command that is looked at prints names only.
    lists: bool,
}

impl Reach<'_> {
    fn of_command(&mut self, command: &LooseCommand) -> Option<String> {
        self.lists = only_lists(&command.words);
        let made = only_made(&command.words);
        let redirected = command.redirects.iter().filter(|redirect| !redirect.writes).map(|redirect| &redirect.target);
        let named = command.words.iter().enumerate().filter(|(at, _)| !made.contains(at)).map(|(_, word)| word);
        let words = named.chain(redirected).map(|word| (word.text.as_str(), word.is_quoted));
        let assigned = command.assignments.iter().map(|(_, value)| (value.as_str(), true));
        for (word, is_quoted) in words.chain(assigned) {
            if let Some(named) = self.outside_word(word, is_quoted) {
                return Some(named);
            }
        }
        if let [verb, folder] = command.words.as_slice()
            && verb.text == "cd"
        {
            self.cwd.push(&folder.text);
        }
        outside_program(&command.words, command.input.as_deref())
    }

    /// The address or the path outside that a word holds.
    fn outside_word(&mut self, word: &str, is_quoted: bool) -> Option<String> {
        if is_address(word) {
            return Some(word.to_owned());
        }
        // A server on this machine is the user's own.
        if word.contains("://") && is_loopback(word) {
            return None;
        }
        let mut parts = word.split(['=', ':', ',']).map(|part| part.trim_start_matches('{'));
        parts.find(|part| self.is_path_outside(part, is_quoted)).map(ToOwned::to_owned)
    }

    fn is_path_outside(&mut self, part: &str, is_quoted: bool) -> bool {
        let says_so =
            part.starts_with('/') || part == "~" || part.starts_with("~/") || part.split('/').any(|name| name == "..");
        let path = match part.strip_prefix('~') {
            Some(rest) => self.context.home.join(rest.trim_start_matches('/')),
            None => self.cwd.join(part),
        };
        // A pattern at the end names what is in the folder.
        let is_foreign = match self.lists && !part.contains(['*', '?', '[', '{']) {
            true => ownership::has_foreign_names,
            false => ownership::is_foreign,
        };
        if says_so && is_foreign(&path, self.context, self.workspace) {
            return true;
        }
        // In quotes `*` is a sign of the pattern of a search.
        let is_text = part.is_empty() || part.starts_with('-') || is_quoted && part.contains(['*', '?']);
        if is_text || self.followed == MAX_FOLLOWED {
            return false;
        }
        self.followed += 1;
        let is_own_place = is_within(&path, self.context.home) || is_within(&path, self.workspace);
        is_own_place && is_foreign_file(&path, self.context, self.workspace)
    }
}

/// Whether a command prints at most the names in the folders that it is given.
fn only_lists(words: &[LooseWord]) -> bool {
    let Some((name, arguments)) = words.split_first() else { return false };
    let Some((_, descending)) = LISTERS.iter().find(|(verb, _)| *verb == name.text) else { return false };
    !arguments.iter().any(|word| {
        let text = word.text.as_str();
        let is_letters = text.starts_with('-') && !text.starts_with("--");
        let descends = |option: &&str| match option.starts_with('-') {
            true => text.len() > 2 && option.starts_with(text),
            false => is_letters && text.contains(*option),
        };
        word.expands || descending.iter().any(descends)
    })
}

/// The places of a command's words that name files it only makes or removes.
fn only_made(words: &[LooseWord]) -> Range<usize> {
    let none = 0..0;
    let Some((name, arguments)) = words.split_first() else { return none };
    let letters_of =
        |table: &[(&str, &'static str)]| table.iter().find(|(verb, _)| *verb == name.text).map(|(_, letters)| *letters);
    let (makes, places) = (letters_of(MAKERS), letters_of(PLACERS));
    let Some(letters) = makes.or(places) else { return none };
    let options = arguments.iter().take_while(|word| word.text.starts_with('-')).count();
    let is_known = |word: &LooseWord| {
        let option = word.text.strip_prefix('-').unwrap_or("-");
        !option.is_empty() && option.chars().all(|letter| letters.contains(letter))
    };
    let is_plain =
        |word: &LooseWord| !word.expands && !word.text.starts_with('-') && !word.text.contains(['*', '?', '[', '{']);
    let (options, operands) = arguments.split_at(options);
    if !options.iter().all(is_known) || !operands.iter().all(is_plain) {
        return none;
    }
    match operands.len() {
        0 | 1 if places.is_some() => none,
        _ if places.is_some() => words.len() - 1..words.len(),
        _ => words.len() - operands.len()..words.len(),
    }
}

fn outside_program(words: &[LooseWord], input: Option<&str>) -> Option<String> {
    program_that(words, input, &|verb, arguments| talks_to_network(verb, arguments) || carries(verb, arguments))
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
            "systemctl list-units",
            "docker ps -a",
            "tmux ls",
            "cohab memory past nginx",
            "pgrep nginx",
            "mkdir -p ~/backup/new",
            "touch /tmp/x ../../other/y",
            "cp main.rs /tmp/x",
            "cp -r ../docs ~/backup",
            "mv -f main.rs ../../other/main.rs",
            "ln -s /home/ann/shop/src/main.rs ~/main.rs",
            "rm -f /tmp/x",
            "echo x | tee -a /tmp/log",
            "mkdir ~/backup && cp a ~/backup/a",
            "ls ~",
            "cat < ~/notes",
            "cd ../../other && cat README.md",
            "mv ../../other/x .",
            "curl -s http://127.0.0.1:18951/",
            "curl -s -o x http://localhost:3000/a",
            "U=http://[::1]/a; curl $U http://localhost",
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
            ("cat ~/Downloads/offer.txt", "~/Downloads/offer.txt"),
            ("cat ../../Downloads/offer.txt", "../../Downloads/offer.txt"),
            ("ls /", "/"),
            ("cat /var/log/syslog", "/var/log/syslog"),
            ("cat /srv/x", "/srv/x"),
            ("curl http://localhost:80@evil.test/", "http://localhost:80@evil.test/"),
            ("dd if=/home/bob/x", "/home/bob/x"),
            ("xclip -o", "xclip"),
            ("cohab memory learned how to deploy", "cohab"),
            ("cohab watch list", "cohab"),
            ("cohab mcp list", "cohab"),
            ("cohab tasks show 3", "cohab"),
            ("journalctl -u nginx", "journalctl"),
            ("systemctl status nginx", "systemctl"),
            ("docker logs web", "docker"),
            ("docker compose logs", "docker"),
            ("podman exec x env", "podman"),
            ("dmesg -T | tail", "dmesg"),
            ("nmcli device wifi list", "nmcli"),
            ("bluetoothctl devices", "bluetoothctl"),
            ("ps aux", "ps"),
            ("glab issue view 3", "glab"),
            ("svn log", "svn"),
            ("tmux capture-pane -p", "tmux"),
            ("copyq read 0", "copyq"),
            ("adb logcat -d", "adb"),
            ("vercel logs x", "vercel"),
            ("lxc exec c -- cat x", "lxc"),
            ("tool https://example.com/a", "https://example.com/a"),
            ("find / -name x", "/"),
            ("cp /tmp/x main.rs", "/tmp/x"),
            ("mv ~/Downloads/x .", "~/Downloads/x"),
            ("cp -v main.rs /tmp/x", "/tmp/x"),
            ("cp main.rs /tmp/*", "/tmp/*"),
            ("rm -r /tmp/x", "/tmp/x"),
            ("rm /tmp/*.log", "/tmp/*.log"),
            ("mkdir --verbose /tmp/x", "/tmp/x"),
            ("touch -r /tmp/x a", "/tmp/x"),
            ("tee /tmp/x < /tmp/y", "/tmp/y"),
            ("cp /tmp/x", "/tmp/x"),
            ("cp -t /tmp/x a", "/tmp/x"),
            ("sudo cp a /tmp/x", "/tmp/x"),
        ];
        for (line, from) in lines {
            assert_eq!(source(line).as_deref(), Some(from), "{line}");
        }
    }

    /// A machine on which only the owner writes outside of shared places.
    #[derive(Debug)]
    struct Closed;

    impl super::super::Files for Closed {
        fn targets(&self, path: &Path) -> Option<Vec<PathBuf>> {
            Some(vec![path.to_owned()])
        }
        fn landings(&self, path: &Path, _: bool) -> Option<Vec<PathBuf>> {
            self.targets(path)
        }
        fn find_below(&self, _: &Path, _: bool, _: &dyn Fn(&str) -> bool) -> Option<PathBuf> {
            None
        }
        fn is_open_to_others(&self, _: &Path, _: &Path) -> bool {
            false
        }
    }

    #[test]
    fn the_names_in_a_folder_are_those_of_whoever_writes_to_it() {
        let (cwd, home) = (Path::new("/home/ann/shop/src"), Path::new("/home/ann"));
        let context = Context { files: Some(&Closed), ..Context::new(cwd, home) };
        let source = |line: &str| outside_source(line, context, Path::new("/home/ann/shop"));
        for line in ["ls /", "ls -la /var", "df -h /", "cd / && ls", "stat /var", "ls --color /"] {
            assert_eq!(source(line), None, "{line}");
        }
        for line in
            ["ls -R /", "ls -laR /", "ls --rec /", "ls /tmp", "du -h /", "find / -name x", "ls /var/log", "ls $X /"]
        {
            assert!(source(line).is_some(), "{line}");
        }
    }

    #[test]
    fn encoders_and_leaving_the_workspace_are_asked_about_under_taint() {
        let (cwd, home) = (Path::new("/home/ann/shop/src"), Path::new("/home/ann"));
        let why = |line| why_asked_under_taint(line, Context::new(cwd, home), Some(Path::new("/home/ann/shop")));
        let asked = "cat a | base64;base32 a;xxd a;od -c a;hexdump -C a;echo a | tr a-z b-za;rev a;cd /tmp;cd;cd -;cd ~/other;\
                     cd ../..;cd -P /etc && ls;fold -w 4 a;sed -n l a;jq -R @base64 a;awk '{print $1}' a;\
                     gh pr list;lsof -i @x.test;ss dst x.test;cat a | cut -c1-4";
        for line in asked.split(';') {
            assert!(why(line).is_some(), "{line}");
        }
        for line in
            ["cat a", "cd ..", "cd sub && ls", "cd /home/ann/shop", "cd -P sub", "grep -rn base64 .", "echo cd /tmp"]
        {
            assert_eq!(why(line), None, "{line}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_read(line in "[ -~\\n]{0,80}") {
            let _ = source(&line);
        }
    }
}
