//! Confines a process on macOS by a profile of the system's sandbox. It binds the whole process, and its language can deny paths.

use std::{
    io,
    path::{Path, PathBuf},
};

#[cfg(target_os = "macos")]
use crate::names::Mediator;
use crate::{Calls, Rules, Support};

/// The support of this system.
#[must_use]
pub fn present() -> Support {
    Support { has_seatbelt: true, ..Support::NONE }
}

/// The same.
#[must_use]
pub fn claimed() -> Support {
    present()
}

/// Does nothing: there are no capabilities to give up.
///
/// # Errors
/// Never.
pub fn drop_capabilities(_: Calls) -> io::Result<()> {
    Ok(())
}

/// Binds this process, and every program that it becomes or starts, for good.
///
/// # Errors
/// If the system does not accept the profile.
#[cfg(target_os = "macos")]
pub fn enforce(rules: &Rules, _: Support, _: Option<&Mediator>) -> io::Result<()> {
    #[expect(unsafe_code, reason = "the system has no other interface")]
    unsafe extern "C" {
        fn sandbox_init(profile: *const libc::c_char, flags: u64, error: *mut *mut libc::c_char) -> libc::c_int;
    }
    let profile = std::ffi::CString::new(profile(rules)).map_err(io::Error::other)?;
    let mut error = std::ptr::null_mut();
    #[expect(unsafe_code, reason = "both pointers are valid; the message is not read and stays allocated")]
    let result = unsafe { sandbox_init(profile.as_ptr(), 0, &raw mut error) };
    if result == 0 { Ok(()) } else { Err(io::Error::other("the sandbox profile was refused")) }
}

/// The same text on every system.
fn profile(rules: &Rules) -> String {
    let mut profile = String::from(
        "(version 1)\n(allow default)\n(deny network*)\n(deny signal (target others))\n(deny file-write*)\n\
         (allow file-write-data (literal \"/dev/null\") (literal \"/dev/zero\") (literal \"/dev/tty\") (regex #\"^/dev/ttys\"))\n\
         (allow file-ioctl (literal \"/dev/tty\") (regex #\"^/dev/ttys\"))\n",
    );
    profile += &filters("allow", "file-write*", &rules.writable);
    if let Some(readable) = &rules.readable {
        profile += "(deny file-read-data (subpath \"/\"))\n(allow file-read-data (literal \"/\"))\n";
        profile += "(allow file-read-data (subpath \"/dev\"))\n";
        profile += &filters("allow", "file-read-data", readable);
        profile += &filters("allow", "file-read-data", &rules.writable);
        // Only the names in a folder are read.
        profile += "(allow file-read-data (vnode-type DIRECTORY))\n";
    }
    profile
}

fn filters(verb: &str, operation: &str, paths: &[PathBuf]) -> String {
    paths.iter().map(|path| format!("({verb} {operation} (subpath {}))\n", quoted(path))).collect()
}

fn quoted(path: &Path) -> String {
    format!("\"{}\"", path.to_string_lossy().replace('\\', "\\\\").replace('"', "\\\""))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Calls, Sockets};

    #[test]
    fn the_profile_writes_below_the_folder_and_reads_around_secrets() {
        let rules = Rules {
            writable: vec!["/tmp/a\"b".into()],
            readable: Some(vec!["/usr".into()]),
            has_terminal: true,
            calls: Calls::Confined(Sockets::Netlink),
        };
        let text = profile(&rules);
        assert!(
            text.contains("(deny network*)") && text.contains("(allow file-write* (subpath \"/tmp/a\\\"b\"))"),
            "{text}"
        );
        assert!(text.contains("(allow file-read-data (subpath \"/usr\"))"), "{text}");
        assert_eq!(text.matches('(').count(), text.matches(')').count());
        assert!(!profile(&Rules { readable: None, ..rules }).contains("file-read-data"));
    }
}
