//! A client's socket, watched for reading only. A Unix socket reports that it can be written again each time the other end has read
//! something, so one that is watched for both would wake the daemon twice for each piece of an answer.

use std::{
    io,
    os::fd::OwnedFd,
    pin::Pin,
    task::{Context, Poll, ready},
};

use rustix::net::{RecvFlags, SendFlags};
use tokio::{
    io::{AsyncRead, AsyncWrite, Interest, ReadBuf, unix::AsyncFd},
    net::UnixStream,
};

/// A connected socket.
#[derive(Debug)]
pub(super) struct QuietSocket {
    reader: AsyncFd<OwnedFd>,
    /// A second descriptor of the same socket, watched for writing while the other end takes no more.
    writer: Option<AsyncFd<OwnedFd>>,
}

impl QuietSocket {
    /// Takes the socket over.
    ///
    /// # Errors
    /// If the kernel cannot watch it.
    pub(super) fn over(stream: UnixStream) -> io::Result<Self> {
        let reader = watch(stream.into_std()?.into(), Interest::READABLE)?;
        Ok(Self { reader, writer: None })
    }

    fn poll_writable(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        if let Some(writer) = &self.writer {
            ready!(writer.poll_write_ready(context))?.clear_ready();
            self.writer = None;
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncRead for QuietSocket {
    fn poll_read(self: Pin<&mut Self>, context: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        loop {
            let mut ready = ready!(self.reader.poll_read_ready(context))?;
            let free = buffer.initialize_unfilled();
            let wanted = free.len();
            let read = ready.try_io(|fd| Ok(rustix::net::recv(fd.get_ref(), &mut *free, RecvFlags::empty())?.0));
            match read {
                Ok(Err(error)) if error.kind() == io::ErrorKind::Interrupted => {}
                Ok(Err(error)) => return Poll::Ready(Err(error)),
                Ok(Ok(count)) => {
                    // What comes after a read that was not full reports itself, and so does the end.
                    if (1..wanted).contains(&count) {
                        ready.clear_ready();
                    }
                    buffer.advance(count);
                    return Poll::Ready(Ok(()));
                }
                Err(_would_block) => {}
            }
        }
    }
}

impl AsyncWrite for QuietSocket {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        loop {
            ready!(self.poll_writable(context))?;
            let fd = self.reader.get_ref();
            match rustix::net::send(fd, bytes, SendFlags::NOSIGNAL) {
                Ok(count) => return Poll::Ready(Ok(count)),
                Err(rustix::io::Errno::INTR) => {}
                Err(rustix::io::Errno::AGAIN) => self.writer = Some(watch(fd.try_clone()?, Interest::WRITABLE)?),
                Err(error) => return Poll::Ready(Err(error.into())),
            }
        }
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(rustix::net::shutdown(self.reader.get_ref(), rustix::net::Shutdown::Write)?))
    }
}

/// Registers a descriptor with the runtime.
#[expect(unsafe_code, reason = "tokio's safe registrations of a socket watch it for both directions")]
fn watch(fd: OwnedFd, interest: Interest) -> io::Result<AsyncFd<OwnedFd>> {
    // SAFETY: an `OwnedFd` names the same open descriptor until it is dropped, and `AsyncFd` drops it after deregistering it.
    let registered = unsafe { AsyncFd::register_with_interest(fd, interest) };
    registered.map_err(|error| error.into_parts().1)
}

#[cfg(test)]
#[path = "quiet_socket_tests.rs"]
mod tests;
