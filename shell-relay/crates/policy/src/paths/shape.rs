//! Recognizes files that may hold secrets by the shape of their path: files in hidden folders of a home, and telltale names. The
//! lists of [`cohab_policy_data::sensitive_paths`] name the files that surely hold secrets.

use std::{collections::BTreeMap, path::Path, sync::LazyLock};

use cohab_policy_data::sensitive_paths::PLAIN_NAMES;
use cohab_shell_syntax::glob;

use super::{Objection, PathRisk, PlainPath, has_wildcard};
use crate::Context;

static LISTS: LazyLock<BTreeMap<&str, Vec<&str>>> = LazyLock::new(|| {
    let mut lists: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for line in include_str!("shape.table").lines().filter(|line| !line.starts_with("# ")) {
        let (name, patterns) = line.split_once(' ').unwrap_or_default();
        lists.entry(name).or_default().extend(patterns.split(' '));
    }
    lists
});

/// The patterns of a list of the table.
fn list(name: &str) -> &'static [&'static str] {
    LISTS.get(name).map_or(&[], Vec::as_slice)
}

/// The reason why a file at `path` may hold a secret, by the shape of its path alone: at most a question.
pub(super) fn risk(path: &PlainPath, context: Context<'_>) -> PathRisk {
    if PLAIN_NAMES.iter().any(|plain| glob::matches(path.name(), plain)) {
        return None;
    }
    let cwd = PlainPath::from_path(context.cwd, context);
    let is_at_work = context.cwd != context.home && cwd.is_at_or_above(path);
    let tells = tells_anywhere(path.name()) || (!is_at_work && tells_elsewhere(path));
    let is_kept = !is_at_work && is_kept_by_a_program(path, context.home, context);
    (tells || is_kept).then(|| Objection::ask(format!("may read secrets: {}", path.shown())))
}

/// Whether a name matches a pattern of this list, by which its file holds a secret.
fn says_secret(name: &str, telling: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    let ending = lower.split_once('.').map_or("", |(_, ending)| ending);
    let last = ending.rsplit('.').next().unwrap_or_default();
    !has_wildcard(name)
        && !list("ending").iter().any(|plain| *plain == ending || *plain == last)
        && list(telling).iter().any(|pattern| glob::matches(&lower, pattern))
}

/// Whether a name shows a secret file in any folder.
pub(super) fn tells_anywhere(name: &str) -> bool {
    says_secret(name, "telling")
}

fn tells_elsewhere(path: &PlainPath) -> bool {
    let first = path.components.first().map_or("", String::as_str);
    let is_plain = list("system").contains(&first)
        || list("etc").iter().any(|place| Path::new(&path.shown()[1..]).starts_with(place));
    !is_plain && says_secret(path.name(), "telling-elsewhere")
}

/// Whether the path lies in a hidden folder of a home that is not known to be plain.
fn is_kept_by_a_program(path: &PlainPath, home: &Path, context: Context<'_>) -> bool {
    let own = PlainPath::from_path(home, context).components;
    let below: Vec<&str> = match &path.components[..] {
        components if components.starts_with(&own) => components[own.len()..].iter().map(String::as_str).collect(),
        [homes, _, below @ ..] if homes == "home" || homes == "Users" => below.iter().map(String::as_str).collect(),
        [root, below @ ..] if root == "root" => below.iter().map(String::as_str).collect(),
        _ => return false,
    };
    let is_none_of = |name: &str, plain| !list(plain).iter().any(|pattern| glob::matches(name, pattern));
    match below[..] {
        [".config", name, ..] => is_none_of(name, "config"),
        [".local", "share" | "state", name, ..] => is_none_of(name, "data"),
        [first, ..] => first.starts_with('.') && is_none_of(first, "hidden"),
        [] => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Level;

    fn level(path: &str) -> Level {
        let context = Context::new(Path::new("/home/ann/work/app"), Path::new("/home/ann"));
        crate::assess_line(&format!("cat '{path}'"), context).level
    }

    #[test]
    fn the_table_has_all_lists_and_no_other() {
        let names: Vec<&str> = LISTS.keys().copied().collect();
        assert_eq!(names, ["config", "data", "ending", "etc", "hidden", "system", "telling", "telling-elsewhere"]);
        assert!(LISTS.values().flatten().all(|pattern| !pattern.is_empty()));
    }

    #[test]
    fn what_looks_like_a_secret_is_asked() {
        for path in [
            "/var/backups/shadow.bak",
            "/srv/x/shadow",
            "/srv/app/credentials",
            "/var/lib/x/api_token",
            "/home/ann/.vnc/x",
            "/home/ann/.pki/nssdb/key4.db",
            "/home/ann/.var/app/org.chromium.Chromium/config/chromium/Default/Cookies",
            "/home/ann/.config/google-chrome-beta/x",
            "/home/ann/.config/Signal/config.json",
            "/home/ann/.config/Slack/x",
            "/home/ann/.local/share/TelegramDesktop/x",
            "/home/ann/.local/share/kwalletd/kdewallet.kwl",
            "/home/ann/.config/Cursor/User/globalStorage/state.vscdb",
            "/home/ann/.ash_history",
            "/home/ann/.ksh_history",
            "/home/ann/.history",
            "/home/ann/.config/nushell/history.txt",
            "/home/ann/.ipython/profile_default/history.sqlite",
            "/home/ann/.ivy2/.credentials",
            "/home/ann/backup/id_rsa_old",
            "deploy_key",
            "x.psk",
            "login.keyring",
            "/home/bob/.foo/x",
            "/root/.foo/x",
            "/home/ann/secrets.txt",
            "/mnt/usb/passwords.csv",
        ] {
            assert!(level(path) >= Level::Ask, "{path}");
        }
    }

    #[test]
    fn code_and_settings_are_plain() {
        for path in [
            "src/token.rs",
            "src/secret_names.rs",
            "tests/shadow",
            "src/password_reset.html",
            "token",
            "/etc/passwd",
            "/etc/pam.d/passwd",
            "/usr/share/doc/passwd/README",
            "/usr/include/shadow.h",
            "/home/ann/.bashrc",
            "/home/ann/.config/nvim/init.lua",
            "/home/ann/.gitconfig",
            "/home/ann/.cargo/config.toml",
            "/home/ann/.local/share/fonts/x",
            "/home/ann/.cache/x",
            "/home/ann/other/tokenizer.py",
            "/home/ann/notes.txt",
            "/home/ann/work/app/.foo/x",
            "/home/ann/.vimrc",
            "/home/ann/id_rsa.pub",
            "/var/log/syslog",
            "order_history.py",
        ] {
            assert_eq!(level(path), Level::Allow, "{path}");
        }
    }
}
