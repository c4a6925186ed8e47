//! The user's browser: a service leads it back to a port of this machine.

use std::{io, time::Duration};

use async_trait::async_trait;
use cohab_text::cut::head;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
    sync::{Mutex, mpsc},
    time::timeout,
};

use super::Browser;

/// Where the service leads back to.
const PATH: &str = "/callback";
/// Longest head of a request that is read.
const MAX_HEAD_BYTES: usize = 16 * 1024;
/// A connection has so long to send its request.
const REQUEST_LIMIT: Duration = Duration::from_secs(10);
/// The page that the user sees at the end.
const DONE: &str = "cohab has what it needs. You can close this page and go back to your terminal.";

/// Waits on a port of this machine for the browser to come back.
pub struct LoopbackBrowser {
    listener: TcpListener,
    port: u16,
    show: Box<dyn Fn(&str) + Send + Sync>,
    /// Addresses that the user copied by hand: the browser may be on another machine.
    pasted: Mutex<mpsc::Receiver<String>>,
}

impl LoopbackBrowser {
    /// `show` presents the address of the service; what is sent to `pasted` counts like a visit.
    ///
    /// # Errors
    /// There is no free port.
    pub async fn new(show: Box<dyn Fn(&str) + Send + Sync>, pasted: mpsc::Receiver<String>) -> io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let port = listener.local_addr()?.port();
        Ok(Self { listener, port, show, pasted: Mutex::new(pasted) })
    }

    /// Waits for the visit that ends the sign-in.
    async fn visit(&self) -> String {
        loop {
            let Ok((mut stream, _)) = self.listener.accept().await else {
                tokio::time::sleep(Duration::from_millis(100)).await;
                continue;
            };
            let Ok(Some(target)) = timeout(REQUEST_LIMIT, target(&mut stream)).await else { continue };
            let is_end = target.split('?').next() == Some(PATH);
            let (status, text) = if is_end { ("200 OK", DONE) } else { ("404 Not Found", "There is no such page.") };
            let answer = format!(
                "HTTP/1.1 {status}\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{text}",
                text.len()
            );
            // The visit counts even if nobody reads the page.
            let _ = timeout(REQUEST_LIMIT, stream.write_all(answer.as_bytes())).await;
            if is_end {
                return format!("http://127.0.0.1:{}{target}", self.port);
            }
        }
    }

    async fn paste(&self) -> String {
        match self.pasted.lock().await.recv().await {
            Some(address) => address,
            None => std::future::pending().await,
        }
    }
}

#[async_trait]
impl Browser for LoopbackBrowser {
    fn redirect(&self) -> String {
        format!("http://127.0.0.1:{}{PATH}", self.port)
    }

    async fn agree(&self, address: &str) -> Result<String, String> {
        (self.show)(address);
        tokio::select! {
            visited = self.visit() => Ok(visited),
            pasted = self.paste() => Ok(pasted),
        }
    }
}

/// The target of a request: `/callback?code=1`.
async fn target(stream: &mut TcpStream) -> Option<String> {
    let mut request = Vec::new();
    while !request.windows(4).any(|end| end == b"\r\n\r\n") {
        if request.len() >= MAX_HEAD_BYTES || stream.read_buf(&mut request).await.ok()? == 0 {
            return None;
        }
    }
    let text = String::from_utf8_lossy(&request);
    let mut words = head(&text, MAX_HEAD_BYTES).lines().next()?.split(' ');
    (words.next() == Some("GET")).then(|| words.next().map(str::to_owned)).flatten()
}
