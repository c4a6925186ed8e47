//! Checks the limits on commands in separate shells and on programs that run unasked in the live shell, and which of these limits the
//! kernel really enforces.

use std::path::PathBuf;

use cohab_daemon_link::config;
use cohab_sandbox::{
    lock::{self, NoLock},
    profile::{self, Profile, Support},
};

use super::context::Context;
use crate::shell_check::finding::{Finding, FindingVerdict, finding};

/// Looks and judges. The kernel is tried out, not asked for its version.
pub(super) async fn check(context: &Context) -> Vec<Finding> {
    let config = config::load(&context.paths.config_file());
    // A word that means nothing is a fault of the settings, which are judged elsewhere.
    let profile = config.sandbox_profile.and_then(|word| word.parse().ok()).unwrap_or_default();
    vec![judge(profile, profile::present()), judge_lock(config.client.lock, lock::launcher())]
}

fn judge_lock(is_wanted: bool, launcher: Result<PathBuf, NoLock>) -> Finding {
    let (verdict, text) = match launcher {
        _ if !is_wanted => {
            (FindingVerdict::Ok, "`client.lock` is off: programs that run unasked may do all that you may".to_owned())
        }
        Ok(_) => (FindingVerdict::Ok, "programs that run unasked in your shell can only read".to_owned()),
        Err(why) => {
            (FindingVerdict::Warn, format!("programs that run unasked in your shell may do all that you may: {why}"))
        }
    };
    let found = finding("lock", verdict, text);
    if verdict == FindingVerdict::Ok { found } else { found.hint("which ones run unasked is the same without it") }
}

fn judge(profile: Profile, kernel: Support) -> Finding {
    let word = profile.word();
    let gaps = kernel.gaps();
    let text = match profile {
        Profile::Full => {
            let text = format!("`{word}`: commands in a shell of their own may do all that you may");
            return finding("sandbox", FindingVerdict::Ok, text);
        }
        _ if kernel == Support::NONE => format!("`{word}` is wanted for shells of their own, and nothing of it holds"),
        _ if gaps.is_empty() => {
            format!("`{word}` holds in shells of their own: landlock {} and seccomp", kernel.landlock)
        }
        _ => format!("`{word}` holds in shells of their own, but for this"),
    };
    if gaps.is_empty() {
        return finding("sandbox", FindingVerdict::Ok, text);
    }
    let is_kept = kernel.keeps_writes() && kernel.can_filter_calls;
    let verdict = if is_kept { FindingVerdict::Ok } else { FindingVerdict::Warn };
    let found = finding("sandbox", verdict, format!("{text}: {}", gaps.join("; ")));
    if is_kept {
        found
    } else {
        found.hint("what is asked before it runs is the same; Linux 6.7 or later has all that counts")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_that_is_wanted_and_not_there_is_told() {
        let there = || Ok(PathBuf::from("/opt/cohab-confine"));
        assert_eq!(judge_lock(true, there()).verdict, FindingVerdict::Ok);
        assert!(judge_lock(true, there()).text.ends_with("can only read"));
        assert!(judge_lock(false, there()).text.starts_with("`client.lock` is off"));
        let missing = judge_lock(true, Err(NoLock::Missing("/opt/cohab-confine".into())));
        assert!(
            missing.verdict == FindingVerdict::Warn && missing.text.ends_with("/opt/cohab-confine is missing"),
            "{}",
            missing.text
        );
    }

    #[test]
    fn a_kernel_that_cannot_keep_it_is_told_and_no_failure() {
        let kernel = |landlock, can_filter_calls| Support { landlock, can_filter_calls, has_seatbelt: false };
        let told = |kernel| {
            let found = judge(Profile::WorkspaceWrite, kernel);
            (found.verdict, found.text)
        };
        let all = "`workspace-write` holds in shells of their own: landlock 7 and seccomp";
        assert_eq!(told(kernel(7, true)), (FindingVerdict::Ok, all.to_owned()));
        let (verdict, text) = told(kernel(4, true));
        assert!(verdict == FindingVerdict::Ok && text.contains("but for this: programs outside"), "{text}");
        for kernel in [kernel(2, true), kernel(7, false), kernel(0, true), Support::NONE] {
            let (verdict, text) = told(kernel);
            assert!(verdict == FindingVerdict::Warn && text.contains(kernel.gaps()[0]), "{text}");
        }
        assert!(told(Support::NONE).1.contains("nothing of it holds"));
        let full = judge(Profile::Full, Support::NONE);
        assert!(full.verdict == FindingVerdict::Ok && full.text.contains("all that you may"));
    }
}
