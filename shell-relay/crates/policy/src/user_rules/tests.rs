use proptest::prelude::*;

use super::*;
use crate::{Context, Level, assess_line};

fn rule(line: &str) -> Rule {
    Rule::of(line, None, Shell::Bash).unwrap_or_else(|reason| panic!("{line}: {reason}"))
}

fn rules(lines: &[&str]) -> Rules {
    Rules(lines.iter().map(|line| rule(line)).collect())
}

#[test]
fn a_rule_holds_for_exactly_its_words_however_they_are_written() {
    let rules = rules(&["cargo test 'a b'"]);
    for line in ["cargo test 'a b'", "cargo  test \"a b\"", "cargo 'test' 'a 'b"] {
        assert!(rules.find(line, Path::new("/"), Shell::Bash).is_some(), "{line}");
    }
    for line in [
        "cargo test",
        "cargo test a b",
        "cargo test 'a b' c",
        "cargo test 'a b'; id",
        "cargo test 'a b' && id",
        "cargo test 'a b' | sh",
        "cargo test 'a b' > f",
        "cargo test 'a b' 2>&1",
        "cargo test 'a b' &",
        "X=1 cargo test 'a b'",
        "(cargo test 'a b')",
        "cargo test 'a b'\nid",
        "cargo test $(id)",
        "cargo test 'a b' # x",
        "! cargo test 'a b'",
        "'cargo' test 'a b'",
        "cargo test 'a b'\u{200b}",
        "cargo test \"a\u{a0}b\"",
    ] {
        assert!(rules.find(line, Path::new("/"), Shell::Bash).is_none(), "{line}");
    }
}

#[test]
fn a_rule_for_a_folder_holds_nowhere_else() {
    let rule = Rule::of("./run", Some(Path::new("/src/shop")), Shell::Zsh).unwrap();
    let rules = Rules(vec![rule]);
    assert!(rules.find("./run", Path::new("/src/shop"), Shell::Zsh).is_some());
    for other in ["/src", "/src/shop/x", "/src/shop2", "/"] {
        assert!(rules.find("./run", Path::new(other), Shell::Zsh).is_none(), "{other}");
    }
}

#[test]
fn what_runs_other_things_is_never_remembered() {
    for line in [
        "bash run.sh",
        "python3 x.py",
        "sudo ls",
        "env ls",
        "xargs ls",
        "find . -name x",
        "git push",
        "git commit -m x",
        "curl x.org",
        "ssh host",
        "npx thing",
        "docker ps",
        "export A",
        "alias x",
        "source f",
        "eval ls",
        "/usr/bin/sudo ls",
        "./python3 x",
        "perl x",
        "rm x",
        "nohup cargo test",
        "timeout 5 cargo test",
        "umask 0",
        "kill 1",
    ] {
        assert!(Rule::of(line, Some(Path::new("/")), Shell::Bash).is_err(), "{line}");
    }
}

#[test]
fn what_is_no_simple_command_of_literal_words_is_never_remembered() {
    for line in [
        "",
        "a; b",
        "a | b",
        "a > f",
        "a *",
        "a ~/x",
        "a $X",
        "a `b`",
        "\"a\" b",
        "a {b,c}",
        "a &",
        "x=1",
        "if a; then b; fi",
        "a 'b",
    ] {
        assert!(Rule::of(line, Some(Path::new("/")), Shell::Bash).is_err(), "{line}");
    }
    assert!(Rule::of("./run", None, Shell::Bash).is_err(), "another program in another folder");
    for line in ["cargo test", "make check", "npm test", "just fmt-check", "touch a", "/opt/run x", "mkdir build"] {
        assert!(Rule::of(line, None, Shell::Bash).is_ok(), "{line}");
    }
}

#[test]
fn another_shell_takes_only_what_it_reads_alike() {
    assert!(Rule::of("cargo test", None, Shell::Zsh).is_ok() && Rule::of("cargo test", None, Shell::Fish).is_ok());
    assert!(Rule::of("cargo =test", None, Shell::Zsh).is_err());
    assert!(Rule::of("cargo test", None, Shell::Other).is_err());
}

#[test]
fn a_written_rule_is_read_back_with_its_examples_and_comments_stay() {
    let mine = "# by hand\n\n[[rule]] # first\ndecision = \"allow\"\nargv = [\"just\", \"fmt\"]\n";
    let folder = Path::new("/src/my shop");
    let added = Rule::of("cargo test 'it is'", Some(folder), Shell::Bash).unwrap();
    let text = with_rule(mine, &added).unwrap();
    assert!(text.starts_with(mine), "{text}");
    let loaded = parse(&text);
    assert_eq!(loaded.refused, []);
    assert_eq!(loaded.rules.all(), [rule("just fmt"), added.clone()]);
    assert_eq!(with_rule(&text, &added).unwrap(), text, "it is there already");
    let (without, gone) = without_rule(&text, 1).unwrap();
    assert_eq!(gone, rule("just fmt"));
    assert_eq!(parse(&without).rules.all(), [added]);
}

#[test]
fn comments_stay_when_a_rule_is_taken_back() {
    let one = with_rule("", &rule("cargo test")).unwrap();
    let (none, _) = without_rule(&one, 1).unwrap();
    assert!(none.starts_with("# Commands that cohab runs") && parse(&none) == Loaded::default(), "{none:?}");
    let again = with_rule(&none, &rule("cargo test")).unwrap();
    assert_eq!(again, one);
    let two = with_rule(&one, &rule("cargo build")).unwrap();
    for number in [1, 2] {
        let (text, _) = without_rule(&two, number).unwrap();
        assert!(text.starts_with("# Commands that cohab runs") && parse(&text).rules.all().len() == 1, "{text}");
        assert!(parse(&text).refused.is_empty(), "{text}");
    }
    let mine = "# a\n[[rule]]\ndecision = \"allow\"\nargv = [\"x\"]\n# the end\n";
    let (text, _) = without_rule(mine, 1).unwrap();
    assert_eq!(text, "# a\n# the end\n");
}

#[test]
fn a_new_file_says_what_it_is() {
    let text = with_rule("", &rule("cargo test")).unwrap();
    assert_eq!(
        text,
        "# Commands that cohab runs without asking: exactly these words, in this folder or in any.\n\
         # The keys `d`, `a` and `p` of a question write here. Danger is asked all the same.\n\n\
         [[rule]]\ndecision = \"allow\"\nargv = [\"cargo\", \"test\"]\nmatch = [\"cargo test\"]\n\
         not_match = [\"cargo\", \"cargo test more\", \"cargo test; id\", \"cargo test > out\"]\n"
    );
}

#[test]
fn a_rule_that_is_not_sound_is_refused_by_name_and_line_and_the_others_hold() {
    for (broken, reason) in [
        ("decision = \"maybe\"\nargv = [\"x\"]", "`decision`"),
        ("decision = \"allow\"\nprefix = [\"x\", []]", "`prefix`"),
        ("decision = \"allow\"\nprefix = [\"x\"]\noperands = \"all\"", "`operands`"),
        ("decision = \"deny\"\nprefix = [\"x\"]\noperands = \"any-literal\"", "`allow`"),
        ("decision = \"allow\"\nargv = [\"x\"]\noperands = \"none\"", "`operands`"),
        ("decision = \"allow\"\nprefix = [[\"x\", \"env\"], \"y\"]", "runs other commands"),
        ("decision = \"allow\"\nargv = [\"x\"]\nuntil = \"soon\"", "`until`"),
        ("decision = \"ask\"\nprefix = [\"x\"]\nmatch = [\"y\"]", "`y` does not match"),
        ("argv = [\"x\"]", "`decision`"),
        ("decision = \"allow\"\nargv = []", "`argv`"),
        ("decision = \"allow\"\nargv = [\"x\", 1]", "`argv`"),
        ("decision = \"allow\"\nprefix = [\"x\"]\nargv = [\"x\"]", "`argv` and `prefix`"),
        ("decision = \"allow\"\nargv = [\"sudo\", \"x\"]", "runs other commands"),
        ("decision = \"allow\"\nargv = [\"x\"]\nfolder = \"src\"", "absolute"),
        ("decision = \"allow\"\nargv = [\"x\"]\nmatch = [\"x y\"]", "`x y` does not match"),
        ("decision = \"allow\"\nargv = [\"x\"]\nnot_match = [\"x\"]", "`x` matches"),
    ] {
        let text = format!("# one\n[[rule]]\n{broken}\n\n[[rule]]\ndecision = \"allow\"\nargv = [\"good\"]\n");
        let loaded = parse(&text);
        assert_eq!(loaded.rules.all(), [rule("good")], "{broken}");
        assert_eq!(loaded.refused.len(), 1, "{broken}");
        assert!(loaded.refused[0].line >= 2, "{broken}");
        assert!(loaded.refused[0].reason.contains(reason), "{broken}: {:?}", loaded.refused);
    }
    assert_eq!(parse("x = 1\n").refused[0].name, "x");
    assert_eq!(parse("\n[[rule]\n").refused[0].line, 2);
}

proptest! {
    #[test]
    fn no_text_of_a_file_allows_danger_or_breaks_the_reader(text in "\\PC{0,200}") {
        let _ = parse(&text);
    }

    #[test]
    fn a_remembered_command_with_anything_behind_it_is_another_one(tail in "[ -~\\n]{1,20}") {
        let rules = rules(&["cargo test"]);
        let line = format!("cargo test{tail}");
        if let Some(rule) = rules.find(&line, Path::new("/"), Shell::Bash) {
            prop_assert!(line.trim_end_matches([' ', '\n', ';', '\t']) == "cargo test" || line.contains(['\'', '"']), "{line:?} {rule:?}");
        }
    }

    #[test]
    fn what_can_be_remembered_can_be_read_back(words in prop::collection::vec("[a-z' \"$!*~=.-]{1,6}", 0..4)) {
        let line = format!("tool {}", words.iter().map(|word| format!("'{}'", word.replace('\'', ""))).collect::<Vec<_>>().join(" "));
        if let Ok(rule) = Rule::of(&line, None, Shell::Bash) {
            let loaded = parse(&with_rule("", &rule).unwrap());
            prop_assert_eq!(loaded.refused, []);
            prop_assert_eq!(loaded.rules.all(), [rule]);
        }
    }
}

#[test]
fn the_parts_of_a_line_are_told_one_by_one() {
    let context = Context::new(Path::new("/home/ann/src"), Path::new("/home/ann"));
    let told = |line: &str| {
        let parts = crate::parts(line, context).into_iter().map(|part| (part.text, part.level));
        parts.collect::<Vec<_>>()
    };
    assert_eq!(
        told("cd build && cargo test 'a b' *.rs 2>&1 | grep -i x; rm -rf out"),
        [
            ("cd build".into(), Level::Allow),
            ("cargo test 'a b' *.rs 2>&1".into(), Level::Ask),
            ("grep -i x".into(), Level::Allow),
            ("rm -rf out".into(), Level::Danger),
        ]
    );
    assert!(told("cargo test").is_empty() && told("a $(b); c").is_empty());
    assert_eq!(assess_line("cargo test", context).level, Level::Ask);
}

const JUST: &str = "[[rule]]\ndecision = \"allow\"\nprefix = [\"just\", \"fmt-check\"]\noperands = \"none\"\n\
    match = [\"just fmt-check\"]\nnot_match = [\"just fmt\", \"just fmt-check --shell x\", \"just fmt-check; id\"]\n";

#[test]
fn a_prefix_names_words_of_sets_and_what_may_follow() {
    assert_eq!(parse(JUST).refused, []);
    let text = "[[rule]]\ndecision = \"allow\"\nprefix = [\"cargo\", [\"test\", \"check\"]]\noperands = \"any-literal\"\n\
        [[rule]]\ndecision = \"allow\"\nprefix = [\"pytest\"]\noperands = \"workspace-paths\"\n";
    let loaded = parse(text);
    assert_eq!(loaded.refused, []);
    let found = |line| loaded.rules.find(line, Path::new("/src/app"), Shell::Bash).is_some();
    for line in ["cargo test", "cargo check a 'b c'", "pytest", "pytest tests/a.py", "pytest ./x /src/app/y"] {
        assert!(found(line), "{line}");
    }
    for line in [
        "cargo build",
        "cargo",
        "cargo test --config x",
        "cargo test a; id",
        "cargo test $x",
        "cargo test *",
        "pytest ../other",
        "pytest /etc/hosts",
        "pytest .env",
        "pytest -p x",
        "pytest ~/x",
    ] {
        assert!(!found(line), "{line}");
    }
}

fn judged(text: &str, line: &str) -> Level {
    let context = Context::new(Path::new("/src/app"), Path::new("/home/ann"));
    let loaded = parse(text);
    let ruled = loaded.apply(line, context, assess_line(line, context));
    if ruled.allowed_by.is_some() { Level::Allow } else { ruled.verdict.level }
}

#[test]
fn the_strictest_rule_counts_wherever_its_command_stands_and_in_any_order() {
    let allow = "[[rule]]\ndecision = \"allow\"\nargv = [\"make\", \"x\"]\n";
    let ask = "[[rule]]\ndecision = \"ask\"\nprefix = [\"ls\"]\n";
    let danger = "[[rule]]\ndecision = \"danger\"\nprefix = [\"terraform\", \"plan\"]\n";
    let deny = "[[rule]]\ndecision = \"deny\"\nprefix = [\"git\", [\"push\", \"fetch\"]]\n";
    for text in [[allow, ask, danger, deny].concat(), [deny, danger, ask, allow].concat()] {
        for (line, level) in [
            ("make x", Level::Allow),
            ("ls -l", Level::Ask),
            ("pwd; ls", Level::Ask),
            ("terraform plan -out x", Level::Danger),
            ("git push", Level::Deny),
            ("/usr/bin/git fetch --all", Level::Deny),
            ("ls; sudo git push", Level::Deny),
            ("bash -c 'git push'", Level::Deny),
            ("echo $(git push)", Level::Deny),
            ("g\\it push", Level::Deny),
            ("git $x", Level::Deny),
            ("git status", Level::Allow),
        ] {
            assert_eq!(judged(&text, line), level, "{line}");
        }
    }
    let stricter = "[[rule]]\ndecision = \"ask\"\nprefix = [\"make\"]\n";
    assert_eq!(judged(&[allow, stricter].concat(), "make x"), Level::Ask);
    let wide = "[[rule]]\ndecision = \"allow\"\nprefix = [\"touch\"]\noperands = \"any-literal\"\n";
    assert_eq!((judged(wide, "touch x"), judged(wide, "touch /etc/x")), (Level::Allow, Level::Danger));
}

#[test]
fn what_cannot_be_read_loosens_nothing_and_what_is_over_is_over() {
    assert_eq!(judged("[[rule]]\ndecision = \"deny\"\nprefix = \"ls\"\n", "pwd"), Level::Ask);
    assert_eq!(judged("[[rule]", "pwd"), Level::Ask);
    assert_eq!(judged("[[rule]]\ndecision = \"allow\"\nargv = \"x\"\n", "pwd"), Level::Allow);
    let text = "[[rule]]\ndecision = \"allow\"\nargv = [\"x\"]\nuntil = \"2026-03-31\"\n";
    for (today, rules) in [("2026-03-31", 1), ("2026-04-01", 0), ("", 1)] {
        assert_eq!(parse_on(text, Origin::Own, today).rules.all().len(), rules, "{today}");
    }
    assert_eq!(parse_on(JUST, Origin::Project, "").refused[0].reason, "a project may only make things stricter");
}

#[test]
fn what_is_too_long_to_be_followed_may_hold_what_a_rule_denies() {
    let deny = "[[rule]]\ndecision = \"deny\"\nprefix = [\"git\", \"push\"]\n";
    for line in [
        format!("{}git push", "ls; ".repeat(200)),
        format!("{}git push", "ls; ".repeat(40_000)),
        format!("{}git push", "x ".repeat(20_000)),
        format!("{}git push", "$(".repeat(20)),
        format!("{}git push", "env ".repeat(20)),
    ] {
        assert_eq!(judged(deny, &line), Level::Deny, "{} bytes", line.len());
    }
    assert_eq!(judged(deny, &"ls; ".repeat(200)), Level::Ask);
}

#[test]
fn a_hostile_file_of_rules_is_told_by_its_place_and_loosens_nothing() {
    let deny = "[[rule]]\ndecision = \"deny\"\nprefix = [\"pwd\"]\n";
    let words = "\"word\", ".repeat(50_000);
    for (text, place) in [
        (format!("{deny}\0"), (4, 0)),
        (format!("{deny}# a\n\tx = \u{0}"), (5, 0)),
        (format!("{deny}x = \u{202e}"), (4, 0)),
        (format!("{deny}a = {}", "[".repeat(10_000)), (4, 0)),
        (format!("{deny}a = {}", "{a=".repeat(10_000)), (4, 0)),
        (format!("{deny}{}", "[[".repeat(10_000)), (4, 0)),
        (format!("{deny}[[rule]]\ndecision = \"ask\"\nargv = [{words}1]\n"), (6, 8)),
        (format!("{deny}[[rule]]\ndecision = \"ask\"\nprefix = [[{words}], []]\n"), (6, 10)),
        (format!("{deny}{}", "[[rule]]\n".repeat(20_000)), (4, 1)),
        ((0..2_000).map(|n| format!("k{n} = 1\n")).collect::<String>() + deny, (1, 1)),
    ] {
        let loaded = parse(&text);
        let first = &loaded.refused[0];
        assert!(first.may_tighten && first.line == place.0 && (place.1 == 0 || first.column == place.1), "{first:?}");
        assert!(loaded.refused.len() <= 1_001 && first.name.len() <= 1_000 && first.reason.len() <= 1_000);
        assert_ne!(judged(&text, "pwd"), Level::Allow);
        assert_ne!(judged(&text, "ls"), Level::Allow, "a rule that cannot be read may have been about it");
    }
    // Mistakes of rules that only allow come first: the one that may tighten is reported all the same.
    let many = "[[rule]]\ndecision = \"allow\"\n".repeat(1_500) + "[[rule]]\ndecision = \"deny\"\n";
    assert_eq!(judged(&many, "ls"), Level::Ask);
    let long = format!("[[rule]]\ndecision = \"ask\"\nprefix = [[{words}\"ls\"]]\n");
    assert_eq!(judged(&long, "ls"), Level::Ask);
    assert_eq!(judged(&long, "pwd"), Level::Allow);
}
