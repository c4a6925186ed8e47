use cohab_policy::user_rules::{Origin, parse_on};

use super::*;

fn context() -> Context<'static> {
    Context::new(Path::new("/home/ann/src"), Path::new("/home/ann"))
}

fn loaded() -> Loaded {
    parse_on(
        "[[rule]]\ndecision = \"allow\"\nargv = [\"cargo\", \"test\"]\n\n\
         [[rule]]\ndecision = \"allow\"\nargv = [\"./run\"]\nfolder = \"/home/ann/src\"\n\n\
         [[rule]]\ndecision = \"allow\"\nargv = [\"sudo\", \"x\\u001b[2J\"]\n",
        Origin::Own,
        "",
    )
}

#[test]
fn the_list_shows_rules_by_number_and_what_is_not_in_force() {
    let path = Path::new("/home/ann/.config/cohab/rules.toml");
    assert_eq!(
        report::list(&loaded(), path, Path::new("/home/ann")),
        "1. allow `cargo test` in every folder\n\
         2. allow `./run` in ~/src\n\
         /home/ann/.config/cohab/rules.toml:10:1: `sudo x\\u{1b}[2J` is not in force: runs other commands\n"
    );
    let none = report::list(&Loaded::default(), path, Path::new("/home/ann"));
    assert_eq!(none, "There are no rules in ~/.config/cohab/rules.toml.\n");
    assert!(report::check(&loaded(), path).starts_with("2 rules are in force.\n"));
}

#[test]
fn a_line_is_explained_with_its_parts_and_the_rule_that_allows_it() {
    let explained = |line| report::explain(line, context(), &loaded());
    assert_eq!(explained("ls -la"), "allow: runs at once\n");
    assert_eq!(
        explained("cargo test"),
        "ask: you are asked\n  may run code: `cargo`\n\
         but it runs unasked here: allow `cargo test` in every folder\n"
    );
    assert!(explained("cargo build").ends_with("it can be allowed for good, by `d` or `a` when it is asked\n"));
    assert!(explained("cargo build | cat").ends_with("it cannot be allowed for good: is more than one command\n"));
    assert!(explained("cargo build | cat").contains("part 2: allow: cat\n"), "{}", explained("cargo build | cat"));
    let told = report::explain_json("cargo test; ls", context(), &loaded());
    let told: serde_json::Value = serde_json::from_str(&told).unwrap();
    assert_eq!((&told["level"], &told["runs_unasked"]), (&"ask".into(), &false.into()));
    assert_eq!((&told["parts"][1]["command"], &told["parts"][1]["level"]), (&"ls".into(), &"allow".into()));
    let told = report::explain_json("cargo test", context(), &loaded());
    assert!(told.contains("\"runs_unasked\":true") && told.contains("\"command\":\"cargo test\""), "{told}");
    assert!(explained("rm -rf x").starts_with("danger: ") && explained("rm -rf x").ends_with("no rule allows it\n"));
}

#[test]
fn what_runs_only_because_programs_cannot_write_is_told() {
    let line = "for f in *.c; do head -n 3 \"$f\"; done";
    let locked = Context { lock: Some(Lock::UNNAMED), ..context() };
    let explained = report::explain(line, locked, &loaded());
    assert!(explained.starts_with("allow: runs at once\n"), "{explained}");
    assert!(explained.ends_with("because its programs can only read here\n"), "{explained}");
    assert!(report::explain_json(line, locked, &loaded()).contains("\"needs_lock\":true"));
    assert!(report::explain(line, context(), &loaded()).starts_with("ask: "));
    assert_eq!(report::explain("ls -la", locked, &loaded()), "allow: runs at once\n");
}

/// `cohab policy` alone.
#[derive(Debug, clap::Parser)]
struct Alone {
    #[command(flatten)]
    args: PolicyArgs,
}

#[test]
fn a_line_is_judged_for_the_shell_that_is_named() {
    let shell = |words: &[&str]| {
        let words = std::iter::once("policy").chain(words.iter().copied());
        let args = <Alone as clap::Parser>::try_parse_from(words).ok()?.args;
        Some(match args.command {
            Some(PolicyCommand::Explain { shell, .. }) => shell,
            _ => args.shell,
        })
    };
    assert_eq!(shell(&["--stdin"]).as_deref(), Some("bash"));
    assert_eq!(shell(&["explain", "ls"]).as_deref(), Some("bash"));
    assert_eq!(shell(&["--stdin", "--shell", "zsh"]).as_deref(), Some("zsh"));
    assert_eq!(shell(&["explain", "--shell", "fish", "ls"]).as_deref(), Some("fish"));
    assert_eq!((shell(&["--stdin", "--shell", "ksh"]), shell(&["--shell", "zsh", "list"])), (None, None));
    let level = |shell: &str| {
        let mut output = Vec::new();
        judge_all(&b"\"help cd\""[..], &mut output, context().in_shell(Shell::of(Path::new(shell)))).unwrap();
        String::from_utf8(output).unwrap()
    };
    assert_eq!((level("bash"), level("zsh"), level("fish")), ("allow\n".into(), "ask\n".into(), "ask\n".into()));
}

#[test]
fn each_line_of_the_input_gets_a_level() {
    let input = "\"ls\"\n\"touch a\"\n\"rm -rf /\"\nno json\n\n\"ls\\nrm -rf x\"\n\"pwd\"";
    let mut output = Vec::new();
    judge_all(input.as_bytes(), &mut output, context()).unwrap();
    assert_eq!(String::from_utf8(output).unwrap(), "allow\nask\ndanger\nask\nask\ndanger\nallow\n");
}

#[test]
fn broken_endless_and_nested_input_gets_one_answer_a_line_in_order() {
    let mut input = Vec::new();
    let mut expected = String::new();
    let mut add = |line: &[u8], level: &str| {
        input.extend([line, b"\n"].concat());
        expected.push_str(&format!("{level}\n"));
    };
    for line in
        ["no json", "\"open", "\"a\" \"b\"", "{}", "[\"ls\"]", "null", "1", "", "\"\\x\"", "\"\\ud800\"", "\"\""]
    {
        add(line.as_bytes(), "ask");
    }
    add(b"\"ls \xff\"", "danger");
    add(b"\xff\xfe", "danger");
    add(b"\"ls \\u0000\"", "danger");
    add("\"ls\"\r".as_bytes(), "allow");
    add("[".repeat(100_000).as_bytes(), "ask");
    add(format!("\"{}\"", "x".repeat(2 * 1024 * 1024)).as_bytes(), "danger");
    add(&vec![b'\0'; MAX_LINE_BYTES as usize], "danger");
    add(b"\"pwd\"", "allow");
    input.extend(b"\"ls");
    expected.push_str("ask\n");
    let mut output = Vec::new();
    judge_all(&input[..], &mut output, context()).unwrap();
    assert_eq!(String::from_utf8(output).unwrap(), expected);
}

#[test]
fn a_broken_file_is_told_by_line_and_column_and_as_json() {
    let text = "[[rule]]\ndecision = \"allow\"\nprefix = [\"just\"]\noperands = \"all\"\n\n[[rule]\n";
    let (broken, path) = (parse_on(text, Origin::Own, ""), Path::new("r.toml"));
    assert!(report::check(&broken, path).contains("r.toml:6:"), "{}", report::check(&broken, path));
    let one = parse_on(&text[..text.len() - 9], Origin::Own, "");
    let checked = report::check(&one, path);
    assert!(checked.contains("r.toml:4:12: `just` is not in force: `operands` is none of"), "{checked}");
    let told: serde_json::Value = serde_json::from_str(&report::check_json(&one, path)).unwrap();
    assert_eq!((&told["problems"][0]["line"], &told["problems"][0]["column"]), (&4.into(), &12.into()));
}

#[test]
fn what_policy_prints_is_harmless() {
    let is_odd = |c: char| (c.is_control() && c != '\n') || cohab_text::sanitize::is_invisible(c);
    for row in cohab_text::terminal_attack_fixtures::HOSTILE {
        let text = format!("a{}b", row.bytes);
        let words = toml::Value::Array(vec!["x".into(), text.as_str().into()]);
        let rule = [("decision", "allow".into()), ("argv", words), ("folder", format!("/{text}").into())];
        let rule = toml::Table::from_iter(rule.map(|(key, value)| (key.to_owned(), value)));
        let file = toml::Table::from_iter([("rule".to_owned(), toml::Value::Array(vec![rule.into()]))]);
        let loaded = parse_on(&file.to_string(), Origin::Own, "");
        let (path, line) = (Path::new(&text), format!("ls '{text}'; {text} | x"));
        for told in [
            report::list(&loaded, path, Path::new("/home/ann")),
            report::check(&loaded, path),
            report::check_json(&loaded, path),
            report::explain(&line, context(), &loaded),
            report::explain_json(&line, context(), &loaded),
            cohab_line_classifier::explain::explain(&line, &crate::path_names::PathNames::of(None, None, &[])),
        ] {
            assert!(!told.contains(is_odd), "{}: {told:?}", row.name);
        }
    }
}

#[test]
fn how_careful_the_assistant_is_is_told_with_the_file_and_here_by_all_files() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let book = RuleBook::with_system(path("system.toml"), Arc::new(RulesFile::new(path("rules.toml"))));
    let told = |file: Option<&Path>| {
        let loaded = checked(file, &book, folder.path()).unwrap();
        report::check(&loaded, Path::new("r.toml"))
    };
    let delivered = "0 rules are in force.\n\
        Safety is balanced; personal data is not redacted.\n";
    assert_eq!(told(None), delivered);
    assert!(checked(Some(&path("gone.toml")), &book, folder.path()).is_err());
    fs::write(path("rules.toml"), "[safety.personal]\nemail = \"redact\"\n").unwrap();
    fs::write(path("system.toml"), "[safety.stages]\nguard = \"firm\"\n").unwrap();
    let here = told(None);
    assert!(here.ends_with("Safety is balanced, guard firm; personal data that is redacted: email.\n"), "{here}");
    assert!(told(Some(&path("rules.toml"))).contains("Safety is balanced; personal data that is redacted: email."));
    let json = report::check_json(&checked(None, &book, folder.path()).unwrap(), Path::new("r.toml"));
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!((&json["safety"]["guard"], &json["safety"]["personal"]["ip"]), (&"firm".into(), &"keep".into()));
}
