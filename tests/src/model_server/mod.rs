//! The model server plays a test's answers over real HTTP on loopback: paced, cut, broken or well.

mod answer;
mod connection;
mod request;
mod wire;

use std::{
    collections::VecDeque,
    net::{Shutdown, SocketAddr, TcpListener, TcpStream},
    sync::{Arc, Condvar, Mutex},
    thread,
    time::{Duration, Instant},
};

pub use answer::Answer;
pub use request::Request;
pub use wire::{SentToolResult, Wire};

use crate::deadline::{deadline, lock, wait_while_not};

/// The server. It ends, with all its connections, when it is dropped.
pub struct ModelServer {
    address: SocketAddr,
    wire: Wire,
    shared: Arc<Shared>,
}

/// The state of requests, as far as tests ask for it.
#[derive(Default)]
struct State {
    requests: Vec<Request>,
    /// Connections that are open now, idle ones included.
    open_connections: usize,
    /// Answers that are being sent now.
    streaming: usize,
    streams: Vec<TcpStream>,
    is_stopped: bool,
}

/// Decides on one model call.
type Respond = Box<dyn FnMut(&Request) -> Answer + Send>;

struct Shared {
    state: Mutex<State>,
    changed: Condvar,
    respond: Mutex<Respond>,
    /// Decides on a request for the list of models, if there is a list.
    list: Mutex<Option<Respond>>,
}

impl Shared {
    fn update<R>(&self, change: impl FnOnce(&mut State) -> R) -> R {
        let result = change(&mut lock(&self.state));
        self.changed.notify_all();
        result
    }
}

impl ModelServer {
    /// Gives these answers, one a model call, in order. Then it fails every call with status 400.
    #[must_use]
    pub fn start(wire: Wire, answers: impl IntoIterator<Item = Answer>) -> Self {
        let mut answers: VecDeque<_> = answers.into_iter().collect();
        Self::respond_with(wire, move |_| {
            answers.pop_front().unwrap_or_else(|| Answer::status(400, "the script of this test has no more answers"))
        })
    }

    /// Decides on each model call as it comes.
    ///
    /// # Panics
    /// If loopback has no free port.
    #[must_use]
    pub fn respond_with(wire: Wire, respond: impl FnMut(&Request) -> Answer + Send + 'static) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("loopback has a free port");
        let address = listener.local_addr().expect("a bound socket has an address");
        let respond = Mutex::new(Box::new(respond) as Respond);
        let shared =
            Arc::new(Shared { state: Mutex::default(), changed: Condvar::new(), respond, list: Mutex::default() });
        let for_thread = Arc::clone(&shared);
        thread::spawn(move || accept(&listener, wire, &for_thread));
        Self { address, wire, shared }
    }

    /// Answers requests for the list of models, too.
    #[must_use]
    pub fn listing(self, list: impl FnMut(&Request) -> Answer + Send + 'static) -> Self {
        *lock(&self.shared.list) = Some(Box::new(list));
        self
    }

    /// The base URL, as a user would configure it.
    #[must_use]
    pub fn base_url(&self) -> String {
        format!("http://{}{}", self.address, self.wire.base_path())
    }

    /// The API it speaks.
    #[must_use]
    pub fn wire(&self) -> Wire {
        self.wire
    }

    /// All requests so far, model calls or not.
    #[must_use]
    pub fn requests(&self) -> Vec<Request> {
        lock(&self.shared.state).requests.clone()
    }

    /// Waits for `count` model calls and gives them.
    ///
    /// # Panics
    /// If they don't come in time.
    #[must_use]
    pub fn wait_for_calls(&self, count: usize) -> Vec<Request> {
        let calls = |state: &State| -> Vec<Request> {
            state.requests.iter().filter(|request| self.wire.is_call(&request.path)).cloned().collect()
        };
        let enough = |state: &mut State| calls(state).len() >= count;
        match wait_while_not(&self.shared.state, &self.shared.changed, deadline(), enough) {
            Ok(state) => calls(&state),
            Err(state) => {
                panic!("{} of {count} model calls came; all requests: {:#?}", calls(&state).len(), state.requests)
            }
        }
    }

    /// Waits until no answer is being sent, and returns the time that took.
    ///
    /// # Panics
    /// If one is still being sent at the deadline.
    #[must_use]
    pub fn wait_until_quiet(&self) -> Duration {
        let start = Instant::now();
        let quiet = |state: &mut State| state.streaming == 0;
        let done = wait_while_not(&self.shared.state, &self.shared.changed, deadline(), quiet).is_ok();
        assert!(done, "an answer is still being sent: the client did not close its connection");
        start.elapsed()
    }

    /// Waits until an answer is being sent.
    ///
    /// # Panics
    /// If none is at the deadline.
    pub fn wait_until_streaming(&self) {
        let streaming = |state: &mut State| state.streaming > 0;
        let done = wait_while_not(&self.shared.state, &self.shared.changed, deadline(), streaming).is_ok();
        assert!(done, "no answer is being sent");
    }

    /// Connections that are open now, idle ones included.
    #[must_use]
    pub fn open_connections(&self) -> usize {
        lock(&self.shared.state).open_connections
    }
}

impl Drop for ModelServer {
    fn drop(&mut self) {
        let streams = self.shared.update(|state| {
            state.is_stopped = true;
            std::mem::take(&mut state.streams)
        });
        for stream in streams {
            let _ = stream.shutdown(Shutdown::Both);
        }
        // Wakes `accept`, which then sees that it should end.
        let _ = TcpStream::connect(self.address);
    }
}

fn accept(listener: &TcpListener, wire: Wire, shared: &Arc<Shared>) {
    for stream in listener.incoming() {
        let Ok(stream) = stream else { return };
        let is_stopped = shared.update(|state| {
            state.streams.extend(stream.try_clone());
            state.open_connections += usize::from(!state.is_stopped);
            state.is_stopped
        });
        if is_stopped {
            return;
        }
        let shared = Arc::clone(shared);
        thread::spawn(move || {
            // Many tests are about a broken connection; the client has to cope, not the server.
            let _ = connection::serve(&stream, wire, &shared);
            let _ = stream.shutdown(Shutdown::Both);
            shared.update(|state| state.open_connections -= 1);
        });
    }
}
