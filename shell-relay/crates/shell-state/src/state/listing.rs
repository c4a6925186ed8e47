//! Splits a shell's listing of itself into parts.

use super::{Item, OptionKind, Snapshot, StateChange, part::Part, reading::read_part};
use crate::shell::Shell;

/// The definition of `__cohab_state FILE`, for the integration script of the shell. Empty for shells without one.
#[must_use]
pub fn script(shell: Shell) -> &'static str {
    match shell {
        Shell::Bash => include_str!("../../assets/state.bash"),
        Shell::Zsh => include_str!("../../assets/state.zsh"),
        Shell::Fish => include_str!("../../assets/state.fish"),
        Shell::Other => "",
    }
}

const BASH: &[Part] = &[
    Part::Folder,
    Part::Prompt("PS1"),
    Part::OptionNames(OptionKind::Set),
    Part::OptionNames(OptionKind::Shopt),
    Part::Umask,
    Part::Exported,
    Part::Aliases,
    Part::Functions,
    Part::Variables,
    Part::Jobs,
    Part::Definitions,
    Part::Traps,
    Part::HashCommands,
    Part::EnableCommands,
    Part::Keys,
    Part::Completions,
    Part::Bodies,
];
const ZSH: &[Part] = &[
    Part::OptionCommands,
    Part::Traps,
    Part::Folder,
    Part::Prompt("PS1"),
    Part::Prompt("RPS1"),
    Part::Umask,
    Part::Exported,
    Part::AliasWords,
    Part::Functions,
    Part::TypedVariables,
    Part::Jobs,
    Part::Definitions,
    Part::HashTable,
    Part::NamedFolders,
    Part::Builtins,
    Part::Keys,
    Part::Widgets,
    Part::JoinedBodies,
];
const FISH: &[Part] = &[
    Part::Folder,
    Part::Umask,
    Part::Exported,
    Part::Functions,
    Part::Abbreviations,
    Part::Origins,
    Part::Variables,
    Part::Variables,
    Part::Jobs,
    Part::FishDefinitions,
    Part::Handlers,
    Part::Keys,
    Part::FishBodies,
];

/// A shell's listing of itself. It may be cut or any other text; then reading it gives `None`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listing {
    /// The shell that wrote it.
    pub shell: Shell,
    /// The whole file.
    pub bytes: Vec<u8>,
}

impl Listing {
    /// The state of the shell.
    #[must_use]
    pub fn snapshot(&self) -> Option<Snapshot> {
        self.parts()?.read(|_| true)
    }

    /// The changes until a later listing of the same shell.
    #[must_use]
    pub fn change_until(&self, later: &Self) -> Option<StateChange> {
        let (before, after) = (self.parts()?, later.parts()?);
        if self.shell != later.shell {
            return None;
        }
        // Most of it is the same each time.
        let kinds = layout(self.shell);
        let differs = |index: usize| before.texts[index] != after.texts[index];
        let wanted = |index: usize| match kinds[index].group() {
            None => differs(index),
            Some(group) => (0..kinds.len()).any(|other| kinds[other].group() == Some(group) && differs(other)),
        };
        Some(StateChange::between(&before.read(wanted)?, &after.read(wanted)?))
    }

    fn parts(&self) -> Option<Parts<'_>> {
        let kinds = layout(self.shell);
        let mut texts = self.bytes.split(|byte| *byte == 0).collect::<Vec<_>>();
        // The end shows that nothing is cut off.
        if kinds.is_empty() || texts.len() <= kinds.len() || texts.pop() != Some(b".") {
            return None;
        }
        let stack = texts.split_off(kinds.len());
        Some(Parts { kinds, texts, stack })
    }
}

fn layout(shell: Shell) -> &'static [Part] {
    match shell {
        Shell::Bash => BASH,
        Shell::Zsh => ZSH,
        Shell::Fish => FISH,
        Shell::Other => &[],
    }
}

/// A listing, cut at its NULs: as many texts as kinds.
struct Parts<'a> {
    kinds: &'static [Part],
    texts: Vec<&'a [u8]>,
    stack: Vec<&'a [u8]>,
}

impl Parts<'_> {
    /// Reads the wanted parts, and the directory stack.
    fn read(&self, wanted: impl Fn(usize) -> bool) -> Option<Snapshot> {
        let mut snapshot = Snapshot::new();
        if !self.stack.is_empty() {
            snapshot.insert(Item::DirectoryStack, self.stack.iter().map(|folder| folder.to_vec()).collect());
        }
        let is_fish = self.kinds == FISH;
        for (index, (kind, text)) in self.kinds.iter().zip(&self.texts).enumerate() {
            if wanted(index) {
                read_part(*kind, text, is_fish, &mut snapshot)?;
            }
        }
        let exported: Vec<String> = exported_names(&snapshot).map(str::to_owned).collect();
        for name in exported {
            snapshot.remove(&Item::Variable(name.clone()));
            snapshot.remove(&Item::Prompt(name));
        }
        Some(snapshot)
    }
}

fn exported_names(snapshot: &Snapshot) -> impl Iterator<Item = &str> {
    snapshot.keys().filter_map(|item| match item {
        Item::Exported(name) => Some(name.as_str()),
        _ => None,
    })
}
