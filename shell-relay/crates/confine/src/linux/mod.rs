//! Confines a thread on Linux: Landlock for files, TCP and signals, seccomp for calls that Landlock does not cover, no capabilities.
//!
//! All of it binds a thread and everything the thread starts afterwards. This module chooses no rules; the caller passes them.

mod calls;
mod capabilities;
mod files;
mod filter;
mod ioctls;

use std::{
    io,
    os::fd::{FromRawFd, OwnedFd},
    ptr,
    sync::OnceLock,
    thread,
};

use landlock::{ABI, LandlockStatus, RulesetCreated};
use seccompiler::{apply_filter, sock_filter};

use crate::{Calls, Rules, Sockets, Support, names::Mediator};

/// A flag of `landlock_create_ruleset`.
const VERSION_QUERY: u32 = 1;

pub use capabilities::drop_capabilities;

/// The support of this system. It is tried out once, on a thread that ends with it.
#[must_use]
pub fn present() -> Support {
    static PRESENT: OnceLock<Support> = OnceLock::new();
    *PRESENT.get_or_init(|| thread::spawn(try_out).join().unwrap_or(Support::NONE))
}

/// The support that the kernel claims. Quicker; if the kernel does not keep a claim, [`enforce`] fails.
#[must_use]
pub fn claimed() -> Support {
    #[expect(unsafe_code, reason = "without attributes the call only tells its version")]
    let version = unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, ptr::null::<u8>(), 0, VERSION_QUERY) };
    Support {
        landlock: u8::try_from(version).unwrap_or_default(),
        can_filter_calls: rustix::thread::secure_computing_mode().is_ok(),
        has_seatbelt: false,
    }
}

fn try_out() -> Support {
    let landlock = files::ruleset(ABI::V1, &[], false).and_then(RulesetCreated::restrict_self).map_or(0, |status| {
        match status.landlock {
            LandlockStatus::Available { effective_abi, .. } => effective_abi as u8,
            LandlockStatus::NotEnabled | LandlockStatus::NotImplemented => 0,
        }
    });
    let program = filter::program(&calls::denied(Calls::Confined(Sockets::Netlink)));
    let can_filter_calls = program.is_some_and(|program| apply_filter(&program).is_ok());
    Support { landlock, can_filter_calls, has_seatbelt: false }
}

/// Binds the calling thread, and every program that it starts from now on, for good. With a mediator, programs can ask for the names of
/// users, if `rules` permit no sockets of files for that or anything else.
///
/// # Errors
/// If the kernel refuses a means that it claimed to have: then nothing may be started.
pub fn enforce(rules: &Rules, support: Support, mediator: Option<&Mediator>) -> io::Result<()> {
    drop_capabilities(rules.calls)?;
    if support.landlock > 0 {
        let ruleset = files::of_rules(ABI::from(i32::from(support.landlock)), rules)?;
        ruleset.restrict_self().map_err(io::Error::other)?;
    }
    if !support.can_filter_calls {
        return Ok(());
    }
    let program = |calls| {
        let program = filter::program(&calls::denied(calls));
        program.ok_or_else(|| io::Error::other("there is no filter for this processor"))
    };
    if let Some(mediator) = mediator.filter(|_| rules.calls == Calls::Confined(Sockets::Netlink))
        && let Ok(requests) = apply_mediated(&program(Calls::Confined(Sockets::Names))?)
    {
        // If they do not arrive, their end is closed here, and the kernel refuses.
        let _ = mediator.hand_over(&requests);
        return Ok(());
    }
    apply_filter(&program(rules.calls)?).map_err(io::Error::other)
}

/// Returns the descriptor on which the requests for mediated calls arrive. Fails inside a program whose calls are mediated already.
fn apply_mediated(program: &[sock_filter]) -> io::Result<OwnedFd> {
    rustix::thread::set_no_new_privs(true)?;
    let length = u16::try_from(program.len()).map_err(io::Error::other)?;
    let program = libc::sock_fprog { len: length, filter: program.as_ptr().cast_mut().cast() };
    let (mode, flag) = (libc::SECCOMP_SET_MODE_FILTER, libc::SECCOMP_FILTER_FLAG_NEW_LISTENER);
    #[expect(
        unsafe_code,
        reason = "the program is as long as it says and lives as long as the call, which only reads it"
    )]
    let result = unsafe { libc::syscall(libc::SYS_seccomp, mode, flag, &raw const program) };
    let requests =
        i32::try_from(result).ok().filter(|descriptor| *descriptor >= 0).ok_or_else(io::Error::last_os_error)?;
    #[expect(unsafe_code, reason = "the kernel has just made it for this process")]
    Ok(unsafe { OwnedFd::from_raw_fd(requests) })
}
