//! An allocator that counts the bytes in use.

use std::{
    alloc::{GlobalAlloc, Layout, System},
    sync::atomic::{AtomicUsize, Ordering::Relaxed},
};

static IN_USE: AtomicUsize = AtomicUsize::new(0);
static MOST: AtomicUsize = AtomicUsize::new(0);

pub struct Counting;

#[expect(
    unsafe_code,
    reason = "an allocator has no safe form; this one counts and leaves the work to that of the system"
)]
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let in_use = IN_USE.fetch_add(layout.size(), Relaxed) + layout.size();
        MOST.fetch_max(in_use, Relaxed);
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        IN_USE.fetch_sub(layout.size(), Relaxed);
        unsafe { System.dealloc(block, layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // A block that grows is not counted twice: the system moves pages, not bytes.
        let in_use = IN_USE.fetch_add(size, Relaxed) + size - layout.size();
        IN_USE.fetch_sub(layout.size(), Relaxed);
        MOST.fetch_max(in_use, Relaxed);
        unsafe { System.realloc(block, layout, size) }
    }
}

/// Resets the maximum. Returns the bytes in use now.
pub fn begin() -> usize {
    let in_use = IN_USE.load(Relaxed);
    MOST.store(in_use, Relaxed);
    in_use
}

/// The maximum since [`begin`].
pub fn most() -> usize {
    MOST.load(Relaxed)
}
