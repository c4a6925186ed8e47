//! Serves one HTTP/1.1 connection: reads requests, plays answers.

use std::{
    io::{self, BufReader, Write},
    net::TcpStream,
    time::{Duration, Instant},
};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::{
    Request, Shared, Wire,
    answer::{Answer, Fault, Head},
};
use crate::deadline::lock;

/// Whether the connection can be used again.
#[derive(PartialEq, Eq)]
enum After {
    Open,
    Closed,
}

/// Serves requests until one side closes.
pub(super) fn serve(stream: &TcpStream, wire: Wire, shared: &Shared) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut reader = BufReader::new(stream);
    while let Some(request) = Request::read(&mut reader, wire)? {
        let is_call = request.method == "POST" && wire.is_call(&request.path);
        let is_list = request.method == "GET" && request.path.ends_with("/models");
        let list = is_list.then(|| lock(&shared.list).as_mut().map(|list| list(&request))).flatten();
        // Each choice of a server on this machine asks for its models; a test without a list does not count that.
        let is_counted = is_call || request.method != "GET" || lock(&shared.list).is_some();
        // Before the answer, which a script may hold back.
        shared.update(|state| {
            state.requests.extend(is_counted.then(|| request.clone()));
            state.streaming += usize::from(is_counted);
        });
        let answer = if is_call {
            (lock(&shared.respond))(&request)
        } else if let Some(list) = list {
            list
        } else {
            Answer::status(404, "this server answers model calls only")
        };
        let is_last = request.header("connection").is_some_and(|value| value.eq_ignore_ascii_case("close"));
        let after = play(stream, wire, &answer);
        shared.update(|state| state.streaming -= usize::from(is_counted));
        if after? == After::Closed || is_last {
            break;
        }
    }
    Ok(())
}

fn play(stream: &TcpStream, wire: Wire, answer: &Answer) -> io::Result<After> {
    match &answer.head {
        Head::Closed => Ok(After::Closed),
        Head::Plain { status, headers, content_type, body } => {
            let mut head = format!("HTTP/1.1 {status} Scripted\r\ncontent-type: {content_type}\r\n");
            for (name, value) in headers {
                head.push_str(&format!("{name}: {value}\r\n"));
            }
            write_all(stream, format!("{head}content-length: {}\r\n\r\n{body}", body.len()).as_bytes())?;
            Ok(After::Open)
        }
        Head::Stream => play_events(stream, wire, answer),
    }
}

fn play_events(stream: &TcpStream, wire: Wire, answer: &Answer) -> io::Result<After> {
    let head =
        format!("HTTP/1.1 200 OK\r\ncontent-type: {}\r\ntransfer-encoding: chunked\r\n\r\n", wire.content_type());
    write_all(stream, head.as_bytes())?;
    let before_mark = match answer.fault {
        Some(Fault::CutBeforeMark) => Some(wire.events_before_mark(answer)),
        _ => None,
    };
    let start = Instant::now();
    let mut events = wire.events(answer);
    let mut sent = 0;
    loop {
        match answer.fault {
            Some(Fault::Cut(after)) if sent == after => return Ok(After::Closed),
            Some(Fault::CutBeforeMark) if Some(sent) == before_mark => return Ok(After::Closed),
            Some(Fault::Stall(after)) if sent == after => {
                is_closed_within(stream, None)?;
                return Ok(After::Closed);
            }
            Some(Fault::Error(after)) if sent == after => {
                write_body(stream, answer, &wire.error_event())?;
                break;
            }
            _ => {}
        }
        sent += 1;
        // Against the start, so that the pace does not drift with the time that writing takes.
        let due = answer.pacing.before_each_event * u32::try_from(sent).unwrap_or(u32::MAX);
        if is_closed_within(stream, Some(due.saturating_sub(start.elapsed())))? {
            return Ok(After::Closed);
        }
        let Some(event) = events.next() else { break };
        write_body(stream, answer, &event)?;
    }
    write_all(stream, b"0\r\n\r\n")?;
    Ok(After::Open)
}

/// One event, as one chunk or as many.
fn write_body(stream: &TcpStream, answer: &Answer, event: &str) -> io::Result<()> {
    let piece_bytes = answer.pacing.piece_bytes.unwrap_or(event.len()).max(1);
    for piece in event.as_bytes().chunks(piece_bytes) {
        let mut chunk = format!("{:x}\r\n", piece.len()).into_bytes();
        chunk.extend_from_slice(piece);
        chunk.extend_from_slice(b"\r\n");
        write_all(stream, &chunk)?;
    }
    Ok(())
}

fn write_all(mut stream: &TcpStream, bytes: &[u8]) -> io::Result<()> {
    stream.write_all(bytes)
}

/// Waits, forever without a limit, and returns at once if the client closes meanwhile.
fn is_closed_within(stream: &TcpStream, limit: Option<Duration>) -> io::Result<bool> {
    let end = limit.map(|limit| Instant::now() + limit);
    loop {
        let left = end.map(|end| end.saturating_duration_since(Instant::now()));
        let timeout = left.map(|left| Timespec {
            tv_sec: i64::try_from(left.as_secs()).unwrap_or(i64::MAX),
            tv_nsec: i64::from(left.subsec_nanos()),
        });
        let mut fds = [PollFd::new(stream, PollFlags::IN)];
        match poll(&mut fds, timeout.as_ref()) {
            Ok(0) => return Ok(false),
            Ok(_) => return Ok(stream.peek(&mut [0]).map_or(true, |bytes| bytes == 0)),
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}
