use secrecy::ExposeSecret as _;

use super::*;

fn stores() -> KeyStores {
    KeyStores::with_programs(std::path::Path::new("/nonexistent"), "".into())
}

async fn of_command(line: &str) -> Result<String, KeyError> {
    let key = ApiKey { source: Source::Command(line.into()), place: "`key_command` under [model]".into() };
    key.secret(&stores(), "openai").await.map(|secret| secret.expose_secret().to_owned())
}

#[tokio::test]
async fn the_first_line_that_a_command_prints_is_the_key() {
    assert_eq!(of_command("printf ' sk-1 \\nlogin: me\\n'").await.unwrap(), "sk-1");
    assert_eq!(of_command("echo sk-2; echo noise >&2").await.unwrap(), "sk-2");
    assert_eq!(of_command("test -t 0 || cat; echo sk-3").await.unwrap(), "sk-3", "there is no input and no terminal");
}

#[tokio::test]
async fn a_command_that_gives_no_key_is_told_with_what_it_said() {
    let error = of_command("echo 'gpg: decryption failed:\tno   secret key' >&2; exit 2").await.unwrap_err();
    assert_eq!(error.message, "`key_command` under [model] failed: gpg: decryption failed: no secret key");
    assert!(of_command("exit 3").await.unwrap_err().message.ends_with("exit status: 3"));
    for nothing in ["true", "echo; echo sk-late", "printf '\\377\\n'", "printf 'a\\033[0mb\\n'"] {
        assert!(of_command(nothing).await.unwrap_err().message.contains("printed no key"), "{nothing}");
    }
    let long = of_command("yes 'no such entry' | head -c 100000 >&2; false").await.unwrap_err();
    assert!(long.message.len() < 250, "{}", long.message.len());
}

#[tokio::test]
async fn a_command_that_hangs_is_ended_with_its_children() {
    let marker = tempfile::NamedTempFile::new().unwrap();
    let line = format!("(sleep 1000; echo) & echo $! > {}; wait", marker.path().display());
    let error = from_command(&line, "`key_command`", Duration::from_millis(300)).await.unwrap_err();
    assert!(error.message.contains("did not end within"), "{}", error.message);
    let child = std::fs::read_to_string(marker.path()).unwrap();
    let stat = || std::fs::read_to_string(format!("/proc/{}/stat", child.trim())).unwrap_or_default();
    let gone = || stat().is_empty() || stat().contains(") Z ");
    let ended = async {
        while !gone() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(5), ended).await.expect("the child is gone");
}

#[tokio::test]
async fn what_a_command_leaves_behind_does_not_hold_it_up() {
    let asked = std::time::Instant::now();
    assert_eq!(of_command("echo sk-4; sleep 5 &").await.unwrap(), "sk-4");
    assert!(asked.elapsed() < Duration::from_secs(4));
}

#[tokio::test]
async fn endless_output_is_not_kept() {
    let error = of_command("head -c 3000000 /dev/zero | tr '\\0' a; exit 1").await.unwrap_err();
    assert!(error.message.len() < 200, "{}", error.message.len());
}
