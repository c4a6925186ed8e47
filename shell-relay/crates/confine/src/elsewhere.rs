//! Confines nothing on systems without Landlock, seccomp or seatbelt.

use std::io;

use crate::{Calls, Rules, Support, names::Mediator};

/// The support of this system: none.
#[must_use]
pub fn present() -> Support {
    Support::NONE
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

/// Binds nothing.
///
/// # Errors
/// Never.
pub fn enforce(_: &Rules, _: Support, _: Option<&Mediator>) -> io::Result<()> {
    Ok(())
}
