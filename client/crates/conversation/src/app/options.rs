//! The settings of the client's state machine, which do not change while it runs.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use cohab_policy::{Context, Lock, user_rules::RuleSource};
use cohab_protocol::{ApprovalMode, TurnId};
use cohab_secrets::ExactValues;
use cohab_shell_state::state::Snapshot;
use cohab_term::{markdown::Highlighter, output_style::OutputStyle};
use cohab_types::{client_settings::Reasoning, confined_programs::ConfinedPrograms};

use crate::approval::ApprovalEnvironment;

/// What does not change while the client runs.
#[derive(Clone, Debug)]
pub struct Options {
    /// What a line begins with that is meant for the assistant.
    pub question_prefix: String,
    /// Whether a line in natural language needs no prefix.
    pub gate: bool,
    /// The key that asks about a command that failed, if it is to be announced.
    pub failure_key: Option<&'static str>,
    /// What may run unasked.
    pub approval: ApprovalMode,
    /// Whether the shell is asked what names stand for, and git what is set, before a command runs unasked.
    pub looks_at_names: bool,
    /// The launcher that starts the programs of what runs unasked, where there is one.
    pub launcher: fn() -> Option<PathBuf>,
    /// What that launcher has probably stopped, by the status and the output of a command that failed.
    pub why_stopped: fn(i32, &str, Context<'_>) -> Option<String>,
    /// Which programs run unasked behind it.
    pub confined: ConfinedPrograms,
    /// What the user allowed for good.
    pub remembered: Arc<dyn RuleSource>,
    /// Values that stay in the client, whether or not they look like secrets.
    pub secrets: Arc<ExactValues>,
    /// Whose home, which shell, what commands are judged against.
    pub environment: Arc<ApprovalEnvironment>,
    /// Glyphs or sentences.
    pub output_style: OutputStyle,
    /// What is shown of the model's thoughts.
    pub reasoning: Reasoning,
    /// The end of a shorter turn calls nobody.
    pub notify_after: Duration,
    /// Whether a bar stands left of answers; never in sentences.
    pub gutter: bool,
    /// Whether a longer turn ends with what it took.
    pub footer: bool,
    /// The program of this client, to run its lists in the shell.
    pub own_program: PathBuf,
    /// Makes ids of turns; a counter in tests.
    pub fresh_turn_id: fn() -> TurnId,
    /// The time in milliseconds since 1970; a constant in tests.
    pub wall_clock_ms: fn() -> u64,
    /// Whether the user's commands are kept, so that a daemon is needed for them.
    pub keeps_commands: bool,
    /// Colours code; absent where there are no colours.
    pub highlighter: Option<Highlighter>,
}

impl Options {
    /// The lock with this launcher. The aliases of the live shell count in it.
    pub(super) fn lock<'a>(&self, launcher: &'a Path, shell: Option<&'a Snapshot>) -> Option<Lock<'a>> {
        Lock::new(launcher, shell).map(|lock| lock.with_unknown_programs(self.takes_unknown_programs()))
    }

    /// The lock, for judging a line.
    pub(super) fn unnamed_lock(&self) -> Lock<'static> {
        Lock::UNNAMED.with_unknown_programs(self.takes_unknown_programs())
    }

    fn takes_unknown_programs(&self) -> bool {
        self.confined == ConfinedPrograms::All
    }
}
