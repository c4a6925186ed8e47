//! Systems without landlock and seccomp confine nothing.

use std::io;

use super::{Kernel, Sandbox};

/// What this system has: nothing.
#[must_use]
pub fn present() -> Kernel {
    Kernel::NONE
}

/// Binds nothing.
///
/// # Errors
/// Never.
pub fn enforce(_: &Sandbox) -> io::Result<()> {
    Ok(())
}
