//! The effects that the client requests. The driver performs them in order.

use std::path::PathBuf;

use cohab_line_classifier::Decision;
use cohab_protocol::{ClientMessage, RequestId, ResumePoint, SessionKey};
use cohab_secrets::FilledLine;
use cohab_shell_relay::live::LineDecision;
use cohab_types::command::{CommandRequest, Interrupter};

use crate::{background_task::Task, line_question::LineQuestion, session_override::SessionOverride};

/// One thing to do.
#[derive(Debug, PartialEq)]
pub enum Effect {
    /// Connect to the daemon, start it if need be. Ends in `LinkUp` or `LinkDown`.
    Connect,
    /// Connect to the daemon if one runs. Ends in `LinkUp`, `LinkDown` or `DaemonAbsent`.
    LookForDaemon,
    /// Connect to the daemon that lives, never start one, and ask for the rest of a turn from here. Ends as `Connect`.
    Resume(ResumePoint),
    /// Leave the session and join this one; another one if that cannot be. Ends as `Connect`.
    Join(SessionKey),
    /// Send this, if connected.
    Send(ClientMessage),
    /// Attach once more on the connection that stands, with this change if any; the answer has this id. Nothing is kept of it yet.
    AttachAgain {
        /// Of the request.
        request_id: RequestId,
        /// What is different.
        change: Option<SessionOverride>,
    },
    /// Attach so from now on, whenever a connection is made.
    KeepForAttach(SessionOverride),
    /// Run our own program next to the shell; `ProgramEnded` brings its output.
    RunProgram {
        /// Its arguments.
        args: Vec<String>,
        /// Where.
        cwd: PathBuf,
        /// How wide its lines may be.
        columns: u16,
    },
    /// End the program of our own that runs, without an event.
    StopProgram,
    /// Put this into the terminal's clipboard.
    Copy(String),
    /// Put this on the next prompt, as if it was pasted there. Nothing runs.
    Insert(String),
    /// The same for what was picked from a list of ours: the keys that were typed meanwhile were for the list.
    InsertPicked(String),
    /// Tell the relay what becomes of the line the user entered.
    DecideLine(LineDecision),
    /// Draw what is left, then give the prompt back.
    EndAnswer,
    /// The same, and the line that the answer took away comes back with it.
    EndAnswerWithLine,
    /// Ask the classifier about the line that Enter was pressed on; ends in `Judged`.
    Judge(LineQuestion),
    /// Remember what the user decided about a line.
    Learn(LineQuestion, Decision),
    /// Show these few words once next to the next prompt.
    Announce(String),
    /// Draw what is left, then run this in the live shell.
    Run(CommandRequest),
    /// The same, and the shell gets this in place of the text, which alone is shown.
    RunFilled(CommandRequest, FilledLine),
    /// The same as `Run` with the text as it is: it is ours, and never needs a subshell.
    RunAsItIs(CommandRequest),
    /// Make room for the assistant; ends in `AnswerReady` or `AnswerRefused`.
    BeginAnswer,
    /// The same as soon as the user leaves the prompt alone.
    ComeBack,
    /// Call a user who looks at something else, with this text.
    Notify(String),
    /// Interrupt this command, on behalf of that party.
    CancelCommand(String, Interrupter),
    /// Refuse this command if it was not handed over to the shell; else leave it to its end.
    WithdrawCommand(String),
    /// Whether keys come to us (a card is open) or go where the relay puts them.
    TakeKeyboard(bool),
    /// Do this on the side; ends in `Done`, or never.
    Begin(Task),
}
