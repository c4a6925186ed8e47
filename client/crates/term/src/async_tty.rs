//! A terminal's descriptor in the event loop: the user's terminal, or the master of the shell's. Reads wait, writes never do: what
//! the other side does not take is queued.

use std::{
    io,
    os::fd::OwnedFd,
    time::{Duration, Instant},
};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    io::Errno,
};
use tokio::io::{Interest, unix::AsyncFd};

/// A read that gives less than this has taken all there was. The kernel hands a terminal's bytes over in pieces of 1 KiB and more.
const WHOLE_READ_BYTES: usize = 1024;
/// What the queue keeps of its memory once it is empty.
const KEPT_QUEUE_BYTES: usize = 64 * 1024;

/// A non-blocking descriptor with a queue of what is to be written.
#[derive(Debug)]
pub struct AsyncTty {
    /// Watched for reading only: a terminal reports after every write that it can be written again, and each report would wake us
    /// for nothing in the middle of a key's way.
    reader: AsyncFd<OwnedFd>,
    /// A second descriptor of the same terminal, watched for writing while there is a queue.
    writer: Option<AsyncFd<OwnedFd>>,
    queue: Vec<u8>,
    /// Bytes of `queue` that are written already.
    written: usize,
    is_gone: bool,
}

impl AsyncTty {
    /// Watches a descriptor, which must be non-blocking.
    ///
    /// # Errors
    /// If the kernel cannot watch it, as for a regular file.
    pub fn new(fd: OwnedFd) -> io::Result<Self> {
        let reader = watch(fd, Interest::READABLE)?;
        Ok(Self { reader, writer: None, queue: Vec::new(), written: 0, is_gone: false })
    }

    /// The descriptor.
    #[must_use]
    pub fn fd(&self) -> &OwnedFd {
        self.reader.get_ref()
    }

    /// Waits until `read` gives something else than `WouldBlock`. Cancel-safe if `read` is one system call.
    ///
    /// # Errors
    /// Those of `read`, and if waiting fails.
    pub async fn read_with(&self, mut read: impl FnMut(&OwnedFd) -> io::Result<usize>) -> io::Result<usize> {
        loop {
            let mut ready = self.reader.readable().await?;
            match ready.try_io(|fd| read(fd.get_ref())) {
                Ok(Err(error)) if error.kind() == io::ErrorKind::Interrupted => {}
                Ok(result) => {
                    // A second read, to hear that there is nothing left, would be on the way of every key. What comes after this one
                    // reports itself.
                    if result.as_ref().is_ok_and(|count| (1..WHOLE_READ_BYTES).contains(count)) {
                        ready.clear_ready();
                    }
                    return result;
                }
                Err(_would_block) => {}
            }
        }
    }

    /// Writes at once what the other side takes and queues the rest.
    pub fn write(&mut self, bytes: &[u8]) {
        if self.is_gone || bytes.is_empty() {
            return;
        }
        let taken = if self.queue.is_empty() { self.write_now(bytes) } else { 0 };
        if taken < bytes.len() && !self.is_gone {
            self.queue.extend_from_slice(&bytes[taken..]);
            self.watch_writing();
        }
    }

    fn write_now(&mut self, bytes: &[u8]) -> usize {
        let mut taken = 0;
        while taken < bytes.len() && !self.is_gone {
            match rustix::io::write(self.reader.get_ref(), &bytes[taken..]) {
                Ok(count) => taken += count,
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => break,
                // The other end is gone; reading will notice.
                Err(_) => self.is_gone = true,
            }
        }
        taken
    }

    fn watch_writing(&mut self) {
        if self.writer.is_none() {
            let watched = self.reader.get_ref().try_clone().and_then(|fd| watch(fd, Interest::WRITABLE));
            // Without a descriptor left nothing could ever be written again.
            self.is_gone = watched.is_err();
            self.writer = watched.ok();
        }
    }

    /// Bytes that wait.
    #[must_use]
    pub fn queued_bytes(&self) -> usize {
        self.queue.len() - self.written
    }

    /// Waits until [`flush`](Self::flush) can do something; for ever without a queue. Cancel-safe.
    pub async fn writable(&self) {
        match &self.writer {
            // An error shows again when writing.
            Some(writer) => drop(writer.writable().await),
            None => std::future::pending().await,
        }
    }

    /// Writes from the queue what the other side takes now.
    pub fn flush(&mut self) {
        let Some(writer) = &self.writer else { return };
        let rest = &self.queue[self.written..];
        match writer.try_io(Interest::WRITABLE, |fd| rustix::io::write(fd, rest).map_err(io::Error::from)) {
            Ok(count) => self.written += count,
            Err(error) if matches!(error.kind(), io::ErrorKind::Interrupted | io::ErrorKind::WouldBlock) => {}
            Err(_) => self.is_gone = true,
        }
        if self.written == self.queue.len() || self.is_gone {
            self.queue.clear();
            self.queue.shrink_to(KEPT_QUEUE_BYTES);
            self.written = 0;
            self.writer = None;
        } else if self.written >= KEPT_QUEUE_BYTES {
            // Behind a slow reader the queue may not be empty for hours.
            self.queue.drain(..self.written);
            self.written = 0;
        }
    }

    /// Writes what waits as far as that is possible without waiting, and forgets the rest. True if something was forgotten.
    pub fn give_up_queue(&mut self) -> bool {
        let rest = std::mem::take(&mut self.queue);
        let rest = &rest[self.written..];
        let taken = self.write_now(rest);
        self.written = 0;
        self.writer = None;
        taken < rest.len()
    }

    /// Writes `bytes`, which come after everything else, and blocks for at most `limit` until the other side has taken them.
    pub fn write_last(&mut self, bytes: &[u8], limit: Duration) {
        let deadline = Instant::now() + limit;
        let mut rest = bytes;
        loop {
            rest = &rest[self.write_now(rest)..];
            let left = deadline.saturating_duration_since(Instant::now());
            if rest.is_empty() || self.is_gone || left.is_zero() {
                return;
            }
            let fd = self.reader.get_ref();
            let wait = Timespec::try_from(left).unwrap_or_default();
            // An error shows again when writing.
            let _ = poll(&mut [PollFd::new(fd, PollFlags::OUT)], Some(&wait));
        }
    }
}

/// Registers a descriptor with the runtime.
#[expect(unsafe_code, reason = "tokio's registration has no safe form for descriptors that are no sockets or pipes")]
fn watch(fd: OwnedFd, interest: Interest) -> io::Result<AsyncFd<OwnedFd>> {
    // SAFETY: an `OwnedFd` names the same open descriptor until it is dropped, and `AsyncFd` drops it after deregistering it.
    let registered = unsafe { AsyncFd::register_with_interest(fd, interest) };
    registered.map_err(|error| error.into_parts().1)
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixStream;

    use super::*;

    fn pair() -> (AsyncTty, OwnedFd) {
        let (ours, theirs) = UnixStream::pair().unwrap();
        for end in [&ours, &theirs] {
            end.set_nonblocking(true).unwrap();
        }
        (AsyncTty::new(ours.into()).unwrap(), theirs.into())
    }

    fn read_all(fd: &OwnedFd) -> Vec<u8> {
        let (mut all, mut buffer) = (Vec::new(), [0; 4096]);
        while let Ok(count @ 1..) = rustix::io::read(fd, &mut buffer) {
            all.extend_from_slice(&buffer[..count]);
        }
        all
    }

    #[tokio::test]
    async fn what_is_not_taken_waits_and_comes_in_order() {
        let (mut tty, other) = pair();
        let sent: Vec<u8> = (0..3_000_000_u32).map(|n| (n % 251) as u8).collect();
        for piece in sent.chunks(100_000) {
            tty.write(piece);
        }
        assert!(tty.queued_bytes() > 0);
        let mut received = read_all(&other);
        while tty.queued_bytes() > 0 {
            tty.writable().await;
            tty.flush();
            received.extend(read_all(&other));
        }
        assert!(received == sent);
    }

    #[tokio::test]
    async fn a_queue_that_is_never_empty_does_not_grow() {
        let (mut tty, other) = pair();
        tty.write(&vec![0; 1_000_000]);
        let most = 3 * tty.queue.capacity();
        for _ in 0..500 {
            let taken = read_all(&other).len();
            tty.write(&vec![0; taken]);
            tty.writable().await;
            tty.flush();
            assert!(tty.queued_bytes() > 0);
            assert!(tty.queue.capacity() <= most, "{} bytes", tty.queue.capacity());
        }
    }

    #[tokio::test]
    async fn a_reader_that_is_gone_ends_the_queue() {
        let (mut tty, other) = pair();
        tty.write(&vec![0; 3_000_000]);
        drop(other);
        while tty.queued_bytes() > 0 {
            tty.writable().await;
            tty.flush();
        }
        tty.write(b"more");
        assert_eq!(tty.queued_bytes(), 0);
    }

    #[tokio::test]
    async fn the_last_bytes_come_though_the_queue_is_cut() {
        let (mut tty, other) = pair();
        tty.write(&vec![b'x'; 3_000_000]);
        let reader = std::thread::spawn(move || {
            let mut all = Vec::new();
            while !all.ends_with(b"last") {
                all.extend(read_all(&other));
            }
            all.len()
        });
        assert!(tty.give_up_queue(), "it did not fit");
        tty.write_last(b"last", Duration::from_secs(60));
        assert!(reader.join().unwrap() < 3_000_000);
    }

    #[tokio::test]
    async fn a_terminal_that_takes_nothing_is_not_waited_for_forever() {
        let (mut tty, _other) = pair();
        tty.write(&vec![0; 3_000_000]);
        assert!(tty.give_up_queue());
        tty.write_last(b"last", Duration::from_millis(1));
        assert!(!tty.give_up_queue(), "nothing waits any more");
    }

    #[tokio::test]
    async fn reading_waits_for_bytes() {
        let (tty, other) = pair();
        rustix::io::write(&other, b"hi").unwrap();
        let mut buffer = [0; 8];
        let count = tty.read_with(|fd| Ok(rustix::io::read(fd, &mut buffer)?)).await.unwrap();
        assert_eq!(&buffer[..count], b"hi");
    }
}
