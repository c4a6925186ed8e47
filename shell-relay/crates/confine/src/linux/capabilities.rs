//! Drops capabilities. Without them root is a user who owns many files.

use std::io;

use rustix::{
    io::Errno,
    thread::{
        CapabilitySet, CapabilitySets, capabilities, clear_ambient_capability_set, remove_capability_from_bounding_set,
        set_capabilities,
    },
};

use crate::Calls;

/// One more than the kernel can name.
const NAMES: u32 = 64;

/// Gives up the capabilities of the calling thread, and of every program that it starts, for good. If only reading is possible, root
/// keeps the permission to read the files of others: a program that leaves them out would give wrong answers.
///
/// # Errors
/// If the capabilities cannot be given up.
pub fn drop_capabilities(calls: Calls) -> io::Result<()> {
    let kept = match calls {
        Calls::Confined(_) => CapabilitySet::DAC_READ_SEARCH,
        Calls::Building | Calls::Reading => CapabilitySet::empty(),
    };
    let held = capabilities(None)?;
    if kept.contains(held.effective | held.permitted | held.inheritable) {
        return Ok(());
    }
    let others =
        (0..NAMES).map(|number| CapabilitySet::from_bits_retain(1 << number)).filter(|one| !kept.contains(*one));
    for capability in others {
        match remove_capability_from_bounding_set(capability) {
            Ok(()) => {}
            // The number is past the last capability; or the right to drop it is missing, and then it gains nothing either.
            Err(Errno::INVAL | Errno::PERM) => break,
            Err(error) => return Err(error.into()),
        }
    }
    // Kernels before 4.3 have no such set.
    let _ = clear_ambient_capability_set();
    let kept = CapabilitySets {
        effective: held.effective & kept,
        permitted: held.permitted & kept,
        inheritable: CapabilitySet::empty(),
    };
    Ok(set_capabilities(None, kept)?)
}
