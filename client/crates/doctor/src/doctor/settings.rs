//! Checks the settings by `cohabd config check`, and that other users cannot read the keys in them.

use std::{
    fs, io,
    os::unix::fs::{MetadataExt, PermissionsExt},
    path::Path,
    process::Output,
};

use cohab_daemon_link::daemon_program;
use cohab_text::sanitize::one_line;

use super::context::Context;
use crate::shell_check::{
    facts::shown,
    finding::{Finding, FindingVerdict, finding},
};

/// Read of a settings file.
const CONFIG_MAX_BYTES: u64 = 1024 * 1024;
/// Shown of a complaint.
const COMPLAINT_MAX_COLUMNS: usize = 200;

/// Looks and judges.
pub(super) async fn check(context: &Context) -> Vec<Finding> {
    let file = context.paths.config_file();
    let checked = daemon_program::output(&["config", "check"]).await;
    let mut found = vec![judge(&file, file.exists(), &checked)];
    found.extend(checked.iter().flat_map(note));
    found.extend(exposed(&file, holds_key));
    found.extend(exposed(&context.paths.config_dir.join("keys.toml"), |_| true));
    found
}

fn judge(file: &Path, is_there: bool, checked: &io::Result<Output>) -> Finding {
    match checked {
        Err(error) => {
            finding("settings", FindingVerdict::Fail, format!("cohabd could not be asked about them: {error}"))
                .hint("install `cohabd` next to `cohab`")
        }
        Ok(output) if !output.status.success() => {
            let text = String::from_utf8_lossy(&output.stderr);
            let mut lines = text.lines().filter(|line| !line.is_empty());
            let complaint = lines.next().unwrap_or("`cohabd config check` fails");
            let complaint = complaint.strip_prefix("error: ").unwrap_or(complaint);
            let more = lines.clone().filter(|line| line.starts_with("error: ")).count();
            let more = if more > 0 { format!(" (and {more} more)") } else { String::new() };
            let hint =
                lines.next().and_then(|line| line.strip_prefix("Hint: ")).unwrap_or("`cohab config check` shows all");
            finding("settings", FindingVerdict::Fail, one_line(complaint, COMPLAINT_MAX_COLUMNS) + &more)
                .hint(one_line(hint, COMPLAINT_MAX_COLUMNS))
        }
        Ok(_) if is_there => finding("settings", FindingVerdict::Ok, format!("{} is sound", shown(file))),
        Ok(_) => finding("settings", FindingVerdict::Ok, format!("all as delivered; {} is not there", shown(file))),
    }
}

/// What has no effect.
fn note(checked: &Output) -> Option<Finding> {
    let text = String::from_utf8_lossy(&checked.stdout);
    let note = text.lines().find_map(|line| line.strip_prefix("Note: "))?;
    Some(finding("settings", FindingVerdict::Warn, one_line(note.trim_end_matches('.'), COMPLAINT_MAX_COLUMNS)))
}

/// Whether a settings file holds a key itself, not only says where one is.
fn holds_key(text: &str) -> bool {
    text.lines().any(|line| {
        let line = line.trim_start();
        line.strip_prefix("api_key").is_some_and(|rest| rest.trim_start().starts_with('='))
    })
}

/// A file that others may read and that is no affair of theirs.
fn exposed(file: &Path, is_private: impl Fn(&str) -> bool) -> Option<Finding> {
    let metadata =
        fs::metadata(file).ok().filter(|metadata| metadata.is_file() && metadata.len() <= CONFIG_MAX_BYTES)?;
    let mode = metadata.permissions().mode() & 0o777;
    let is_own = metadata.uid() == rustix::process::getuid().as_raw();
    if (mode & 0o077 == 0 && is_own) || !is_private(&fs::read_to_string(file).unwrap_or_default()) {
        return None;
    }
    let text = format!("{} holds a key and its mode is {mode:04o}", shown(file));
    Some(finding("keys", FindingVerdict::Fail, text).hint(format!("`chmod 600 {}`", shown(file))))
}

#[cfg(test)]
mod tests {
    use std::{os::unix::process::ExitStatusExt, process::ExitStatus};

    use super::*;

    fn output(status: i32, stderr: &str) -> io::Result<Output> {
        Ok(Output { status: ExitStatus::from_raw(status << 8), stdout: Vec::new(), stderr: stderr.into() })
    }

    #[test]
    fn the_first_complaint_comes_with_its_hint_and_the_number_of_others() {
        let file = Path::new("/c.toml");
        let told =
            judge(file, true, &output(1, "error: /c.toml:1: unknown key `a`\nHint: did you mean `b`?\nerror: x\n"));
        assert_eq!(
            (told.verdict, told.text.as_str()),
            (FindingVerdict::Fail, "/c.toml:1: unknown key `a` (and 1 more)")
        );
        assert_eq!(told.hint.as_deref(), Some("did you mean `b`?"));
        assert_eq!(judge(file, true, &output(0, "")).verdict, FindingVerdict::Ok);
        assert!(judge(file, false, &output(0, "")).text.contains("not there"));
        assert_eq!(judge(file, true, &Err(io::ErrorKind::NotFound.into())).verdict, FindingVerdict::Fail);
        assert_eq!(judge(file, true, &output(1, "")).verdict, FindingVerdict::Fail);
    }

    #[test]
    fn a_note_is_a_warning() {
        let told = |stdout: &str| note(&Output { stdout: stdout.into(), ..output(0, "").expect("it ran") });
        assert_eq!(told("OK\n"), None);
        let found = told("OK\nNote: `x` has no effect: why.\n").expect("a warning");
        assert_eq!((found.verdict, found.text.as_str()), (FindingVerdict::Warn, "`x` has no effect: why"));
    }

    #[test]
    fn a_file_with_a_key_must_be_private_one_that_names_a_variable_need_not() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("config.toml");
        let told = |text: &str, mode: u32| {
            fs::write(&file, text).unwrap();
            fs::set_permissions(&file, fs::Permissions::from_mode(mode)).unwrap();
            exposed(&file, holds_key).map(|finding| finding.text)
        };
        assert!(told("[model]\n  api_key = \"secret\"\n", 0o644).is_some_and(|text| !text.contains("secret")));
        assert_eq!(told("[model]\napi_key = \"x\"\n", 0o600), None);
        assert_eq!(told("[model]\napi_key_env = \"X\"\n# api_key = 1\n", 0o644), None);
    }
}
