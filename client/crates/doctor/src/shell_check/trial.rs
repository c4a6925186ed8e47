//! Runs trials in a shell at its first prompt. The shell's history is redirected to a private file before any trial is typed.

use std::{
    cell::Cell,
    fs,
    path::Path,
    time::{Duration, Instant},
};

use cohab_shell_relay::live::{LineDecision, LiveEvent, ShellState};
use cohab_shell_state::shell::Shell;
use cohab_text::sanitize::one_line;
use cohab_types::command::CommandOutcome;

use super::{
    facts::{HalfLine, Inside, MarksSeen, RelayFacts, Tried},
    hidden::{Failed, HiddenShell, Unmet},
    rc,
};

/// A relayed command, or an answer of the line editor.
const COMMAND_LIMIT: Duration = Duration::from_secs(4);
/// From the mark of a prompt to a line editor that reads.
const EDITOR_LIMIT: Duration = Duration::from_secs(1);
/// After the last key the user does not type any more; a bit more than the relay's own limit.
const QUIET: Duration = Duration::from_millis(200);
/// Commands of each kind whose time is taken, within this time.
const SAMPLES: usize = 20;
const SAMPLES_LIMIT: Duration = Duration::from_millis(2500);
/// Not counted: the first ones fill caches.
const WARM_UP: usize = 2;

/// A line that does no harm if it runs.
const HALF_LINE: &str = " true half line";
/// So many times to the left: the cursor stands in the middle.
const STEPS_LEFT: usize = 4;
const LEFT: &[u8] = b"\x1b[D";
/// The variable that is exported. The value has a blank and a letter beyond ASCII.
const VARIABLE: &str = "COHAB_SHELL_CHECK";
const VALUE: &str = "b är";
/// Printed when the history is out of reach.
const ASIDE: &str = "aside";
/// A folder with a blank and a letter beyond ASCII.
const FOLDER: &str = "a ä";

/// Tries everything out.
pub(super) fn examine(shell: &mut HiddenShell<'_>, kind: Shell) -> Result<RelayFacts, Unmet> {
    let mut facts = RelayFacts {
        has_line_editor: false,
        first: Tried::Skipped,
        is_history_aside: false,
        marks: MarksSeen::default(),
        continuation_tried: false,
        enter: Tried::Skipped,
        hotkey: Tried::Skipped,
        half_line: HalfLine::Unknown,
        types_right: false,
        answer: Tried::Skipped,
        status: Tried::Skipped,
        cwd: Tried::Skipped,
        variables: Tried::Skipped,
        variables_told: Tried::Skipped,
        shapes: Vec::new(),
        history: Tried::Skipped,
        relayed: Vec::new(),
        typed: Vec::new(),
        inside: None,
    };
    let tried = try_all(shell, kind, &mut facts);
    facts.marks = shell.marks;
    // What could not be tried any more stays `Skipped`; the last trial reports the shell's end.
    match tried {
        Err(Unmet::Cancelled) => Err(Unmet::Cancelled),
        _ => Ok(facts),
    }
}

fn try_all(shell: &mut HiddenShell<'_>, kind: Shell, facts: &mut RelayFacts) -> Result<(), Unmet> {
    facts.has_line_editor = came(shell.wait(EDITOR_LIMIT, HiddenShell::editor_reads))?;
    if !facts.has_line_editor {
        return Ok(());
    }
    for text in private_history(kind, shell.folder.as_deref()) {
        let aside = Cell::new(false);
        facts.first = expect(shell, &text, |outcome| {
            aside.set(outcome.output.trim_end() == ASIDE);
            // A failure is a refusal to set it aside; a success must have printed.
            (!aside.get() && outcome.status == Some(0)).then(|| "it printed nothing".to_owned())
        })?;
        facts.is_history_aside = aside.get();
        if facts.first != Tried::Right || facts.is_history_aside {
            break;
        }
    }
    if facts.first != Tried::Right || !facts.is_history_aside {
        return Ok(());
    }
    try_exactness(shell, kind, facts)?;
    if let Ok(outcome) = shell.run(&rc::question(kind), COMMAND_LIMIT) {
        facts.inside = Some(Inside {
            tools: rc::tools_in_answer(&outcome.output),
            promptvars: rc::promptvars_in_answer(&outcome.output),
        });
    }
    take_times(shell, facts)?;
    try_half_line(shell, facts)?;
    try_hotkey(shell, facts)?;
    if kind != Shell::Fish {
        // fish edits all lines of a command at once.
        try_continuation(shell, facts)?;
    }
    facts.history = expect(shell, history(kind), |outcome| {
        let line = outcome.output.lines().find(|line| line.contains("__cohab_"))?;
        Some(format!("`{}` is in it", one_line(line, 60)))
    })?;
    Ok(())
}

/// Ways to keep the history as it is, best first. A directory jumper is kept from learning our folders.
fn private_history(kind: Shell, folder: Option<&Path>) -> Vec<String> {
    let file = folder.map(|folder| kind.quoted_text(&folder.join("history").to_string_lossy()));
    let elsewhere = file.map(|file| format!("HISTFILE={file}"));
    let ways = match kind {
        Shell::Fish => vec!["set -g fish_history ''".to_owned()],
        // The name of the file may be read-only.
        Shell::Bash => elsewhere.into_iter().chain(["set +o history".to_owned()]).collect(),
        Shell::Zsh | Shell::Other => elsewhere.into_iter().collect(),
    };
    ways.into_iter().map(|way| format!("{way} && export _ZO_EXCLUDE_DIRS='/*' && builtin echo {ASIDE}")).collect()
}

fn history(kind: Shell) -> &'static str {
    match kind {
        Shell::Zsh => "builtin fc -l -100",
        Shell::Fish => "builtin history search --max 100",
        Shell::Bash | Shell::Other => "builtin history 100",
    }
}

/// Runs a command; `wrong` says what is not as it should be.
fn expect(
    shell: &mut HiddenShell<'_>,
    text: &str,
    wrong: impl Fn(&CommandOutcome) -> Option<String>,
) -> Result<Tried, Unmet> {
    match shell.run(text, COMMAND_LIMIT) {
        Ok(outcome) => Ok(Tried::unless(wrong(&outcome))),
        Err(Failed::Unmet(Unmet::Cancelled)) => Err(Unmet::Cancelled),
        // Its outcome is unknown.
        Err(_) if shell.is_over() => Ok(Tried::Skipped),
        Err(Failed::Unmet(Unmet::Ended)) => Ok(Tried::Wrong("the shell ended".into())),
        Err(Failed::Unmet(Unmet::Late)) => Ok(Tried::Wrong("it did not come to an end in time".into())),
        Err(Failed::Refused(error)) => Ok(Tried::Wrong(one_line(&error.to_string(), 120))),
    }
}

fn status_is(wanted: i32) -> impl Fn(&CommandOutcome) -> Option<String> {
    move |outcome| match outcome.status {
        Some(status) if status == wanted => None,
        Some(status) => Some(format!("{status} instead of {wanted}")),
        None => Some(format!("none instead of {wanted}")),
    }
}

fn prints(wanted: &'static str) -> impl Fn(&CommandOutcome) -> Option<String> {
    move |outcome| match outcome.output.trim_end() {
        output if output == wanted => None,
        "" => Some("nothing was printed".to_owned()),
        output => Some(format!("`{}` instead of `{wanted}`", one_line(output, 60))),
    }
}

fn try_exactness(shell: &mut HiddenShell<'_>, kind: Shell, facts: &mut RelayFacts) -> Result<(), Unmet> {
    facts.status = expect(shell, "command sh -c 'exit 42'", status_is(42))?;
    if let Some(folder) = shell.folder.as_ref().map(|folder| folder.join(FOLDER))
        && fs::create_dir(&folder).is_ok()
    {
        let word = kind.quoted_text(&folder.to_string_lossy());
        // Where links lead is the shell's affair.
        let same = |cwd: &Path| cwd == folder || cwd.canonicalize().ok() == folder.canonicalize().ok();
        facts.cwd = expect(shell, &format!("cd {word}"), |outcome| {
            let shown = one_line(&outcome.cwd.to_string_lossy(), 100);
            (!same(&outcome.cwd)).then(|| format!("the shell reports {shown}"))
        })?;
        expect(shell, "cd /", |_| None)?;
    }
    facts.variables_told = expect(shell, &format!("export {VARIABLE}='{VALUE}'"), |outcome| {
        let told = outcome.env_delta.iter().find(|change| change.name == VARIABLE);
        match told.map(|change| change.value.as_deref()) {
            Some(Some(VALUE)) => None,
            Some(value) => Some(format!("reported as `{}`", one_line(value.unwrap_or("unset"), 40))),
            None => Some("it stays, but the change is not reported".into()),
        }
    })?;
    facts.variables = expect(shell, &format!("builtin echo \"${VARIABLE}\""), prints(VALUE))?;
    if kind != Shell::Fish {
        facts.shapes.push(("here-document", expect(shell, "command cat <<X\none $((1+1))\nX", prints("one 2"))?));
    }
    facts.shapes.push(("comment", expect(shell, "builtin echo one # two", prints("one"))?));
    let unclosed = expect(shell, "builtin echo 'unclosed", |outcome| {
        (outcome.status == Some(0)).then(|| "it counts as a success".to_owned())
    })?;
    facts.shapes.push(("unclosed quote", unclosed));
    Ok(())
}

/// Relayed and typed in turns, so that what else the machine does slows both. Ends early when one does not come to its end.
fn take_times(shell: &mut HiddenShell<'_>, facts: &mut RelayFacts) -> Result<(), Unmet> {
    let until = Instant::now() + SAMPLES_LIMIT;
    for number in 0..WARM_UP + SAMPLES {
        let begun = Instant::now();
        if !run_true(shell)? {
            break;
        }
        let relayed = begun.elapsed();
        let begun = Instant::now();
        if !type_true(shell)? {
            break;
        }
        if number >= WARM_UP {
            facts.relayed.push(relayed);
            facts.typed.push(begun.elapsed());
        }
        if Instant::now() >= until {
            break;
        }
    }
    Ok(())
}

fn run_true(shell: &mut HiddenShell<'_>) -> Result<bool, Unmet> {
    match shell.run("true", COMMAND_LIMIT) {
        // An alias may make anything of `true`; its status is of no interest here.
        Ok(_) => Ok(true),
        Err(Failed::Unmet(Unmet::Cancelled)) => Err(Unmet::Cancelled),
        Err(_) => Ok(false),
    }
}

fn type_true(shell: &mut HiddenShell<'_>) -> Result<bool, Unmet> {
    shell.events.clear();
    shell.keys(b" true\r");
    let is_asked = |shell: &HiddenShell<'_>| entered(shell).is_some() || is_at_next_prompt(shell);
    if !came(shell.wait(COMMAND_LIMIT, is_asked))? {
        return Ok(false);
    }
    shell.decide(LineDecision::Shell);
    came(shell.wait(COMMAND_LIMIT, is_at_next_prompt))
}

/// Whether it came; an error only if the user wants to stop.
fn came(waited: Result<(), Unmet>) -> Result<bool, Unmet> {
    match waited {
        Ok(()) => Ok(true),
        Err(Unmet::Cancelled) => Err(Unmet::Cancelled),
        Err(Unmet::Late | Unmet::Ended) => Ok(false),
    }
}

fn is_at_next_prompt(shell: &HiddenShell<'_>) -> bool {
    shell.events.contains(&LiveEvent::PromptReady) && shell.live.state() == ShellState::Prompt
}

/// The line and cursor of an Enter that has not yet taken effect.
fn entered(shell: &HiddenShell<'_>) -> Option<(String, usize)> {
    shell.events.iter().find_map(|event| match event {
        LiveEvent::LineEntered { text, cursor, .. } => Some((text.clone(), *cursor)),
        _ => None,
    })
}

/// Types half a line, runs a command, and presses Enter on what is there then, as on a question.
fn try_half_line(shell: &mut HiddenShell<'_>, facts: &mut RelayFacts) -> Result<(), Unmet> {
    shell.keys(HALF_LINE.as_bytes());
    shell.serve_for(QUIET)?;
    for _ in 0..STEPS_LEFT {
        shell.keys(LEFT);
    }
    shell.serve_for(QUIET)?;
    let relayed = expect(shell, "true", |_| None)?;
    shell.serve_for(QUIET)?;
    shell.events.clear();
    shell.keys(b"\r");
    let is_taken = |shell: &HiddenShell<'_>| entered(shell).is_some() || is_at_next_prompt(shell);
    let answered = came(shell.wait(COMMAND_LIMIT, is_taken))?;
    let Some((text, cursor)) = entered(shell) else {
        let what = if answered { "the shell ran the line at once" } else { "the line editor did not answer" };
        facts.enter = wrong_unless_over(shell, what);
        return Ok(());
    };
    facts.enter = Tried::Right;
    facts.half_line = match (relayed, text == HALF_LINE) {
        (Tried::Right, true) if cursor == HALF_LINE.chars().count() - STEPS_LEFT => HalfLine::Back,
        (Tried::Right, true) => HalfLine::CursorMoved,
        (Tried::Right, false) => HalfLine::Changed(one_line(&text.escape_debug().to_string(), 60)),
        (Tried::Wrong(_) | Tried::Skipped, _) => HalfLine::Unknown,
    };
    facts.answer = try_answer(shell)?;
    Ok(())
}

fn wrong_unless_over(shell: &HiddenShell<'_>, what: &str) -> Tried {
    if shell.is_over() { Tried::Skipped } else { Tried::Wrong(what.to_owned()) }
}

/// The line goes to the assistant, a command runs within the answer, a fresh prompt comes at its end.
fn try_answer(shell: &mut HiddenShell<'_>) -> Result<Tried, Unmet> {
    shell.events.clear();
    shell.decide(LineDecision::Assistant);
    let is_begun = |shell: &HiddenShell<'_>| {
        shell.events.iter().any(|event| matches!(event, LiveEvent::AnswerReady | LiveEvent::AnswerRefused(_)))
    };
    let begun = came(shell.wait(COMMAND_LIMIT, is_begun))?;
    if !begun || !shell.events.contains(&LiveEvent::AnswerReady) {
        return Ok(wrong_unless_over(shell, "the line was not put aside"));
    }
    let ran = expect(shell, "true", |_| None)?;
    shell.events.clear();
    shell.end_answer();
    let is_over = |shell: &HiddenShell<'_>| shell.events.contains(&LiveEvent::AnswerEnded);
    if !came(shell.wait(COMMAND_LIMIT, is_over))? {
        return Ok(wrong_unless_over(shell, "the prompt did not come back"));
    }
    Ok(ran)
}

fn try_hotkey(shell: &mut HiddenShell<'_>, facts: &mut RelayFacts) -> Result<(), Unmet> {
    let hotkey = shell.hotkey;
    if hotkey.is_empty() || shell.live.state() != ShellState::Prompt {
        return Ok(());
    }
    shell.events.clear();
    shell.keys(HALF_LINE.as_bytes());
    shell.serve_for(QUIET)?;
    shell.keys(hotkey);
    let asked = |shell: &HiddenShell<'_>| {
        shell.events.iter().find_map(|event| match event {
            LiveEvent::HotkeyPressed { text, .. } => Some(text.clone()),
            _ => None,
        })
    };
    facts.hotkey = if came(shell.wait(COMMAND_LIMIT, |shell| asked(shell).is_some()))? {
        facts.types_right = asked(shell).is_some_and(|text| text == HALF_LINE);
        try_answer(shell)?
    } else {
        wrong_unless_over(shell, "the line editor did not answer")
    };
    Ok(())
}

fn try_continuation(shell: &mut HiddenShell<'_>, facts: &mut RelayFacts) -> Result<(), Unmet> {
    if shell.live.state() != ShellState::Prompt {
        return Ok(());
    }
    shell.events.clear();
    shell.keys(b" if true; then");
    shell.serve_for(QUIET)?;
    shell.keys(b"\r");
    let is_asked = |shell: &HiddenShell<'_>| entered(shell).is_some() || shell.marks.continuation;
    came(shell.wait(COMMAND_LIMIT, is_asked))?;
    shell.decide(LineDecision::Shell);
    came(shell.wait(COMMAND_LIMIT, |shell| shell.marks.continuation))?;
    facts.continuation_tried = !shell.is_over();
    // The mark comes before the editor reads, and an interrupt so early is lost.
    shell.serve_for(QUIET)?;
    shell.events.clear();
    shell.keys(b"\x03");
    came(shell.wait(COMMAND_LIMIT, is_at_next_prompt))?;
    Ok(())
}
