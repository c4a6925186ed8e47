//! Runs the commands of an intent with the values of its slots, and says what came of it.

use super::{
    super::{
        answer::block,
        run::{Halt, Output, Reply, Run, Step},
    },
    align::Values,
    file::TableIntent,
    programs,
    values::written,
    words::{Slot, kind_of},
};

/// Runs the commands one after the other; the first that fails ends the plan.
pub(super) fn follow(intent: &TableIntent, values: &Values, run: &mut Run<'_>) -> Step {
    let mut last: Option<Output> = None;
    for command in &intent.commands {
        let mut output = run.attempt(&fill(command.line, values)?)?;
        if output.failed
            && let Some(other) = command.fallback
        {
            output = run.attempt(&fill(other, values)?)?;
        }
        if output.failed {
            let said = intent.failed.map_or_else(|| output.failure(), |text| told(text, values, Some(&output)));
            return Ok(Reply::new(said));
        }
        last = Some(output);
    }
    let is_empty = last.as_ref().is_some_and(|output| output.lines().is_empty());
    let text = match (intent.empty.filter(|_| is_empty), intent.answer) {
        (Some(empty), _) => empty,
        (None, Some(answer)) => answer,
        (None, None) => "Done.",
    };
    let mut said = told(text, values, last.as_ref());
    // In the live shell the output stands above the answer; elsewhere it is shown with it.
    if let Some(output) = last.filter(|output| !output.sticks && !is_empty) {
        said = format!("{said}\n\n{}", block(&output.lines(), "text"));
    }
    Ok(Reply::new(said))
}

/// The first command with its values; `None` if one is missing.
pub(super) fn first_command(intent: &TableIntent, values: &Values) -> Option<String> {
    fill(intent.commands.first()?.line, values).ok()
}

/// All commands with their values; `None` if there are none or a value is missing.
pub(super) fn effect(intent: &TableIntent, values: &Values) -> Option<Vec<String>> {
    let lines: Option<Vec<String>> = intent.commands.iter().map(|command| fill(command.line, values).ok()).collect();
    lines.filter(|lines| !lines.is_empty())
}

/// The slots of all commands.
pub(super) fn slots(intent: &TableIntent) -> Vec<Slot> {
    let mut slots = Vec::new();
    for command in &intent.commands {
        let _ = replace(command.line, |inside, _| {
            slots.push(Slot::read(inside));
            Ok::<_, Halt>(String::new())
        });
    }
    slots.retain(|slot| slot.label != "sudo");
    slots
}

/// Whether the commands have a slot for each value.
pub(super) fn uses_all(intent: &TableIntent, values: &Values) -> bool {
    let slots = slots(intent);
    values.keys().all(|label| slots.iter().any(|slot| slot.label == *label))
}

/// The slots of all commands that have no default.
pub(super) fn required(intent: &TableIntent) -> Vec<Slot> {
    slots(intent).into_iter().filter(|slot| slot.default.is_none()).collect()
}

/// The first slot without value and default.
pub(super) fn missing_slot(intent: &TableIntent, values: &Values) -> Option<Slot> {
    required(intent).into_iter().find(|slot| !values.contains_key(&slot.label))
}

/// Puts values into a command line. A value that is missing ends the plan with a question.
pub(super) fn fill(line: &str, values: &Values) -> Result<String, Halt> {
    replace(line, |inside, before| {
        if inside == "sudo" {
            return Ok("sudo".to_owned());
        }
        let slot = Slot::read(inside);
        let Some(value) = values.get(&slot.label).or(slot.default.as_ref()) else {
            return Err(Halt::Over(missing(&slot)));
        };
        let is_behind_option = before.split_whitespace().next_back().is_some_and(|word| word.starts_with('-'));
        written(slot.kind(), value, is_behind_option).ok_or_else(|| Halt::Over(missing(&slot)))
    })
}

/// Puts values into an answer.
fn told(text: &str, values: &Values, output: Option<&Output>) -> String {
    let said = replace(&text.replace("\\n", "\n"), |inside, _| {
        let slot = Slot::read(inside);
        let value = match inside {
            "first" => output.and_then(Output::first).unwrap_or_default().to_owned(),
            // What a well-known program does, from a table; nothing for another one.
            "program" => values.get("word").and_then(|name| programs::sentence(name)).unwrap_or_default(),
            "count" => output.map_or(0, |output| output.lines().len()).to_string(),
            _ => values.get(&slot.label).cloned().or(slot.default).unwrap_or_else(|| slot.label.clone()),
        };
        // A value must not end the inline code that it stands in.
        Ok::<_, Halt>(value.replace('`', "'").replace(char::is_control, "\u{fffd}"))
    });
    said.unwrap_or_default()
}

/// Replaces each `{...}` that begins with a letter; `by` gets what is inside and the text before.
fn replace<E>(text: &str, mut by: impl FnMut(&str, &str) -> Result<String, E>) -> Result<String, E> {
    let mut filled = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(open) = rest.find('{') {
        let (before, behind) = rest.split_at(open);
        filled.push_str(before);
        let inside = behind[1..].split_once('}').map(|(inside, _)| inside);
        match inside.filter(|inside| is_slot(inside)) {
            Some(inside) => {
                let value = by(inside, &filled)?;
                filled.push_str(&value);
                rest = &behind[inside.len() + 2..];
            }
            None => {
                filled.push('{');
                rest = &behind[1..];
            }
        }
    }
    filled.push_str(rest);
    Ok(filled)
}

/// Whether braces hold a slot: `awk '{print $1}'` has braces of its own.
pub(super) fn is_slot(inside: &str) -> bool {
    const KINDS: [&str; 23] = [
        "clock", "times", "decimal", "path", "folder", "new", "number", "port", "pid", "size", "ext", "glob", "text",
        "word", "host", "url", "date", "span", "expr", "first", "count", "sudo", "program",
    ];
    KINDS.contains(&kind_of(inside.split('=').next().unwrap_or(inside)))
}

/// The question for a value.
fn missing(slot: &Slot) -> String {
    let (kind, label) = slot.label.split_once('-').unwrap_or((&slot.label, ""));
    let what = match (kind, label) {
        ("path", "") => "file or folder",
        ("new", "") => "new name",
        ("word", "") => "name",
        ("pid", "") => "process id",
        ("ext", _) => "file ending",
        ("expr", _) => "calculation",
        ("decimal", "") => "number",
        ("clock", "") => "time of the day",
        ("times", "") => "time, and how often,",
        ("glob", _) => "pattern, such as *.log,",
        (_, "") => kind,
        (_, label) => label,
    };
    format!("Which {what}? Answer with it, as in `? {}`.", example(kind))
}

/// An example of a value.
fn example(kind: &str) -> &'static str {
    match kind {
        "path" | "new" => "notes.txt",
        "folder" => "~/Downloads",
        "number" | "decimal" => "10",
        "port" => "8080",
        "pid" => "4242",
        "size" => "10M",
        "ext" => "pdf",
        "glob" => "*.log",
        "host" => "example.org",
        "url" => "https://example.org",
        "date" => "2025-12-24",
        "clock" => "23:00",
        "times" => "every day at 3:00",
        "expr" => "3 * 4",
        _ => "some-name",
    }
}
