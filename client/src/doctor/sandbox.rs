//! What commands in a shell of their own may do, and what of that the kernel really keeps.

use cohab_shell_relay::sandbox::{self, Profile, Support};

use super::Context;
use crate::{
    config,
    shell_check::findings::{Finding, Verdict, finding},
};

/// Looks and judges. The kernel is tried out, not asked for its version.
pub(super) async fn check(context: &Context) -> Vec<Finding> {
    let word = config::load(&context.paths.config_file()).sandbox_profile;
    // A word that means nothing is a fault of the settings, which are judged elsewhere.
    let profile = word.and_then(|word| word.parse().ok()).unwrap_or_default();
    vec![judge(profile, sandbox::present())]
}

fn judge(profile: Profile, kernel: Support) -> Finding {
    let word = profile.word();
    let gaps = kernel.gaps();
    let text = match profile {
        Profile::Full => {
            let text = format!("`{word}`: commands in a shell of their own may do all that you may");
            return finding("sandbox", Verdict::Ok, text);
        }
        _ if kernel == Support::NONE => format!("`{word}` is wanted for shells of their own, and nothing of it holds"),
        _ if gaps.is_empty() => {
            format!("`{word}` holds in shells of their own: landlock {} and seccomp", kernel.landlock)
        }
        _ => format!("`{word}` holds in shells of their own, but for this"),
    };
    if gaps.is_empty() {
        return finding("sandbox", Verdict::Ok, text);
    }
    let is_kept = kernel.keeps_writes() && kernel.can_filter_calls;
    let verdict = if is_kept { Verdict::Ok } else { Verdict::Warn };
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
    fn a_kernel_that_cannot_keep_it_is_told_and_no_failure() {
        let kernel = |landlock, can_filter_calls| Support { landlock, can_filter_calls, has_seatbelt: false };
        let told = |kernel| {
            let found = judge(Profile::WorkspaceWrite, kernel);
            (found.verdict, found.text)
        };
        let all = "`workspace-write` holds in shells of their own: landlock 7 and seccomp";
        assert_eq!(told(kernel(7, true)), (Verdict::Ok, all.to_owned()));
        let (verdict, text) = told(kernel(4, true));
        assert!(verdict == Verdict::Ok && text.contains("but for this: programs outside"), "{text}");
        for kernel in [kernel(2, true), kernel(7, false), kernel(0, true), Support::NONE] {
            let (verdict, text) = told(kernel);
            assert!(verdict == Verdict::Warn && text.contains(kernel.gaps()[0]), "{text}");
        }
        assert!(told(Support::NONE).1.contains("nothing of it holds"));
        let full = judge(Profile::Full, Support::NONE);
        assert!(full.verdict == Verdict::Ok && full.text.contains("all that you may"));
    }
}
