use super::*;

fn keys(listing: &[u8]) -> Vec<String> {
    planted(listing).expect("a listing").into_iter().map(|setting| setting.key).collect()
}

#[test]
fn settings_count_by_their_scope() {
    let listing = b"system\0core.pager\nless\0global\0filter.lfs.clean\ngit-lfs\0local\0core.bare\nfalse\0local\0core.pager\nevil\0\
                    worktree\0diff.external\nx\0command\0alias.a\n!x\0";
    assert_eq!(keys(listing), ["core.pager", "diff.external", "alias.a"]);
    assert!(keys(b"").is_empty());
}

#[test]
fn names_are_compared_without_their_case_and_whatever_stands_in_the_middle() {
    for key in [
        "CORE.FSMonitor",
        "diff.a.b\tc.TextConv",
        "filter..clean",
        "remote.o.promisor",
        "remote.a/b.c.vcs",
        "include.path",
        "includeif.onbranch:x.path",
        "lfs.standalonetransferagent",
        "lfs.https://x.standalonetransferagent",
    ] {
        assert_eq!(keys(format!("local\0{key}\nx\0").as_bytes()), [key]);
    }
    for key in [
        "core.bare",
        "diff.renames",
        "remote.origin.url",
        "user.name",
        "branch.main.remote",
        "merge.ff",
        "lfs.url",
        "log.date",
    ] {
        assert!(keys(format!("local\0{key}\nx\0").as_bytes()).is_empty(), "{key}");
    }
}

#[test]
fn a_setting_without_a_value_or_over_several_lines_is_told() {
    let found = planted(b"local\0core.fsmonitor\0local\0alias.x\n!a\nlocal\0").expect("a listing");
    assert_eq!(found.iter().map(|setting| setting.value.as_str()).collect::<Vec<_>>(), ["", "!a\nlocal"]);
}

#[test]
fn what_is_cut_or_no_listing_is_not_taken_for_one() {
    for listing in [
        &b"local\0core.bare\nfalse"[..],
        b"local\0",
        b"local",
        b"what\0core.bare\nfalse\0",
        b"core.bare\nfalse\0local\0",
        b"\0\0",
    ] {
        assert_eq!(planted(listing), None, "{:?}", String::from_utf8_lossy(listing));
    }
}

#[test]
fn what_is_said_names_four_on_one_line_without_control_characters() {
    let setting = |number: usize| Setting { key: format!("filter.{number}.clean"), value: "\x1b[2Jevil\nrm".into() };
    assert_eq!(why_planted(Vec::new(), "/x".into()), None);
    let why = why_planted((0..6).map(setting).collect(), "/x\n/y".into()).expect("some").to_string();
    assert!(why.contains("`filter.3.clean` = `evil rm` and 2 more, in /x /y"), "{why}");
    assert!(!why.contains('\x1b') && !why.contains('\n'), "{why}");
    let long = Setting { key: "core.pager".into(), value: "x".repeat(10_000) };
    assert!(why_planted(vec![long], "/x".into()).expect("some").to_string().len() < 250);
}

#[test]
fn variables_that_decide_what_git_does_are_told_by_their_names() {
    let shell = |names: &[&str]| -> Snapshot {
        names.iter().map(|name| (Item::Exported((*name).to_owned()), vec![b"secret".to_vec()])).collect()
    };
    let plain =
        ["PATH", "GIT_PAGER", "GIT_ASKPASS", "GIT_AUTHOR_NAME", "GIT_PS1_SHOWDIRTYSTATE", "GITHUB_TOKEN", "DIGIT_X"];
    assert_eq!(git_variables(&shell(&plain)), None);
    for name in
        ["GIT_DIR", "GIT_CONFIG_COUNT", "GIT_EXTERNAL_DIFF", "GIT_SSH_COMMAND", "GIT_EXEC_PATH", "GIT_WORK_TREE"]
    {
        let why = git_variables(&shell(&[name, "PATH"])).expect(name).to_string();
        assert!(why.contains(name) && !why.contains("secret"), "{why}");
    }
    let mut variable = Snapshot::new();
    variable.insert(Item::Variable("GIT_DIR".into()), vec![]);
    assert_eq!(git_variables(&variable), None, "it is not exported");
}
