//! Which dialect of the protocol this build speaks.

/// Raised whenever a message changes or is appended. It is part of the socket's name, so an upgraded client starts its own
/// daemon instead of misreading an old one.
pub const PROTOCOL_VERSION: u32 = 8;

/// The release of this build, as in `cohab --version`.
pub const BUILD: &str = env!("CARGO_PKG_VERSION");

/// FNV-1a over the golden bytes of every message. Two builds with the same version and another encoding differ here, and
/// refuse each other in the handshake instead of decoding nonsense.
pub const SCHEMA_HASH: u64 = fnv1a(include_bytes!("../tests/golden.txt"));

/// 64-bit FNV-1a, usable at compile time.
pub(crate) const fn fnv1a(bytes: &[u8]) -> u64 {
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    let mut index = 0;
    while index < bytes.len() {
        hash ^= bytes[index] as u64;
        hash = hash.wrapping_mul(0x0100_0000_01b3);
        index += 1;
    }
    hash
}
