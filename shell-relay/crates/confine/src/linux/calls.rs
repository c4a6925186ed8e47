//! Lists the refused system calls, and the arguments under which some of them are permitted.
//!
//! The list was compared with the kernel's own table of calls: every number below [`FIRST_UNKNOWN`](super::filter::FIRST_UNKNOWN)
//! that is missing here reads, works on the process itself, or is checked by Landlock. Newer calls are refused as unknown, so the
//! program uses an older one.

use super::{
    filter::{self, Action, errno},
    ioctls,
};
use crate::{Calls, Sockets};

/// Name, number on x86-64, number elsewhere.
type CallNumbers = (&'static str, u32, u32);
/// Number of a call that does not exist.
const NONE: u32 = u32::MAX;

/// Refused for every confined program.
const ALWAYS: &[CallNumbers] = &[
    // Rings make calls that no filter sees.
    ("io_uring_setup", 425, 425),
    ("io_uring_enter", 426, 426),
    ("io_uring_register", 427, 427),
    // The kernel itself, and keys that it keeps for the user.
    ("bpf", 321, 280),
    ("add_key", 248, 217),
    ("request_key", 249, 218),
    ("keyctl", 250, 219),
    ("init_module", 175, 105),
    ("finit_module", 313, 273),
    ("delete_module", 176, 106),
    ("kexec_load", 246, 104),
    ("kexec_file_load", 320, 294),
    ("reboot", 169, 142),
    ("swapon", 167, 224),
    ("swapoff", 168, 225),
    ("acct", 163, 89),
    ("quotactl", 179, 60),
    ("quotactl_fd", 443, 443),
    ("settimeofday", 164, 170),
    ("clock_settime", 227, 112),
    ("sethostname", 170, 161),
    ("setdomainname", 171, 162),
    ("iopl", 172, NONE),
    ("ioperm", 173, NONE),
    ("vhangup", 153, 58),
    ("nfsservctl", 180, 42),
    ("lookup_dcookie", 212, 18),
    // Mounts.
    ("mount", 165, 40),
    ("umount2", 166, 39),
    ("pivot_root", 155, 41),
    ("chroot", 161, 51),
    ("fsopen", 430, 430),
    ("fsconfig", 431, 431),
    ("fsmount", 432, 432),
    ("fspick", 433, 433),
    ("move_mount", 429, 429),
    ("open_tree", 428, 428),
    ("open_tree_attr", 467, 467),
    ("mount_setattr", 442, 442),
    // Files past their path, descriptors of others.
    ("open_by_handle_at", 304, 265),
    ("pidfd_getfd", 438, 438),
    ("fanotify_init", 300, 262),
    ("fanotify_mark", 301, 263),
    // Owners and attributes, which Landlock does not check.
    ("chown", 92, NONE),
    ("lchown", 94, NONE),
    ("fchown", 93, 55),
    ("fchownat", 260, 54),
    ("setxattr", 188, 5),
    ("lsetxattr", 189, 6),
    ("fsetxattr", 190, 7),
    ("setxattrat", 463, 463),
    ("removexattr", 197, 14),
    ("lremovexattr", 198, 15),
    ("fremovexattr", 199, 16),
    ("removexattrat", 466, 466),
    ("file_setattr", 469, 469),
];

/// Modes and times, which builds change.
const MODES_AND_TIMES: &[CallNumbers] = &[
    ("chmod", 90, NONE),
    ("fchmod", 91, 52),
    ("fchmodat", 268, 53),
    ("fchmodat2", 452, 452),
    ("utime", 132, NONE),
    ("utimes", 235, NONE),
    ("futimesat", 261, NONE),
    ("utimensat", 280, 88),
];

/// Calls that no program needs that only reads.
const LOOKING: &[CallNumbers] = &[
    // The memory of other programs.
    ("ptrace", 101, 117),
    ("process_vm_readv", 310, 270),
    ("process_vm_writev", 311, 271),
    ("process_madvise", 440, 440),
    ("process_mrelease", 448, 448),
    ("kcmp", 312, 272),
    ("migrate_pages", 256, 238),
    ("move_pages", 279, 239),
    // Parts of the kernel in which mistakes were found often.
    ("perf_event_open", 298, 241),
    ("userfaultfd", 323, 282),
    ("modify_ldt", 154, NONE),
    ("unshare", 272, 97),
    ("setns", 308, 268),
    // Memory, queues and counters that programs share by a number or a name that is not a path.
    ("shmget", 29, 194),
    ("shmat", 30, 196),
    ("shmctl", 31, 195),
    ("shmdt", 67, 197),
    ("semget", 64, 190),
    ("semop", 65, 193),
    ("semctl", 66, 191),
    ("semtimedop", 220, 192),
    ("msgget", 68, 186),
    ("msgsnd", 69, 189),
    ("msgrcv", 70, 188),
    ("msgctl", 71, 187),
    ("mq_open", 240, 180),
    ("mq_unlink", 241, 181),
    ("mq_timedsend", 242, 182),
    ("mq_timedreceive", 243, 183),
    ("mq_notify", 244, 184),
    ("mq_getsetattr", 245, 185),
    // A socket without an address listens at one of the kernel's choice.
    ("listen", 50, 201),
    ("accept", 43, 202),
    ("accept4", 288, 242),
];

/// Calls by which a socket of the network sends, or waits at an address.
const SENDING: &[CallNumbers] = &[("bind", 49, 200), ("sendto", 44, 206), ("sendmsg", 46, 211), ("sendmmsg", 307, 269)];

/// Calls that work on any process of the user's, and the first arguments with which they work on the one that calls.
const OF_A_PROCESS: &[(CallNumbers, &[u32])] = &[
    (("prlimit64", 302, 261), &[0]),
    (("setpriority", 141, 140), &[0, 0]),
    (("ioprio_set", 251, 30), &[1, 0]),
    (("sched_setparam", 142, 118), &[0]),
    (("sched_setscheduler", 144, 119), &[0]),
    (("sched_setattr", 314, 274), &[0]),
    (("sched_setaffinity", 203, 122), &[0]),
];

const CONNECT: CallNumbers = ("connect", 42, 203);
const SOCKET: CallNumbers = ("socket", 41, 198);
const SOCKETPAIR: CallNumbers = ("socketpair", 53, 199);
const IOCTL: CallNumbers = ("ioctl", 16, 29);
const CLONE: CallNumbers = ("clone", 56, 220);
const CLONE3: CallNumbers = ("clone3", 435, 435);

/// All flags of `clone` that make a namespace.
const NAMESPACES: u32 = 0x7e02_0000;
/// `SOCK_STREAM` and `SOCK_SEQPACKET`; the bits above the type are flags.
const CONNECTED_TYPES: [u32; 2] = [STREAM, 5];
const STREAM: u32 = 1;
const TYPE_MASK: u32 = 0xf;
const AF_UNIX: u32 = 1;
const AF_INET: u32 = 2;
const AF_INET6: u32 = 10;
const AF_NETLINK: u32 = 16;
/// `NETLINK_ROUTE` and `NETLINK_SOCK_DIAG`.
const ASKED_PROTOCOLS: [u32; 2] = [0, 4];

/// The table for a filter.
pub(super) fn denied(calls: Calls) -> Vec<filter::Row> {
    let mut denied: Vec<filter::Row> = Vec::with_capacity(160);
    let mut refuse = |rows: &[CallNumbers]| denied.extend(rows.iter().filter_map(|row| row_of(row, refused())));
    refuse(ALWAYS);
    if calls != Calls::Building {
        refuse(MODES_AND_TIMES);
    }
    let sockets = match calls {
        Calls::Building | Calls::Reading => None,
        Calls::Confined(sockets) => Some(sockets),
    };
    if sockets.is_some() {
        refuse(LOOKING);
    }
    if sockets == Some(Sockets::Interfaces) {
        refuse(SENDING);
    }
    denied.extend(row_of(&SOCKET, sockets.map_or_else(refused, allowed_sockets)));
    // A pair that is not connected sends to any socket of a file.
    let pairs = Action::By { argument: 1, mask: TYPE_MASK, cases: allowed(CONNECTED_TYPES) };
    denied.extend(row_of(&SOCKETPAIR, by(0, [(AF_UNIX, pairs)])));
    if let Some(sockets) = sockets {
        denied.extend(row_of(&CONNECT, if sockets == Sockets::Names { Action::Mediate } else { refused() }));
        let on_itself = |values: &[u32]| {
            let nest = |inside, (index, value): (u8, &u32)| by(index, [(*value, inside)]);
            (0..).zip(values).collect::<Vec<_>>().into_iter().rev().fold(Action::Allow, nest)
        };
        denied.extend(OF_A_PROCESS.iter().filter_map(|(row, values)| row_of(row, on_itself(values))));
        denied.extend(row_of(&IOCTL, by(1, allowed(ioctls::ALLOWED.iter().copied()))));
        denied.extend(row_of(&CLONE, Action::By { argument: 0, mask: NAMESPACES, cases: allowed([0]) }));
        // The flags of this call lie in memory. A C library without such a call uses the one before.
        denied.extend(row_of(&CLONE3, Action::Refuse(errno(libc::ENOSYS))));
    }
    denied
}

fn allowed_sockets(sockets: Sockets) -> Action {
    let netlink = (AF_NETLINK, by(2, allowed(ASKED_PROTOCOLS)));
    match sockets {
        Sockets::Netlink => by(0, [netlink]),
        // Only a stream sends nothing before it is connected, to any address.
        Sockets::Names => {
            by(0, [(AF_UNIX, Action::By { argument: 1, mask: TYPE_MASK, cases: allowed([STREAM]) }), netlink])
        }
        Sockets::Interfaces => by(0, allowed([AF_UNIX, AF_INET, AF_INET6])),
    }
}

fn refused() -> Action {
    Action::Refuse(errno(libc::EPERM))
}

fn by(argument: u8, cases: impl IntoIterator<Item = filter::Row>) -> Action {
    Action::By { argument, mask: u32::MAX, cases: cases.into_iter().collect() }
}

fn allowed(values: impl IntoIterator<Item = u32>) -> Vec<filter::Row> {
    values.into_iter().map(|value| (value, Action::Allow)).collect()
}

/// `None` where there is no such call.
fn row_of(row: &CallNumbers, action: Action) -> Option<filter::Row> {
    let (_, x86, elsewhere) = *row;
    let number = if cfg!(target_arch = "x86_64") { x86 } else { elsewhere };
    (number != NONE).then_some((number, action))
}

#[cfg(test)]
#[path = "calls_tests.rs"]
mod tests;
