//! Serves one connection: handshake, then messages both ways until either side ends it.

use std::{sync::Arc, time::Duration};

use cohab_agent::TurnError;
use cohab_protocol::{
    Attach, Attached, BUILD, ClientMessage, CommandExecutionResult, DaemonMessage, ErrorSubject, FrameCodec,
    FrameError, HANDSHAKE_TIMEOUT_MS, Hello, Misfit, PROTOCOL_VERSION, RequestId, SCHEMA_HASH, SessionAction,
    SessionAnswer, SessionReply, SessionRequest, Welcome, WireError, WireErrorKind,
};
use cohab_types::environment::Variables;
use futures::{SinkExt, StreamExt};
use tokio::{
    io::ReadHalf,
    net::UnixStream,
    sync::{mpsc, watch},
    time::timeout,
};
use tokio_util::{
    codec::{FramedRead, FramedWrite},
    sync::CancellationToken,
};

use super::{
    Daemon, background_work, convert,
    outlet::{self, Outlet, Writer},
    quiet_socket::QuietSocket,
    requests, resume,
    session::Session,
    turn_task::{self, Ask},
};

/// Most answers that wait for the client; a client that does not take them is not read from.
const ANSWER_QUEUE: usize = 64;
/// Time for an ending connection to send the rest.
const LAST_WORDS_WAIT: Duration = Duration::from_secs(1);

type ClientReader = FramedRead<ReadHalf<QuietSocket>, FrameCodec<ClientMessage, DaemonMessage>>;

/// Serves a client until it or the daemon ends.
pub async fn serve(daemon: &Arc<Daemon>, stream: UnixStream, number: u64) {
    let (read, write) = match QuietSocket::over(stream) {
        Ok(socket) => tokio::io::split(socket),
        Err(error) => return tracing::warn!(connection = number, %error, "a connection cannot be watched"),
    };
    let mut reader = FramedRead::new(read, FrameCodec::new());
    let mut writer = FramedWrite::new(write, FrameCodec::new());
    if let Err(error) = handshake(&mut reader, &mut writer).await {
        // A peer that only checks whether the socket is served is not worth a log line.
        if error.message == ENDED_EARLY {
            tracing::debug!(connection = number, "peer closed before the handshake");
        } else {
            tracing::warn!(connection = number, error = error.message, "handshake failed");
        }
        let _ = timeout(LAST_WORDS_WAIT, writer.send(DaemonMessage::Error(error))).await;
        return;
    }
    reader.decoder_mut().handshake_done();
    writer.encoder_mut().handshake_done();
    let (answers, queue) = mpsc::channel(ANSWER_QUEUE);
    let (bound, session) = watch::channel(None);
    let (superseded, outlet) = (CancellationToken::new(), Arc::<Outlet>::default());
    let mut connection =
        Connection { daemon: Arc::clone(daemon), number, answers, bound, superseded, outlet: Arc::clone(&outlet) };
    let mut writing = std::pin::pin!(write_all(writer, outlet, queue, session, number));
    tokio::select! {
        () = &mut writing => {}
        () = connection.read_all(&mut reader) => {}
    }
    if let Some(session) = connection.leave() {
        daemon.retire(&session);
    }
    // Queued messages still go out; a client that does not take them is left behind.
    drop(connection);
    let _ = timeout(LAST_WORDS_WAIT, writing).await;
}

async fn handshake(reader: &mut ClientReader, writer: &mut Writer) -> Result<(), WireError> {
    let hello = match timeout(Duration::from_millis(HANDSHAKE_TIMEOUT_MS), reader.next()).await {
        Err(_) => return Err(protocol_error("no greeting arrived in time")),
        Ok(None) => return Err(protocol_error(ENDED_EARLY)),
        Ok(Some(Err(error))) => return Err(frame_error(&error)),
        Ok(Some(Ok(ClientMessage::Hello(hello)))) => hello,
        Ok(Some(Ok(_))) => return Err(protocol_error("the first message was not a greeting")),
    };
    check_version(&hello)?;
    tracing::debug!(pid = hello.pid, build = hello.build, "client connected");
    let welcome = Welcome {
        protocol_version: PROTOCOL_VERSION,
        schema_hash: SCHEMA_HASH,
        build: BUILD.into(),
        pid: std::process::id(),
    };
    let sent = timeout(LAST_WORDS_WAIT, writer.send(DaemonMessage::Welcome(welcome))).await;
    match sent {
        Ok(Ok(())) => Ok(()),
        _ => Err(protocol_error("the connection ended in its handshake")),
    }
}

fn check_version(hello: &Hello) -> Result<(), WireError> {
    if (hello.protocol_version, hello.schema_hash) == (PROTOCOL_VERSION, SCHEMA_HASH) {
        return Ok(());
    }
    let Misfit { message, hint } = Misfit::between(&hello.build, BUILD);
    Err(WireError { about: ErrorSubject::Connection, kind: WireErrorKind::Version, message, hint: Some(hint) })
}

/// Sends the connection's answers, then the messages of its session, until the queue closes or the client is gone.
async fn write_all(
    mut writer: Writer,
    outlet: Arc<Outlet>,
    mut queue: mpsc::Receiver<Arc<DaemonMessage>>,
    mut session: watch::Receiver<Option<Arc<Session>>>,
    number: u64,
) {
    let mut answer = None;
    loop {
        let bound = session.borrow_and_update().clone();
        let message = answer.take().or_else(|| queue.try_recv().ok());
        if let Some(message) = message.or_else(|| bound.as_ref()?.next_waiting(number)) {
            if outlet::send(&mut writer, &message).await.is_err() {
                return;
            }
            continue;
        }
        outlet.lend(writer);
        if let Some(session) = &bound {
            session.use_outlet(number, Arc::downgrade(&outlet));
        }
        let first = tokio::select! {
            biased;
            answer = queue.recv() => Some(answer),
            () = outlet.has_rest() => None,
            true = has_outgoing(bound.as_ref(), number) => None,
            Ok(()) = session.changed() => None,
        };
        let Some(taken) = outlet.take_back() else { return };
        writer = taken;
        match first {
            Some(None) => return,
            Some(some) => answer = some,
            None => {}
        }
        if SinkExt::<&DaemonMessage>::flush(&mut writer).await.is_err() {
            return;
        }
    }
}

async fn has_outgoing(session: Option<&Arc<Session>>, number: u64) -> bool {
    match session {
        Some(session) => session.has_outgoing(number).await,
        None => false,
    }
}

struct Connection {
    daemon: Arc<Daemon>,
    number: u64,
    answers: mpsc::Sender<Arc<DaemonMessage>>,
    bound: watch::Sender<Option<Arc<Session>>>,
    superseded: CancellationToken,
    outlet: Arc<Outlet>,
}

impl Connection {
    async fn read_all(&mut self, reader: &mut ClientReader) {
        loop {
            let message = tokio::select! {
                biased;
                () = self.daemon.closing.cancelled() => return self.say_goodbye("the daemon is ending").await,
                () = self.superseded.cancelled() => {
                    return self.say_goodbye("another client took over this session").await;
                }
                message = reader.next() => message,
            };
            let handled = match message {
                None => return,
                Some(Ok(message)) => self.handle(message).await,
                Some(Err(error)) => Err(frame_error(&error)),
            };
            if let Err(error) = handled {
                let ends_connection = error.about == ErrorSubject::Connection;
                if ends_connection {
                    tracing::warn!(connection = self.number, error = error.message, "connection closed");
                }
                self.answer(DaemonMessage::Error(error)).await;
                if ends_connection {
                    return;
                }
            }
        }
    }

    /// Leaves the session; `Some` if it has no client now.
    fn leave(&self) -> Option<Arc<Session>> {
        let session = self.session()?;
        session.detach(self.number).then_some(session)
    }

    fn session(&self) -> Option<Arc<Session>> {
        self.bound.borrow().clone()
    }

    async fn answer(&self, message: DaemonMessage) {
        // The writer is gone only when the connection is.
        let _ = self.answers.send(Arc::new(message)).await;
    }

    async fn say_goodbye(&self, reason: &str) {
        if let Some(session) = self.session() {
            // A client whose connection ends offers to continue the turn itself.
            if session.has_left_turn() && session.can_go_on() {
                return;
            }
            // The waiting messages of the session come first, in their order.
            self.outlet.close();
            while let Some(message) = session.next_waiting(self.number) {
                if self.answers.try_send(message).is_err() {
                    break;
                }
            }
        }
        let _ = self.answers.try_send(Arc::new(DaemonMessage::Goodbye { reason: reason.into() }));
    }

    async fn handle(&mut self, message: ClientMessage) -> Result<(), WireError> {
        match message {
            ClientMessage::Hello(_) => return Err(protocol_error("a second greeting arrived")),
            ClientMessage::SessionRequest(request) => return self.request(request).await,
            ClientMessage::Shutdown => self.daemon.shutdown.cancel(),
            other => {
                let Some(session) = self.session() else {
                    return Err(protocol_error("the client is not attached to a session"));
                };
                return self.tell_session(&session, other);
            }
        }
        Ok(())
    }

    fn tell_session(&self, session: &Arc<Session>, message: ClientMessage) -> Result<(), WireError> {
        match message {
            ClientMessage::UserQuery(query) => return turn_task::start(&self.daemon, session, Ask::Query(query)),
            ClientMessage::ResumeTurn(resume) => return turn_task::start(&self.daemon, session, Ask::Resume(resume)),
            ClientMessage::CancelTurn { turn_id } => session.cancel_turn(Some(turn_id)),
            ClientMessage::CommandOutput { call_id, .. } => session.command_started(call_id),
            ClientMessage::CommandWaiting { call_id } => session.command_waits(call_id),
            ClientMessage::CommandExecutionResult(result) => note_result(session, result),
            ClientMessage::ApprovalReply(reply) => {
                if !session.approval_replied(reply.approval_id, reply.decision) {
                    tracing::debug!(approval = %reply.approval_id, "a reply to no open question");
                }
            }
            ClientMessage::ShellEvent(event) => {
                if let Some(ran) = session.command_ran(event) {
                    self.daemon.assembler.command_ran(&ran);
                }
            }
            ClientMessage::PauseTurn { turn_id, is_paused } => session.pause_turn(turn_id, is_paused),
            ClientMessage::ExtendTurn(addition) => session.extend_turn(addition),
            ClientMessage::AwaitFirings { terminal } => {
                session.await_firings(terminal.clone());
                if let Some(source) = self.daemon.firings.get() {
                    source.terminal_came(&terminal.0);
                }
            }
            ClientMessage::FiringShown { watcher, fired } => {
                if let Some(source) = self.daemon.firings.get() {
                    source.shown(watcher, fired);
                }
            }
            ClientMessage::Hello(_) | ClientMessage::SessionRequest(_) | ClientMessage::Shutdown => {}
        }
        Ok(())
    }

    async fn request(&mut self, request: SessionRequest) -> Result<(), WireError> {
        let SessionRequest { request_id, action } = request;
        let fail = |kind, message: &str, hint| convert::request_error(request_id, kind, message.to_owned(), hint);
        let answer = match action {
            SessionAction::Attach(attach) => return self.attach(request_id, attach).await,
            SessionAction::Status => SessionAnswer::Status(self.daemon.status()),
            action => {
                if let Some(answer) =
                    background_work::answer(&self.daemon, self.session().as_ref(), request_id, &action).await
                {
                    self.answer(DaemonMessage::SessionReply(SessionReply { request_id, answer: answer? })).await;
                    return Ok(());
                }
                let session = self.session().ok_or_else(|| fail(WireErrorKind::Protocol, NOT_ATTACHED, None))?;
                if action == SessionAction::Compact {
                    self.answer_later(session, request_id, action);
                    return Ok(());
                }
                requests::answer(&self.daemon, &session, request_id, action).await?
            }
        };
        self.answer(DaemonMessage::SessionReply(SessionReply { request_id, answer })).await;
        Ok(())
    }

    /// Answers when it is done: a model may be asked for it, and the client sends other messages meanwhile.
    fn answer_later(&self, session: Arc<Session>, request_id: RequestId, action: SessionAction) {
        let (daemon, answers) = (Arc::clone(&self.daemon), self.answers.clone());
        self.daemon.tasks.spawn(async move {
            let answer = tokio::select! {
                biased;
                () = daemon.shutdown.cancelled() => return,
                answer = requests::answer(&daemon, &session, request_id, action) => answer,
            };
            let message = match answer {
                Ok(answer) => DaemonMessage::SessionReply(SessionReply { request_id, answer }),
                Err(error) => DaemonMessage::Error(error),
            };
            // A client that has left needs no answer.
            let _ = answers.send(Arc::new(message)).await;
        });
    }

    async fn attach(&mut self, request_id: RequestId, mut attach: Attach) -> Result<(), WireError> {
        let resume::Resumed { title, left, recap } = resume::find(&self.daemon, request_id, &mut attach).await?;
        if self.session().is_some_and(|session| *session.key() != attach.session) {
            let message = "this connection is attached to another session".into();
            return Err(convert::request_error(request_id, WireErrorKind::Protocol, message, None));
        }
        let variables: Variables =
            attach.settings.iter().map(|setting| (setting.name.clone(), setting.value.clone())).collect();
        let failed = |error: TurnError| {
            convert::request_error(request_id, convert::error_kind(&error), error.to_string(), error.hint())
        };
        let mut introduction = self.daemon.assembler.introduce(&variables).await.map_err(failed)?;
        let has_changed = |session: Arc<Session>| session.variables().get(MODEL) != variables.get(MODEL);
        let is_new_model = variables.contains_key(MODEL) && self.session().is_some_and(has_changed);
        if is_new_model && !self.daemon.assembler.check_model(&variables).await.map_err(failed)? {
            introduction.model.origin += NOT_CHECKED;
        }
        let session = self.daemon.session(&attach.session).ok_or_else(|| {
            let hint = Some("close some of your shells".into());
            convert::request_error(request_id, WireErrorKind::Busy, "the daemon has too many sessions".into(), hint)
        })?;
        let approval = attach.approval;
        let model = convert::model_identity(introduction.model);
        let is_resumed = session.attach(attach, approval, self.number, self.superseded.clone());
        let is_joined = title.is_some();
        if is_joined {
            resume::restore(&self.daemon.archive, &session).await;
        }
        let attached = Attached { session: session.key().clone(), model, approval, is_resumed, title, left, recap };
        let attached = SessionAnswer::Attached(attached);
        self.answer(DaemonMessage::SessionReply(SessionReply { request_id, answer: attached })).await;
        // A client that joins a session is informed at once; the first prompt of a shell must not wait for the disk.
        if let Some(unfinished) = resume::unfinished(&session).filter(|_| is_joined) {
            self.answer(unfinished).await;
        }
        self.bound.send_replace(Some(Arc::clone(&session)));
        if !is_joined {
            let archive = self.daemon.archive.clone();
            self.daemon.tasks.spawn(async move { resume::offer(&archive, &session).await });
        }
        Ok(())
    }
}

/// The variable with the name of a model.
const MODEL: &str = "COHAB_MODEL";
/// Follows the origin of a model.
const NOT_CHECKED: &str = "; not checked: no list of models";
const ENDED_EARLY: &str = "the connection ended before its greeting";
const NOT_ATTACHED: &str = "the client is not attached to a session";

fn note_result(session: &Session, result: CommandExecutionResult) {
    let call_id = result.call_id;
    if !session.command_ended(result) {
        tracing::debug!(call = %call_id, "a result that no request waits for");
    }
}

fn protocol_error(message: &str) -> WireError {
    let message = message.to_owned();
    WireError { about: ErrorSubject::Connection, kind: WireErrorKind::Protocol, message, hint: None }
}

fn frame_error(error: &FrameError) -> WireError {
    WireError {
        about: ErrorSubject::Connection,
        kind: WireErrorKind::Protocol,
        message: format!("the received bytes are not a message: {error}"),
        hint: Some("if the client was updated, `cohab daemon restart`".into()),
    }
}
