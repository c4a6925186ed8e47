//! Tests the filter with the kernel itself: a filter binds a thread, which ends with its test.

use std::thread;

use seccompiler::apply_filter;

use super::{super::filter, *};

/// The error number of a call in a thread that is bound.
#[expect(unsafe_code, reason = "only refused calls, and calls that fail by their arguments, are made")]
fn errno_of(calls: Calls, number: u32, arguments: [i64; 3]) -> i32 {
    let bound = move || {
        apply_filter(&filter::program(&denied(calls)).unwrap()).unwrap();
        let result = unsafe { libc::syscall(number.into(), arguments[0], arguments[1], arguments[2], 0) };
        if result < 0 { std::io::Error::last_os_error().raw_os_error().unwrap() } else { 0 }
    };
    thread::spawn(bound).join().unwrap()
}

const CONFINED: Calls = Calls::Confined(Sockets::Netlink);

#[test]
fn the_numbers_are_those_of_this_processor() {
    let number = |name: &str| {
        let of_processes = OF_A_PROCESS.iter().map(|(row, _)| row);
        let rows = ALWAYS.iter().chain(MODES_AND_TIMES).chain(LOOKING).chain(SENDING).chain(of_processes);
        let (_, x86, elsewhere) =
            rows.chain(&[CONNECT, SOCKET, SOCKETPAIR, IOCTL, CLONE, CLONE3]).find(|row| row.0 == name).unwrap();
        i64::from(if cfg!(target_arch = "x86_64") { *x86 } else { *elsewhere })
    };
    for (name, expected) in [
        ("socket", libc::SYS_socket),
        ("socketpair", libc::SYS_socketpair),
        ("ioctl", libc::SYS_ioctl),
        ("clone", libc::SYS_clone),
        ("clone3", libc::SYS_clone3),
        ("mount", libc::SYS_mount),
        ("setxattr", libc::SYS_setxattr),
        ("fchmodat", libc::SYS_fchmodat),
        ("utimensat", libc::SYS_utimensat),
        ("ptrace", libc::SYS_ptrace),
        ("connect", libc::SYS_connect),
        ("sendmsg", libc::SYS_sendmsg),
        ("prlimit64", libc::SYS_prlimit64),
        ("open_by_handle_at", libc::SYS_open_by_handle_at),
        ("mq_open", libc::SYS_mq_open),
        ("sched_setaffinity", libc::SYS_sched_setaffinity),
    ] {
        assert_eq!(number(name), expected, "{name}");
    }
}

#[test]
fn each_refused_call_is_refused_by_the_kernel() {
    let rows = denied(CONFINED);
    for (number, action) in &rows {
        if let Action::Refuse(errno) = action {
            assert_eq!(errno_of(CONFINED, *number, [-1, -1, -1]), errno.cast_signed(), "{number}");
        }
    }
    assert!(rows.len() > 100, "{}", rows.len());
    assert_eq!(errno_of(CONFINED, filter::FIRST_UNKNOWN, [0; 3]), libc::ENOSYS);
}

#[test]
fn arguments_decide_where_a_call_has_harmless_uses() {
    let of = |row: CallNumbers| if cfg!(target_arch = "x86_64") { row.1 } else { row.2 };
    let (socket, pair, ioctl) = (of(SOCKET), of(SOCKETPAIR), of(IOCTL));
    let (dgram, stream) = (2, 1);
    for (number, arguments, expected) in [
        (socket, [16, dgram, 0], 0),
        (socket, [16, dgram, 15], libc::EPERM),
        (socket, [1, stream, 0], libc::EPERM),
        (socket, [2, dgram, 0], libc::EPERM),
        (socket, [40, stream, 0], libc::EPERM),
        // Their fourth argument points nowhere.
        (pair, [1, stream, 0], libc::EFAULT),
        (pair, [1, dgram, 0], libc::EPERM),
        (pair, [1, dgram | 0x8_0000, 0], libc::EPERM),
        (ioctl, [-1, 0x5401, 0], libc::EBADF),
        (ioctl, [-1, 0x5412, 0], libc::EPERM),
        (ioctl, [-1, 0x1_0000_5412, 0], libc::EPERM),
        (ioctl, [-1, 0x541c, 0], libc::EPERM),
        (ioctl, [-1, 0x4008_6602, 0], libc::EPERM),
    ] {
        assert_eq!(errno_of(CONFINED, number, arguments), expected, "{number} {arguments:x?}");
    }
    assert_eq!(errno_of(Calls::Confined(Sockets::Interfaces), socket, [2, dgram, 0]), 0);
    assert_eq!(errno_of(Calls::Confined(Sockets::Interfaces), socket, [16, dgram, 0]), libc::EPERM);
    for (row, arguments) in OF_A_PROCESS {
        assert_eq!(errno_of(CONFINED, of(*row), [i64::from(arguments[0]), 1, 0].map(|value| value + 1)), libc::EPERM);
    }
}

#[test]
fn for_names_only_streams_of_files_are_added_and_only_connections_are_mediated() {
    let of = |row: CallNumbers| if cfg!(target_arch = "x86_64") { row.1 } else { row.2 };
    let names = Calls::Confined(Sockets::Names);
    for (family, kind, expected) in [
        (1, 1, 0),
        (1, 1 | 0x8_0800, 0),
        (1, 2, libc::EPERM),
        (1, 3, libc::EPERM),
        (1, 5, libc::EPERM),
        (2, 1, libc::EPERM),
        (10, 1, libc::EPERM),
        (16, 2, 0),
    ] {
        assert_eq!(errno_of(names, of(SOCKET), [family, kind, 0]), expected, "{family} {kind}");
    }
    // A filter whose creator does not listen.
    assert_eq!(errno_of(names, of(CONNECT), [-1, 0, 0]), libc::ENOSYS);
    let of_calls = |calls| denied(calls).into_iter().map(|(number, action)| (number, format!("{action:?}")));
    let without: std::collections::BTreeMap<_, _> = of_calls(CONFINED).collect();
    let different = of_calls(names).filter(|(number, action)| without.get(number) != Some(action));
    let mut different: Vec<u32> = different.map(|(number, _)| number).collect();
    different.sort_unstable();
    let mut expected = [of(SOCKET), of(CONNECT)];
    expected.sort_unstable();
    assert_eq!(different, expected);
}

#[test]
fn builds_change_modes_and_times_and_no_owners() {
    let chmod = u32::try_from(libc::SYS_fchmodat).unwrap();
    let chown = u32::try_from(libc::SYS_fchownat).unwrap();
    for (calls, expected) in [(Calls::Building, libc::EBADF), (Calls::Reading, libc::EPERM), (CONFINED, libc::EPERM)] {
        // A relative name below an invalid descriptor.
        let name = c"x".as_ptr() as i64;
        assert_eq!(errno_of(calls, chmod, [-1, name, 0]), expected, "{calls:?}");
        assert_eq!(errno_of(calls, chown, [-1, name, 0]), libc::EPERM, "{calls:?}");
        assert_eq!(errno_of(calls, u32::try_from(libc::SYS_socket).unwrap(), [1, 2, 0]), libc::EPERM, "{calls:?}");
    }
}
