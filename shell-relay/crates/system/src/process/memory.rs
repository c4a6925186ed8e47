//! Configures the allocator. The daemon idles most of its life and holds megabytes for a moment now and then: freed memory goes back to
//! the system. Only glibc needs this.

/// Blocks of at least this size are mapped one by one, and unmapped when they are freed. Without this setting glibc raises the
/// threshold to the size of the largest freed block, up to 32 MiB, and keeps such blocks.
#[cfg(target_env = "gnu")]
const MAPPED_BYTES: i32 = 128 * 1024;
/// Arenas of allocating threads; each keeps separate free memory.
#[cfg(target_env = "gnu")]
const ARENAS: i32 = 2;

/// Configures the allocator, before the first thread is started.
pub fn set_up() {
    #[cfg(target_env = "gnu")]
    #[expect(
        unsafe_code,
        reason = "the allocator's settings have no safe form; no other thread runs, and any value is sound"
    )]
    unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, MAPPED_BYTES);
        libc::mallopt(libc::M_TRIM_THRESHOLD, MAPPED_BYTES);
        libc::mallopt(libc::M_ARENA_MAX, ARENAS);
    }
}

/// Gives free memory back to the system, also between blocks in use. Called after work that took much.
pub fn give_back() {
    #[cfg(target_env = "gnu")]
    #[expect(
        unsafe_code,
        reason = "it has no safe form; it takes the allocator's own locks and touches free memory only"
    )]
    unsafe {
        libc::malloc_trim(0);
    }
}
