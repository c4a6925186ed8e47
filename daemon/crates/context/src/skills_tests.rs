use std::os::unix::fs::symlink;

use cohab_memory::{past::record::Deed, procedures::drafts, record::Source};
use jiff::{Timestamp, tz::TimeZone};
use proptest::prelude::*;

use super::*;

fn project() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap().join("project");
    fs::create_dir_all(root.join("skills")).unwrap();
    (folder, root)
}

fn write(root: &Path, name: &str, text: impl AsRef<[u8]>) {
    let folder = root.join("skills").join(name);
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("SKILL.md"), text).unwrap();
}

fn listed(root: &Path) -> (String, Vec<String>) {
    let mut skipped = Vec::new();
    let skills = list(&root.join("skills"), Some(root), &mut skipped);
    let root = root.display().to_string();
    (lines(&skills), skipped.into_iter().map(|one| one.to_string().replace(&root, ".")).collect())
}

#[test]
fn skills_are_told_by_name_and_description_and_read_without_their_head() {
    let (_folder, root) = project();
    write(&root, "b", "---\nname: release\ndescription: >\n  How a release\n  is made\nlicense: x\n---\n\nTag it.\n");
    write(&root, "a", "---\ndescription: \"Says: hello\"\n---\nWave.");
    fs::create_dir(root.join("skills/empty")).unwrap();
    fs::write(root.join("skills/README.md"), "no skill").unwrap();
    assert_eq!(listed(&root), ("- `a`: Says: hello\n- `release`: How a release is made\n".into(), Vec::new()));
    let skills = list(&root.join("skills"), None, &mut Vec::new());
    assert_eq!(skills[1].text().unwrap(), "Tag it.");
    assert!(of_project(&skills).unwrap().contains("not the user") && of_project(&[]).is_none());
}

#[test]
fn a_learned_procedure_is_a_skill_whose_steps_wait_for_their_trigger() {
    let deed = |day: i64, line: &str| Deed {
        line: line.to_owned(),
        at: Timestamp::from_second(day * 86_400).unwrap(),
        folder: "/srv/shop".into(),
        exit_code: Some(0),
        session: None,
        source: Source::Commands,
        trust: 0.9,
    };
    let day = |day| [deed(day, "make assets"), deed(day, "echo `date` >> log"), deed(day, "make deploy")];
    let deeds: Vec<Deed> = (1..4).flat_map(day).collect();
    let drafts = drafts(&deeds, Path::new("/srv/shop"), &TimeZone::UTC, &|_| true);
    let (_folder, root) = project();
    write(&root, &drafts[0].name, drafts[0].skill());
    let (lines, skipped) = listed(&root);
    assert_eq!(
        lines,
        "- `shop-deploy`: In the project shop, use it when asked to deploy, roll out, put it into production. Its steps are `make \
         assets`, `` echo `date` >> log ``, `make deploy`\n"
    );
    assert_eq!(skipped, Vec::<String>::new());
    let text = list(&root.join("skills"), None, &mut Vec::new())[0].text().unwrap();
    assert!(
        text.contains("only when the user asks to deploy") && text.ends_with("3. `make deploy`: exit status 0"),
        "{text}"
    );
}

#[test]
fn what_is_no_skill_is_skipped_and_named() {
    let (_folder, root) = project();
    write(&root, "1", "no front matter");
    write(&root, "2", "---\nname: ../x\ndescription: x\n---\n");
    write(&root, "3", "---\nname: nameless\n---\n");
    write(&root, "4", b"---\0");
    write(&root, "5", "---\nname: one\ndescription: x\n---\n");
    write(&root, "6", "---\nname: one\ndescription: y\n---\n");
    fs::create_dir_all(root.join("skills/7/SKILL.md")).unwrap();
    fs::write(root.join("../outside.md"), "---\nname: out\ndescription: x\n---\n").unwrap();
    fs::create_dir(root.join("skills/8")).unwrap();
    symlink("../../../outside.md", root.join("skills/8/SKILL.md")).unwrap();
    symlink("9", root.join("skills/9")).unwrap();
    let (lines, skipped) = listed(&root);
    assert_eq!(lines, "- `one`: x\n");
    assert_eq!(
        skipped,
        [
            "./skills/1/SKILL.md: does not begin with `---`, name, description and `---`",
            "./skills/2/SKILL.md: its name is not made of up to 64 letters, digits, `-` and `_`",
            "./skills/3/SKILL.md: has no description",
            "./skills/4/SKILL.md: is not text",
            "./skills/6/SKILL.md: another skill has the name one",
            "./skills/7/SKILL.md: is a folder, not a file",
            "./skills/8/SKILL.md: is a link out of the project, or to a file that is not `.md`",
            "./skills/9/SKILL.md: is a loop of links",
        ]
    );
}

#[test]
fn a_folder_of_skills_that_leads_out_of_the_project_is_not_looked_at() {
    let (_folder, root) = project();
    fs::create_dir_all(root.join("../other/x")).unwrap();
    fs::write(root.join("../other/x/SKILL.md"), "---\ndescription: x\n---\n").unwrap();
    fs::remove_dir(root.join("skills")).unwrap();
    symlink("../other", root.join("skills")).unwrap();
    assert_eq!(listed(&root), (String::new(), vec!["./skills: is a link out of the project".into()]));
    assert_eq!(list(&root.join("skills"), None, &mut Vec::new()).len(), 1, "the user's own links may");
}

#[test]
fn too_many_skills_are_bounded_and_a_changed_one_is_read_anew() {
    let (_folder, root) = project();
    for n in 0..MAX_SKILLS + 2 {
        write(&root, &format!("s{n:02}"), "---\ndescription: x\n---\nold");
    }
    let (lines, skipped) = listed(&root);
    assert_eq!((lines.lines().count(), skipped.len()), (MAX_SKILLS, 2));
    let skill = list(&root.join("skills"), None, &mut Vec::new()).remove(0);
    write(&root, "s00", format!("---\ndescription: x\n---\n{}", "long ".repeat(MAX_TEXT_BYTES)));
    assert!(skill.text().is_ok_and(|text| text.len() < MAX_TEXT_BYTES + 100 && text.ends_with("too long]")));
    fs::remove_file(&skill.path).unwrap();
    assert_eq!(skill.text().unwrap_err(), "its file is gone");
}

proptest! {
    #[test]
    fn any_text_is_a_skill_or_not(text in "(---|\n|name:|description:|[a-z >|'\"-]|.){0,40}") {
        if let Ok((name, description, _)) = named(&text, Path::new("/x/y/SKILL.md")) {
            prop_assert!(!name.is_empty() && !description.is_empty() && !description.contains('\n'));
        }
    }
}
