use std::os::unix::fs::{PermissionsExt, symlink};

use serde_json::{Value, json};

use super::{
    super::testing::{folder, intent, make_pipe, options, run},
    *,
};

async fn read(cwd: &Path, args: Value) -> Result<ToolOutput, String> {
    run(&Read::new(&options(cwd)), cwd, &args).await
}

#[tokio::test]
async fn a_file_is_shown_with_line_numbers() {
    let (_guard, dir) = folder();
    fs::write(dir.join("f.txt"), "one\n\n\tthree").unwrap();
    let output = read(&dir, json!({"path": "f.txt"})).await.unwrap();
    assert_eq!(output.content, "     1\tone\n     2\t\n     3\t\tthree\n");
    assert_eq!(output.summary, "3 lines");
    assert_eq!(read(&dir, json!({"path": "~/f.txt"})).await.unwrap(), output);
}

#[tokio::test]
async fn offset_and_limit_choose_lines_and_say_how_to_go_on() {
    let (_guard, dir) = folder();
    let text: String = (1..=5_000).map(|n| format!("l{n}\n")).collect();
    fs::write(dir.join("f"), text).unwrap();
    let part = read(&dir, json!({"path": "f", "offset": 10, "limit": 2})).await.unwrap();
    assert_eq!(part.content, "    10\tl10\n    11\tl11\n[lines 10 to 11 of 5000; go on with offset 12]\n");
    let whole = read(&dir, json!({"path": "f"})).await.unwrap();
    assert!(whole.content.ends_with("  2000\tl2000\n[lines 1 to 2000 of 5000; go on with offset 2001]\n"));
    let beyond = read(&dir, json!({"path": "f", "offset": 5_001})).await.unwrap_err();
    assert!(beyond.ends_with("f: has only 5000 lines, there is no line 5001"));
    let far = read(&dir, json!({"path": "f", "offset": u64::MAX})).await.unwrap_err();
    assert!(far.contains("there is no line"));
}

#[tokio::test]
async fn long_lines_and_long_results_are_bounded() {
    let (_guard, dir) = folder();
    fs::write(dir.join("line"), "ä".repeat(5_000_000)).unwrap();
    let output = read(&dir, json!({"path": "line"})).await.unwrap();
    assert!(output.content.len() < 3_000 && output.content.contains("… [9998000 bytes left out]"));
    fs::write(dir.join("wide"), format!("{}\n", "x".repeat(1_500)).repeat(1_000)).unwrap();
    let output = read(&dir, json!({"path": "wide"})).await.unwrap();
    assert!(output.content.len() <= 64 * 1024 + 100);
    assert!(output.content.contains("go on with offset 44]"), "{}", &output.content[output.content.len() - 80..]);
}

#[tokio::test]
async fn strange_text_is_shown_as_far_as_it_can_be() {
    let (_guard, dir) = folder();
    fs::write(dir.join("crlf"), "\u{feff}a\r\nb\r\n").unwrap();
    let crlf = read(&dir, json!({"path": "crlf"})).await.unwrap();
    assert_eq!(crlf.content, "     1\ta\n     2\tb\n[lines end with CRLF]\n");
    fs::write(dir.join("latin1"), b"caf\xe9\n").unwrap();
    let latin1 = read(&dir, json!({"path": "latin1"})).await.unwrap();
    assert!(latin1.content.starts_with("     1\tcaf\u{fffd}\n[not valid UTF-8"));
    fs::write(dir.join("empty"), "").unwrap();
    assert_eq!(read(&dir, json!({"path": "empty"})).await.unwrap().content, "[the file is empty]");
}

#[tokio::test]
async fn what_is_no_readable_text_is_refused_and_never_waited_for() {
    let (_guard, dir) = folder();
    fs::write(dir.join("binary"), b"ELF\0\x01").unwrap();
    fs::write(dir.join("utf16"), b"\xff\xfea\0").unwrap();
    fs::File::create(dir.join("huge")).unwrap().set_len(1 << 40).unwrap();
    make_pipe(&dir.join("pipe"));
    symlink("pipe", dir.join("link")).unwrap();
    symlink("gone", dir.join("dangling")).unwrap();
    for (path, expected) in [
        ("binary", "is a binary file of 5 bytes; use `file`, `strings` or `xxd` with `bash`"),
        ("utf16", "is UTF-16 text; use `iconv` with `bash`"),
        ("huge", "is too large: more than 16777216 bytes; use `grep`, or `sed -n`, `head` or `tail` with `bash`"),
        ("pipe", "is a named pipe, not a regular file"),
        ("link", "is a named pipe, not a regular file"),
        ("dangling", "is a link to gone, which does not exist"),
        ("gone", "no such file"),
        ("/dev/zero", "is a device, not a regular file"),
    ] {
        let error = read(&dir, json!({"path": path})).await.unwrap_err();
        assert!(error.ends_with(expected), "{path}: {error}");
    }
}

#[tokio::test]
async fn files_of_proc_are_read_although_they_claim_to_be_empty() {
    let output = read(Path::new("/"), json!({"path": "/proc/self/status"})).await.unwrap();
    assert!(output.content.contains("Name:"));
    let error = read(Path::new("/"), json!({"path": "/proc/self/mem"})).await.unwrap_err();
    assert!(error.contains("/mem: "), "{error}");
}

#[tokio::test]
async fn an_unreadable_file_is_a_clear_error() {
    let (_guard, dir) = folder();
    fs::write(dir.join("secret"), "x").unwrap();
    fs::set_permissions(dir.join("secret"), fs::Permissions::from_mode(0o000)).unwrap();
    let result = read(&dir, json!({"path": "secret"})).await;
    if rustix::process::geteuid().is_root() {
        assert_eq!(result.unwrap().summary, "1 line");
    } else {
        assert!(result.unwrap_err().ends_with("permission denied"));
    }
}

#[tokio::test]
async fn a_folder_is_listed_with_marks_and_a_bound() {
    let (_guard, dir) = folder();
    fs::create_dir(dir.join("sub")).unwrap();
    symlink("sub", dir.join("ln")).unwrap();
    fs::write(dir.join("a\nb"), "").unwrap();
    let output = read(&dir, json!({"path": "."})).await.unwrap();
    let expected = format!(
        "{} is a folder with 3 entries:\na\\nb\nln@\nsub/\n[`glob` finds files by name, `read` shows one]\n",
        dir.display()
    );
    assert_eq!(output.content, expected);
    for n in 0..250 {
        fs::write(dir.join("sub").join(format!("{n:03}")), "").unwrap();
    }
    let output = read(&dir, json!({"path": "ln"})).await.unwrap();
    assert!(output.content.contains("\n199\n[and 50 more]\n"));
}

#[test]
fn the_intent_names_the_real_file() {
    let (_guard, dir) = folder();
    fs::write(dir.join("real"), "").unwrap();
    symlink("real", dir.join("link")).unwrap();
    let intent = intent(&Read::new(&options(&dir)), &dir, &json!({"path": "link", "offset": 3})).unwrap();
    assert_eq!(
        intent,
        Intent { title: "link from line 3".into(), effect: Effect::Read { path: dir.join("real"), pattern: None } }
    );
}

#[tokio::test]
async fn an_image_is_known_by_its_bytes_and_bounded() {
    let (_guard, dir) = folder();
    fs::write(dir.join("shot.txt"), b"\x89PNG\r\n\x1a\n0123").unwrap();
    fs::write(dir.join("plan.pdf"), [b"%PDF-1.7".as_slice(), &vec![0; IMAGE_MAX_BYTES]].concat()).unwrap();
    fs::write(dir.join("text.png"), "no image").unwrap();
    let shot = read(&dir, json!({"path": "shot.txt"})).await.unwrap();
    assert_eq!((shot.summary.as_str(), shot.image.unwrap().name.as_str()), ("image/png, 1 kB", "shot.txt"));
    assert!(shot.content.starts_with("[image/png, 1 kB. It is shown with the question"), "{}", shot.content);
    let large = read(&dir, json!({"path": "plan.pdf"})).await.unwrap_err();
    assert!(large.ends_with("application/pdf of 5121 kB; at most 5120 kB are shown to a model"), "{large}");
    assert_eq!(read(&dir, json!({"path": "text.png"})).await.unwrap().image, None);
}
