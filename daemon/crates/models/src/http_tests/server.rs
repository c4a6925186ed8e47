//! A model server that plays replies and records its requests.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
    sync::{Semaphore, watch},
    task::JoinHandle,
};

/// The answer to a request, and the end of the connection.
#[derive(Clone, Debug, Default)]
pub(super) struct Reply {
    pieces: Vec<Vec<u8>>,
    ending: Ending,
    pause: Duration,
    /// Lets one piece after the head pass for each permit.
    gate: Option<Arc<Semaphore>>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum Ending {
    #[default]
    Close,
    /// Breaks the connection.
    Reset,
    /// Stays open until the client goes.
    Stall,
    /// Sends the last piece again and again until the client goes.
    Repeat,
    /// Waits for another request.
    Keep,
}

impl Reply {
    /// `status` with `headers` (lines) and `body`, ended by closing the connection.
    pub(super) fn new(status: u16, headers: &str, body: &[u8]) -> Self {
        let headers: String = headers.lines().map(|line| format!("{line}\r\n")).collect();
        let head = format!("HTTP/1.1 {status} Status\r\nconnection: close\r\n{headers}\r\n");
        Self { pieces: vec![head.into_bytes(), body.to_vec()], ..Self::default() }
    }

    /// A good answer in one chunk, after which the connection waits for another request.
    pub(super) fn chunked_and_kept(headers: &str, body: &str) -> Self {
        let head = format!("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n{headers}\r\n\r\n");
        let chunk = format!("{:x}\r\n{body}\r\n0\r\n\r\n", body.len());
        Self { pieces: vec![head.into_bytes(), chunk.into_bytes()], ending: Ending::Keep, ..Self::default() }
    }

    /// `body` with its length and without an end of the connection.
    pub(super) fn kept(status: u16, body: &[u8]) -> Self {
        let head = format!("HTTP/1.1 {status} Status\r\ncontent-length: {}\r\n\r\n", body.len());
        Self { pieces: vec![head.into_bytes(), body.to_vec()], ending: Ending::Keep, ..Self::default() }
    }

    /// An event stream.
    pub(super) fn events(body: &[u8]) -> Self {
        Self::new(200, "content-type: text/event-stream", body)
    }

    /// JSON.
    pub(super) fn json(status: u16, body: &str) -> Self {
        Self::new(status, "content-type: application/json", body.as_bytes())
    }

    /// A chunked event stream; without its last chunk the transport itself sees the cut.
    pub(super) fn chunked(body: &[u8], has_last_chunk: bool) -> Self {
        let mut bytes = format!("{:x}\r\n", body.len()).into_bytes();
        bytes.extend_from_slice(body);
        bytes.extend_from_slice(if has_last_chunk { b"\r\n0\r\n\r\n" } else { b"\r\n" });
        Self::new(200, "content-type: text/event-stream\ntransfer-encoding: chunked", &bytes)
    }

    /// Closes without a byte.
    pub(super) fn nothing() -> Self {
        Self::default()
    }

    /// Accepts, and never says a word.
    pub(super) fn silence() -> Self {
        Self::default().then_stall()
    }

    /// Sends the body in pieces of these sizes, over and over.
    pub(super) fn in_pieces(mut self, sizes: impl IntoIterator<Item = usize>) -> Self {
        let body = self.pieces.pop().unwrap_or_default();
        let mut rest = &body[..];
        for size in sizes {
            let (piece, tail) = rest.split_at(size.clamp(1, rest.len().max(1)).min(rest.len()));
            self.pieces.push(piece.to_vec());
            rest = tail;
            if rest.is_empty() {
                break;
            }
        }
        self
    }

    /// Sends the body in pieces of sizes that `seed` decides.
    pub(super) fn in_random_pieces(self, seed: usize) -> Self {
        self.in_pieces((1_usize..).scan(seed, |state, _| {
            *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            Some(1 + (*state >> 33) % 64)
        }))
    }

    /// Sends each piece of the body only when there is a permit for it.
    pub(super) fn gated(self, gate: &Arc<Semaphore>) -> Self {
        Self { gate: Some(Arc::clone(gate)), ..self }
    }

    pub(super) fn then_stall(self) -> Self {
        Self { ending: Ending::Stall, ..self }
    }

    pub(super) fn then_reset(self) -> Self {
        Self { ending: Ending::Reset, ..self }
    }

    /// Sends `piece` for ever, with `pause` between.
    pub(super) fn then_repeat(mut self, piece: &str, pause: Duration) -> Self {
        self.pieces.push(piece.as_bytes().to_vec());
        Self { ending: Ending::Repeat, pause, ..self }
    }
}

/// A request as it came.
#[derive(Clone, Debug)]
pub(super) struct Seen {
    /// Request line and headers, lower case.
    pub(super) head: String,
    /// The body.
    pub(super) body: serde_json::Value,
    /// Number of the connection it came on.
    pub(super) connection: usize,
}

type Answering = dyn FnMut(&Seen) -> Option<Reply> + Send;

/// The running server.
pub(super) struct Server {
    pub(super) address: String,
    seen: Arc<Mutex<Vec<Seen>>>,
    open: watch::Receiver<usize>,
    task: JoinHandle<()>,
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Server {
    /// Plays `replies`, one per request.
    pub(super) async fn start(replies: Vec<Reply>) -> Self {
        let mut replies = replies.into_iter();
        Self::answering(move |_| replies.next()).await
    }

    /// Answers each request; without an answer it closes the connection.
    pub(super) async fn answering(answer: impl FnMut(&Seen) -> Option<Reply> + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("loopback has free ports");
        let address = listener.local_addr().expect("it is bound").to_string();
        let seen = Arc::new(Mutex::new(Vec::new()));
        let answer: Arc<Mutex<Answering>> = Arc::new(Mutex::new(answer));
        let (opened, open) = watch::channel(0);
        let log = Arc::clone(&seen);
        let task = tokio::spawn(async move {
            let mut connections = tokio::task::JoinSet::new();
            let mut number = 0;
            while let Ok((stream, _)) = listener.accept().await {
                let (log, answer, opened) = (Arc::clone(&log), Arc::clone(&answer), opened.clone());
                opened.send_modify(|count| *count += 1);
                number += 1;
                connections.spawn(async move {
                    // A client that goes away in the middle is one of the cases.
                    let _ = serve(stream, number, &answer, &log).await;
                    opened.send_modify(|count| *count -= 1);
                });
            }
        });
        Self { address, seen, open, task }
    }

    /// All requests so far.
    pub(super) fn seen(&self) -> Vec<Seen> {
        self.seen.lock().expect("no test panics with it").clone()
    }

    /// Waits until `count` connections are open.
    pub(super) async fn until_open(&mut self, count: usize) {
        self.open.wait_for(|open| *open == count).await.expect("the server runs");
    }
}

async fn serve(
    mut stream: TcpStream,
    connection: usize,
    answer: &Mutex<Answering>,
    log: &Mutex<Vec<Seen>>,
) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    loop {
        let request = read_request(&mut stream, connection).await?;
        let reply = answer.lock().expect("no test panics with it")(&request);
        log.lock().expect("no test panics with it").push(request);
        let Some(reply) = reply else { return Ok(()) };
        for (number, piece) in reply.pieces.iter().enumerate() {
            if let Some(gate) = reply.gate.as_ref().filter(|_| number > 0) {
                gate.acquire().await.expect("the gate is never closed").forget();
            }
            stream.write_all(piece).await?;
            stream.flush().await?;
        }
        if reply.ending != Ending::Keep {
            return end(stream, &reply).await;
        }
    }
}

async fn end(mut stream: TcpStream, reply: &Reply) -> std::io::Result<()> {
    let mut sink = [0; 1024];
    match (reply.ending, reply.pieces.last()) {
        (Ending::Repeat, Some(piece)) => loop {
            tokio::select! {
                read = stream.read(&mut sink) => if read? == 0 { return Ok(()) },
                () = tokio::time::sleep(reply.pause) => stream.write_all(piece).await?,
            }
        },
        (Ending::Stall, _) => {
            while stream.read(&mut sink).await? > 0 {}
            Ok(())
        }
        (Ending::Reset, _) => Ok(rustix::net::sockopt::set_socket_linger(&stream, Some(Duration::ZERO))?),
        _ => stream.shutdown().await,
    }
}

async fn read_request(stream: &mut TcpStream, connection: usize) -> std::io::Result<Seen> {
    let mut bytes = Vec::new();
    loop {
        if stream.read_buf(&mut bytes).await? == 0 {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
        let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") else { continue };
        let head = String::from_utf8_lossy(&bytes[..end]).to_ascii_lowercase();
        let length = head
            .lines()
            .find_map(|line| line.strip_prefix("content-length: "))
            .map_or(0, |text| text.parse().unwrap_or(0));
        let body = &bytes[end + 4..];
        if body.len() >= length {
            return Ok(Seen { body: serde_json::from_slice(body).unwrap_or_default(), head, connection });
        }
    }
}
