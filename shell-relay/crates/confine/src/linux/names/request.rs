//! Receives the kernel's notifications of connections that confined programs ask for.

use std::{
    fs::{self, File},
    io,
    os::{
        fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd},
        unix::fs::FileExt,
    },
};

use rustix::{fs::OFlags, io::Errno};

/// The longest address of a socket that is a file, its family included.
const LONGEST_ADDRESS: usize = size_of::<libc::sockaddr_un>();
/// The bytes in front of the path.
const FAMILY_BYTES: usize = size_of::<libc::sa_family_t>();

/// The descriptor on which the requests of a confined program and its children arrive.
#[derive(Debug)]
pub(super) struct Requests(pub(super) OwnedFd);

/// A call that waits for its answer.
#[derive(Debug)]
pub(super) struct Request {
    id: u64,
    /// A thread, by its number in this process's name space.
    thread: u32,
    descriptor: u32,
    address: u64,
    length: u64,
}

/// The socket that a program wants to connect.
#[derive(Debug)]
pub(super) struct Asking {
    pub(super) path: Vec<u8>,
    /// The flags of its open file and of its descriptor.
    pub(super) flags: OFlags,
}

impl Requests {
    /// The next request. Waits only if no request is pending.
    pub(super) fn next(&self) -> rustix::io::Result<Request> {
        let data = libc::seccomp_data { nr: 0, arch: 0, instruction_pointer: 0, args: [0; 6] };
        let mut notice = libc::seccomp_notif { id: 0, pid: 0, flags: 0, data };
        self.control(libc::SECCOMP_IOCTL_NOTIF_RECV, &raw mut notice)?;
        let [descriptor, address, length, ..] = notice.data.args;
        // The kernel takes the lower half of a descriptor.
        let descriptor = (descriptor & u64::from(u32::MAX)) as u32;
        Ok(Request { id: notice.id, thread: notice.pid, descriptor, address, length })
    }

    /// Lets the call return success or an error.
    pub(super) fn answer(&self, request: &Request, result: Result<(), Errno>) -> rustix::io::Result<()> {
        let error = result.err().map_or(0, |error| -error.raw_os_error());
        let mut answer = libc::seccomp_notif_resp { id: request.id, val: 0, error, flags: 0 };
        self.control(libc::SECCOMP_IOCTL_NOTIF_SEND, &raw mut answer)
    }

    /// Whether the thread still waits: its number does not belong to another thread.
    pub(super) fn is_waiting(&self, request: &Request) -> bool {
        let mut id = request.id;
        self.control(libc::SECCOMP_IOCTL_NOTIF_ID_VALID, &raw mut id).is_ok()
    }

    /// Puts a socket in the place of the program's.
    pub(super) fn put(&self, request: &Request, socket: BorrowedFd<'_>, flags: OFlags) -> rustix::io::Result<()> {
        let mut placed = libc::seccomp_notif_addfd {
            id: request.id,
            flags: libc::SECCOMP_ADDFD_FLAG_SETFD as u32,
            srcfd: socket.as_raw_fd().unsigned_abs(),
            newfd: request.descriptor,
            newfd_flags: (flags & OFlags::CLOEXEC).bits(),
        };
        self.control(libc::SECCOMP_IOCTL_NOTIF_ADDFD, &raw mut placed)
    }

    fn control<T>(&self, operation: libc::Ioctl, argument: *mut T) -> rustix::io::Result<()> {
        #[expect(unsafe_code, reason = "the argument is the operation's own structure and lives as long as the call")]
        let result = unsafe { libc::ioctl(self.0.as_raw_fd(), operation, argument) };
        if result < 0 { Err(Errno::from_io_error(&io::Error::last_os_error()).unwrap_or(Errno::IO)) } else { Ok(()) }
    }
}

impl AsFd for Requests {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

impl Request {
    /// Reads the request from the memory and the descriptors of the program. To be believed only if the thread still waits afterwards.
    pub(super) fn read(&self) -> rustix::io::Result<Asking> {
        let length =
            usize::try_from(self.length).ok().filter(|length| (FAMILY_BYTES..=LONGEST_ADDRESS).contains(length));
        let mut address = vec![0; length.ok_or(Errno::INVAL)?];
        // A process that may not trace the program may not read this file.
        let memory = File::open(format!("/proc/{}/mem", self.thread)).map_err(|_| Errno::PERM)?;
        memory.read_exact_at(&mut address, self.address).map_err(|_| Errno::FAULT)?;
        let (family, path) = address.split_at(FAMILY_BYTES);
        if *family != (libc::AF_UNIX as libc::sa_family_t).to_ne_bytes() {
            return Err(Errno::PERM);
        }
        let end = path.iter().position(|byte| *byte == 0).unwrap_or(path.len());
        Ok(Asking { path: path[..end].to_owned(), flags: self.flags()? })
    }

    fn flags(&self) -> rustix::io::Result<OFlags> {
        let found = fs::read_to_string(format!("/proc/{}/fdinfo/{}", self.thread, self.descriptor));
        let found = found.map_err(|_| Errno::BADF)?;
        let flags = found.lines().find_map(|line| line.strip_prefix("flags:")).ok_or(Errno::BADF)?;
        u32::from_str_radix(flags.trim(), 8).map(OFlags::from_bits_retain).map_err(|_| Errno::BADF)
    }
}
