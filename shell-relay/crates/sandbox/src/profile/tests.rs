use super::*;

/// All known means of confinement.
const ALL: Support = Support { landlock: 9, can_filter_calls: true, has_seatbelt: false };

fn sandbox(profile: Profile, workspace: &str, home: &str) -> Sandbox {
    Sandbox::new(profile, Path::new(workspace), Path::new(home), ALL, "Ask.")
}

#[test]
fn only_a_folder_that_is_nobodys_home_and_no_part_of_the_system_is_a_workspace() {
    let holds = |workspace: &str| {
        let sandbox = sandbox(Profile::WorkspaceWrite, workspace, "/home/me");
        sandbox.writable().iter().any(|folder| folder == Path::new(workspace))
    };
    for workspace in ["/home/me/app", "/srv/app", "/work", "/tmp/x", "/home/me/etc"] {
        assert!(holds(workspace), "{workspace}");
    }
    for workspace in ["/", "/home", "/home/me", "/etc", "/etc/nginx", "/usr/local/src", "/run/user/1000", "/proc/1"] {
        assert!(!holds(workspace), "{workspace}");
    }
    assert!(sandbox(Profile::ReadOnly, "/srv/app", "/home/me").writable().is_empty());
    assert!(sandbox(Profile::WorkspaceWrite, "/", "/home/me").writable().is_empty());
}

#[test]
fn temporary_files_have_a_folder_of_their_own() {
    let private = || Some(PathBuf::from("/tmp/own"));
    let at = |profile, workspace| sandbox(profile, workspace, "/home/me").with_temporary(private);
    let beside = at(Profile::WorkspaceWrite, "/tmp/app");
    assert_eq!(beside.temporary(), Some(Path::new("/tmp/own")));
    assert_eq!(beside.writable(), [Path::new("/tmp/app"), Path::new("/tmp/own")], "and no neighbour");
    assert_eq!(at(Profile::WorkspaceWrite, "/").writable(), [Path::new("/tmp/own")]);
    for profile in [Profile::ReadOnly, Profile::Full] {
        assert_eq!(at(profile, "/srv/app").temporary(), None);
    }
    let none = sandbox(Profile::WorkspaceWrite, "/srv/app", "/home/me").with_temporary(|| None);
    assert_eq!((none.temporary(), none.writable()), (None, &[PathBuf::from("/srv/app")][..]));
}

#[test]
fn a_folder_that_holds_one_of_ours_is_not_writable() {
    let own = |path: &str| [PathBuf::from(path)];
    let at = |workspace: &str| sandbox(Profile::WorkspaceWrite, workspace, "/home/me");
    let kept = at("/srv/app").away_from(&own("/run/user/1/cohab"));
    assert_eq!(kept.writable(), at("/srv/app").writable());
    for (workspace, held) in [("/home/me/.config", "/home/me/.config/cohab"), ("/tmp", "/tmp/cohab-1")] {
        assert!(at(workspace).away_from(&own(held)).writable().is_empty(), "{workspace}");
    }
}

#[test]
fn a_failure_that_looks_like_a_refusal_is_explained_and_no_other() {
    let confined = sandbox(Profile::WorkspaceWrite, "/srv/app", "/home/me");
    let note = confined.note(1, "touch: cannot touch '/x': Permission denied\n").unwrap();
    assert!(
        note.starts_with("[sandbox: this ran with `workspace-write`: writes only below /srv/app, no network; "),
        "{note}"
    );
    assert!(note.ends_with("no network; that may be what stopped it. Ask.]\n") && is_noted(&format!("x\n{note}")));
    for (status, output) in [(0, "Permission denied"), (1, "no such file"), (1, "")] {
        assert_eq!(confined.note(status, output), None, "{output}");
    }
    let far = format!("Permission denied{}", "é".repeat(SEARCHED_BYTES));
    assert_eq!(confined.note(1, &far), None);
    assert_eq!(Sandbox::none().note(1, "Permission denied"), None);
    let unhelped = Sandbox::new(Profile::ReadOnly, Path::new("/srv"), Path::new("/home/me"), Support::NONE, "");
    assert_eq!((unhelped.confines(), unhelped.note(1, "Permission denied")), (false, None));
    assert!(!is_noted("") && !is_noted("[sandbox: x]\nmore"));
}

#[test]
fn profiles_have_the_names_of_the_settings() {
    for word in Profile::WORDS {
        assert_eq!(word.parse::<Profile>().unwrap().word(), *word);
    }
    assert_eq!(Profile::default().word(), "workspace-write");
    assert!("none".parse::<Profile>().unwrap_err().contains("read-only, workspace-write, full"));
}
