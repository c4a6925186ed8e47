//! Assembles a seccomp filter from a table of calls.
//!
//! The kernel runs a new filter once for every call number, so the numbers form a tree: a hundred refused calls cost eight
//! comparisons. The filter reads only the lower half of an argument, as the kernel does with the arguments checked here.

use seccompiler::sock_filter;

/// The treatment of a call.
#[derive(Clone, Debug)]
pub(super) enum Action {
    Allow,
    /// Refused with this error number.
    Refuse(u32),
    /// Another process answers in the place of the kernel.
    Mediate,
    /// Decided by the bits of its argument under `mask`; a value without a case is not permitted.
    By {
        argument: u8,
        mask: u32,
        cases: Vec<(u32, Self)>,
    },
}

/// The action of one number.
pub(super) type Row = (u32, Action);

/// Numbers from here on were assigned to calls after the table was written. Those of x32 are larger, too.
pub(super) const FIRST_UNKNOWN: u32 = 470;

const LOAD: u16 = 0x20;
const AND: u16 = 0x54;
const IS_EQUAL: u16 = 0x15;
const IS_AT_LEAST: u16 = 0x35;
const JUMP: u16 = 0x05;
const RETURN: u16 = 0x06;

/// Offsets in the kernel's data for a filter: number, processor, and from here on the arguments, eight bytes each.
const NUMBER: u32 = 0;
const PROCESSOR: u32 = 4;
const ARGUMENTS: u32 = 16;

const ALLOW: u32 = 0x7fff_0000;
/// Refuses with an error number.
const REFUSE: u32 = 0x0005_0000;
const MEDIATE: u32 = 0x7fc0_0000;
const KILL_PROCESS: u32 = 0x8000_0000;

/// The processor's name in the kernel; `None` if the table has no numbers for it.
const fn processor() -> Option<u32> {
    if cfg!(target_arch = "x86_64") {
        Some(0xc000_003e)
    } else if cfg!(target_arch = "aarch64") {
        Some(0xc000_00b7)
    } else if cfg!(target_arch = "riscv64") {
        Some(0xc000_00f3)
    } else {
        None
    }
}

/// The filter; `None` on an unknown processor. Calls of another processor's interface end the process: their numbers mean other calls.
pub(super) fn program(rows: &[Row]) -> Option<Vec<sock_filter>> {
    let mut program = vec![
        load(PROCESSOR),
        test(IS_EQUAL, processor()?, 1, 0),
        returns(KILL_PROCESS),
        load(NUMBER),
        test(IS_AT_LEAST, FIRST_UNKNOWN, 0, 1),
        returns(REFUSE | errno(libc::ENOSYS)),
    ];
    program.extend(choice(rows, &Action::Allow));
    Some(program)
}

pub(super) fn errno(number: i32) -> u32 {
    number.unsigned_abs()
}

/// Leads the loaded word to the action of its row, or to `otherwise`.
fn choice(rows: &[Row], otherwise: &Action) -> Vec<sock_filter> {
    let mut rows: Vec<&Row> = rows.iter().collect();
    rows.sort_unstable_by_key(|(value, _)| *value);
    let mut runs = vec![(0, otherwise)];
    for (value, action) in rows {
        begin(&mut runs, *value, action);
        begin(&mut runs, value + 1, otherwise);
    }
    tree(&runs)
}

/// Values that share an action, by their first one.
type Run<'a> = (u32, &'a Action);

/// Begins a run, unless the previous run continues.
fn begin<'a>(runs: &mut Vec<Run<'a>>, start: u32, action: &'a Action) {
    runs.pop_if(|(last, _)| *last == start);
    if runs.last().is_none_or(|(_, last)| !last.is_same(action)) {
        runs.push((start, action));
    }
}

/// One block if its jumps are near, otherwise two with a far jump between them.
fn tree(runs: &[Run<'_>]) -> Vec<sock_filter> {
    let mut block = Block::default();
    block.add(runs);
    if let Some(code) = block.finish() {
        return code;
    }
    let (low, high) = runs.split_at(runs.len() / 2);
    let (below, above) = (tree(low), tree(high));
    let mut code = vec![test(IS_AT_LEAST, high[0].0, 0, 1), jump(below.len())];
    code.extend(below);
    code.extend(above);
    code
}

/// Comparisons that share their ends.
#[derive(Default)]
struct Block {
    code: Vec<sock_filter>,
    /// Comparisons that end here: their place, their outcome, and the returned value.
    ends: Vec<(usize, bool, u32)>,
    is_too_long: bool,
}

impl Block {
    fn add(&mut self, runs: &[Run<'_>]) {
        if let [(_, action)] = runs {
            return self.code.extend(action.code());
        }
        let (low, high) = runs.split_at(runs.len() / 2);
        let at = self.code.len();
        self.code.push(test(IS_AT_LEAST, high[0].0, 0, 0));
        for (runs, outcome) in [(low, false), (high, true)] {
            if let [(_, action)] = runs
                && let Some(value) = action.value()
            {
                self.ends.push((at, outcome, value));
            } else {
                self.lead(at, outcome);
                self.add(runs);
            }
        }
    }

    /// Makes a comparison with this outcome jump to the current end of the code.
    fn lead(&mut self, at: usize, outcome: bool) {
        let distance = u8::try_from(self.code.len() - at - 1);
        self.is_too_long |= distance.is_err();
        let comparison = &mut self.code[at];
        let place = if outcome { &mut comparison.jt } else { &mut comparison.jf };
        *place = distance.unwrap_or_default();
    }

    fn finish(mut self) -> Option<Vec<sock_filter>> {
        let mut ends = std::mem::take(&mut self.ends);
        ends.sort_unstable_by_key(|(_, _, value)| *value);
        for shared in ends.chunk_by(|(.., one), (.., other)| one == other) {
            shared.iter().for_each(|(at, outcome, _)| self.lead(*at, *outcome));
            self.code.push(returns(shared[0].2));
        }
        (!self.is_too_long).then_some(self.code)
    }
}

impl Action {
    /// The result of the filter, if that needs no argument.
    fn value(&self) -> Option<u32> {
        match self {
            Self::Allow => Some(ALLOW),
            Self::Refuse(errno) => Some(REFUSE | errno),
            Self::Mediate => Some(MEDIATE),
            Self::By { .. } => None,
        }
    }

    fn is_same(&self, other: &Self) -> bool {
        self.value().is_some_and(|value| other.value() == Some(value))
    }

    fn code(&self) -> Vec<sock_filter> {
        match self {
            Self::Allow => vec![returns(ALLOW)],
            Self::Refuse(errno) => vec![returns(REFUSE | errno)],
            Self::Mediate => vec![returns(MEDIATE)],
            Self::By { argument, mask, cases } => {
                let mut code = vec![load(ARGUMENTS + 8 * u32::from(*argument))];
                if *mask != u32::MAX {
                    code.push(sock_filter { code: AND, jt: 0, jf: 0, k: *mask });
                }
                code.extend(choice(cases, &Self::Refuse(errno(libc::EPERM))));
                code
            }
        }
    }
}

fn load(offset: u32) -> sock_filter {
    sock_filter { code: LOAD, jt: 0, jf: 0, k: offset }
}

fn test(code: u16, value: u32, then: u8, otherwise: u8) -> sock_filter {
    sock_filter { code, jt: then, jf: otherwise, k: value }
}

fn jump(over: usize) -> sock_filter {
    sock_filter { code: JUMP, jt: 0, jf: 0, k: u32::try_from(over).unwrap_or(u32::MAX) }
}

fn returns(value: u32) -> sock_filter {
    sock_filter { code: RETURN, jt: 0, jf: 0, k: value }
}

#[cfg(test)]
#[path = "filter_tests.rs"]
mod tests;
