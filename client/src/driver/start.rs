//! What the driver gets, and how its work ends.

use std::{
    path::PathBuf,
    sync::Arc,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use cohab_conversation::{app::Options, approval::ApprovalEnvironment};
use cohab_daemon_link::config::Config;
use cohab_policy_io::rules_file::RuleBook;
use cohab_protocol::{ApprovalMode, Paths, TurnId};
use cohab_sandbox::lock;
use cohab_secrets::ExactValues;
use cohab_shell_relay::live::StartOptions;
use cohab_term::{markdown::Highlighter, output_style::OutputStyle};

/// What is to be opened.
#[derive(Debug)]
pub struct Start {
    /// Candidates for the shell, best first.
    pub shells: Vec<PathBuf>,
    /// How it is started.
    pub options: StartOptions,
    /// Variables that choose a model, from the command line.
    pub model: Vec<(String, String)>,
    /// Our folders.
    pub paths: Paths,
    /// The settings.
    pub config: Config,
    /// Start of the id of an older conversation to go on with.
    pub session: Option<String>,
    /// The subcommands of `cohab`.
    pub subcommands: &'static [&'static str],
}

impl Start {
    /// The settings of the client's state machine.
    pub(super) fn options(
        &self,
        approval: ApprovalMode,
        launcher: fn() -> Option<PathBuf>,
        rules: RuleBook,
        environment: ApprovalEnvironment,
        output_style: OutputStyle,
        highlighter: Option<Highlighter>,
    ) -> Options {
        let client = &self.config.client;
        Options {
            question_prefix: client.question_prefix.clone(),
            gate: client.gate,
            failure_key: client.hotkey.name().filter(|_| client.failure_hint),
            approval,
            looks_at_names: true,
            launcher,
            why_stopped: lock::why_stopped,
            confined: self.config.confined,
            remembered: Arc::new(rules),
            secrets: Arc::new(ExactValues::of_environment(std::env::vars_os())),
            environment: Arc::new(environment),
            output_style,
            reasoning: client.reasoning,
            notify_after: Duration::from_secs(client.notify_after_s),
            gutter: client.gutter,
            footer: client.footer,
            own_program: std::env::current_exe().unwrap_or_else(|_| "cohab".into()),
            fresh_turn_id: TurnId::fresh,
            wall_clock_ms,
            keeps_commands: self.config.keeps_commands,
            highlighter,
        }
    }
}

/// How it went.
#[derive(Debug)]
pub enum ShellOutcome {
    /// The shell ran and ended with this status.
    Exited(u8),
    /// A signal ended us, not the user; this is the status for it.
    Killed(u8),
    /// No shell ever got to its prompt; the terminal is as it was. The caller opens a plain one.
    NotStarted(String),
}

fn wall_clock_ms() -> u64 {
    let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since_1970.as_millis()).unwrap_or(u64::MAX)
}
