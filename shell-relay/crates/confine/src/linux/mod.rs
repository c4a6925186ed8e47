//! Linux: Landlock for files, TCP and signals, seccomp for what Landlock does not see, and no capabilities.
//!
//! All of it binds a thread and whatever it starts from then on.

mod calls;
mod capabilities;
mod files;
mod filter;
mod ioctls;

use std::{io, ptr, sync::OnceLock, thread};

use landlock::{ABI, LandlockStatus, RulesetCreated};
use seccompiler::apply_filter;

use crate::{Calls, Rules, Sockets, Support};

/// Of `landlock_create_ruleset`.
const VERSION_QUERY: u32 = 1;

pub use capabilities::drop_capabilities;

/// What this system has. It is tried out once, on a thread that ends with it.
#[must_use]
pub fn present() -> Support {
    static PRESENT: OnceLock<Support> = OnceLock::new();
    *PRESENT.get_or_init(|| thread::spawn(try_out).join().unwrap_or(Support::NONE))
}

/// What the kernel says it has. Quicker; what it says and does not do, [`enforce`] fails at.
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
    let landlock = files::ruleset(ABI::V1, &[], None).and_then(RulesetCreated::restrict_self).map_or(0, |status| {
        match status.landlock {
            LandlockStatus::Available { effective_abi, .. } => effective_abi as u8,
            LandlockStatus::NotEnabled | LandlockStatus::NotImplemented => 0,
        }
    });
    let program = filter::program(&calls::denied(Calls::Confined(Sockets::Netlink)));
    let can_filter_calls = program.is_some_and(|program| apply_filter(&program).is_ok());
    Support { landlock, can_filter_calls, has_seatbelt: false }
}

/// Binds the calling thread, and every program that it starts from now on, for good.
///
/// # Errors
/// The kernel refused what it was said to have: nothing may be started then.
pub fn enforce(rules: &Rules, support: Support) -> io::Result<()> {
    drop_capabilities(rules.calls)?;
    if support.landlock > 0 {
        let ruleset = files::of_rules(ABI::from(i32::from(support.landlock)), rules);
        ruleset.and_then(RulesetCreated::restrict_self).map_err(io::Error::other)?;
    }
    if support.can_filter_calls {
        let program = filter::program(&calls::denied(rules.calls));
        let program = program.ok_or_else(|| io::Error::other("there is no filter for this processor"))?;
        apply_filter(&program).map_err(io::Error::other)?;
    }
    Ok(())
}
