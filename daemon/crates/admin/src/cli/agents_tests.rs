use std::{collections::BTreeMap, fs, os::unix::fs::PermissionsExt as _};

use cohab_config::agents::OwnAgent;

use super::*;

fn place() -> (tempfile::TempDir, Variables) {
    let folder = tempfile::tempdir().expect("a folder");
    let program = folder.path().join("gemini");
    fs::write(&program, "").expect("a file");
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("a mode");
    let variables = Variables::from([("PATH".to_owned(), folder.path().display().to_string())]);
    (folder, variables)
}

fn own() -> OwnAgents {
    let mine = OwnAgent { command: "mine\u{1b}[31m".into(), args: vec!["--acp".into()], env: BTreeMap::new() };
    OwnAgents::from([("mine".to_owned(), mine)])
}

#[test]
fn what_is_installed_comes_first_with_its_command() {
    let (folder, variables) = place();
    let text = listing(&own(), &variables, Path::new("/"), false);
    let text = text.replace(&folder.path().display().to_string(), "/bin");
    insta::assert_snapshot!(text);
}

#[test]
fn programs_get_json_without_values_of_variables() {
    let (_folder, variables) = place();
    let text = listing(&own(), &variables, Path::new("/"), true);
    assert!(!text.contains('\u{1b}') && !text.contains("autoupdate"), "{text}");
    let value: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let agents = value["agents"].as_array().expect("a list");
    let of = |name: &str| agents.iter().find(|agent| agent["name"] == name).expect(name).clone();
    assert_eq!((&of("gemini")["installed"], &of("gemini")["own_shell"]), (&json!(true), &json!("asks")));
    assert_eq!((&of("mine")["installed"], &of("mine")["own"]), (&json!(false), &json!(true)));
    assert_eq!(of("opencode")["variables"], json!(["OPENCODE_CONFIG_CONTENT"]));
}
