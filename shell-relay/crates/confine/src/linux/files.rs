//! Landlock: where files can be read and written.

use std::{
    os::fd::AsFd,
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
/// Others that programs read. Disks and the terminals of others are not among them.
const READ_DEVICES: [&str; 1] = ["/dev/kmsg"];

/// The rules of files, TCP, and signals and sockets without a file, as far as `abi` has them.
pub(super) fn of_rules(abi: ABI, rules: &Rules) -> Result<RulesetCreated, RulesetError> {
    let ruleset = ruleset(abi, &rules.writable, rules.readable.as_deref())?;
    if !rules.has_terminal {
        return Ok(ruleset);
    }
    let access = of_device(abi, rules.readable.is_some());
    let ruleset = with_terminal(ruleset, stdin(), access)?;
    let ruleset = with_terminal(ruleset, stdout(), access)?;
    with_terminal(ruleset, stderr(), access)
}

/// Without a list, reading is free.
pub(super) fn ruleset(
    abi: ABI,
    writable: &[PathBuf],
    readable: Option<&[PathBuf]>,
) -> Result<RulesetCreated, RulesetError> {
    let writing = AccessFs::from_write(abi);
    let reading: BitFlags<AccessFs> = if readable.is_some() { AccessFs::ReadFile.into() } else { BitFlags::EMPTY };
    let mut ruleset = Ruleset::default().handle_access(writing | reading)?;
    if abi >= ABI::V4 {
        ruleset = ruleset.handle_access(AccessNet::from_all(abi))?;
    }
    if abi >= ABI::V6 {
        ruleset = ruleset.scope(Scope::from_all(abi))?;
    }
    // A device is a disk by another name, and a socket of a file leads to a program.
    let devices = make_bitflags!(AccessFs::{MakeChar | MakeBlock | MakeSock | ResolveUnix});
    let folders = writable.iter().map(|folder| (folder.as_path(), (writing & !devices) | reading));
    let written = WRITTEN_DEVICES.iter().map(|device| (Path::new(device), of_device(abi, readable.is_some())));
    let is_reading = readable.is_some();
    let read = READ_DEVICES.iter().filter(|_| is_reading).map(|device| (Path::new(device), reading));
    let around = readable.unwrap_or_default().iter().map(|path| (path.as_path(), reading));
    folders.chain(written).chain(read).chain(around).try_fold(ruleset.create()?, allow)
}

/// What can be done with a device as it is.
fn of_device(abi: ABI, is_reading: bool) -> BitFlags<AccessFs> {
    let reading: BitFlags<AccessFs> = if is_reading { AccessFs::ReadFile.into() } else { BitFlags::EMPTY };
    (AccessFs::from_write(abi) & AccessFs::from_file(abi) & !AccessFs::ResolveUnix) | reading
}

/// A path that is gone needs no rule. A link is not followed: where it leads may be no place to allow.
fn allow(ruleset: RulesetCreated, (path, access): (&Path, BitFlags<AccessFs>)) -> Result<RulesetCreated, RulesetError> {
    match openat(CWD, path, OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty()) {
        Ok(opened) => ruleset.add_rule(PathBeneath::new(opened, access)),
        Err(_) => Ok(ruleset),
    }
}

fn with_terminal(
    ruleset: RulesetCreated,
    terminal: impl AsFd,
    access: BitFlags<AccessFs>,
) -> Result<RulesetCreated, RulesetError> {
    if isatty(&terminal) { ruleset.add_rule(PathBeneath::new(terminal, access)) } else { Ok(ruleset) }
}
