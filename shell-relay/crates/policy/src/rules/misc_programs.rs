//! Judges programs that need only a few words of special treatment.

use cohab_shell_syntax::Word;

use super::{
    super::{
        Context,
        options::{self, Arguments},
        paths,
    },
    Refusal, archives, ask, check_literal, check_path, clouds, kubectl, list_only, media, packages,
};

/// Variables whose values are no secret.
const PRINTABLE_VARIABLES: &[&str] = &[
    "BROWSER",
    "CARGO_HOME",
    "COLORTERM",
    "COLUMNS",
    "DISPLAY",
    "EDITOR",
    "GOPATH",
    "GOROOT",
    "HISTSIZE",
    "HOME",
    "HOSTNAME",
    "JAVA_HOME",
    "LANG",
    "LANGUAGE",
    "LINES",
    "LOGNAME",
    "MANPATH",
    "OLDPWD",
    "PAGER",
    "PATH",
    "PWD",
    "RUSTUP_HOME",
    "SHELL",
    "SHLVL",
    "TERM",
    "TERM_PROGRAM",
    "TMPDIR",
    "TZ",
    "USER",
    "VIRTUAL_ENV",
    "VISUAL",
    "WAYLAND_DISPLAY",
];
/// Queries of `systemctl`.
const SYSTEMCTL_VERBS: &[&str] = &[
    "cat",
    "get-default",
    "is-active",
    "is-enabled",
    "is-failed",
    "is-system-running",
    "list-automounts",
    "list-dependencies",
    "list-jobs",
    "list-machines",
    "list-paths",
    "list-sockets",
    "list-timers",
    "list-unit-files",
    "list-units",
    "show",
    "status",
];
const APT_VERBS: &[&str] = &[
    "depends", "list", "madison", "pkgnames", "policy", "rdepends", "search", "show", "showpkg", "showsrc", "stats",
    "unmet",
];
/// Fields by which entries of the journal are chosen.
const JOURNAL_FIELDS: &[&str] = &[
    "MESSAGE_ID",
    "PRIORITY",
    "SYSLOG_FACILITY",
    "SYSLOG_IDENTIFIER",
    "UNIT",
    "_BOOT_ID",
    "_GID",
    "_HOSTNAME",
    "_PID",
    "_SYSTEMD_SLICE",
    "_SYSTEMD_UNIT",
    "_SYSTEMD_USER_UNIT",
    "_TRANSPORT",
    "_UID",
];
const IP_OPTIONS: &[&str] = &[
    "-4",
    "-6",
    "-s",
    "-d",
    "-br",
    "-o",
    "-j",
    "-c",
    "-h",
    "-p",
    "-brief",
    "-color",
    "-color=always",
    "-color=auto",
    "-color=never",
    "-c=never",
    "-details",
    "-human",
    "-json",
    "-oneline",
    "-pretty",
    "-statistics",
    "-stats",
];
const IP_OBJECTS: &[&str] = &[
    "a",
    "addr",
    "address",
    "l",
    "link",
    "r",
    "ro",
    "route",
    "n",
    "neigh",
    "neighbor",
    "neighbour",
    "rule",
    "maddr",
    "maddress",
    "mroute",
    "netns",
    "nexthop",
    "ntable",
    "tunnel",
    "vrf",
];
/// Programs that show their help in a pager.
const PAGES_HELP: &[&str] = &[
    "bootctl",
    "coredumpctl",
    "hostnamectl",
    "journalctl",
    "less",
    "localectl",
    "loginctl",
    "machinectl",
    "networkctl",
    "resolvectl",
    "systemctl",
    "systemd-analyze",
    "systemd-cgls",
    "systemd-inhibit",
    "timedatectl",
];
/// Folders that `xdg-user-dir` knows.
const USER_DIRS: &[&str] =
    &["DESKTOP", "DOCUMENTS", "DOWNLOAD", "MUSIC", "PICTURES", "PUBLICSHARE", "TEMPLATES", "VIDEOS"];
const UNARY_TESTS: &str = "bcdefghkLnNOGprsStuwxz";
const TEXT_TESTS: &[&str] = &["=", "==", "!=", "-nt", "-ot", "-ef"];
const NUMBER_TESTS: &[&str] = &["-eq", "-ne", "-lt", "-le", "-gt", "-ge"];

/// Applies the rules for operands of the program `name` that the table leaves to `rule`.
pub(super) fn assess(name: &str, rule: &str, arguments: &Arguments<'_>, context: Context<'_>) -> Result<(), Refusal> {
    let operands: Vec<&str> = arguments.operands.iter().map(|word| word.text.as_str()).collect();
    if !context.confines(name) {
        // All operands are files here, and no file is named like an option behind the name of a folder.
        let is_of_files = |word: &Word| rule == "inspect" && !word.text.starts_with(['*', '?']);
        arguments.operands.iter().filter(|word| !is_of_files(word)).try_for_each(|word| check_literal(word))?;
    }
    match (rule, &operands[..]) {
        ("systemctl", ["show", ..]) if !shows_plain_properties(arguments) => {
            ask("`systemctl show` may show the environment of a service, which may hold secrets")
        }
        ("systemctl", [verb, ..]) if SYSTEMCTL_VERBS.contains(verb) => Ok(()),
        ("journalctl", _) if operands.iter().all(|word| is_journal_match(word)) => Ok(()),
        ("systemctl", []) => Ok(()),
        ("apt", [verb, ..]) if APT_VERBS.contains(verb) => Ok(()),
        ("getent", [table, ..]) if matches!(*table, "passwd" | "group" | "services" | "protocols" | "networks") => {
            Ok(())
        }
        ("getent", ["hosts"] | ["hosts" | "ahosts", "localhost"]) => Ok(()),
        ("printenv", [_, ..]) if operands.iter().all(|name| is_printable_variable(name)) => Ok(()),
        ("printenv", []) => ask("shows the whole environment, which may hold secrets"),
        ("command", _) if arguments.has_in_front(&["v", "V"]) => Ok(()),
        ("top", []) => assess_top(arguments),
        ("onename", [] | [_]) => Ok(()),
        ("localhost", ["localhost" | "127.0.0.1" | "::1"]) if arguments.has(&["c"]) => Ok(()),
        ("proto", [] | ["tcp" | "udp" | "icmp" | "ip" | "inet" | "inet6"]) => Ok(()),
        ("seq", _) => assess_seq(arguments, &operands),
        ("route", [] | ["get", "default"]) => Ok(()),
        ("dockerstats", _) if arguments.has(&["no-stream"]) => Ok(()),
        ("dockerstats", _) => ask("never ends by itself: `docker stats` without `--no-stream`"),
        ("kubectlget" | "kubectldescribe" | "rollout", _) => kubectl::assess(rule, arguments, &operands),
        ("rounds", _) => assess_rounds(&operands),
        ("sysctl", _) if operands.iter().all(|name| !name.contains('=') && !name.contains("..")) => Ok(()),
        ("less", _) => arguments.operands.iter().try_for_each(|word| match word.text.strip_prefix('+') {
            Some(place) if is_place_in_text(place) => Ok(()),
            Some(_) => ask("`less` that may run a command of its own"),
            None => check_path(word, context, paths::read_risk),
        }),
        ("word", []) => Ok(()),
        ("word", words) if words.iter().all(|word| is_plain_word(word)) => Ok(()),
        ("userdir", [] | [_]) if operands.iter().all(|name| USER_DIRS.contains(name)) => Ok(()),
        ("rpm" | "dpkgquery" | "pacman" | "global" | "goenv" | "aptfile", _) => {
            packages::assess(rule, arguments, &operands, context)
        }
        ("template" | "aws" | "gcloud" | "gh" | "forge", _) => clouds::assess(name, rule, arguments, &operands),
        ("picture" | "local" | "tostdout" | "sips", _) => media::assess(rule, arguments, context),
        ("schema" | "defaults" | "pmset" | "iw" | "names" | "place" | "service" | "smart" | "sub", _) => {
            list_only::assess(name, rule, arguments, context)
        }
        _ if rule.starts_with("needs:") => list_only::assess_needed(&rule["needs:".len()..], arguments, context),
        ("tar" | "unzip" | "zipinfo" | "inspect" | "jar" | "unrar", _) => archives::assess(rule, arguments, context),
        ("xmllint", _) => arguments.operands.iter().try_for_each(|word| check_path(word, context, paths::read_risk)),
        ("ldd", _) if operands.iter().all(|path| is_system_program(path)) => {
            arguments.operands.iter().try_for_each(|word| check_path(word, context, paths::list_risk))
        }
        ("ldd", _) => ask("`ldd` may run the program that it looks at"),
        _ => ask(format!("not known to be read-only: `{name}` with these operands")),
    }
}

/// Whether a word has only letters, digits and signs that join them.
pub(super) fn is_plain_word(word: &str) -> bool {
    word.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte))
}

/// Whether this is a start position of a pager: the end, a line, or a text that is searched.
fn is_place_in_text(place: &str) -> bool {
    let is_text = |byte: u8| byte.is_ascii_alphanumeric() || b"_ .:-".contains(&byte);
    place == "G"
        || place.bytes().all(|byte| byte.is_ascii_digit())
        || place.strip_prefix('/').is_some_and(|text| text.bytes().all(is_text))
}

/// The number of a boot, or a match of a plain field.
fn is_journal_match(word: &str) -> bool {
    let is_boot = !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_boot || word.split_once('=').is_some_and(|(field, _)| JOURNAL_FIELDS.contains(&field))
}

/// Numbers, and a separator of signs.
fn assess_seq(arguments: &Arguments<'_>, operands: &[&str]) -> Result<(), Refusal> {
    let is_separator = |value: Option<&str>| value.is_some_and(|text| !text.contains(char::is_alphanumeric));
    let mut separators = arguments.options.iter().filter(|(name, _)| matches!(*name, "s" | "separator"));
    if operands.iter().all(|word| options::is_number(word)) && separators.all(|(_, value)| is_separator(*value)) {
        return Ok(());
    }
    ask("`seq` with something else than numbers and signs")
}

/// An interval in seconds and a count; without a count the program does not end.
fn assess_rounds(operands: &[&str]) -> Result<(), Refusal> {
    let number = |text: &str| text.parse::<f64>().ok().filter(|number| *number >= 0.0);
    match operands {
        [] => Ok(()),
        [interval, count] => match (number(interval), number(count)) {
            (Some(interval), Some(count)) if interval * count <= super::MAX_WAIT_SECONDS => Ok(()),
            _ => ask("waits longer than 30 seconds"),
        },
        _ => ask("never ends by itself without a count"),
    }
}

/// Whether it shows even its help in a pager.
pub(super) fn pages_help(name: &str, words: &[Word]) -> bool {
    PAGES_HELP.contains(&name) && matches!(words, [only] if only.text == "--help")
}

/// Whether a program hands its output to a pager: not into a pipe, or if an option forbids it.
pub(super) fn may_start_pager(name: &str, words: &[Word], feeds_pipe: bool) -> bool {
    let says = |wanted: &str| words.iter().any(|word| word.text == wanted);
    match name {
        "bat" | "batcat" => {
            let mut said = words.iter().filter_map(|word| word.text.strip_prefix("--paging"));
            // Without such an option, it is typed with a word that forbids the pager.
            !said.all(|value| value == "=never")
        }
        "udevadm" => says("info") && !(feeds_pipe || says("--no-pager")),
        _ if pages_help(name, words) => !feeds_pipe,
        "systemd-analyze" => words.iter().any(|word| word.text == "blame") && !(feeds_pipe || says("--no-pager")),
        _ => false,
    }
}

/// Whether the path lies, by its text, in a folder where only the system puts programs.
fn is_system_program(path: &str) -> bool {
    const PLACES: &[&str] =
        &["/bin/", "/sbin/", "/usr/bin/", "/usr/sbin/", "/lib/", "/lib64/", "/usr/lib/", "/usr/lib64/"];
    PLACES.iter().any(|place| path.starts_with(place)) && !path.split('/').any(|part| part == "..")
}

fn shows_plain_properties(arguments: &Arguments<'_>) -> bool {
    let mut properties = arguments.options.iter().filter(|(name, _)| matches!(*name, "p" | "property")).peekable();
    properties.peek().is_some() && properties.all(|(_, value)| value.is_some_and(|value| !value.contains("Env")))
}

pub(super) fn is_printable_variable(name: &str) -> bool {
    PRINTABLE_VARIABLES.contains(&name) || name.starts_with("LC_") || name.starts_with("XDG_")
}

/// Allows names of pages and sections only: an operand with a slash is a file, and options start programs.
pub(super) fn assess_man(words: &[Word]) -> Result<(), Refusal> {
    let is_page = |word: &Word| {
        let is_part = |byte: u8| byte.is_ascii_alphanumeric() || b"_.+:-[".contains(&byte);
        !word.has_glob && !word.text.starts_with('-') && word.text.bytes().all(is_part)
    };
    if !words.is_empty() && words.iter().all(is_page) { Ok(()) } else { ask("an option or a file for `man`") }
}

/// Whether the command is `man -k word`, which lists pages without a pager, or `man -w word`, which shows the place of a page.
pub(crate) fn is_search_of_pages(words: &[Word]) -> bool {
    matches!(words, [option, word] if matches!(option.text.as_str(), "-k" | "-f" | "-w") && assess_man(std::slice::from_ref(word)).is_ok())
}

fn assess_top(arguments: &Arguments<'_>) -> Result<(), Refusal> {
    let is_batch = arguments.has(&["b", "l"]);
    let rounds = arguments
        .options
        .iter()
        .find(|(name, _)| matches!(*name, "n" | "l"))
        .and_then(|(_, value)| value.and_then(|value| value.parse().ok()));
    let is_short = rounds.is_some_and(|rounds: u32| rounds <= 3);
    if is_batch && is_short { Ok(()) } else { ask("takes over the whole screen: `top`") }
}

pub(super) fn assess_ip(words: &[Word]) -> Result<(), Refusal> {
    let is_option = |word: &&Word| IP_OPTIONS.contains(&word.text.as_str());
    let rest: Vec<&str> = words.iter().skip_while(|word| is_option(word)).map(|word| word.text.as_str()).collect();
    words.iter().try_for_each(check_literal)?;
    let is_plain = |word: &str| !matches!(word, "flush" | "save" | "restore") && !word.starts_with('-');
    let is_name =
        |word: &str| is_plain(word) && !matches!(word, "add" | "del" | "delete" | "set" | "change" | "replace");
    let is_read = match rest[..] {
        [] => true,
        [object, ref rest @ ..] if IP_OBJECTS.contains(&object) => match *rest {
            // The words behind it only choose the shown part.
            ["show" | "list" | "ls" | "lst" | "sh", ref chosen @ ..] => chosen.iter().all(|word| is_plain(word)),
            ["s", ref chosen @ ..] => !matches!(object, "l" | "link") && chosen.iter().all(|word| is_plain(word)),
            [] => true,
            ["dev", name] | [name] => is_name(name),
            ["get", address, ref chosen @ ..] => {
                matches!(object, "r" | "route") && is_name(address) && chosen.iter().all(|word| is_plain(word))
            }
            _ => false,
        },
        _ => false,
    };
    if is_read { Ok(()) } else { ask("`ip` that may change the network") }
}

pub(super) fn assess_test(name: &str, words: &[Word], context: Context<'_>) -> Result<(), Refusal> {
    let words = match (name, words.split_last()) {
        ("[", Some((last, words))) if last.text == "]" => words,
        ("[", _) => return ask("`[` without `]`"),
        _ => words,
    };
    words.iter().try_for_each(check_literal)?;
    let words = match words {
        [not, rest @ ..] if not.text == "!" => rest,
        _ => words,
    };
    let texts: Vec<&str> = words.iter().map(|word| word.text.as_str()).collect();
    let is_known = match &texts[..] {
        [] | [_] => true,
        // zsh evaluates the word.
        ["-t", stream] => stream.len() == 1 && stream.bytes().all(|byte| byte.is_ascii_digit()),
        [test, _] => test.strip_prefix('-').is_some_and(|test| test.len() == 1 && UNARY_TESTS.contains(test)),
        [left, test, right] => {
            TEXT_TESTS.contains(test) || (NUMBER_TESTS.contains(test) && is_integer(left) && is_integer(right))
        }
        _ => false,
    };
    if !is_known {
        return ask("a test that is not known to be harmless");
    }
    // The existence of `.env` is no secret.
    match words {
        [test, path] if !matches!(test.text.as_str(), "-n" | "-z" | "-t") => check_path(path, context, |_, _| None),
        [left, test, right] if matches!(test.text.as_str(), "-nt" | "-ot" | "-ef") => {
            [left, right].into_iter().try_for_each(|path| check_path(path, context, |_, _| None))
        }
        _ => Ok(()),
    }
}

fn is_integer(text: &str) -> bool {
    text.parse::<i64>().is_ok()
}
