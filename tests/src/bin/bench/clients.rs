//! Measures many clients at once on one daemon: the delay of their answers' pieces, their cost, and the effect of one client that does
//! not read on the others.
//!
//! Each piece of an answer is the time at which the model server made it, so a reader needs nothing else.

use std::{
    io::{self, Read, Write},
    os::unix::net::UnixStream,
    time::{Duration, Instant},
};

use cohab_e2e::{Answer, Home, ModelServer, Wire};
use cohab_protocol::{
    ApprovalMode, Attach, BUILD, ChunkDelta, ClientMessage, DaemonMessage, EnvSetting, Hello, PROTOCOL_VERSION,
    RequestId, SCHEMA_HASH, SessionAction, SessionKey, SessionRequest, TurnId, UserQuery, codec,
};
use rustix::event::{PollFd, PollFlags, poll};

use crate::{
    contestants::{self, COHAB},
    process::{cpu_seconds, pss_mib},
    report::{Report, Samples},
};

const MEASURE: &str = "clients";
const CLIENTS: usize = 200;
/// Pieces of each answer, 50 a second.
const PIECES: usize = 250;
const PACE: Duration = Duration::from_millis(20);
const LATE_MS: f64 = 5.0;
const DAEMON_MIB: f64 = 60.0;
/// Most slowdown of the others by a client that does not read, apart from half a millisecond of noise.
const STALLED_FACTOR: f64 = 1.1;
const NOISE_MS: f64 = 0.5;
/// The question of the client that does not read: its answer exceeds all buffers on the way.
const STALLED: &str = "stalled";
const STALLED_PIECES: usize = 40_000;
const STALLED_PIECE_BYTES: usize = 1_000;
const LENGTH_BYTES: usize = 4;

pub(crate) fn measure(report: &mut Report) {
    if !contestants::has_cohab() {
        report.unmeasured(MEASURE, COHAB, "it was not built");
        return;
    }
    let base = Instant::now();
    let server = ModelServer::respond_with(Wire::OpenAiChat, move |request| {
        let conversation = request.conversation();
        if conversation.contains(STALLED) {
            return Answer::generated(STALLED_PIECES, |_| "x".repeat(STALLED_PIECE_BYTES));
        }
        if !conversation.contains("go on") {
            return Answer::text("Ready.");
        }
        Answer::generated(PIECES, move |_| format!("{} ", base.elapsed().as_nanos())).paced(PACE)
    });
    let home = Home::with_model(&server);
    let _ = home.run(&["ask", "warm up"]);
    let Some(daemon) = crate::process::daemon_pid(&home) else {
        return report.unmeasured(MEASURE, COHAB, "the daemon does not run");
    };
    let (before, start) = (cpu_seconds(daemon), Instant::now());
    let all = answers(&home, &server, base, daemon);
    let cores = (cpu_seconds(daemon) - before) / start.elapsed().as_secs_f64();
    report.samples(MEASURE, "200 x 50 pieces a second, late by", "ms", &all.late);
    report.at_most(MEASURE, "200 x 50, late by, p99", all.late.quantile(0.99), LATE_MS, "ms");
    report.at_most(MEASURE, "200 x 50, pieces lost or twice", all.wrong as f64, 0.0, "answers");
    report.at_most(MEASURE, "200 x 50, the daemon's PSS", all.peak_mib, DAEMON_MIB, "MiB");
    report.at_most(MEASURE, "200 x 50, the daemon's CPU", cores, 1.0, "cores");
    let stalled = Client::ask(&home, settings(&server), CLIENTS, STALLED).ok();
    let beside = answers(&home, &server, base, daemon);
    drop(stalled);
    let bar = all.late.p50() * STALLED_FACTOR + NOISE_MS;
    report.at_most(MEASURE, "beside one that does not read, late by, p50", beside.late.p50(), bar, "ms");
    report.at_most(MEASURE, "beside one that does not read, daemon's PSS", beside.peak_mib, DAEMON_MIB, "MiB");
}

/// One client, spoken to by hand.
pub(crate) struct Client {
    stream: UnixStream,
    unread: Vec<u8>,
    pieces: usize,
    is_done: bool,
}

impl Client {
    /// Connects, attaches to a separate session and asks.
    fn ask(home: &Home, settings: Vec<EnvSetting>, number: usize, question: &str) -> io::Result<Self> {
        let mut client = Self::attach(home, settings, number)?;
        let cwd = std::path::Path::new("/").into();
        let (turn_id, text) = (TurnId::fresh(), question.to_owned());
        client.send(&ClientMessage::UserQuery(UserQuery {
            turn_id,
            text,
            cwd,
            columns: 80,
            piped_input: None,
            is_private: false,
        }))?;
        Ok(client)
    }

    /// Connects and attaches to a separate session.
    pub(crate) fn attach(home: &Home, settings: Vec<EnvSetting>, number: usize) -> io::Result<Self> {
        Self::attach_as(
            home,
            Attach {
                session: SessionKey(format!("bench:{number}")),
                live_shell: None,
                approval: ApprovalMode::ReadOnly,
                can_approve: false,
                has_lock: false,
                settings,
                environment: Vec::new(),
                resume: None,
            },
        )
    }

    /// The same with a live shell and a person.
    pub(crate) fn live(home: &Home, settings: Vec<EnvSetting>) -> io::Result<Self> {
        Self::attach_as(
            home,
            Attach {
                session: SessionKey("shell:bench".into()),
                live_shell: Some("bash".into()),
                approval: ApprovalMode::Ask,
                can_approve: true,
                has_lock: false,
                settings,
                environment: Vec::new(),
                resume: None,
            },
        )
    }

    fn attach_as(home: &Home, attach: Attach) -> io::Result<Self> {
        let stream = UnixStream::connect(home.paths().socket())?;
        let mut client = Self { stream, unread: Vec::new(), pieces: 0, is_done: false };
        let (protocol_version, schema_hash) = (PROTOCOL_VERSION, SCHEMA_HASH);
        let hello = Hello { protocol_version, schema_hash, build: BUILD.into(), pid: std::process::id() };
        client.send(&ClientMessage::Hello(hello))?;
        let action = SessionAction::Attach(attach);
        client.send(&ClientMessage::SessionRequest(SessionRequest { request_id: RequestId(1), action }))?;
        loop {
            match client.read_next()? {
                DaemonMessage::SessionReply(_) => break,
                DaemonMessage::Error(error) => return Err(io::Error::other(error.message)),
                _ => {}
            }
        }
        Ok(client)
    }

    pub(crate) fn send(&mut self, message: &ClientMessage) -> io::Result<()> {
        let bytes = codec::to_bytes(message).map_err(io::Error::other)?;
        let length = u32::try_from(bytes.len()).map_err(io::Error::other)?;
        self.stream.write_all(&[&length.to_be_bytes()[..], &bytes].concat())
    }

    fn fill(&mut self) -> io::Result<()> {
        let mut buffer = [0; 16 * 1024];
        match self.stream.read(&mut buffer)? {
            0 => Err(io::ErrorKind::UnexpectedEof.into()),
            count => {
                self.unread.extend_from_slice(&buffer[..count]);
                Ok(())
            }
        }
    }

    /// The next whole message that was read.
    fn next(&mut self) -> io::Result<Option<DaemonMessage>> {
        let Some((length, rest)) = self.unread.split_first_chunk::<LENGTH_BYTES>() else { return Ok(None) };
        let length = u32::from_be_bytes(*length) as usize;
        let Some(frame) = rest.get(..length) else { return Ok(None) };
        let message = codec::from_bytes(frame).map_err(io::Error::other)?;
        self.unread.drain(..LENGTH_BYTES + length);
        Ok(Some(message))
    }

    /// The next message, waited for.
    pub(crate) fn read_next(&mut self) -> io::Result<DaemonMessage> {
        loop {
            match self.next()? {
                Some(message) => return Ok(message),
                None => self.fill()?,
            }
        }
    }

    /// Takes what has come; `late` gets the age of each piece.
    fn read(&mut self, base: Instant, late: &mut Samples) -> io::Result<()> {
        self.fill()?;
        let now = base.elapsed();
        while let Some(message) = self.next()? {
            match message {
                DaemonMessage::AgentStreamChunk(chunk) => {
                    let ChunkDelta::Text(text) = chunk.delta else { continue };
                    for made in text.split_whitespace().filter_map(|word| word.parse().ok()).map(Duration::from_nanos) {
                        late.push(now.saturating_sub(made));
                        self.pieces += 1;
                    }
                }
                DaemonMessage::TurnEnded(_) => self.is_done = true,
                _ => {}
            }
        }
        Ok(())
    }
}

struct Answers {
    late: Samples,
    /// Answers with another number of pieces than were sent.
    wrong: usize,
    peak_mib: f64,
}

pub(crate) fn settings(server: &ModelServer) -> Vec<EnvSetting> {
    let variables = Home::model_variables(server).into_iter();
    variables.map(|(name, value)| EnvSetting { name: name.to_owned(), value }).collect()
}

/// All clients ask at once.
fn answers(home: &Home, server: &ModelServer, base: Instant, daemon: u32) -> Answers {
    let ask = |number| Client::ask(home, settings(server), number, "go on").ok();
    let mut clients: Vec<Client> = (0..CLIENTS).filter_map(ask).collect();
    let mut answers = Answers { late: Samples::default(), wrong: CLIENTS - clients.len(), peak_mib: 0.0 };
    let mut looked_at = Instant::now();
    loop {
        let waiting: Vec<usize> = (0..clients.len()).filter(|index| !clients[*index].is_done).collect();
        if waiting.is_empty() {
            break;
        }
        let mut fds: Vec<_> = waiting.iter().map(|index| PollFd::new(&clients[*index].stream, PollFlags::IN)).collect();
        if poll(&mut fds, None).is_err() {
            continue;
        }
        let ready: Vec<bool> = fds.iter().map(|fd| !fd.revents().is_empty()).collect();
        for (index, _) in waiting.into_iter().zip(ready).filter(|(_, is_ready)| *is_ready) {
            if clients[index].read(base, &mut answers.late).is_err() {
                clients[index].is_done = true;
            }
        }
        if looked_at.elapsed() > Duration::from_secs(1) {
            looked_at = Instant::now();
            answers.peak_mib = answers.peak_mib.max(pss_mib(daemon));
        }
    }
    answers.wrong += clients.iter().filter(|client| client.pieces != PIECES).count();
    answers
}
