use cohab_memory::blocks::{
    conformance::{block, of_project},
    record::BlockDeed,
    store::BlockStore as _,
};

use super::*;

impl Desk {
    fn blocks(&self, args: &[&str]) -> Ran {
        self.run(&[&["blocks"], args].concat())
    }

    /// The text of a block in this folder.
    fn value(&self, folder: &str, label: &str) -> String {
        let shown = self.run_in(folder, &["blocks", "show", label, "--json"], None).0;
        let shown: Value = serde_json::from_str(&shown).expect("JSON");
        shown["block"]["value"].as_str().expect("text").to_owned()
    }
}

#[test]
fn the_delivered_blocks_are_listed_empty_and_make_no_store() {
    let desk = Desk::new();
    let listed = "persona  empty · how the assistant behaves\nhuman    empty · about the user\n\
        project  empty · about the project\n`cohab memory blocks set human I work at night` fills one.\n";
    assert_eq!(desk.blocks(&[]), (listed.to_owned(), String::new(), true));
    let shown = "human  about the user\n       0 of 2,000 characters · everywhere\n";
    assert_eq!(desk.blocks(&["show", "human"]), (shown.to_owned(), String::new(), true));
    for args in [&["history", "human"][..], &["rm", "human"], &["clear", "human", "--history"]] {
        assert_eq!(desk.blocks(args), ("human was never changed.\n".to_owned(), String::new(), true), "{args:?}");
    }
    assert!(!desk.home.paths.memory_file().exists());
}

#[test]
fn a_block_is_changed_shown_and_restored() {
    let desk = Desk::new();
    assert_eq!(
        desk.blocks(&["set", "persona", "Answer in", "short sentences."]).0,
        "persona has 26 of 2,000 characters now.\n`cohab memory blocks clear persona` empties it.\n"
    );
    desk.blocks(&["append", "persona", "Use fish."]);
    desk.blocks(&["prepend", "persona", "Be kind."]);
    let told = desk.blocks(&["replace", "persona", "fish", "zsh"]).0;
    assert!(told.ends_with("now.\n`cohab memory blocks rollback persona` takes this back.\n"), "{told}");
    desk.run_in("shop/src", &["blocks", "append", "project", "Tested with nextest."], None);
    insta::assert_snapshot!(
        [&["blocks"][..], &["blocks", "show", "persona"], &["blocks", "history", "persona"]]
            .map(|args| desk.run_in("shop", args, None).0)
            .join("====\n")
    );
    assert!(desk.blocks(&["rollback", "persona", "--steps", "2"]).0.starts_with("persona has 36 of"));
    assert_eq!(desk.value("", "persona"), "Answer in short sentences.\nUse fish.");
    assert_eq!(desk.blocks(&["rollback", "persona", "--to", "yesterday"]).1, {
        "error: persona has no version from before that time\nHint: `cohab memory blocks history persona` lists its versions\n"
    });
    assert!(desk.blocks(&["clear", "persona"]).0.starts_with("persona is empty now.\n"));
    assert_eq!(desk.blocks(&["clear", "persona"]).0, "persona is unchanged.\n");
}

#[test]
fn a_rollback_goes_to_what_held_when_a_time_began() {
    let desk = Desk::new();
    let paths = &desk.home.paths;
    let mut store = SqliteMemory::create(&paths.memory_file(), &paths.memory_key_dir()).expect("made");
    let first = store.write_block(&block("human", "old"), BlockDeed::Set, at(3_600)).expect("kept").expect("new");
    let newer = cohab_memory::blocks::record::Block { value: "new".to_owned(), ..first };
    store.write_block(&newer, BlockDeed::Set, at(30 * 3_600)).expect("kept").expect("newest");
    drop(store);
    // It is the third day of 1970.
    assert!(desk.blocks(&["rollback", "human", "--to", "yesterday"]).0.starts_with("human has 3 of"));
    assert_eq!(desk.value("", "human"), "old");
    let error = desk.blocks(&["rollback", "human", "--to", "the river"]).1;
    assert!(error.starts_with("error: \"the river\" is not a time"), "{error}");
}

#[test]
fn the_project_block_has_a_text_in_each_project() {
    let desk = Desk::new();
    desk.run_in("shop/src", &["blocks", "set", "project", "the shop"], None);
    desk.run_in("blog", &["blocks", "new", "notes", "--project", "--description", "about posts"], None);
    assert_eq!((desk.value("shop", "project"), desk.value("blog", "project")), ("the shop".into(), String::new()));
    let listed = desk.run_in("shop/src", &["blocks"], None).0;
    assert!(listed.contains("project  8 of 2,000 characters · in ~/shop · the shop\n"), "{listed}");
    assert!(!listed.contains("notes"), "{listed}");
    assert!(desk.run_in("blog", &["blocks"], None).0.contains("notes    empty · in ~/blog · about posts\n"));
    let unknown = desk.run_in("shop", &["blocks", "append", "notes", "x"], None).1;
    assert!(unknown.starts_with("error: there is no block notes\nHint: `cohab memory blocks` lists"), "{unknown}");
}

#[test]
fn a_block_is_made_with_its_template_and_deleted() {
    let desk = Desk::new();
    let new = &["new", "rules", "--limit", "100", "--template", "Rules:"];
    assert_eq!(
        desk.blocks(new).0,
        "Made rules, which holds everywhere and has 6 of 100 characters.\n`cohab memory blocks append rules TEXT` adds to it.\n"
    );
    assert!(desk.blocks(new).1.starts_with("error: there is a block rules already\nHint: "));
    desk.blocks(&["append", "rules", "- the sesame word is plugh"]);
    desk.blocks(&["clear", "rules"]);
    assert_eq!(desk.value("", "rules"), "Rules:");
    let note = "Conversations that were given them, and backups of memory.db, still hold them.\n";
    let deleted = |count: &str| format!("Deleted {count} of rules.\n{note}");
    assert_eq!(desk.blocks(&["clear", "rules", "--history"]).0, deleted("3 versions"));
    let bytes = fs::read(desk.home.paths.memory_file()).expect("read");
    assert!(!bytes.windows(5).any(|part| part == b"plugh"));
    assert_eq!(desk.value("", "rules"), "Rules:");
    assert_eq!(desk.blocks(&["rm", "rules"]).0, deleted("1 version"));
    assert!(desk.blocks(&["show", "rules"]).1.starts_with("error: there is no block rules\nHint: "));
}

#[test]
fn a_text_that_cannot_be_kept_is_refused_with_what_helps() {
    let desk = Desk::new();
    let token = ["glpat", "-aB3dE5fG7hJ9kL1mN2pQ"].concat();
    for (args, error) in [
        (&["set", "human", " \u{7}"][..], "error: the text has no characters\nHint: `cohab memory blocks clear"),
        (
            &["append", "human", &"x".repeat(2_001)],
            "error: the text would have 2001 characters; the limit is 2000\nHint: shorten it by 1\n",
        ),
        (&["set", "human", &token], "error: the text would hold a secret\nHint: write where the secret is kept"),
        (&["new", "notes", "--description", &token], "error: the text would hold a secret\nHint: "),
        (&["replace", "human", "a", "b"], "error: human does not contain that text\nHint: "),
        (&["rollback", "human"], "error: human has only 0 versions\nHint: "),
    ] {
        let (told, errors, is_done) = desk.blocks(args);
        assert!(told.is_empty() && errors.starts_with(error) && !is_done, "{errors}");
    }
    let parsed = |args: &[&str]| Cli::try_parse_from(["cohabd", "memory", "blocks"].iter().chain(args));
    for right in [&["set", "human", "- a", "--b"][..], &["replace", "human", "- a", "-b"]] {
        assert!(parsed(right).is_ok(), "{right:?}");
    }
    for wrong in [
        &["set", "human", "--help"][..],
        &["set", "Human", "x"],
        &["new", "a", "--limit", "8001"],
        &["rollback", "human", "--steps", "0"],
    ] {
        assert!(parsed(wrong).is_err(), "{wrong:?}");
    }
    assert_eq!(desk.run(&["blocks", "--json"]).0.matches("\"chars\":0").count(), 3);
}

#[test]
fn a_text_is_read_from_the_standard_input() {
    let desk = Desk::new();
    desk.run_in("", &["blocks", "set", "human", "-"], Some("two\r\n\tlines\u{1b}[31m\n"));
    assert_eq!(desk.value("", "human"), "two\n\tlines");
    let large = desk.run_in("", &["blocks", "set", "human", "-"], Some(&"x".repeat(1_000_001))).1;
    assert_eq!(large, "error: the standard input cannot be used: it is larger than 1 MB\n");
}

#[test]
fn blocks_are_exported_and_imported_as_they_were() {
    let desk = Desk::new();
    desk.add("tea is at four");
    desk.run_in("shop", &["blocks", "set", "project", "deploy with \"make\"\nand wait"], None);
    desk.blocks(&["new", "rules", "--template", "Rules:", "--limit", "100", "--description", "for answers"]);
    let exported = desk.run(&["export"]).0.replace("ROOT", &desk.root.display().to_string());
    let other = Desk::new();
    let file = other.file(&exported);
    let (facts, blocks) =
        ("Imported 1 new fact; 0 were known already.\n", "Imported 2 blocks; 0 were known already.\n");
    assert_eq!(other.run(&["import", &file]), ([facts, blocks].concat(), String::new(), true));
    let again = other.run(&["import", &file]).0;
    assert!(again.ends_with("Imported 0 blocks; 2 were known already.\n"), "{again}");
    assert_eq!(other.run(&["export"]).0.replace("ROOT", &other.root.display().to_string()), exported);
    other.blocks(&["set", "rules", "changed"]);
    let only_blocks: Vec<&str> = exported.lines().filter(|line| line.contains("\"kind\"")).collect();
    assert_eq!(other.run(&["import", &other.file(&only_blocks.join("\n"))]).0, {
        "Imported 1 block; 1 was known already.\n"
    });
    assert_eq!(other.value("", "rules"), "Rules:");
}

#[test]
fn of_a_file_with_a_wrong_block_nothing_is_stored() {
    let desk = Desk::new();
    let good = "{\"kind\": \"block\", \"label\": \"human\", \"value\": \"x\"}\n";
    let secret = ["glpat", "-aB3dE5fG7hJ9kL1mN2pQ"].concat();
    for (rest, fault) in [
        ("", "its `label` cannot be used: a label is"),
        (", \"label\": \"A\"", "its `label` cannot be used: a label is"),
        (", \"label\": \"a\", \"value\": 7", "its `value` is not a text"),
        (", \"label\": \"a\", \"limit\": -1", "its `limit` is not a number"),
        (", \"label\": \"a\", \"limit\": 9000", "the limit of a block is 1 to 8000 characters"),
        (", \"label\": \"a\", \"limit\": 1, \"value\": \"ab\"", "the text would have 2 characters; the limit is 1"),
        (", \"label\": \"a\", \"scope\": \"shop\"", "its `scope` is neither"),
        (&*format!(", \"label\": \"a\", \"value\": \"{secret}\""), "the text would hold a secret"),
    ] {
        let file = desk.file(&format!("{good}{{\"kind\": \"block\"{rest}}}\n"));
        let (told, errors, is_done) = desk.run(&["import", &file]);
        assert!(
            told.is_empty() && errors.starts_with(&format!("error: facts.jsonl: line 2: {fault}")) && !is_done,
            "{errors}"
        );
        assert!(errors.contains("; nothing was imported\n"), "{errors}");
    }
    assert!(!desk.home.paths.memory_file().exists());
}

#[test]
fn an_audit_and_the_statistics_know_blocks() {
    let desk = Desk::new();
    desk.blocks(&["set", "human", "good!"]);
    let checked =
        "0 facts were checked, no fault was found.\n1 block was checked with its versions, no fault was found.\n";
    assert_eq!(desk.run(&["audit"]), (checked.to_owned(), String::new(), true));
    assert!(desk.run(&["stats"]).0.contains("\nblocks     1\n"));
    assert!(desk.run(&["stats", "--json"]).0.contains("\"blocks\":1,"));
    let mut bytes = fs::read(desk.home.paths.memory_file()).expect("read");
    let place = bytes.windows(5).position(|part| part == b"good!").expect("it is there");
    bytes[place..place + 4].copy_from_slice(b"evil");
    fs::write(desk.home.paths.memory_file(), bytes).expect("changed");
    let (told, errors, is_done) = desk.run(&["audit"]);
    assert_eq!((told.as_str(), is_done), ("A version of the block human was changed by another program.\n", false));
    assert!(errors.starts_with("error: the blocks have 1 fault\nHint: `cohab memory blocks history"), "{errors}");
}

#[test]
fn hostile_blocks_reach_the_output_clean() {
    let desk = Desk::new();
    let evil: Vec<&str> = HOSTILE.iter().map(|row| row.bytes).collect();
    let text = format!("found it {} there", evil.join(" "));
    let paths = &desk.home.paths;
    let mut store = SqliteMemory::create(&paths.memory_file(), &paths.memory_key_dir()).expect("made");
    let hostile = cohab_memory::blocks::record::Block { description: text.clone(), ..block("evil", &text) };
    store.write_block(&hostile, BlockDeed::Set, at(0)).expect("kept");
    store.write_block(&of_project("/srv/\u{1b}[31m", hostile.clone()), BlockDeed::Set, at(0)).expect("kept");
    drop(store);
    for args in [
        &["blocks"][..],
        &["blocks", "--json"],
        &["blocks", "show", "evil"],
        &["blocks", "show", "evil", "--json"],
        &["blocks", "history", "evil"],
        &["blocks", "history", "evil", "--json"],
        &["export"],
    ] {
        let (told, errors, _) = desk.run(args);
        let shown = told + &errors;
        assert!(shown.contains("found it") && sanitize(&shown) == shown, "{args:?}: {shown:?}");
    }
}

#[test]
fn memory_that_is_off_says_so_of_blocks() {
    let desk = Desk::new();
    desk.run(&["off"]);
    assert!(
        desk.blocks(&[]).0.ends_with("Memory is off: questions are given no blocks. `cohab memory on` turns it on.\n")
    );
}
