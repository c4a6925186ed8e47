//! Writes the lines that take back a change of a shell, and lists the parts that cannot be taken back. Pure.

use super::{AliasKind, Item, OptionKind, Snapshot, StateChange, Value};
use crate::shell::Shell;

/// The undo of a change.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Undo {
    /// The items to restore; `None`: the item did not exist.
    pub wanted: Vec<(Item, Option<Value>)>,
    /// Items that have been changed since, and are therefore left alone.
    pub changed_since: Vec<Item>,
    /// Items that cannot be taken back.
    pub lasting: Vec<Item>,
    script: String,
}

impl Undo {
    /// Takes `change` back in a shell that is `now` in this state.
    #[must_use]
    pub fn of(change: &StateChange, now: &Snapshot, shell: Shell) -> Self {
        let mut undo = Self::default();
        for (item, step) in &change.steps {
            let is_now = now.get(item);
            if is_now == step.before.as_ref() {
                continue;
            }
            if item.is_only_seen() {
                if !comes_back_with_its_export(change, item) {
                    undo.lasting.push(item.clone());
                }
                continue;
            }
            if is_now != step.after.as_ref() {
                // A prompt is often rebuilt each time it is drawn.
                if !matches!(item, Item::Prompt(_) | Item::Job(_)) {
                    undo.changed_since.push(item.clone());
                }
                continue;
            }
            match statement(shell, item, step.before.as_ref(), was_variable(change, item)) {
                Some(statement) => {
                    undo.script.push_str(&guarded(shell, &statement));
                    undo.wanted.push((item.clone(), step.before.clone()));
                }
                None => undo.lasting.push(item.clone()),
            }
        }
        if !undo.script.is_empty() {
            undo.script.push_str("true\n");
        }
        undo
    }

    /// A script for the shell; empty if there is nothing to do. Each statement runs independently and prints nothing.
    #[must_use]
    pub fn script(&self) -> &str {
        &self.script
    }

    /// The items that are as wanted in a shell that is `now` in this state, and those that are not.
    #[must_use]
    pub fn outcome(&self, now: &Snapshot) -> (Vec<&(Item, Option<Value>)>, Vec<&Item>) {
        let (done, failed): (Vec<_>, Vec<_>) =
            self.wanted.iter().partition(|(item, value)| now.get(item) == value.as_ref());
        (done, failed.into_iter().map(|(item, _)| item).collect())
    }
}

/// Whether the item was a variable before, only not exported.
fn was_variable(change: &StateChange, item: &Item) -> bool {
    let Item::Exported(name) = item else { return false };
    change.steps.get(&Item::Variable(name.clone())).is_some_and(|step| step.before.is_some())
}

/// Whether the item is no longer exported, but still exists.
fn comes_back_with_its_export(change: &StateChange, item: &Item) -> bool {
    let Item::Variable(name) = item else { return false };
    change.steps.get(&Item::Exported(name.clone())).is_some_and(|step| step.before.is_some())
}

/// The statement that restores the item to `value`. `None` if no statement does.
fn statement(shell: Shell, item: &Item, value: Option<&Value>, was_variable: bool) -> Option<String> {
    match (item, value) {
        (Item::Folder, Some(path)) => Some(format!("builtin cd -- {}", first(shell, path))),
        (Item::Exported(name), _) if !is_identifier(name) => None,
        (Item::Exported(name), Some(value)) => Some(export(shell, name, value)),
        (Item::Exported(name), None) if was_variable => Some(match shell {
            Shell::Fish => format!("set -u {name} ${name}"),
            Shell::Zsh => format!("builtin typeset -g +x {name}"),
            _ => format!("builtin export -n {name}"),
        }),
        (Item::Exported(name), None) if shell == Shell::Fish => Some(format!("set -e {name}")),
        (Item::Exported(name), None) => Some(format!("builtin unset -v {name}")),
        (Item::Prompt(name), Some(value)) => Some(format!("builtin declare -g {name}={}", first(shell, value))),
        (Item::Alias(kind, name), Some(value)) => Some(define_alias(shell, *kind, name, value)),
        (Item::Alias(kind, name), None) => {
            let suffix = if *kind == AliasKind::Suffix { "-s " } else { "" };
            Some(format!("builtin unalias {suffix}-- {}", shell.quoted_in_ascii(name.as_bytes())))
        }
        (Item::Abbreviation(name), None) => {
            Some(format!("builtin abbr -e -- {}", shell.quoted_in_ascii(name.as_bytes())))
        }
        (Item::Option(_, name), _) if !is_option_name(name) => None,
        (Item::Option(OptionKind::Set, name), value) => {
            Some(format!("builtin set {}o {name}", if value.is_some() { '-' } else { '+' }))
        }
        (Item::Option(OptionKind::Shopt, name), value) => {
            Some(format!("builtin shopt -{} {name}", if value.is_some() { 's' } else { 'u' }))
        }
        (Item::Umask, Some(mask)) if shell == Shell::Fish => Some(format!("set umask {}", first(shell, mask))),
        (Item::Umask, Some(mask)) => Some(format!("builtin umask {}", first(shell, mask))),
        (Item::DirectoryStack, folders) => Some(directory_stack(shell, folders.map_or(&[], Vec::as_slice))),
        _ => None,
    }
}

/// The next statement runs even if this one fails: an assignment to a read-only variable would end the whole text in zsh.
fn guarded(shell: Shell, statement: &str) -> String {
    match shell {
        Shell::Fish => format!("begin; {statement}; end >/dev/null 2>&1\n"),
        Shell::Zsh => format!("{{ {{ {statement}; }} always {{ TRY_BLOCK_ERROR=0; }}; }} >/dev/null 2>&1 || :\n"),
        _ => format!("{{ {statement}; }} >/dev/null 2>&1 || :\n"),
    }
}

fn first(shell: Shell, value: &Value) -> String {
    shell.quoted_in_ascii(value.first().map_or(b"", Vec::as_slice))
}

fn export(shell: Shell, name: &str, value: &Value) -> String {
    if shell == Shell::Fish {
        return format!("set -x {name} {}", list(shell, value));
    }
    format!("builtin export {name}={}", first(shell, value))
}

fn list(shell: Shell, value: &[Vec<u8>]) -> String {
    value.iter().map(|element| shell.quoted_in_ascii(element)).collect::<Vec<_>>().join(" ")
}

fn define_alias(shell: Shell, kind: AliasKind, name: &str, value: &Value) -> String {
    let option = match kind {
        AliasKind::Command => "",
        AliasKind::Global => "-g ",
        AliasKind::Suffix => "-s ",
    };
    let definition = [name.as_bytes(), b"=", value.first().map_or(b"", Vec::as_slice)].concat();
    format!("builtin alias {option}-- {}", shell.quoted_in_ascii(&definition))
}

fn directory_stack(shell: Shell, folders: &[Vec<u8>]) -> String {
    match shell {
        Shell::Fish => format!("set -g dirstack {}", list(shell, folders)),
        Shell::Zsh => format!("dirstack=({})", list(shell, folders)),
        _ => {
            let pushed =
                folders.iter().rev().map(|folder| format!("; builtin pushd -n {}", shell.quoted_in_ascii(folder)));
            std::iter::once("builtin dirs -c".to_owned()).chain(pushed).collect()
        }
    }
}

fn is_identifier(name: &str) -> bool {
    !name.starts_with(|first: char| first.is_ascii_digit())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

fn is_option_name(name: &str) -> bool {
    name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
}
