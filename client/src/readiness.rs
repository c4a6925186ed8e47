//! Waiting for a descriptor.

use std::{io, os::fd::OwnedFd};

use tokio::io::unix::AsyncFd;

/// Registers a non-blocking descriptor with the runtime.
///
/// # Errors
/// If the kernel cannot watch it, as for a regular file.
#[expect(unsafe_code, reason = "tokio's registration has no safe form for descriptors that are no sockets or pipes")]
pub fn register(fd: OwnedFd) -> io::Result<AsyncFd<OwnedFd>> {
    // SAFETY: an `OwnedFd` names the same open descriptor until it is dropped, and `AsyncFd` drops it after deregistering it.
    let registered = unsafe { AsyncFd::register(fd) };
    registered.map_err(|error| error.into_parts().1)
}
