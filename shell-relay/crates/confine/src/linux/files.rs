//! Restricts reading and writing of files by Landlock.

use std::{
    io,
    os::fd::{AsFd, AsRawFd, OwnedFd, RawFd},
    path::{Path, PathBuf},
};

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, PathBeneath, Ruleset, RulesetAttr, RulesetCreated, RulesetCreatedAttr,
    RulesetError, Scope, make_bitflags,
};
use rustix::{
    fs::{CWD, Mode, OFlags, openat},
    stdio::{stderr, stdin, stdout},
    termios::isatty,
};

use crate::Rules;

/// Devices that programs write to and that keep nothing.
const WRITTEN_DEVICES: [&str; 6] = ["/dev/null", "/dev/zero", "/dev/full", "/dev/tty", "/dev/random", "/dev/urandom"];
/// Other devices that programs read. Disks and the terminals of others are not among them.
const READ_DEVICES: [&str; 1] = ["/dev/kmsg"];

/// The kernel's name for a rule that permits something below a path.
const RULE_PATH_BENEATH: u32 = 1;

/// `landlock_path_beneath_attr` of the kernel.
#[repr(C, packed)]
struct PathRule {
    access: u64,
    opened: RawFd,
}

/// The rules of files, TCP, and signals and sockets without a file, as far as `abi` has them.
pub(super) fn of_rules(abi: ABI, rules: &Rules) -> io::Result<RulesetCreated> {
    let is_reading_limited = rules.readable.is_some();
    let mut ruleset = ruleset(abi, &rules.writable, is_reading_limited).map_err(io::Error::other)?;
    if rules.has_terminal {
        let access = of_device(abi, is_reading_limited);
        let with_all = with_terminal(ruleset, stdin(), access)
            .and_then(|ruleset| with_terminal(ruleset, stdout(), access))
            .and_then(|ruleset| with_terminal(ruleset, stderr(), access));
        ruleset = with_all.map_err(io::Error::other)?;
    }
    if let Some(paths) = &rules.readable {
        // The ruleset itself: both descriptors name the same one.
        let shared: Option<OwnedFd> = ruleset.try_clone()?.into();
        let shared = shared.ok_or_else(|| io::Error::other("there is no ruleset"))?;
        paths.iter().try_for_each(|path| allow_reading(&shared, path))?;
    }
    Ok(ruleset)
}

/// All rules but those of `Rules::readable`.
pub(super) fn ruleset(
    abi: ABI,
    writable: &[PathBuf],
    is_reading_limited: bool,
) -> Result<RulesetCreated, RulesetError> {
    let writing = AccessFs::from_write(abi);
    let reading: BitFlags<AccessFs> = if is_reading_limited { AccessFs::ReadFile.into() } else { BitFlags::EMPTY };
    let mut ruleset = Ruleset::default().handle_access(writing | reading)?;
    if abi >= ABI::V4 {
        ruleset = ruleset.handle_access(AccessNet::from_all(abi))?;
    }
    if abi >= ABI::V6 {
        ruleset = ruleset.scope(Scope::from_all(abi))?;
    }
    // A device is another name of a disk, and a socket of a file leads to a program.
    let devices = make_bitflags!(AccessFs::{MakeChar | MakeBlock | MakeSock | ResolveUnix});
    let folders = writable.iter().map(|folder| (folder.as_path(), (writing & !devices) | reading));
    let written = WRITTEN_DEVICES.iter().map(|device| (Path::new(device), of_device(abi, is_reading_limited)));
    let read = READ_DEVICES.iter().filter(|_| is_reading_limited).map(|device| (Path::new(device), reading));
    folders.chain(written).chain(read).try_fold(ruleset.create()?, allow)
}

/// The permissions for a device as it is.
fn of_device(abi: ABI, is_reading: bool) -> BitFlags<AccessFs> {
    let reading: BitFlags<AccessFs> = if is_reading { AccessFs::ReadFile.into() } else { BitFlags::EMPTY };
    (AccessFs::from_write(abi) & AccessFs::from_file(abi) & !AccessFs::ResolveUnix) | reading
}

fn allow(ruleset: RulesetCreated, (path, access): (&Path, BitFlags<AccessFs>)) -> Result<RulesetCreated, RulesetError> {
    match opened(path) {
        Some(opened) => ruleset.add_rule(PathBeneath::new(opened, access)),
        None => Ok(ruleset),
    }
}

/// Adds a rule by the call itself: the crate inspects each path again, since not every right fits files and folders alike. This right
/// does, and a start has a hundred or more of these rules.
fn allow_reading(ruleset: &OwnedFd, path: &Path) -> io::Result<()> {
    let Some(opened) = opened(path) else { return Ok(()) };
    let rule = PathRule { access: BitFlags::from(AccessFs::ReadFile).bits(), opened: opened.as_raw_fd() };
    #[expect(unsafe_code, reason = "the kernel reads a rule of its own layout, which lives as long as the call")]
    let result = unsafe {
        libc::syscall(libc::SYS_landlock_add_rule, ruleset.as_raw_fd(), RULE_PATH_BENEATH, &raw const rule, 0)
    };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Opens a path; a path that is gone needs no rule. A link is not followed: its target may not be a permitted place.
fn opened(path: &Path) -> Option<OwnedFd> {
    openat(CWD, path, OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty()).ok()
}

fn with_terminal(
    ruleset: RulesetCreated,
    terminal: impl AsFd,
    access: BitFlags<AccessFs>,
) -> Result<RulesetCreated, RulesetError> {
    if isatty(&terminal) { ruleset.add_rule(PathBeneath::new(terminal, access)) } else { Ok(ruleset) }
}
