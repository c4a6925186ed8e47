//! Bounds what a line in a separate shell takes from the machine: memory, and processes.
//!
//! Such a line can change nothing, but without these bounds it could still stop the machine, if it starts copies of itself without end or
//! fills the memory. A program that is started alone keeps the limits of its user.

use std::fs;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// A line that fills the memory ends before the machine does.
const MEMORY_MAX_BYTES: u64 = 2 << 30;
/// Threads that may be started in addition to the running ones. Programs start one for each processor, or a few.
const NEW_THREADS_MAX: u64 = 512;
/// Running and all threads of the machine are its fourth field.
const LOAD: &str = "/proc/loadavg";

/// Bounds the memory of this process and of each process that it starts. A lower bound stays.
pub(crate) fn bound_memory() {
    lower(Resource::Data, MEMORY_MAX_BYTES);
}

/// Bounds the number of processes: the user may have [`NEW_THREADS_MAX`] more threads than the machine has now. The kernel counts the
/// threads of a user, and to count them would cost more than the start of a program, so all threads stand for the user's own.
///
/// The kernel bounds no processes of root, and a system without `/proc/loadavg` bounds none.
pub(crate) fn bound_processes() {
    let Some(threads) = fs::read_to_string(LOAD).ok().and_then(|load| threads(&load)) else { return };
    lower(Resource::Nproc, threads.saturating_add(NEW_THREADS_MAX));
}

/// The number of threads by the text of `/proc/loadavg`: `0.20 0.18 0.12 1/80 11206`.
fn threads(load: &str) -> Option<u64> {
    load.split(' ').nth(3)?.split_once('/')?.1.parse().ok()
}

/// Sets both limits of a resource to `most`, where they are higher.
fn lower(resource: Resource, most: u64) {
    let Rlimit { current, maximum } = getrlimit(resource);
    let lowered = |limit: Option<u64>| Some(limit.map_or(most, |limit| limit.min(most)));
    // Without the bound the program runs all the same.
    let _ = setrlimit(resource, Rlimit { current: lowered(current), maximum: lowered(maximum) });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_are_read_from_the_load() {
        for (load, expected) in [
            ("0.20 0.18 0.12 1/80 11206\n", Some(80)),
            ("", None),
            ("0.20 0.18 0.12", None),
            ("0.20 0.18 0.12 180 11206", None),
            ("0.20 0.18 0.12 1/-3 11206", None),
            ("0.20 0.18 0.12 1/99999999999999999999 1", None),
        ] {
            assert_eq!(threads(load), expected, "{load:?}");
        }
    }
}
