use std::{fs, os::unix::fs::symlink, path::PathBuf};

use super::*;

fn folder() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().canonicalize().unwrap().join("project");
    fs::create_dir(&path).unwrap();
    (folder, path)
}

fn told(root: &Path) -> (Option<String>, Vec<String>) {
    let mut skipped = Vec::new();
    let text = read(root, Bounds::Within(root), &mut skipped).map(|(text, _)| text);
    (text, skipped.into_iter().map(|one| one.to_string().replace(&root.display().to_string(), ".")).collect())
}

#[test]
fn the_files_are_joined_in_their_order_and_empty_ones_are_skipped() {
    let (_folder, root) = folder();
    assert_eq!(told(&root), (None, Vec::new()));
    for (name, text) in [
        ("SHIELD.md", "five\n"),
        ("AGENT.md", "\n one\n"),
        ("SOUL.md", "three"),
        ("USER.md", " \n\t\n"),
        ("agent.txt", "no"),
    ] {
        fs::write(root.join(name), text).unwrap();
    }
    assert_eq!(told(&root), (Some("one\n\nthree\n\nfive".into()), Vec::new()));
    let text = of_project(&root, &mut Vec::new()).unwrap();
    assert!(text.starts_with("Identity files of this workspace (AGENT.md, SOUL.md, SHIELD.md in /"), "{text}");
    assert!(text.contains("not the user") && text.ends_with("\n\none\n\nthree\n\nfive"), "{text}");
}

#[test]
fn hostile_files_are_skipped_and_named_and_the_others_are_told() {
    let (_folder, root) = folder();
    fs::write(root.join("../secret.md"), "secret").unwrap();
    symlink("../secret.md", root.join("AGENT.md")).unwrap();
    symlink("IDENTITY.md", root.join("IDENTITY.md")).unwrap();
    fs::write(root.join("SOUL.md"), b"\x7fELF\0").unwrap();
    fs::create_dir(root.join("USER.md")).unwrap();
    fs::write(root.join("SHIELD.md"), "be\x1b[2J careful").unwrap();
    let (text, skipped) = told(&root);
    assert_eq!(text.as_deref(), Some("be careful"));
    assert_eq!(
        skipped,
        [
            "./AGENT.md: is a link out of the project, or to a file that is not `.md`",
            "./IDENTITY.md: is a loop of links",
            "./SOUL.md: is not text",
            "./USER.md: is a folder, not a file",
        ]
    );
}

#[test]
fn the_users_own_links_may_lead_anywhere() {
    let (_folder, root) = folder();
    fs::write(root.join("../dotfiles-soul"), "mine").unwrap();
    symlink("../dotfiles-soul", root.join("SOUL.md")).unwrap();
    let mut skipped = Vec::new();
    assert_eq!(read(&root, Bounds::Own, &mut skipped).map(|(text, _)| text).as_deref(), Some("mine"));
    assert!(skipped.is_empty(), "{skipped:?}");
}

#[test]
fn huge_files_are_bounded_together_and_named() {
    let (_folder, root) = folder();
    let sparse = fs::File::create(root.join("AGENT.md")).unwrap();
    sparse.set_len(1 << 40).unwrap();
    for name in ["IDENTITY.md", "SOUL.md", "USER.md"] {
        fs::write(root.join(name), "é".repeat(10 * 1024)).unwrap();
    }
    let (text, skipped) = told(&root);
    assert!(text.is_some_and(|text| text.len() <= MAX_BYTES + 8));
    assert_eq!(
        skipped,
        [
            "./AGENT.md: is not text",
            "./SOUL.md: only a part is sent: these files may have at most 24 KiB together",
            "./USER.md: the files before it already have 24 KiB",
        ]
    );
}
