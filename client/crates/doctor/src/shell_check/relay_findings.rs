//! Findings about a shell that got to its prompt. Pure.

use cohab_shell_state::shell::Shell;

use super::{
    facts::{Facts, HalfLine, RelayFacts, Tried, median, milliseconds},
    finding::{Finding, FindingVerdict, at, finding},
};

/// A relayed command that takes this much longer than a typed line is reported.
const SLOW_ROUND_MS: f64 = 25.0;

/// One thing that was tried: well, or a failure (`verdict`) with what came instead.
fn tried(id: &'static str, well: &str, what: &str, tried: &Tried, verdict: FindingVerdict, hint: &str) -> Finding {
    match tried {
        Tried::Right => finding(id, FindingVerdict::Ok, well),
        Tried::Wrong(how) => finding(id, verdict, format!("{what}: {how}")).hint(hint),
        Tried::Skipped => finding(id, FindingVerdict::Warn, "not tried for want of time")
            .hint("run it again when the machine is idle"),
    }
}

const REPORT: &str = "this should not be; please report it with your start-up files";

/// What the trial of the relay shows.
pub(super) fn relay_findings(facts: &Facts, relay: &RelayFacts) -> Vec<Finding> {
    if !relay.has_line_editor {
        let text = "the shell reads lines without its line editor: no command can be handed to it";
        return vec![
            finding("relay", FindingVerdict::Fail, text).hint("`set +o emacs`, `set +o vi` or TERM switch it off"),
        ];
    }
    let hint = facts.rc.redirect.as_ref().map_or_else(|| REPORT.to_owned(), |line| format!("look at {}", at(line)));
    let first = tried("relay", "a command runs in the shell", "a command", &relay.first, FindingVerdict::Fail, &hint);
    if relay.first != Tried::Right {
        return vec![first];
    }
    if !relay.is_history_aside {
        let text = "a command runs; no more was tried, as your history could not be kept out of it";
        return vec![
            finding("relay", FindingVerdict::Warn, text).hint("HISTFILE may be read-only in your start-up files"),
        ];
    }
    let mut all = vec![first];
    all.extend(round_trip(relay));
    all.push(marks(facts, relay));
    all.push(tried("status", "exit statuses come back", "exit status", &relay.status, FindingVerdict::Fail, REPORT));
    all.push(tried("folder-change", "`cd` stays and is reported", "`cd`", &relay.cwd, FindingVerdict::Fail, REPORT));
    let well = "`export` stays and is reported";
    all.push(match &relay.variables {
        Tried::Right => {
            let hint = "the assistant does not hear of it, and no line says so; everything else works";
            tried("variables", well, "`export`", &relay.variables_told, FindingVerdict::Warn, hint)
        }
        wrong => tried("variables", well, "`export`", wrong, FindingVerdict::Fail, REPORT),
    });
    all.push(shapes(relay));
    all.push(half_line(relay));
    all.extend(questions(facts, relay));
    let hint = "something rewrites HISTIGNORE or the shell's history hooks";
    all.push(tried(
        "history",
        "cohab's own lines stay out of the history",
        "history",
        &relay.history,
        FindingVerdict::Warn,
        hint,
    ));
    all
}

fn round_trip(relay: &RelayFacts) -> Option<Finding> {
    let relayed = milliseconds(median(&relay.relayed)?);
    let count = relay.relayed.len();
    let Some(typed) = median(&relay.typed).map(milliseconds) else {
        return Some(finding(
            "round-trip",
            FindingVerdict::Warn,
            format!("{relayed:.1} ms for `true`, median of {count}"),
        ));
    };
    let text = format!("{relayed:.1} ms for `true`, {typed:.1} ms typed; medians of {count}");
    Some(if relayed - typed > SLOW_ROUND_MS {
        finding("round-trip", FindingVerdict::Warn, text)
            .hint("more than it should be; run it again when the machine is idle")
    } else {
        finding("round-trip", FindingVerdict::Ok, text)
    })
}

fn marks(facts: &Facts, relay: &RelayFacts) -> Finding {
    let seen = relay.marks;
    let continuation = seen.continuation || !relay.continuation_tried;
    let kinds =
        [(seen.prompt, "prompt"), (seen.start, "start of a command"), (seen.end, "end"), (continuation, "next line")];
    let missing: Vec<&str> = kinds.iter().filter(|(is, _)| !is).map(|(_, kind)| *kind).collect();
    if missing.is_empty() {
        let last = if seen.continuation { ", next line" } else { "" };
        return finding("marks", FindingVerdict::Ok, format!("prompt, start, end{last}"));
    }
    let hint = if facts.shell.kind == Shell::Bash {
        "something rewrites PS0, PS1, PS2 or PROMPT_COMMAND after cohab's part of the start-up"
    } else {
        "something takes the hooks of the shell away after cohab's part of the start-up"
    };
    finding("marks", FindingVerdict::Warn, format!("missing: {}", missing.join(", "))).hint(hint)
}

fn shapes(relay: &RelayFacts) -> Finding {
    let names: Vec<&str> = relay.shapes.iter().map(|(name, _)| *name).collect();
    let wrong = relay.shapes.iter().find(|(_, tried)| *tried != Tried::Right);
    match wrong {
        None => finding("shapes", FindingVerdict::Ok, format!("as they should: {}", names.join(", "))),
        Some((name, how)) => tried("shapes", "", name, how, FindingVerdict::Fail, REPORT),
    }
}

fn half_line(relay: &RelayFacts) -> Finding {
    let plugin = "a key binding or a plugin of the line editor changes the line";
    // What is typed right and comes back wrong is our fault.
    let hint = if relay.types_right { REPORT } else { plugin };
    match &relay.half_line {
        HalfLine::Back => finding("half-line", FindingVerdict::Ok, "a half-typed line comes back with its cursor"),
        HalfLine::CursorMoved => {
            finding("half-line", FindingVerdict::Warn, "a half-typed line comes back, its cursor elsewhere").hint(hint)
        }
        HalfLine::Changed(text) => {
            finding("half-line", FindingVerdict::Warn, format!("a half-typed line came back as `{text}`")).hint(hint)
        }
        HalfLine::Unknown => finding("half-line", FindingVerdict::Warn, "a half-typed line could not be looked at"),
    }
}

/// A question needs one of Enter and the hotkey.
fn questions(facts: &Facts, relay: &RelayFacts) -> Vec<Finding> {
    let is_ble = relay.inside.as_ref().is_some_and(|inside| inside.tools.contains(&"ble.sh"));
    let unless = |other_works: bool| if other_works { FindingVerdict::Warn } else { FindingVerdict::Fail };
    let enter_verdict = unless(facts.has_hotkey && relay.hotkey == Tried::Right);
    let hotkey_verdict = unless(relay.enter == Tried::Right);
    let hint = match facts.shell.kind {
        _ if !facts.has_hotkey => "set client.hotkey in the settings, and ask with that key",
        _ if is_ble => "ble.sh reads the keys itself; ask with the hotkey",
        _ => "something else reads Enter; ask with the hotkey",
    };
    let mut all = vec![tried(
        "enter",
        "a question is taken before the shell sees it",
        "Enter",
        &relay.enter,
        enter_verdict,
        hint,
    )];
    if facts.has_hotkey {
        let hint = "another hotkey may do: client.hotkey in the settings";
        all.push(tried("hotkey", "asks with the line as it stands", "hotkey", &relay.hotkey, hotkey_verdict, hint));
    }
    if relay.enter == Tried::Right || relay.answer != Tried::Skipped {
        let well = "commands run within an answer, the prompt comes back";
        all.push(tried("answer", well, "an answer", &relay.answer, FindingVerdict::Fail, REPORT));
    }
    all
}
