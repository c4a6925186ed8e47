//! Lets confined programs ask the services that know the names of users and groups.
//!
//! A filter sees no path, so a confined program makes no connection. It asks for one instead: its `connect` waits for a [`Server`]
//! outside the confinement. The server copies the address, compares it with [`Services`], connects a separate socket, and puts that
//! socket in the place of the program's. The address is never read again, so later changes to it have no effect.
//!
//! The server is a thread of a process that continues to live, not a separate process: nothing is left behind, holds a terminal or a
//! pipe, or can receive a signal. When the server ends, connections are refused as without it.
//!
//! This module does not check the requests sent to a service. The table therefore holds only services that do nothing but answer.

mod request;
mod server;
mod services;

use std::{
    env,
    io::{self, IoSlice},
    mem::MaybeUninit,
    os::{
        fd::{AsFd, OwnedFd},
        unix::net::UnixDatagram,
    },
};

use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sendmsg};

pub use server::Server;
pub use services::Services;

/// The variable that names the server's socket.
pub const VARIABLE: &str = "COHAB_NAMES";

/// A connection to a [`Server`], opened before the confinement prevents it.
#[derive(Debug)]
pub struct Mediator(UnixDatagram);

impl Mediator {
    /// The server that the environment names; `None` if there is no server or it is dead.
    #[must_use]
    pub fn of_environment() -> Option<Self> {
        let file = env::var_os(VARIABLE)?;
        let socket = UnixDatagram::unbound().ok()?;
        socket.connect(file).ok()?;
        Some(Self(socket))
    }

    /// Passes on the descriptor on which requests arrive. Does not wait: a server that takes nothing counts as absent.
    pub(super) fn hand_over(&self, requests: &OwnedFd) -> io::Result<()> {
        let passed = [requests.as_fd()];
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut control = SendAncillaryBuffer::new(&mut space);
        control.push(SendAncillaryMessage::ScmRights(&passed));
        sendmsg(&self.0, &[IoSlice::new(&[0])], &mut control, SendFlags::DONTWAIT | SendFlags::NOSIGNAL)?;
        Ok(())
    }
}
