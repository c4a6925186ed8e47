//! Detects the means of confinement that this system has.

/// The means of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Support {
    /// Version of Landlock's interface; 0 without Landlock.
    pub landlock: u8,
    /// System calls can be refused.
    pub can_filter_calls: bool,
    /// macOS: `sandbox_init` exists. It binds the whole process, never a thread.
    pub has_seatbelt: bool,
}

impl Support {
    /// A system that confines nothing.
    pub const NONE: Self = Self { landlock: 0, can_filter_calls: false, has_seatbelt: false };

    /// Whether writes stay in their folders: truncating files is refused only from version 3 on.
    #[must_use]
    pub fn keeps_writes(self) -> bool {
        self.landlock >= 3 || self.has_seatbelt
    }

    /// Whether the launcher starts programs. With less support it refuses: half a lock looks like a lock.
    #[must_use]
    pub fn can_launch(self) -> bool {
        self.has_seatbelt || (self.landlock > 0 && self.can_filter_calls)
    }

    /// Promises of a sandbox that do not hold here, in words; empty if all hold.
    #[must_use]
    pub fn gaps(self) -> Vec<&'static str> {
        if self.has_seatbelt {
            return Vec::new();
        }
        let mut gaps = Vec::new();
        match self.landlock {
            0 => gaps.push("files can be written anywhere: the kernel has no landlock, or it is switched off"),
            1 | 2 => gaps.push("files outside can be emptied, though not written: the kernel's landlock is an old one"),
            _ => {}
        }
        match (self.can_filter_calls, self.landlock) {
            (true, _) => {}
            (false, 0..4) => gaps.push("the network can be used: the kernel has no seccomp filters"),
            (false, _) => gaps.push("the network can be used but for TCP: the kernel has no seccomp filters"),
        }
        if self.landlock < 6 {
            gaps.push("programs outside can be sent signals: that takes landlock 6 (Linux 6.12)");
        }
        gaps
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: Support = Support { landlock: 9, can_filter_calls: true, has_seatbelt: false };

    #[test]
    fn a_kernel_says_what_it_cannot_keep() {
        assert_eq!(ALL.gaps(), [""; 0]);
        let old = |landlock, can_filter_calls| Support { landlock, can_filter_calls, has_seatbelt: false };
        let none = Support::NONE.gaps();
        assert!(none[0].contains("written anywhere") && none[1].starts_with("the network can be used:"), "{none:?}");
        assert!(old(2, true).gaps()[0].contains("emptied") && !old(2, true).keeps_writes());
        assert_eq!(old(3, true).gaps().len(), 1, "signals");
        assert!(old(4, false).gaps()[0].contains("but for TCP"));
        assert!(old(6, true).gaps().is_empty() && old(3, true).keeps_writes());
    }

    #[test]
    fn the_launcher_needs_both_means() {
        for (landlock, can_filter_calls, expected) in
            [(7, true, true), (1, true, true), (7, false, false), (0, true, false)]
        {
            let support = Support { landlock, can_filter_calls, has_seatbelt: false };
            assert_eq!(support.can_launch(), expected, "{support:?}");
        }
        assert!(Support { has_seatbelt: true, ..Support::NONE }.can_launch());
    }
}
