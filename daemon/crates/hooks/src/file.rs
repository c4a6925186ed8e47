//! Reads files of hooks in the format of Claude Code: `hooks.EVENT[].matcher` and `hooks.EVENT[].hooks[]`. Pure.

use std::{fmt, path::Path, sync::Arc, time::Duration};

use cohab_text::sanitize::one_line;
use serde::{
    Deserialize, Deserializer,
    de::{Error as _, IgnoredAny, MapAccess, Visitor},
};

use crate::{event::HookEvent, matcher::Matcher};

/// Largest valid file, in bytes.
pub const MAX_FILE_BYTES: u64 = 256 * 1024;
/// Most hooks of a file.
const MAX_HOOKS: usize = 64;
/// Longest command.
const MAX_COMMAND_BYTES: usize = 16 * 1024;
/// Time limit of a hook that names none.
const DEFAULT_LIMIT: Duration = Duration::from_secs(60);
/// Longest time limit.
const MAX_LIMIT: Duration = Duration::from_secs(600);
/// Columns of a command in messages.
const NAME_COLUMNS: usize = 48;

/// A program that runs at an event.
#[derive(Clone, Debug)]
pub struct Hook {
    /// The event.
    pub event: HookEvent,
    /// Which subjects of the event it is for.
    pub matcher: Matcher,
    /// A line for `sh`.
    pub command: String,
    /// It is killed after this time.
    pub limit: Duration,
    /// The file that names it.
    pub source: Arc<Path>,
}

impl Hook {
    /// Its command as one line, for messages.
    #[must_use]
    pub fn name(&self) -> String {
        one_line(&self.command, NAME_COLUMNS)
    }
}

/// The content of a file.
#[derive(Clone, Debug, Default)]
pub struct HookFile {
    /// Its hooks, in their order.
    pub hooks: Vec<Hook>,
    /// What of it is not used, as sentences.
    pub remarks: Vec<String>,
}

/// Reads a file. Keys other than `hooks` are left alone, so that a whole file of settings can be read.
///
/// # Errors
/// The fault with its line, a phrase.
pub fn read(content: &[u8], source: &Path) -> Result<HookFile, String> {
    let form: FileForm = serde_json::from_slice(content).map_err(|error| described(&error))?;
    let mut file = HookFile { hooks: Vec::new(), remarks: form.hooks.remarks };
    if form.is_off {
        file.remarks.push("`disableAllHooks` is set: none of its hooks runs".to_owned());
        return Ok(file);
    }
    let source: Arc<Path> = source.into();
    for (event, groups) in form.hooks.events {
        for GroupForm { matcher, hooks } in groups {
            for hook in hooks {
                let HookForm { kind, command, limit, condition } = hook;
                let Some(CommandForm(command)) = command.filter(|_| kind == "command") else {
                    let kind = one_line(&kind, NAME_COLUMNS);
                    file.remarks.push(format!("a hook of {event} does not run: its type is `{kind}`, not `command`"));
                    continue;
                };
                let hook =
                    Hook { event, matcher: matcher.0.clone(), command, limit: limit.0, source: Arc::clone(&source) };
                if condition.is_some() {
                    let name = hook.name();
                    file.remarks
                        .push(format!("`{name}` of {event} has an `if`, which is not used: it runs for each call"));
                }
                file.hooks.push(hook);
            }
        }
    }
    match file.hooks.len() {
        0..=MAX_HOOKS => Ok(file),
        many => Err(format!("{many} hooks are more than {MAX_HOOKS}")),
    }
}

/// The error with its line in front. The parser's own place is put there.
fn described(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let text = text.rsplit_once(" at line ").map_or(text.as_str(), |(text, _)| text);
    let text = one_line(text, 300);
    match error.line() {
        0 => text,
        line => format!("line {line}: {text}"),
    }
}

#[derive(Deserialize)]
struct FileForm {
    #[serde(default)]
    hooks: EventsForm,
    #[serde(default, rename = "disableAllHooks")]
    is_off: bool,
}

#[derive(Default)]
struct EventsForm {
    events: Vec<(HookEvent, Vec<GroupForm>)>,
    remarks: Vec<String>,
}

impl<'de> Deserialize<'de> for EventsForm {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Events;
        impl<'de> Visitor<'de> for Events {
            type Value = EventsForm;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("an object with the names of events")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<EventsForm, A::Error> {
                let mut form = EventsForm::default();
                while let Some(name) = map.next_key::<String>()? {
                    if let Some(event) = HookEvent::of(&name) {
                        form.events.push((event, map.next_value()?));
                        continue;
                    }
                    map.next_value::<IgnoredAny>()?;
                    let name = one_line(&name, NAME_COLUMNS);
                    form.remarks.push(format!("hooks of `{name}` do not run: cohab has no such event"));
                }
                Ok(form)
            }
        }
        deserializer.deserialize_map(Events)
    }
}

#[derive(Deserialize)]
struct GroupForm {
    #[serde(default)]
    matcher: MatcherForm,
    hooks: Vec<HookForm>,
}

struct MatcherForm(Matcher);

impl Default for MatcherForm {
    fn default() -> Self {
        Self(Matcher::All)
    }
}

impl<'de> Deserialize<'de> for MatcherForm {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Option::<String>::deserialize(deserializer)?.unwrap_or_default();
        Matcher::read(&text).map(Self).map_err(D::Error::custom)
    }
}

#[derive(Deserialize)]
struct HookForm {
    #[serde(rename = "type")]
    kind: String,
    command: Option<CommandForm>,
    #[serde(default, rename = "timeout")]
    limit: LimitForm,
    #[serde(rename = "if")]
    condition: Option<IgnoredAny>,
}

struct CommandForm(String);

impl<'de> Deserialize<'de> for CommandForm {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let command = String::deserialize(deserializer)?;
        match () {
            () if command.trim().is_empty() => Err(D::Error::custom("`command` is empty")),
            () if command.contains('\0') => Err(D::Error::custom("`command` holds a NUL character")),
            () if command.len() > MAX_COMMAND_BYTES => {
                Err(D::Error::custom(format!("`command` is longer than {MAX_COMMAND_BYTES} bytes")))
            }
            () => Ok(Self(command)),
        }
    }
}

struct LimitForm(Duration);

impl Default for LimitForm {
    fn default() -> Self {
        Self(DEFAULT_LIMIT)
    }
}

impl<'de> Deserialize<'de> for LimitForm {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let seconds = f64::deserialize(deserializer)?;
        if !(seconds > 0.0 && seconds.is_finite()) {
            return Err(D::Error::custom("`timeout` is a number of seconds above 0"));
        }
        Ok(Self(Duration::try_from_secs_f64(seconds).unwrap_or(MAX_LIMIT).min(MAX_LIMIT)))
    }
}

#[cfg(test)]
#[path = "file_tests.rs"]
mod tests;
