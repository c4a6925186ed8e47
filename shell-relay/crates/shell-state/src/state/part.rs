//! The parts of a shell's listing of itself.

use super::OptionKind;

/// The text between two NULs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    Folder,
    Prompt(&'static str),
    /// Names of the options that are on, with colons between.
    OptionNames(OptionKind),
    /// zsh's `set +o`.
    OptionCommands,
    Umask,
    Exported,
    Aliases,
    /// zsh's aliases: a line for each kind, of names and values in turn.
    AliasWords,
    Functions,
    /// fish's abbreviations.
    Abbreviations,
    Variables,
    /// zsh's variables: names and types in turn, a line each.
    TypedVariables,
    Jobs,
    /// bash's and zsh's `declare -p` of variables that decide which programs run.
    Definitions,
    /// The same of fish.
    FishDefinitions,
    Traps,
    /// bash's `hash -l`.
    HashCommands,
    /// zsh's table of programs: names and paths in turn, a line each.
    HashTable,
    NamedFolders,
    /// bash's `enable -a`.
    EnableCommands,
    /// zsh's builtins: those that are on, an empty line, those that are off.
    Builtins,
    Keys,
    /// zsh's `zle -lL`: the widgets that are functions.
    Widgets,
    /// bash's completions.
    Completions,
    /// fish's event handlers: events and their functions.
    Handlers,
    /// fish's origins of some functions, a line each.
    Origins,
    /// bash's `declare -f` of the user's functions.
    Bodies,
    /// zsh's functions: names and bodies in turn, with a byte 1 between.
    JoinedBodies,
    /// fish's functions that are in no file.
    FishBodies,
}

impl Part {
    /// Parts of one group are read together, or not at all.
    pub(super) fn group(self) -> Option<Group> {
        match self {
            Self::Exported | Self::Variables | Self::TypedVariables | Self::Definitions | Self::FishDefinitions => {
                Some(Group::Variables)
            }
            // PATH decides which of them matter.
            Self::HashCommands | Self::HashTable => Some(Group::Variables),
            Self::Functions | Self::Origins | Self::Bodies | Self::JoinedBodies | Self::FishBodies => {
                Some(Group::Functions)
            }
            _ => None,
        }
    }
}

/// Parts that are read together, or not at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Group {
    Variables,
    Functions,
}
