//! Turns facts into findings, with hints about what to do. Pure.

use cohab_shell_state::shell::Shell;

use super::{
    facts::{Facts, RcLine, StartEnd, Tried, least_version, milliseconds, shown},
    finding::{Finding, FindingVerdict, at, finding},
    relay_findings::relay_findings,
};

/// Less than this much free space is reported.
const LOW_SPACE_BYTES: u64 = 16 * 1024 * 1024;
/// A command of 4 MiB needs this much.
const NO_SPACE_BYTES: u64 = 5 * 1024 * 1024;
/// A start that takes longer is slow.
const SLOW_START_MS: f64 = 2000.0;
/// More than this for our part is reported.
const SLOW_ADDITION_MS: f64 = 50.0;

/// What `cohab` does with this shell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// Questions at the prompt, commands in the shell.
    Live,
    /// Opened in cohab's terminal, everything passes, no questions.
    PassThrough,
    /// The plain shell is opened in its place.
    PlainShell,
    /// It does not start.
    NotStarted,
}

/// What `cohab` does with the shell of `facts`, apart from other findings.
#[must_use]
pub fn mode(facts: &Facts) -> Mode {
    let is_dumb = facts.place.term.as_deref() == Some("dumb");
    match &facts.start.ours {
        _ if !facts.place.has_cwd => Mode::PlainShell,
        StartEnd::Failed(_) => Mode::NotStarted,
        _ if is_dumb || facts.folder.error.is_some() => Mode::PlainShell,
        StartEnd::Ended { .. } => Mode::PlainShell,
        StartEnd::Prompt => Mode::Live,
        StartEnd::NotIntegrated | StartEnd::Unmarked | StartEnd::Replaced { .. } | StartEnd::Slow { .. } => {
            Mode::PassThrough
        }
    }
}

/// All findings, in the order in which they are read.
#[must_use]
pub fn findings(facts: &Facts) -> Vec<Finding> {
    let mut all = vec![shell(facts), folder(facts), terminal(facts)];
    all.extend(start(facts));
    all.extend(rc_files(facts));
    if let Some(relay) = &facts.relay {
        all.extend(relay_findings(facts, relay));
    }
    all.extend(prompt_tools(facts));
    all
}

/// The shell itself.
pub(crate) fn shell(facts: &Facts) -> Finding {
    let shell = &facts.shell;
    let name = shell.kind.name();
    let path = shown(&shell.path);
    let login = if shell.is_login { ", as a login shell" } else { "" };
    if !facts.place.has_cwd {
        return finding("shell", FindingVerdict::Fail, "the current folder is not there any more")
            .hint("`cd` to a folder that exists");
    }
    if let StartEnd::Failed(error) = &facts.start.ours {
        return finding("shell", FindingVerdict::Fail, format!("it does not start: {error}"))
            .hint("correct client.shell in the settings, or $SHELL");
    }
    let Some(least) = least_version(shell.kind) else {
        return finding(
            "shell",
            FindingVerdict::Fail,
            format!("{path} passes through: no questions at its prompt{login}"),
        )
        .hint(
            "bash 4.4, zsh 5.3, fish 3.4 and later can be asked: `cohab --shell PATH`, or client.shell in the settings",
        );
    };
    let found = match shell.version {
        Some(version) if version < least => {
            return finding(
                "shell",
                FindingVerdict::Fail,
                format!("{name} {version} is too old: {least} or later is needed"),
            )
            .hint("install a newer one and name it: `cohab --shell PATH`, or client.shell in the settings");
        }
        Some(version) => format!("{name} {version}, {path}{login}"),
        None => format!("{name} of unknown version, {path}{login}"),
    };
    match shell.passed_over.first() {
        Some(error) => finding("shell", FindingVerdict::Warn, format!("{found}; not {error}"))
            .hint("correct client.shell in the settings, or $SHELL"),
        None if facts.start.ours == StartEnd::NotIntegrated && facts.folder.error.is_none() => {
            finding("shell", FindingVerdict::Fail, format!("{found}, passes through: no questions at its prompt"))
        }
        None => finding("shell", FindingVerdict::Ok, found),
    }
}

fn is_too_old(facts: &Facts) -> bool {
    facts.shell.version.zip(least_version(facts.shell.kind)).is_some_and(|(version, least)| version < least)
}

/// The folder for private files.
pub(crate) fn folder(facts: &Facts) -> Finding {
    let folder = &facts.folder;
    let path = shown(&folder.path);
    if let Some(error) = &folder.error {
        return finding("folder", FindingVerdict::Fail, error.clone())
            .hint("cohab needs it for its private files; set XDG_RUNTIME_DIR or COHAB_HOME to a folder of yours");
    }
    match folder.free_bytes {
        Some(free) if free < NO_SPACE_BYTES => {
            finding("folder", FindingVerdict::Warn, format!("{path} is full: long commands may be refused"))
                .hint("make room there, or set XDG_RUNTIME_DIR to another folder of yours")
        }
        Some(free) if free < LOW_SPACE_BYTES => {
            finding("folder", FindingVerdict::Warn, format!("{path} has only {} MB left", free / 1_000_000))
                .hint("make room there, or set XDG_RUNTIME_DIR to another folder of yours")
        }
        _ => finding("folder", FindingVerdict::Ok, format!("{path} is private and can be written")),
    }
}

fn terminal(facts: &Facts) -> Finding {
    let place = &facts.place;
    let inside = [
        (place.is_inside_cohab, "inside cohab"),
        (place.is_inside_tmux, "inside tmux"),
        (place.is_inside_screen, "inside screen"),
        (place.is_over_ssh, "over ssh"),
    ];
    let inside: String = inside.iter().filter(|(is, _)| *is).map(|(_, what)| format!(", {what}")).collect();
    let Some(term) = &place.term else {
        return finding("terminal", FindingVerdict::Warn, format!("TERM is not set{inside}"))
            .hint("programs know the terminal by TERM; your terminal program should set it");
    };
    let text = format!("TERM is {term}{inside}");
    if term == "dumb" {
        return finding("terminal", FindingVerdict::Fail, text)
            .hint("in a dumb terminal cohab opens the plain shell; set TERM to your terminal's name");
    }
    if !place.has_dev_tty {
        return finding("terminal", FindingVerdict::Fail, format!("{text}; there is no /dev/tty"))
            .hint("the marks go there; give this container a /dev/tty");
    }
    match place.is_inside_cohab {
        true => finding("terminal", FindingVerdict::Ok, text).hint("you are already inside cohab"),
        false => finding("terminal", FindingVerdict::Ok, text),
    }
}

/// Where to look.
fn look_at(line: &Option<RcLine>, otherwise: &str) -> String {
    line.as_ref().map_or_else(|| otherwise.to_owned(), |line| format!("look at {}", at(line)))
}

/// Says whose fault a failed start is: the shell comes up without us, or it does not.
fn blame(facts: &Facts, own: String) -> String {
    match facts.start.plain {
        Some(StartEnd::Prompt) => "without cohab's integration it comes up; please report this".to_owned(),
        _ => own,
    }
}

fn start(facts: &Facts) -> Option<Finding> {
    let rc = &facts.rc;
    let fail = |text: String| finding("start", FindingVerdict::Fail, text);
    let as_it_is = || finding("start", FindingVerdict::Ok, "it comes up as it is, without cohab's integration");
    Some(match &facts.start.ours {
        StartEnd::Failed(_) => return None,
        StartEnd::Unmarked if is_too_old(facts) => as_it_is(),
        StartEnd::NotIntegrated => match &facts.start.plain {
            Some(StartEnd::Ended { status }) => fail(format!("it ended at once, with status {status}")),
            _ => as_it_is(),
        },
        StartEnd::Ended { status } => {
            fail(format!("it ended with status {status} before its first prompt")).hint(blame(
                facts,
                look_at(&rc.exit, "a start-up file ends it: look for `exit`, or for a failure under `set -e`"),
            ))
        }
        StartEnd::Replaced { by } => fail(format!("{by} took its place before the first prompt")).hint(format!(
            "a start-up file replaces the shell: {}; if {by} is the shell you want, name it: `cohab --shell PATH`",
            look_at(&rc.exec, "look for `exec` in them")
        )),
        StartEnd::Slow { running, after } => {
            let busy = running
                .as_ref()
                .map_or_else(|| "the shell itself was busy, or waited for a key".into(), |name| format!("{name} ran"));
            let hint = "the start-up files wait for something; cohab passes through until the first prompt comes";
            fail(format!("no prompt within {} s: {busy}", after.as_secs())).hint(blame(facts, hint.into()))
        }
        StartEnd::Unmarked => unmarked(facts),
        StartEnd::Prompt => start_in_time(facts),
    })
}

fn unmarked(facts: &Facts) -> Finding {
    let rc = &facts.rc;
    let has_end_mark = facts.start.marks.end;
    let text = if has_end_mark {
        "the prompt came without its mark, only the mark before it"
    } else {
        "the prompt came without any mark"
    };
    let hint = match (&rc.promptvars, &rc.redirect, &rc.exec) {
        (Some(line), _, _) => format!("bash does not expand prompts; take out {}", at(line)),
        (None, Some(line), _) => format!("{} may send the prompt elsewhere", at(line)),
        (None, None, _) if facts.shell.kind == Shell::Bash && has_end_mark => {
            "bash expands no variables in prompts (`shopt promptvars`), or something rewrites PS1 after us".to_owned()
        }
        (None, None, Some(line)) => format!("another shell may have come up: {}", at(line)),
        (None, None, None) => {
            "something stops the start-up files before their end, or the shell does not read them".to_owned()
        }
    };
    finding("start", FindingVerdict::Fail, text).hint(hint)
}

fn start_in_time(facts: &Facts) -> Finding {
    let first = milliseconds(facts.start.first);
    let (Some(with), Some(without)) = (facts.start.with, facts.start.without) else {
        let text = format!("first prompt after {first:.0} ms");
        return if first > SLOW_START_MS {
            finding("start", FindingVerdict::Warn, text)
                .hint("until it comes no question is taken; your start-up files are slow")
        } else {
            finding("start", FindingVerdict::Ok, text)
        };
    };
    let (with, without) = (milliseconds(with), milliseconds(without));
    let text = format!("first prompt after {with:.1} ms; without cohab {without:.1} ms");
    if with - without > SLOW_ADDITION_MS {
        finding("start", FindingVerdict::Warn, text)
            .hint("more than it should be; run it again when the machine is idle")
    } else {
        finding("start", FindingVerdict::Ok, text)
    }
}

fn rc_files(facts: &Facts) -> Option<Finding> {
    let complaint = facts.rc.complaint.as_ref()?;
    Some(
        finding("rc-files", FindingVerdict::Warn, format!("the shell complained at its start: {complaint}"))
            .hint("it does so without cohab, too; the rest of that file may not have been read"),
    )
}

fn prompt_tools(facts: &Facts) -> Option<Finding> {
    let inside = facts.relay.as_ref().and_then(|relay| relay.inside.as_ref());
    let (tools, loaded) = match inside {
        Some(inside) => (&inside.tools, true),
        None => (&facts.rc.tools, false),
    };
    if inside.is_some_and(|inside| inside.promptvars == Some(false)) {
        let text = "`promptvars` is off: bash cannot show marks in its prompts";
        return Some(finding("prompt-tools", FindingVerdict::Warn, text).hint("take `shopt -u promptvars` out"));
    }
    if tools.is_empty() {
        return None;
    }
    let list = tools.join(", ");
    let kept = facts.relay.as_ref().is_some_and(|relay| relay.first == Tried::Right && relay.marks.prompt);
    Some(match (loaded, kept) {
        (true, true) => finding("prompt-tools", FindingVerdict::Ok, format!("{list}: the marks are kept")),
        _ => finding("prompt-tools", FindingVerdict::Warn, format!("the start-up files name {list}"))
            .hint("take them out one by one to see which one is in the way"),
    })
}
