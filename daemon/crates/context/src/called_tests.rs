use super::*;

fn skill(folder: &Path, name: &str, text: &str) -> Skill {
    fs::create_dir_all(folder).unwrap();
    let path = folder.join(name);
    fs::write(&path, text).unwrap();
    Skill { name: "x".into(), path, ..Skill::default() }
}

fn filled(name: &str, text: &str, words: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    let read = read(&skill(folder.path(), name, text), words).unwrap();
    read.text.split_once('\n').unwrap().1.trim_start().to_owned()
}

#[test]
fn words_go_where_a_command_wants_them() {
    for (text, words, expected) in [
        ("Fix $1, not $2.", "a 'b c'", "Fix a, not b c."),
        ("Fix $ARGUMENTS now.", "a  \"b\"", "Fix a  \"b\" now."),
        ("Fix it.", "a b", "Fix it.\n\nArguments: a b"),
        ("Fix it.", "", "Fix it."),
        ("$1 $3 costs $10, $HOME, $", "one $ARGUMENTS", "one  costs $10, $HOME, $"),
        ("$1", "$2 $ARGUMENTS", "$2"),
        ("$1-$2", "größe '' ", "größe-"),
        ("$1", "'not closed", "not closed"),
    ] {
        assert_eq!(filled("x.md", text, words), expected, "{text} with {words}");
    }
}

#[test]
fn numbers_in_the_scripts_of_a_skill_stay() {
    let script = "Run `awk '{print $1}'`.";
    assert_eq!(filled(SKILL_FILE, script, "a"), format!("{script}\n\nArguments: a"));
    assert_eq!(filled(SKILL_FILE, "Tag $1 of $ARGUMENTS.", "a b"), "Tag a of a b.");
}

#[test]
fn the_files_of_a_skill_are_named_with_their_folder() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("pdf");
    let one = skill(&root, SKILL_FILE, "Read references/forms.md.");
    fs::create_dir_all(root.join("scripts")).unwrap();
    fs::create_dir_all(root.join("references/a/b/c")).unwrap();
    fs::write(root.join("scripts/fill.py"), "").unwrap();
    fs::write(root.join("references/forms.md"), "").unwrap();
    fs::write(root.join("references/a/b/c/deep.md"), "").unwrap();
    let note = files_note(&one);
    let names = "references/forms.md, scripts/fill.py";
    assert_eq!(
        note,
        format!("Its folder is {}. Paths in its text are relative to that; it holds {names}.\n", root.display())
    );
    for n in 0..100 {
        fs::write(root.join(format!("scripts/{n:03}")), "").unwrap();
    }
    assert!(files_note(&one).ends_with("and 62 more.\n"), "{}", files_note(&one));
    assert!(read(&one, "").unwrap().text.starts_with("The skill `x`. The user wrote it"));
}

#[test]
fn a_project_is_named_as_the_author_of_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    let one = Skill { project: Some(root.clone()), ..skill(&root, "x.md", "Do it.") };
    let read = read(&one, "").unwrap();
    assert!(read.is_of_project && read.text.contains("not the user, who asks for it"), "{}", read.text);
    fs::remove_file(&one.path).unwrap();
    assert_eq!(super::read(&one, "").unwrap_err(), "its file is gone");
}

#[test]
fn only_a_name_behind_the_slash_calls() {
    assert_eq!(call(" /a_B-1 "), Some(("a_B-1", "")));
    for none in ["", "/", "a", "//a", "/a/b c", "/ a", "/a.b", "/é"] {
        assert_eq!(call(none), None, "{none}");
    }
}

#[test]
fn a_text_that_names_the_words_again_and_again_is_refused() {
    let words = "w".repeat(200_000);
    assert!(fill("$ARGUMENTS", &words, true).is_some());
    assert!(fill(&"$ARGUMENTS ".repeat(4_000), &words, true).is_none());
    assert!(fill(&"$1".repeat(20_000), &words, true).is_none());
}
