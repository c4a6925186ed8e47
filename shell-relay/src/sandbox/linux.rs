//! Landlock and seccomp. Both bind a thread and whatever it starts, so a thread of its own is bound and starts the program: nothing
//! is done between fork and exec, and no unsafe code is needed.

use std::{
    collections::BTreeMap,
    io,
    path::{Path, PathBuf},
    sync::OnceLock,
    thread,
};

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, LandlockStatus, PathBeneath, PathFd, Ruleset, RulesetAttr,
    RulesetCreated, RulesetCreatedAttr, RulesetError, Scope,
};
use rustix::io::Errno;
use seccompiler::{BpfProgram, SeccompAction, SeccompFilter, TargetArch, apply_filter};

use super::{Kernel, Sandbox};

/// Devices that programs write to and that keep nothing.
const DEVICES: [&str; 4] = ["/dev/null", "/dev/zero", "/dev/full", "/dev/tty"];
/// Number of `socket`.
const SOCKET: i64 = if cfg!(target_arch = "x86_64") { 41 } else { 198 };
/// Number of `io_uring_setup`.
const IO_URING_SETUP: i64 = 425;
/// Programs built for x32 make the calls of x86-64 under numbers with this bit.
const X32_BIT: i64 = if cfg!(target_arch = "x86_64") { 0x4000_0000 } else { 0 };

/// What this system has; it is tried out once, on a thread that ends with it.
#[must_use]
pub fn present() -> Kernel {
    static PRESENT: OnceLock<Kernel> = OnceLock::new();
    *PRESENT.get_or_init(|| thread::spawn(try_out).join().unwrap_or(Kernel::NONE))
}

fn try_out() -> Kernel {
    let landlock =
        ruleset(ABI::V1, &[]).and_then(RulesetCreated::restrict_self).map_or(0, |status| match status.landlock {
            LandlockStatus::Available { effective_abi, .. } => effective_abi as u8,
            LandlockStatus::NotEnabled | LandlockStatus::NotImplemented => 0,
        });
    Kernel { landlock, can_filter_calls: filter().is_ok_and(|filter| apply_filter(&filter).is_ok()) }
}

/// Binds the calling thread, and every program that it starts from now on, for good.
///
/// # Errors
/// The kernel refused what it was said to have: nothing may be started then.
pub fn enforce(sandbox: &Sandbox) -> io::Result<()> {
    if !sandbox.confines() {
        return Ok(());
    }
    if sandbox.kernel.landlock > 0 {
        let ruleset = ruleset(ABI::from(i32::from(sandbox.kernel.landlock)), &sandbox.writable);
        ruleset.and_then(RulesetCreated::restrict_self).map_err(io::Error::other)?;
    }
    if sandbox.kernel.can_filter_calls {
        apply_filter(&filter()?).map_err(io::Error::other)?;
    }
    Ok(())
}

/// Writing is for `writable` and a few devices, reading is free. No TCP, and nothing of other programs, as far as `abi` has it.
fn ruleset(abi: ABI, writable: &[PathBuf]) -> Result<RulesetCreated, RulesetError> {
    let writing = AccessFs::from_write(abi);
    let mut ruleset = Ruleset::default().handle_access(writing)?;
    if abi >= ABI::V4 {
        ruleset = ruleset.handle_access(AccessNet::from_all(abi))?;
    }
    if abi >= ABI::V6 {
        ruleset = ruleset.scope(Scope::from_all(abi))?;
    }
    let of_files = writing & AccessFs::from_file(abi);
    let folders = writable.iter().map(|folder| (folder.as_path(), writing));
    let devices = DEVICES.iter().map(|device| (Path::new(device), of_files));
    folders.chain(devices).try_fold(ruleset.create()?, allow)
}

/// A path that is gone needs no rule.
fn allow(ruleset: RulesetCreated, (path, access): (&Path, BitFlags<AccessFs>)) -> Result<RulesetCreated, RulesetError> {
    match PathFd::new(path) {
        Ok(opened) => ruleset.add_rule(PathBeneath::new(opened, access)),
        Err(_) => Ok(ruleset),
    }
}

/// No sockets of any kind, those of files included: behind some of them programs wait that do anything for anybody. Pairs of
/// sockets that are connected from the start are left. `io_uring` makes sockets without the calls that are refused here.
fn filter() -> io::Result<BpfProgram> {
    let refused = [SOCKET, IO_URING_SETUP].into_iter().flat_map(|number| [number, number | X32_BIT]);
    let rules: BTreeMap<_, _> = refused.map(|number| (number, Vec::new())).collect();
    let arch = TargetArch::try_from(std::env::consts::ARCH).map_err(io::Error::other)?;
    let errno = u32::try_from(Errno::ACCESS.raw_os_error()).unwrap_or_default();
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, SeccompAction::Errno(errno), arch);
    filter.and_then(BpfProgram::try_from).map_err(io::Error::other)
}
