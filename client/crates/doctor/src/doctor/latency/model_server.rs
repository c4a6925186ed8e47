//! A model server on loopback that gives one answer, word by word, and remembers when it sent each.

use std::{
    io::{self, BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    sync::{Arc, Mutex, PoisonError},
    thread,
    time::{Duration, Instant},
};

/// 100 words a second.
const PACE: Duration = Duration::from_millis(10);
/// A paragraph, in words.
const PARAGRAPH: usize = 20;
/// Read of a request.
const REQUEST_MAX_BYTES: u64 = 1024 * 1024;
/// A client that says nothing.
const READ_LIMIT: Duration = Duration::from_secs(5);
/// Requests that are served; one of them is the question.
const MAX_REQUESTS: usize = 8;

/// When each word was sent.
pub(super) type Sent = Arc<Mutex<Vec<Instant>>>;

/// Begins to serve, on a thread that ends with the answer. Its port, and what is sent.
///
/// # Errors
/// If there is no port to have.
pub(super) fn start(words: usize) -> io::Result<(u16, Sent)> {
    let listener = TcpListener::bind(("127.0.0.1", 0))?;
    let port = listener.local_addr()?.port();
    let sent = Sent::default();
    let for_server = Arc::clone(&sent);
    thread::spawn(move || {
        for stream in listener.incoming().take(MAX_REQUESTS).flatten() {
            // A client that goes away ends only its own request.
            if serve(stream, words, &for_server).unwrap_or(false) {
                return;
            }
        }
    });
    Ok((port, sent))
}

/// The word of this number.
pub(super) fn word(number: usize) -> String {
    format!("w{number:05}")
}

/// Whether it was the question.
fn serve(mut stream: TcpStream, words: usize, sent: &Sent) -> io::Result<bool> {
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(READ_LIMIT))?;
    if !is_question(&stream)? {
        stream.write_all(b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")?;
        return Ok(false);
    }
    stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n")?;
    for number in 0..words {
        let end = if number % PARAGRAPH == PARAGRAPH - 1 { "\\n\\n" } else { " " };
        let event = event(&format!("{{\"content\":\"{}{end}\"}}", word(number)), "null");
        sent.lock().unwrap_or_else(PoisonError::into_inner).push(Instant::now());
        stream.write_all(event.as_bytes())?;
        thread::sleep(PACE);
    }
    stream.write_all(event("{}", "\"stop\"").as_bytes())?;
    stream.write_all(b"data: [DONE]\n\n")?;
    Ok(true)
}

fn event(delta: &str, reason: &str) -> String {
    format!(
        "data: {{\"id\":\"1\",\"object\":\"chat.completion.chunk\",\"model\":\"m\",\"choices\":[{{\"index\":0,\"delta\":{delta},\"finish_reason\":{reason}}}]}}\n\n"
    )
}

/// Reads a request to its end.
fn is_question(stream: &TcpStream) -> io::Result<bool> {
    let mut reader = BufReader::new(stream.take(REQUEST_MAX_BYTES));
    let (mut first, mut length) = (String::new(), 0);
    reader.read_line(&mut first)?;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line)? == 0 || line.trim().is_empty() {
            break;
        }
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap_or(0);
        }
    }
    io::copy(&mut reader.take(length), &mut io::sink())?;
    Ok(first.contains("/chat/completions"))
}
