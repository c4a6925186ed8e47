use std::os::unix::fs::symlink;

use super::*;

const DEPLOY: &str = "# Deploying\n\nOverview.\n\n## Staging\n\nPull the zebra lever, then wait for the walrus to come back from lunch.\nIt takes a minute.\n";

impl Desk {
    /// A desk with documents in the project `shop`, in `notes` and in the folder above.
    fn with_documents() -> Self {
        let desk = Self::new();
        for folder in ["shop/docs/in", "notes"] {
            fs::create_dir_all(desk.root.join(folder)).expect("made");
        }
        for (path, text) in [
            ("shop/docs/deploy.md", DEPLOY),
            ("shop/docs/in/run_deploy_production.sh", "exec make all\n"),
            ("shop/docs/server.key", "zebra"),
            ("shop/docs/photo.jpg", "zebra\0"),
            ("notes/zoo.txt", "A zebra has stripes.\n"),
        ] {
            fs::write(desk.root.join(path), text).expect("written");
        }
        desk
    }
}

#[test]
fn a_learned_folder_is_found_in_its_project_until_it_is_unlearned() {
    let desk = Desk::with_documents();
    let (output, errors, is_done) = desk.run_in("shop", &["learn", "docs"], None);
    assert!(is_done, "{errors}");
    assert_eq!(
        output,
        "Learned ~/shop/docs: 2 files, 2 passages. Left out: 1 not text, 1 with secrets.\n\
        `cohab memory learned WORDS` finds them in ~/shop.\n"
    );
    desk.run(&["learn", "notes/zoo.txt"]);
    let expected = "docs/deploy.md:7 · Deploying\n    Pull the zebra lever, then wait for the walrus to come back from lunch.\n    \
        It takes a minute.\n~/notes/zoo.txt:1\n    A zebra has stripes.\n";
    assert_eq!(desk.run_in("shop", &["learned", "what", "of", "the", "zebra", "and", "walrus"], None).0, expected);
    assert_eq!(desk.run(&["learned", "zebra"]).0, "notes/zoo.txt:1\n    A zebra has stripes.\n");
    assert!(desk.run(&["learned", "walrus"]).0.starts_with("No passage has a word of \"walrus\". --all searches"));
    assert!(desk.run(&["learned", "--all", "walrus"]).0.starts_with("shop/docs/deploy.md:7"));
    let found = desk.run_in("shop/src", &["learned", "--json", "deploy_prod"], None).0;
    let found: Value = serde_json::from_str(&found).expect("JSON");
    let hit = &found["found"][0];
    assert!(hit["file"].as_str().is_some_and(|file| file.ends_with("docs/in/run_deploy_production.sh")), "{hit}");
    assert_eq!((&hit["line"], &hit["text"]), (&Value::from(1), &Value::from("exec make all")));
    let (output, ..) = desk.run_in("shop", &["unlearn", "docs"], None);
    assert!(output.starts_with("Unlearned ~/shop/docs: 2 files deleted from"), "{output}");
    assert_eq!(desk.run(&["learned", "--all", "walrus"]).0, "No passage has a word of \"walrus\".\n");
    let bytes = fs::read(desk.home.paths.knowledge_file()).expect("read");
    assert!(!bytes.windows(6).any(|window| window == b"walrus") && bytes.windows(5).any(|window| window == b"zebra"));
}

#[test]
fn what_was_learned_is_listed() {
    let desk = Desk::with_documents();
    assert!(desk.run(&["learned"]).0.starts_with("Nothing was learned yet."));
    assert_eq!(desk.run(&["learned", "--json"]).0, "{\"places\":[]}\n");
    assert_eq!(desk.run(&["learned", "--json", "zebra"]).0, "{\"found\":[]}\n");
    assert!(!desk.home.paths.knowledge_file().exists());
    desk.run(&["learn", "shop/docs", "notes", "--json"]);
    let expected = "~/notes · 1 file, 1 passage, 1 kB · looked at now\n\
        ~/shop/docs · 2 files, 2 passages, 1 kB · found in ~/shop · looked at now\n";
    assert_eq!((desk.run(&["learn"]).0, desk.run(&["learned"]).0), (expected.to_owned(), expected.to_owned()));
    let listed: Value = serde_json::from_str(&desk.run(&["learn", "--json"]).0).expect("JSON");
    let place = &listed["places"][1];
    assert_eq!(
        (&place["files"], &place["left_out"]),
        (&Value::from(2), &serde_json::json!({"binary": 1, "secret": 1}))
    );
    assert!(place["project"].as_str().is_some_and(|project| project.ends_with("shop")), "{place}");
    desk.run(&["learn", "--everywhere", "shop/docs"]);
    assert!(!desk.run(&["learned"]).0.contains("found in"));
    assert!(desk.run(&["stats"]).0.contains("documents  3 (passages 3)\n"));
    assert!(desk.run(&["audit"]).0.contains("What was learned was checked, no fault was found."));
}

#[test]
fn a_changed_record_is_reported() {
    let desk = Desk::with_documents();
    desk.run(&["learn", "notes"]);
    let key = desk.home.paths.memory_key_dir().join("key");
    fs::write(&key, format!("{}\n", "00".repeat(32))).expect("written");
    let (output, errors, is_done) = desk.run(&["audit"]);
    assert!(!is_done && output.contains("What was learned of ~/notes/zoo.txt was changed"), "{output}");
    assert!(errors.contains("`cohab memory unlearn PATH`"), "{errors}");
}

#[test]
fn what_cannot_be_learned_is_refused() {
    let desk = Desk::with_documents();
    for (args, reason) in [
        (["learn", "none"], "~/none cannot be read: No such file"),
        (["learn", "/"], "/ is the whole system"),
        (["learn", "/dev/null"], "/dev/null is neither a file nor a folder"),
        (["unlearn", "notes"], "~/notes was not learned"),
    ] {
        let (_, errors, is_done) = desk.run(&args);
        assert!(!is_done && errors.contains(reason), "{errors}");
    }
    assert!(!desk.run(&["learn", "notes", "none"]).2 && !desk.home.paths.knowledge_file().exists(), "all or nothing");
}

#[test]
fn a_part_of_a_learned_folder_stays_a_part() {
    let desk = Desk::with_documents();
    desk.run(&["learn", "shop/docs"]);
    symlink(desk.root.join("shop/docs/in"), desk.root.join("link")).expect("linked");
    let (output, ..) = desk.run(&["learn", "link"]);
    assert!(output.starts_with("~/shop/docs/in is part of ~/shop/docs, which was read again.\nLearned"), "{output}");
    let (_, errors, is_done) = desk.run(&["unlearn", "shop/docs/in"]);
    assert!(!is_done && errors.contains("~/shop/docs/in was learned as a part of ~/shop/docs"), "{errors}");
    desk.run(&["learn", "shop"]);
    assert_eq!(desk.run(&["learned"]).0.lines().count(), 1, "the folder above took it in");
    fs::remove_dir_all(desk.root.join("shop")).expect("removed");
    assert!(desk.run(&["unlearn", "shop"]).2, "it can be unlearned although it is gone");
}

#[test]
fn names_and_texts_of_others_reach_the_terminal_clean() {
    let desk = Desk::with_documents();
    for (number, hostile) in HOSTILE.iter().enumerate() {
        let name = format!("{number}{}.md", hostile.bytes.replace(['/', '\0'], "_"));
        let name: String = name.chars().take(60).collect();
        fs::write(desk.root.join("notes").join(name), format!("# {0}\n\nzebra {0}\n", hostile.bytes)).expect("written");
    }
    desk.run(&["learn", "notes"]);
    let (output, ..) = desk.run(&["learned", "-n", "100", "zebra"]);
    assert!(output.lines().count() > HOSTILE.len());
    assert_eq!(output, sanitize(&output));
    let json = desk.run(&["learned", "--json", "-n", "100", "zebra"]).0;
    assert_eq!(json, sanitize(&json));
}
