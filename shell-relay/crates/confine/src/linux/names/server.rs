//! Makes the connections for confined programs, in a thread.

use std::{
    io::{self, IoSliceMut},
    mem::MaybeUninit,
    net::Shutdown,
    os::{
        fd::{AsFd, OwnedFd},
        unix::net::UnixDatagram,
    },
    path::{Path, PathBuf},
    thread,
};

use rustix::{
    event::{PollFd, PollFlags, poll},
    fs::{OFlags, fcntl_setfl},
    io::Errno,
    net::{
        AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SocketAddrUnix, SocketFlags, SocketType,
        connect, recvmsg, socket_with,
    },
};

use super::{
    request::{Request, Requests},
    services::Services,
};

/// Largest number of programs served at a time.
const PROGRAMS_MAX: usize = 256;
const STACK_BYTES: usize = 128 * 1024;

/// Serves the confined programs that know its socket, for its lifetime.
#[derive(Debug)]
pub struct Server {
    arrivals: UnixDatagram,
    file: PathBuf,
}

impl Server {
    /// Starts a server with a socket at `file`, in a folder that only the user can enter.
    ///
    /// # Errors
    /// If such a socket or a thread cannot be made.
    pub fn start(file: &Path, services: Services) -> io::Result<Self> {
        let arrivals = UnixDatagram::bind(file)?;
        let server = Self { arrivals: arrivals.try_clone()?, file: file.to_owned() };
        let thread = thread::Builder::new().name("names".to_owned()).stack_size(STACK_BYTES);
        thread.spawn(move || serve(&arrivals, &services))?;
        Ok(server)
    }

    /// The socket that the environment of confined programs must name.
    #[must_use]
    pub fn file(&self) -> &Path {
        &self.file
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // The thread ends at this. Waiting requests then get an error.
        let _ = self.arrivals.shutdown(Shutdown::Both);
        let _ = std::fs::remove_file(&self.file);
    }
}

fn serve(arrivals: &UnixDatagram, services: &Services) {
    let mut programs: Vec<Requests> = Vec::new();
    loop {
        let watched = [arrivals.as_fd()].into_iter().chain(programs.iter().map(AsFd::as_fd));
        let mut watched: Vec<PollFd<'_>> = watched.map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN)).collect();
        match poll(&mut watched, None) {
            Ok(_) => {}
            Err(Errno::INTR) => continue,
            Err(_) => return,
        }
        let states: Vec<PollFlags> = watched.iter().map(PollFd::revents).collect();
        let ends = PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL;
        let Some((of_arrivals, mut of_programs)) = states.split_first().map(|(first, rest)| (*first, rest.iter()))
        else {
            return;
        };
        if of_arrivals.intersects(ends) {
            return;
        }
        programs.retain(|program| match of_programs.next() {
            Some(state) if state.contains(PollFlags::IN) => serve_one(program, services),
            state => state.is_some_and(|state| !state.intersects(ends)),
        });
        if of_arrivals.contains(PollFlags::IN) {
            programs.extend(arrived(arrivals).map(Requests).take(PROGRAMS_MAX - programs.len()));
        }
    }
}

/// The descriptors that one message carried.
fn arrived(arrivals: &UnixDatagram) -> impl Iterator<Item = OwnedFd> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let flags = RecvFlags::CMSG_CLOEXEC | RecvFlags::DONTWAIT;
    let received = recvmsg(arrivals, &mut [IoSliceMut::new(&mut [0])], &mut control, flags);
    let messages = received.is_ok().then(|| control.drain()).into_iter().flatten();
    let passed = messages.filter_map(|message| match message {
        RecvAncillaryMessage::ScmRights(passed) => Some(passed),
        _ => None,
    });
    passed.flatten().collect::<Vec<_>>().into_iter()
}

/// Answers a request; false if no more requests can come.
fn serve_one(program: &Requests, services: &Services) -> bool {
    match program.next() {
        Ok(request) => {
            // A call that a signal has ended needs no answer.
            let _ = program.answer(&request, connection(program, &request, services));
            true
        }
        // The thread that asked has ended.
        Err(Errno::NOENT | Errno::INTR) => true,
        Err(_) => false,
    }
}

/// Connects to the address, which was copied before from a program that still waits: nothing of it can change any more.
fn connection(program: &Requests, request: &Request, services: &Services) -> rustix::io::Result<()> {
    let asking = request.read();
    if !program.is_waiting(request) {
        return Err(Errno::INTR);
    }
    let asking = asking?;
    let file = services.find(&asking.path).ok_or(Errno::PERM)?;
    // A service that is busy must not hold up the others.
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let socket = socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
    connect(&socket, &SocketAddrUnix::new(file)?)?;
    fcntl_setfl(&socket, asking.flags & OFlags::NONBLOCK)?;
    program.put(request, socket.as_fd(), asking.flags)
}
