//! Checks the programs that cohab itself starts.

use std::path::PathBuf;

use cohab_daemon_link::connection;

use super::context::Context;
use crate::shell_check::{
    facts::shown,
    finding::{Finding, FindingVerdict, finding},
};

/// Keeps keys in the system's keyring; the one of macOS is always there.
const KEYRING: &str = if cfg!(target_os = "macos") { "security" } else { "secret-tool" };

/// Looks and judges.
pub(super) async fn check(_: &Context) -> Vec<Finding> {
    let daemon = connection::daemon_program();
    let daemon = if daemon.is_absolute() { Some(daemon) } else { found("cohabd") };
    vec![of_the_daemon(daemon), of_the_keyring(found(KEYRING).is_some())]
}

fn of_the_daemon(program: Option<PathBuf>) -> Finding {
    match program {
        Some(path) => finding("cohabd", FindingVerdict::Ok, shown(&path)),
        None => finding("cohabd", FindingVerdict::Fail, "it is neither next to `cohab` nor in a folder of $PATH")
            .hint("install `cohabd` next to `cohab`; without it no question is answered"),
    }
}

fn of_the_keyring(is_there: bool) -> Finding {
    let text = match is_there {
        true => format!("{KEYRING} can keep keys in the system's keyring"),
        false => format!("without {KEYRING} `cohab setup` keeps keys in a file of mode 0600"),
    };
    finding("keyring", FindingVerdict::Ok, text)
}

/// The first program of this name in `$PATH`.
fn found(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let mut places = std::env::split_paths(&path).map(|folder| folder.join(name));
    places.find(|place| place.is_file() && rustix::fs::access(place, rustix::fs::Access::EXEC_OK).is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_missing_daemon_is_a_fault() {
        assert_eq!(of_the_daemon(None).verdict, FindingVerdict::Fail);
        assert_eq!(of_the_daemon(Some("/b/cohabd".into())).text, "/b/cohabd");
        assert_eq!(of_the_keyring(false).verdict, FindingVerdict::Ok);
        assert!(found("sh").is_some() && found("no-such-program-anywhere").is_none());
    }
}
