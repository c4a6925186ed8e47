//! Capabilities: root without them is a user who owns many files.

use std::io;

use rustix::{
    io::Errno,
    thread::{
        CapabilitySet, CapabilitySets, capabilities, clear_ambient_capability_set, remove_capability_from_bounding_set,
        set_capabilities,
    },
};

/// One more than the kernel can name.
const NAMES: u32 = 64;

/// Gives up all capabilities of the calling thread, and of every program that it starts, for good.
///
/// # Errors
/// If they cannot be given up.
pub fn drop_capabilities() -> io::Result<()> {
    let held = capabilities(None)?;
    if (held.effective | held.permitted | held.inheritable).is_empty() {
        return Ok(());
    }
    for number in 0..NAMES {
        match remove_capability_from_bounding_set(CapabilitySet::from_bits_retain(1 << number)) {
            Ok(()) => {}
            // Past the last one; or without the right to do so, and then nothing is gained by them either.
            Err(Errno::INVAL | Errno::PERM) => break,
            Err(error) => return Err(error.into()),
        }
    }
    // Kernels before 4.3 have no such set.
    let _ = clear_ambient_capability_set();
    let none = CapabilitySet::empty();
    Ok(set_capabilities(None, CapabilitySets { effective: none, permitted: none, inheritable: none })?)
}
