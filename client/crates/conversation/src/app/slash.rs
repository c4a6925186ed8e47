//! Commands to the assistant itself, as `? /help`: each is a small turn of its own. The list and the texts are in
//! [`crate::slash`].

use std::time::{Duration, Instant};

use cohab_protocol::{
    ClientMessage, ErrorSubject, NamedCommand, RequestId, SessionAction, SessionAnswer, SessionReply, SessionRequest,
    StartTask, WireError, WireErrorKind,
};
use cohab_shell_relay::live::LineDecision;
use cohab_term::clipboard::MAX_CLIPBOARD_BYTES;
use cohab_text::sanitize::{one_line, sanitize};
use ratatui::text::Line;

use super::{
    App, LinkState, Surface,
    state::{
        activity::Activity,
        asked::Asked,
        slash::{Slash, SlashStage, Wish},
    },
};
use crate::{
    effect::Effect,
    session_override::{ModelWish, SessionOverride},
    slash::{self, CommandKind, Parsed, SlashCommand, own_output::OwnOutput, say},
    ui::{
        key_table,
        status::{self, STOPPED},
    },
};

/// The daemon answers such a request, started and connected if need be, within this time.
pub(super) const REQUEST_LIMIT: Duration = Duration::from_secs(10);
/// The names of skills and commands are said within this time, or there are none.
const CALL_LIMIT: Duration = Duration::from_secs(3);
/// A model may have to sum the conversation up.
const COMPACT_LIMIT: Duration = Duration::from_secs(100);

/// Longest block that is put on the prompt: line editors redraw a longer one with each key.
const MAX_INSERT_BYTES: usize = 16 * 1024;
/// Of a question that is only named, in columns.
const MAX_QUESTION: usize = 40;
/// Behind `? /diff`: all turns, not only the last one.
const WHOLE_SESSION: &str = "session";
/// Shown while a model sums up: a line, and a sentence.
const COMPACTING: (&str, &str) =
    ("shortening the conversation · Ctrl-C stops", "Shortening the conversation. Ctrl-C stops it.");

/// The arguments of `cohab memory forget`. Numbers are those of facts, `c12` and `t3` what was done; anything else is words of the fact.
fn forget_arguments(words: &str) -> Vec<String> {
    let at_prompt = "--at-prompt".to_owned();
    let is_id = |word: &str| {
        let digits = word.strip_prefix(['c', 't']).unwrap_or(word);
        !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
    };
    if words.split_whitespace().all(is_id) {
        return [at_prompt].into_iter().chain(words.split_whitespace().map(str::to_owned)).collect();
    }
    vec![at_prompt, format!("--query={words}")]
}

impl App {
    /// Whether a question is a command to the assistant itself, which then begins.
    pub(super) fn take_slash(&mut self, question: &str, now: Instant, effects: &mut Vec<Effect>) -> bool {
        let is_command = slash::parse(question) != Parsed::Question;
        if is_command {
            effects.push(Effect::DecideLine(LineDecision::Assistant));
            self.surface = Surface::Opening;
            self.start_slash(question, now, effects);
        }
        is_command
    }

    /// The same for a question that has waited for the end of a turn: it begins where that ended.
    pub(super) fn take_queued_slash(&mut self, question: &str, now: Instant, effects: &mut Vec<Effect>) -> bool {
        let is_command = slash::parse(question) != Parsed::Question;
        if is_command {
            self.keep_code();
            self.activity = Activity::Idle;
            self.surface = Surface::Ours;
            self.start_slash(question, now, effects);
            self.advance_undo(effects);
        }
        is_command
    }

    fn start_slash(&mut self, question: &str, now: Instant, effects: &mut Vec<Effect>) {
        self.screen.is_dirty = true;
        self.print_question(question);
        match slash::parse(question) {
            Parsed::Command(command, _) if command.kind == CommandKind::Undo => self.start_undo(),
            Parsed::Command(command, "") if command.kind == CommandKind::Resume => self.go_on(now, effects),
            Parsed::Command(command, words) => {
                let stage = self.begin_slash(command, words, now, effects);
                self.activity = Activity::Slash(Slash { stage });
                self.send_held_request(effects);
                if self.surface == Surface::Ours {
                    self.advance_pick(now, effects);
                }
            }
            Parsed::Unknown(_, nearest) => {
                let wish = Wish::Call(question.to_owned(), nearest);
                self.activity = Activity::Slash(Slash { stage: SlashStage::Held(wish, now + CALL_LIMIT) });
                self.send_held_request(effects);
            }
            Parsed::Question => {}
        }
    }

    fn begin_slash(
        &mut self,
        command: &SlashCommand,
        words: &str,
        now: Instant,
        effects: &mut Vec<Effect>,
    ) -> SlashStage {
        let (width, output_style) = (self.width(), self.options.output_style);
        let prefix = self.options.question_prefix.clone();
        let held = |action| SlashStage::Held(Wish::Action(action), now + REQUEST_LIMIT);
        if command.arguments.is_empty() && !words.is_empty() {
            self.say(say::misused(&prefix, command));
            return SlashStage::Done;
        }
        match command.kind {
            CommandKind::Help => {
                self.screen.above.extend(say::help(&prefix, width, output_style));
                // No daemon is started for it.
                if matches!(self.connection.link, LinkState::Up(_)) {
                    return SlashStage::Held(Wish::Names, now + CALL_LIMIT);
                }
            }
            CommandKind::New => return held(SessionAction::Clear),
            CommandKind::Rewind => return self.begin_rewind(),
            CommandKind::Output => match if words.is_empty() { Ok(1) } else { words.parse() } {
                Ok(number @ 1..) => return self.begin_output(number),
                Ok(0) | Err(_) => self.say(say::misused(&prefix, command)),
            },
            CommandKind::Retry => return held(SessionAction::Rewind),
            CommandKind::Compact => return SlashStage::Held(Wish::Action(SessionAction::Compact), now + COMPACT_LIMIT),
            CommandKind::Context => return held(SessionAction::Context),
            CommandKind::Cost => return held(SessionAction::Usage),
            CommandKind::Model if words.is_empty() => return self.begin_model(now),
            CommandKind::Model => match ModelWish::parse(words) {
                Some(wish) => return SlashStage::Held(Wish::Model(wish), now + REQUEST_LIMIT),
                None => self.say(say::misused(&prefix, command)),
            },
            CommandKind::Approve => return self.begin_approve(command, words, now, effects),
            CommandKind::Typed => self.print_typed_lines(),
            CommandKind::Copy => self.copy(command, words, effects),
            CommandKind::Insert => self.insert(command, words, effects),
            CommandKind::Keys => self.screen.above.extend(key_table::lines(width, output_style)),
            CommandKind::Sessions => return self.run_program(&format!("sessions {words}"), &[], effects),
            CommandKind::Remember if words.is_empty() => self.say(say::misused(&prefix, command)),
            CommandKind::Remember => {
                let text = ["--at-prompt", "--", words].map(str::to_owned);
                return self.run_program("memory add", &text, effects);
            }
            CommandKind::Memory => return self.run_program("memory list", &[], effects),
            CommandKind::Forget if words.is_empty() => self.say(say::misused(&prefix, command)),
            CommandKind::Forget => return self.run_program("memory forget", &forget_arguments(words), effects),
            CommandKind::Background if words.is_empty() => self.say(say::misused(&prefix, command)),
            CommandKind::Background => return held(self.background_task(words)),
            CommandKind::Tasks => return self.run_program("tasks", &[], effects),
            CommandKind::Goal | CommandKind::Debate | CommandKind::Share => self.say(say::misused(&prefix, command)),
            CommandKind::Doctor => return self.run_program("doctor", &[], effects),
            CommandKind::Diff if words.is_empty() => return self.run_program("diff", &self.of_session(), effects),
            CommandKind::Diff if words == WHOLE_SESSION => {
                return self.run_program("diff --all", &self.of_session(), effects);
            }
            CommandKind::Diff => self.say(say::misused(&prefix, command)),
            // An answer that is coming takes them itself.
            CommandKind::Unshare => self.say("This shell is not shared."),
            CommandKind::Pause => self.say("Nothing is being answered."),
            // Begun elsewhere.
            CommandKind::Undo | CommandKind::Resume => {}
        }
        SlashStage::Done
    }

    /// The client decides last what runs, so its own mode changes at once, with or without a daemon.
    fn begin_approve(
        &mut self,
        command: &SlashCommand,
        words: &str,
        now: Instant,
        effects: &mut Vec<Effect>,
    ) -> SlashStage {
        let width = self.width();
        if words.is_empty() {
            self.screen.above.extend(say::approval_modes(self.options.approval, width, self.options.output_style));
            return SlashStage::Done;
        }
        let Ok(mode) = words.parse() else {
            self.say(say::misused(&self.options.question_prefix, command));
            return SlashStage::Done;
        };
        self.options.approval = mode;
        effects.push(Effect::KeepForAttach(SessionOverride::Approval(mode)));
        self.screen.above.extend(say::approval(mode, width));
        if matches!(self.connection.link, LinkState::Down | LinkState::Failed) {
            // The daemon learns it when it is needed.
            return SlashStage::Done;
        }
        SlashStage::Held(Wish::Action(SessionAction::SetApproval { mode }), now + REQUEST_LIMIT)
    }

    /// The code block of the last answer that `words` choose, with its number; says why if there is none.
    fn chosen_block(&mut self, command: &SlashCommand, words: &str) -> Option<(usize, String)> {
        let count = self.code_blocks.len();
        let number = if words.is_empty() { Ok(count) } else { words.parse::<usize>() };
        let refusal = match number {
            _ if count == 0 => "The last answer has no code block.".to_owned(),
            Err(_) => say::misused(&self.options.question_prefix, command),
            Ok(number) if number == 0 || number > count => say::no_such_block(count),
            // What is pasted at a prompt must not run by itself.
            Ok(number) => {
                let block = self.code_blocks.iter().nth(number - 1).map_or("", |block| &block.text);
                let text = sanitize(block.trim_end_matches('\n'));
                if !text.is_empty() {
                    return Some((number, text));
                }
                "The block is empty, or was too long to be kept.".to_owned()
            }
        };
        self.say(refusal);
        None
    }

    fn copy(&mut self, command: &SlashCommand, words: &str, effects: &mut Vec<Effect>) {
        let Some((number, text)) = self.chosen_block(command, words) else { return };
        if text.len() > MAX_CLIPBOARD_BYTES {
            return self.say("The block is too large to be copied by the terminal.");
        }
        self.say(say::copied(number, self.code_blocks.len(), text.lines().count()));
        effects.push(Effect::Copy(text));
    }

    fn insert(&mut self, command: &SlashCommand, words: &str, effects: &mut Vec<Effect>) {
        let Some((number, text)) = self.chosen_block(command, words) else { return };
        if text.len() > MAX_INSERT_BYTES {
            return self.say("The block is too large for a prompt; `/copy` copies it.");
        }
        let count = self.code_blocks.len();
        if count > 1 {
            self.say(say::inserted(number, count));
        }
        effects.push(Effect::Insert(text));
    }

    /// Runs `cohab` with the words of `line`, which is how the user would call it, and with these `details`.
    fn run_program(&mut self, line: &str, details: &[String], effects: &mut Vec<Effect>) -> SlashStage {
        let words: Vec<&str> = line.split_whitespace().collect();
        let called = format!("cohab {}", words.join(" "));
        let args = words.into_iter().map(str::to_owned).chain(details.iter().cloned()).collect();
        effects.push(Effect::RunProgram { args, cwd: self.shell.cwd.clone(), columns: self.text_width() });
        SlashStage::Program(called)
    }

    /// The request to work on a question behind the prompt.
    fn background_task(&mut self, words: &str) -> SessionAction {
        let mut text = words.to_owned();
        self.redactor.words(&mut text);
        SessionAction::StartTask(StartTask { session: None, text, cwd: self.shell.cwd.as_path().into(), attempts: 1 })
    }

    /// The arguments that limit `cohab diff` to this conversation, if it is known.
    fn of_session(&self) -> Vec<String> {
        match &self.connection.link {
            LinkState::Up(attached) => vec!["--session".to_owned(), attached.session.0.clone()],
            LinkState::Down | LinkState::Failed | LinkState::Connecting => Vec::new(),
        }
    }

    fn say(&mut self, text: impl AsRef<str>) {
        let width = self.width();
        self.screen.above.extend(say::plain(text.as_ref(), width));
        self.screen.is_dirty = true;
    }

    /// Sends what is held, if the daemon can take it; connects if there is no connection.
    pub(super) fn send_held_request(&mut self, effects: &mut Vec<Effect>) {
        let Some(SlashStage::Held(wish, deadline)) = self.activity.slash().map(|slash| &slash.stage) else { return };
        let (wish, deadline) = (wish.clone(), *deadline);
        match &self.connection.link {
            LinkState::Down | LinkState::Failed => return self.connect(effects),
            LinkState::Up(_) if self.connection.cancelled_turn.is_none() => {}
            LinkState::Up(_) | LinkState::Connecting => return,
        }
        let request_id = RequestId(self.connection.last_request + 1);
        effects.push(match &wish {
            Wish::Model(wish) => Effect::AttachAgain { request_id, change: Some(SessionOverride::Model(wish.clone())) },
            Wish::Introduction => Effect::AttachAgain { request_id, change: None },
            Wish::Call(..) | Wish::Names => {
                let action = SessionAction::Commands { cwd: self.shell.cwd.as_path().into() };
                Effect::Send(ClientMessage::SessionRequest(SessionRequest { request_id, action }))
            }
            Wish::Rewind(_) => {
                let action = SessionAction::Rewind;
                Effect::Send(ClientMessage::SessionRequest(SessionRequest { request_id, action }))
            }
            Wish::Action(action) => {
                let action = action.clone();
                Effect::Send(ClientMessage::SessionRequest(SessionRequest { request_id, action }))
            }
        });
        self.connection.last_request = request_id.0;
        self.screen.is_dirty = true;
        self.activity = Activity::Slash(Slash { stage: SlashStage::Sent(request_id, wish, deadline) });
    }

    fn take_sent(&mut self, request_id: RequestId) -> Option<Wish> {
        match self.activity.slash().map(|slash| &slash.stage) {
            Some(SlashStage::Sent(id, wish, _)) if *id == request_id => {
                let wish = wish.clone();
                self.end_slash();
                Some(wish)
            }
            _ => None,
        }
    }

    /// The daemon answers a request.
    pub(super) fn on_session_reply(&mut self, reply: SessionReply, now: Instant, effects: &mut Vec<Effect>) {
        let Some(wish) = self.take_sent(reply.request_id) else { return };
        let (width, output_style) = (self.width(), self.options.output_style);
        match (wish, reply.answer) {
            (Wish::Model(wish), SessionAnswer::Attached(attached)) => {
                self.screen.above.extend(say::model_changed(&attached.model, &wish, width));
                self.connection.link = LinkState::Up(attached);
                effects.push(Effect::KeepForAttach(SessionOverride::Model(wish)));
            }
            (Wish::Introduction, SessionAnswer::Attached(attached)) => {
                self.screen.above.extend(say::model(&attached.model, &self.options.question_prefix, width));
                self.connection.link = LinkState::Up(attached);
            }
            (Wish::Action(SessionAction::Clear), SessionAnswer::Done) => {
                self.say("New conversation. Your shell, and the permissions you gave, are kept.");
            }
            (Wish::Call(question, nearest), SessionAnswer::Commands(named)) => {
                self.call_by_name(&question, nearest, &named, now, effects);
            }
            (Wish::Names, SessionAnswer::Commands(named)) => {
                let lines = say::named(&self.options.question_prefix, &named, width, output_style);
                self.screen.above.extend(lines);
            }
            (_, SessionAnswer::TaskStarted { id }) => self.print_remark(&say::task_started(id, output_style)),
            (_, SessionAnswer::Context(report)) => self.screen.above.extend(say::context(&report, width, output_style)),
            (_, SessionAnswer::Usage(usage)) => self.screen.above.extend(say::cost(&usage, width, output_style)),
            (_, SessionAnswer::Compacted { before_tokens, after_tokens }) => {
                self.say(say::compacted(before_tokens, after_tokens));
            }
            (Wish::Rewind(count), SessionAnswer::Rewound { question: Some(_) }) if count > 1 => {
                let stage = SlashStage::Held(Wish::Rewind(count - 1), now + REQUEST_LIMIT);
                self.activity = Activity::Slash(Slash { stage });
                self.send_held_request(effects);
            }
            (Wish::Rewind(_), SessionAnswer::Rewound { question: Some(question) }) => {
                self.say(format!("The conversation is as it was before \"{}\".", one_line(&question, MAX_QUESTION)));
            }
            (Wish::Rewind(_), SessionAnswer::Rewound { question: None }) => {
                self.say("The conversation has no earlier question.");
            }
            (_, SessionAnswer::Rewound { question: Some(question) }) => {
                self.activity = Activity::Idle;
                self.print_question(&question);
                self.ask(Asked::plain(question), now, effects);
            }
            (_, SessionAnswer::Rewound { question: None }) => self.say("There is no question to ask again yet."),
            // What was to be said is said.
            _ => {}
        }
    }

    /// The daemon refuses a request, or nothing comes of it any more. True if it was one of ours.
    pub(super) fn on_request_error(&mut self, error: &WireError) -> bool {
        let ErrorSubject::Request(id) = error.about else { return false };
        let wish = self.take_sent(id);
        match &wish {
            Some(Wish::Call(question, nearest)) => self.say_unknown(question, *nearest, &[]),
            // The help is there.
            None | Some(Wish::Names) => {}
            Some(_) => self.print_error(error),
        }
        wish.is_some()
    }

    /// Asks a question that calls a skill or command of this name, if there is one.
    fn call_by_name(
        &mut self,
        question: &str,
        nearest: Option<&SlashCommand>,
        named: &[NamedCommand],
        now: Instant,
        effects: &mut Vec<Effect>,
    ) {
        let name = slash::word(question);
        if named.iter().any(|command| command.name == name) {
            self.activity = Activity::Idle;
            return self.ask(Asked::plain(question), now, effects);
        }
        self.say_unknown(question, nearest, named);
    }

    fn say_unknown(&mut self, question: &str, nearest: Option<&SlashCommand>, named: &[NamedCommand]) {
        let word = slash::word(question);
        let similar = cohab_text::nearest::to(word, named.iter().map(|command| command.name.as_str()));
        let near: Vec<&str> = nearest.map(|command| command.name).into_iter().chain(similar).collect();
        self.say(say::unknown(&self.options.question_prefix, word, &near));
    }

    /// There is no connection (any more).
    pub(super) fn fail_slash(&mut self, message: &str, hint: &str) {
        let waits = matches!(
            self.activity.slash().map(|slash| &slash.stage),
            Some(SlashStage::Held(..) | SlashStage::Sent(..))
        );
        let wish = self.activity.slash().and_then(|slash| slash.stage.wish()).cloned();
        if let Some(Wish::Call(question, nearest)) = wish {
            self.say_unknown(&question, nearest, &[]);
            self.end_slash();
        } else if matches!(wish, Some(Wish::Names)) {
            self.end_slash();
        } else if waits {
            self.print_error(&WireError {
                about: ErrorSubject::Connection,
                kind: WireErrorKind::NotFound,
                message: message.to_owned(),
                hint: Some(hint.to_owned()),
            });
            self.end_slash();
        }
    }

    /// A program of ours has ended.
    pub(super) fn on_program_ended(&mut self, output: &OwnOutput) {
        let Some(SlashStage::Program(name)) = self.activity.slash().map(|slash| &slash.stage) else { return };
        let lines = output.lines(name, self.width());
        self.screen.above.extend(lines);
        self.end_slash();
    }

    /// The user has seen enough.
    pub(super) fn cancel_slash(&mut self, effects: &mut Vec<Effect>) {
        match self.activity.slash().map(|slash| &slash.stage) {
            None | Some(SlashStage::Done) => return,
            Some(SlashStage::Program(_)) => effects.push(Effect::StopProgram),
            // A list that runs has the keyboard.
            Some(SlashStage::Held(..) | SlashStage::Sent(..) | SlashStage::Picking(..)) => {}
        }
        self.print_remark(STOPPED);
        self.end_slash();
    }

    fn end_slash(&mut self) {
        self.activity = Activity::Slash(Slash { stage: SlashStage::Done });
        self.screen.is_dirty = true;
    }

    pub(super) fn give_up_slash(&mut self, now: Instant) {
        if self.activity.slash().and_then(Slash::deadline).is_some_and(|deadline| now >= deadline) {
            let limit = REQUEST_LIMIT.as_secs();
            self.fail_slash(
                &format!("the daemon has not answered within {limit} s"),
                "`cohab daemon restart` may help",
            );
        }
    }

    /// Gives the prompt back once all is said and the terminal is ours, unless another question waits.
    pub(super) fn close_slash_if_due(&mut self, now: Instant, effects: &mut Vec<Effect>) {
        while self.surface == Surface::Ours
            && matches!(self.activity, Activity::Slash(Slash { stage: SlashStage::Done }))
        {
            self.activity = Activity::Idle;
            if !self.ask_next(now, effects) {
                self.surface = Surface::Closing;
                effects.push(Effect::EndAnswer);
            }
        }
    }

    /// What is shown while it waits.
    pub(super) fn slash_area(&self) -> Vec<Line<'static>> {
        let text = match self.activity.slash().map(|slash| &slash.stage) {
            Some(SlashStage::Held(..)) => "starting the assistant".to_owned(),
            Some(SlashStage::Program(name)) => self
                .options
                .output_style
                .choose(format!("{name} · Ctrl-C stops"), format!("Running {name}. Ctrl-C stops it.")),
            // The others take no time worth telling.
            Some(SlashStage::Sent(_, Wish::Action(SessionAction::Compact), _)) => {
                let (line, sentence) = COMPACTING;
                self.options.output_style.choose(line, sentence).to_owned()
            }
            _ => return Vec::new(),
        };
        status::remark(&text, self.width())
    }
}
