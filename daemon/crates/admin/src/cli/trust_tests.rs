use std::fs;

use super::*;

const NONE: TrustArgs = TrustArgs { path: None, remove: false, list: false, json: false };

#[test]
fn a_folder_is_trusted_listed_and_trusted_no_longer() {
    let root = tempfile::tempdir().unwrap();
    let app = root.path().canonicalize().unwrap().join("app");
    fs::create_dir_all(app.join(".cohab/skills/x")).unwrap();
    fs::write(app.join(".cohab/skills/x/SKILL.md"), "---\ndescription: x\n---\n").unwrap();
    let trust = TrustedFolders::new(root.path().join("list"), "/home/nobody".into());
    let tell = |args: &TrustArgs| match done(args, &trust) {
        Ok(text) => text.replace(&app.display().to_string(), "/app"),
        Err(Failure::Other(text, hint)) => format!("{text}|{}", hint.unwrap_or_default()),
        Err(other) => panic!("{other:?}"),
    };
    let of = |path: &Path| TrustArgs { path: Some(path.to_owned()), ..NONE };
    assert_eq!(tell(&TrustArgs { list: true, ..NONE }), "No folder is trusted.\n");
    assert_eq!(
        tell(&of(&app)),
        "Trusted: /app and all folders below it. cohab uses its 1 skill from the next question on.\n"
    );
    assert_eq!(tell(&TrustArgs { list: true, ..NONE }), "/app\n");
    let json = tell(&TrustArgs { list: true, json: true, ..NONE });
    assert_eq!(json, "{\"folders\":[\"/app\"]}\n");
    let below = tell(&TrustArgs { remove: true, ..of(&app.join(".cohab")) });
    assert!(below.contains("removes both"), "{below}");
    assert_eq!(tell(&TrustArgs { remove: true, ..of(&app) }), "No longer trusted: /app.\n");
    assert!(tell(&of(Path::new("/"))).starts_with("/ cannot be trusted: it is the root folder"));
}
