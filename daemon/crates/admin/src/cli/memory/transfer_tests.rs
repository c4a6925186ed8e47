use super::*;

#[test]
fn facts_are_exported_and_imported_as_they_were() {
    let desk = Desk::new();
    desk.run_in("shop", &["add", "--project", "deploy with \"make\""], None);
    desk.add("tea is at four");
    let exported = desk.run(&["export"]).0.replace("ROOT", &desk.root.display().to_string());
    let first: Value = serde_json::from_str(exported.lines().next().expect("a line")).expect("JSON");
    assert_eq!(first["text"], "deploy with \"make\"");
    let other = Desk::new();
    let file = other.file(&format!("{exported}\n\n"));
    assert_eq!(other.run(&["import", &file]).0, "Imported 2 new facts; 0 were known already.\n");
    assert_eq!(other.run(&["import", &file]).0, "Imported 0 new facts; 2 were known already.\n");
    assert_eq!(other.run(&["export"]).0.replace("ROOT", &other.root.display().to_string()), exported);
    let fact: Value = serde_json::from_str(&other.run(&["show", "1", "--json"]).0).expect("JSON");
    assert_eq!((&fact["fact"]["origin"], &fact["fact"]["trust"]), (&"import".into(), &0.6.into()));
}

#[test]
fn of_a_file_with_a_wrong_line_nothing_is_stored() {
    let desk = Desk::new();
    let good = "{\"text\": \"tea is at four\"}\n";
    let secret = format!("{{\"text\": \"token {}\"}}", ["glpat", "-aB3dE5fG7hJ9kL1mN2pQ"].concat());
    for (line, fault) in [
        ("{", "line 2: it is not JSON: "),
        ("[]", "line 2: it has no `text`"),
        ("{\"text\": 7}", "line 2: it has no `text`"),
        ("{\"text\": \" \"}", "line 2: the text has no words"),
        (&*secret, "line 2: the text holds a secret"),
        ("{\"text\": \"x\", \"scope\": \"shop\"}", "line 2: its `scope` is neither"),
        ("{\"text\": \"x\", \"stated\": \"today\"}", "line 2: its `stated` is not a time"),
        (&*format!("{{\"text\": \"x\", \"more\": \"{}\"}}", "y".repeat(70_000)), "line 2: it is longer than 64 KiB"),
    ] {
        let (told, errors, is_done) = desk.run(&["import", &desk.file(&format!("{good}{line}\n{good}"))]);
        assert!(told.is_empty() && errors.starts_with(&format!("error: facts.jsonl: {fault}")) && !is_done, "{errors}");
        assert!(errors.contains("; nothing was imported\n"), "{errors}");
    }
    let errors = desk.run(&["import", &desk.file(&"\n".repeat(10_000_001))]).1;
    assert_eq!(errors, "error: facts.jsonl: it is larger than 10 MB; nothing was imported\n");
    assert!(desk.run(&["import", "missing"]).1.starts_with("error: missing: it cannot be opened: "));
    assert_eq!(desk.run(&["import", &desk.file("\n")]).0, "facts.jsonl holds no facts and no blocks.\n");
    assert!(!desk.home.paths.memory_file().exists());
}
