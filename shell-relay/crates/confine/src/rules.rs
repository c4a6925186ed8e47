//! The permissions of a confined thread or process.

use std::path::PathBuf;

/// All that [`enforce`](super::enforce) allows. Starting programs and listing folders are free.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rules {
    /// Files and folders can be made, changed and removed below these; devices and sockets cannot.
    pub writable: Vec<PathBuf>,
    /// Files can be read at and below these; `None`: anywhere.
    pub readable: Option<Vec<PathBuf>>,
    /// The terminals at standard input, output and error can be opened by their names.
    pub has_terminal: bool,
    /// The available system calls.
    pub calls: Calls,
}

/// The calls that Landlock does not see.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Calls {
    /// For builds: no sockets, no owners and attributes of files. Modes and times of any file can be changed.
    Building,
    /// The same without modes and times.
    Reading,
    /// The least that programs need which only look.
    Confined(Sockets),
}

/// The available sockets. None of them reaches another process of the program's choice: sockets of files would, by services that act for
/// any caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sockets {
    /// Sockets that ask the kernel for routes, addresses and connections.
    Netlink,
    /// As `Netlink`, and streams of files, which a [`Server`](crate::names::Server) connects with services that know users' names.
    Names,
    /// Sockets that `ifconfig` asks by `ioctl`; nothing can be sent by any socket.
    Interfaces,
}
