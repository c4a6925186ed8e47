//! Screen tests for the assistant's changes to the shell, `cohab undo`, resumed conversations, restored lines and failures.

use cohab_protocol::{LeftState, Recap};
use cohab_shell_relay::live::UNDO_PREFIX;
use cohab_shell_state::state::{Item, StateChange, Step};
use cohab_types::command::RelayError;

use super::*;
use crate::slash::own_output::{self, OwnOutput};

impl Stage {
    /// A turn has changed the shell in this way and has ended.
    fn changed(&mut self, changes: &[(&str, Option<&str>, Option<&str>)]) {
        self.ask("set it up");
        self.daemon(step(1, tool("bash", ". ./env")));
        self.bench.app.options.approval = ApprovalMode::All;
        self.daemon(execute(". ./env", None));
        self.command_ran("", 0, changes);
        self.daemon(step_ended(1, StepOutcome::Done, "exit 0", 5));
        self.end(TurnEndReason::Answered);
        self.undo("");
    }

    /// An undo is asked for, and our program says this about files.
    fn undo(&mut self, told: &str) {
        self.enter("cohab undo");
        let ending = own_output::ProgramEnding::Exited(0);
        self.event(Event::ProgramEnded(OwnOutput { text: told.into(), ending }));
    }

    /// The command of the undo has run: the shell has these variables.
    fn has(&mut self, variables: &[(&str, &str)]) {
        self.has_in(CWD, variables);
    }

    fn has_in(&mut self, folder: &str, variables: &[(&str, &str)]) {
        let id = format!("{UNDO_PREFIX}{TURN}");
        let (change, listing) = (StateChange::default(), undo::listing(folder, variables));
        self.live(LiveEvent::ShellObserved { id: id.clone(), change, listing });
        self.live(undo::finished(&id));
        self.live(LiveEvent::AnswerReady);
    }

    fn join(&mut self, left: Option<LeftState>) {
        self.connect();
        self.enter(resume::LINE);
        self.event(Event::LinkUp(resume::attached(left)));
    }

    fn way_back_ended(&mut self, status: i32, output: &str) {
        self.join(Some(resume::left("/srv/shop", &[("NODE_ENV", "dev")])));
        self.keys("y");
        self.terminal.process(output.as_bytes());
        let (id, outcome) = (TURN.to_string(), CommandOutcome { status: Some(status), ..outcome(Ending::Exited) });
        self.live(LiveEvent::CommandFinished { id, outcome });
        self.live(LiveEvent::AnswerReady);
    }

    fn user_ran(&mut self, line: &str, output: &str, status: i32) {
        self.connect();
        self.terminal.process(format!("{line}\r\n{output}\r\n").as_bytes());
        self.live(LiveEvent::UserCommandFinished(UserCommand {
            line: Some(line.into()),
            status,
            cwd: CWD.into(),
            duration: Duration::ZERO,
            output_tail: output.into(),
            output_bytes: 0,
        }));
        self.terminal.process(PROMPT);
        self.live(LiveEvent::PromptReady);
    }
}

#[test]
fn what_the_assistants_commands_changed() {
    let states: &[State] = &[("the next command, which would run unasked", |stage| {
        stage.ask("set it up");
        stage.bench.app.options.approval = ApprovalMode::All;
        stage.daemon(execute(". ./env", None));
        let id = CALL.to_string();
        stage.live(LiveEvent::CommandStarted { id: id.clone() });
        let name = str::to_owned;
        let hash = |text: &str| Some(vec![text.as_bytes().to_vec()]);
        let steps = [
            (Item::Variable(name("PROMPT_COMMAND")), None, hash("1")),
            (Item::Function(name("ls")), hash("1"), hash("2")),
            (Item::Trap(name("DEBUG")), None, hash("1")),
            (Item::Hashed(name("git")), None, hash("/tmp/git")),
            (Item::Keys, hash("1"), hash("2")),
            (Item::Completion(name("git")), None, hash("1")),
        ];
        let steps = steps.into_iter().map(|(item, before, after)| (item, Step { before, after }));
        let change = StateChange { steps: steps.collect() };
        stage.live(LiveEvent::ShellObserved { id: id.clone(), change, listing: undo::listing(CWD, &[]) });
        let outcome = CommandOutcome { cwd: CWD.into(), ..outcome(Ending::Exited) };
        stage.live(LiveEvent::CommandFinished { id, outcome });
        stage.live(LiveEvent::AnswerReady);
        stage.bench.app.options.approval = ApprovalMode::Ask;
        stage.daemon(local_approval::next("ls -l"));
    })];
    insta::assert_snapshot!("shell_changed", seen(states));
}

#[test]
fn undo() {
    let states: &[State] = &[
        ("nothing to undo", |stage| {
            stage.connect();
            stage.enter("cohab undo");
        }),
        ("nothing to undo, asked by a command", |stage| {
            stage.connect();
            stage.enter("? /undo");
        }),
        ("undone", |stage| {
            stage.changed(&[("SIZE", None, Some("41G")), ("EDITOR", Some("vi"), Some("ed"))]);
            stage.has(&[("SIZE", "41G"), ("EDITOR", "ed")]);
            stage.has(&[("EDITOR", "vi")]);
        }),
        ("changed since, and refused", |stage| {
            stage.changed(&[("A", Some("1"), Some("2")), ("B", None, Some("2")), ("C", None, Some("2"))]);
            stage.has(&[("A", "2"), ("B", "mine")]);
            stage.has(&[("A", "2"), ("B", "mine")]);
        }),
        ("the shell does not tell", |stage| {
            stage.changed(&[("SIZE", None, Some("41G"))]);
            stage.live(undo::finished(&format!("{UNDO_PREFIX}{TURN}")));
            stage.live(LiveEvent::AnswerReady);
        }),
        ("interrupted", |stage| {
            stage.changed(&[("SIZE", None, Some("41G"))]);
            stage.has(&[("SIZE", "41G")]);
            stage.live(undo::finished(&format!("{UNDO_PREFIX}{TURN}")));
            stage.live(LiveEvent::AnswerReady);
        }),
        ("what lasts", |stage| {
            stage.ask("set it up");
            stage.bench.app.options.approval = ApprovalMode::All;
            stage.daemon(execute("unset -f f", None));
            let id = CALL.to_string();
            stage.live(LiveEvent::CommandStarted { id: id.clone() });
            let step = Step { before: Some(vec![b"{ ls; }".to_vec()]), after: None };
            let change = StateChange { steps: [(Item::Function("f".into()), step)].into() };
            stage.live(LiveEvent::ShellObserved { id: id.clone(), change, listing: undo::listing(CWD, &[]) });
            let outcome = CommandOutcome { cwd: CWD.into(), ..outcome(Ending::Exited) };
            stage.live(LiveEvent::CommandFinished { id, outcome });
            stage.live(LiveEvent::AnswerReady);
            stage.end(TurnEndReason::Answered);
            stage.undo("");
            stage.has(&[]);
        }),
        ("a command that was stopped", |stage| {
            stage.ask("set it up");
            stage.bench.app.options.approval = ApprovalMode::All;
            stage.daemon(execute("cd big; make", None));
            let id = CALL.to_string();
            stage.live(LiveEvent::CommandStarted { id: id.clone() });
            stage.live(LiveEvent::CommandFinished { id, outcome: outcome(BY_USER) });
            stage.live(LiveEvent::AnswerReady);
            stage.undo("Not undone: what `make` changes in files.\n");
            stage.has_in("/home/ann/src/big", &[]);
            stage.has(&[]);
        }),
    ];
    insta::assert_snapshot!("undo", seen(states));
}

#[test]
fn undo_of_files() {
    let states: &[State] = &[("one is changed since", |stage| {
        stage.ask("set it up");
        stage.daemon(step(1, tool("edit", "notes.txt")));
        stage.daemon(step_ended(1, StepOutcome::Done, "+1 -1", 5));
        stage.daemon(step(2, tool("write", "Makefile")));
        stage.daemon(step_ended(2, StepOutcome::Done, "new, +12", 4));
        stage.end(TurnEndReason::Answered);
        stage.enter("cohab undo");
        let text = "~/src/Makefile: removed, the assistant had created it\n\
                ~/src/notes.txt: left alone, it was changed since; its earlier content is in \
                ~/.local/state/cohab/backups/0123456789abcdef/0199c6a5/0199c6a5aaaabbbbccccdddd\n";
        stage.event(Event::ProgramEnded(OwnOutput { text: text.into(), ending: own_output::ProgramEnding::Exited(1) }));
    })];
    insta::assert_snapshot!("undo_of_files", seen(states));
}

#[test]
fn an_older_conversation() {
    let states: &[State] = &[
        ("it is joined", |stage| stage.join(None)),
        ("its last turn", |stage| {
            stage.connect();
            stage.enter(resume::LINE);
            let recap = Recap {
                question: "why does the shop not start".into(),
                answer_end: vec!["The port is taken by an older process.".into(), "Stop it and start again.".into()],
                open_tasks: vec!["stop the process".into(), "start the shop".into()],
                changed_files: vec!["config/shop.toml".into()],
            };
            stage.event(Event::LinkUp(Attached { recap: Some(Box::new(recap)), ..resume::attached(None) }));
        }),
        ("it is waited for, and stopped", |stage| {
            stage.connect();
            stage.enter(resume::LINE);
            stage.live(LiveEvent::CancelRequested { is_escape: false });
        }),
        ("the way back is offered", |stage| {
            stage.join(Some(resume::left("/srv/shop", &[("NODE_ENV", "dev"), ("LANG", "de_DE.UTF-8")])));
        }),
        ("the way back is not taken", |stage| {
            stage.join(Some(resume::left("/srv/shop", &[])));
            stage.keys("n");
        }),
        ("the way back is taken", |stage| stage.way_back_ended(0, "")),
        ("the way back fails", |stage| {
            stage.way_back_ended(1, "bash: cd: /srv/shop: No such file or directory\r\n");
        }),
        ("the way back does not run", |stage| {
            stage.join(Some(resume::left("/srv/shop", &[])));
            stage.keys("y");
            stage.live(LiveEvent::CommandRefused { id: TURN.to_string(), error: RelayError::ShellGone });
        }),
        ("its last answer was interrupted", |stage| {
            stage.join(Some(resume::left("/srv/shop", &[])));
            stage.daemon(DaemonMessage::TurnUnfinished(cohab_protocol::TurnUnfinished {
                question: "deploy the shop".into(),
                steps_done: 3,
                unknown: vec!["./deploy.sh --all".into()],
            }));
            stage.keys("n");
        }),
        ("it was interrupted before anything was done", |stage| {
            stage.join(Some(resume::left("/srv/shop", &[])));
            let question = "deploy the shop".into();
            let unfinished = cohab_protocol::TurnUnfinished { question, steps_done: 0, unknown: Vec::new() };
            stage.daemon(DaemonMessage::TurnUnfinished(unfinished));
            stage.keys("n");
        }),
        ("it cannot be joined", |stage| {
            stage.connect();
            stage.enter(resume::LINE);
            let message = "no session begins with \"a3f9\"".into();
            stage.event(Event::NotJoined { message, hint: "`cohab sessions list` shows them".into() });
        }),
    ];
    insta::assert_snapshot!("resume", seen(states));
}

#[test]
fn lines_and_failures() {
    let states: &[State] = &[
        ("Escape brings a question back", |stage| {
            stage.ask("why is it big");
            stage.live(LiveEvent::CancelRequested { is_escape: true });
        }),
        ("a command failed", |stage| stage.user_ran("make all", "make: *** No rule to make target 'all'.", 2)),
        ("it is asked about", |stage| {
            stage.user_ran("make all", "make: *** No rule to make target 'all'.", 2);
            let pressed = LiveEvent::HotkeyPressed { text: String::new(), cwd: CWD.into(), is_command: None };
            stage.live(pressed);
            stage.live(LiveEvent::AnswerReady);
        }),
        ("a question of several lines", |stage| stage.ask("why does this fail:\n  make all\n  make install")),
    ];
    insta::assert_snapshot!("lines", seen(states));
}
