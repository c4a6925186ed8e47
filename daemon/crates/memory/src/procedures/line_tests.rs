use proptest::prelude::*;

use super::*;

fn texts(line: &str) -> Vec<String> {
    commands(line).iter().map(Command::text).collect()
}

fn shape(line: &str) -> String {
    commands(line)[0].shape().replace('\0', "*")
}

#[test]
fn commands_that_surely_ran_are_steps_of_their_own() {
    assert_eq!(
        texts("make && ./run 'a && b'  && echo \"x\\\" && y\""),
        ["make", "./run 'a && b'", "echo \"x\\\" && y\""]
    );
    for whole in
        ["make || true && run", "a; b && c", "(cd x && make)", "f() { a && b", "make 2>&1 | tee log", "make &> log"]
    {
        assert_eq!(texts(whole).len(), 1, "{whole}");
    }
    for none in ["", "  ", "a\nb", "a\u{202e}b", "a\u{1b}[2J", "server &", "make && server &"] {
        assert_eq!(texts(none), [""; 0], "{none}");
    }
    assert_eq!(texts(&"x".repeat(MAX_LINE_BYTES + 1)), [""; 0]);
}

#[test]
fn the_name_of_a_command_stays_and_its_arguments_may_differ() {
    for (line, expected) in [
        ("git tag v1.4.2", "git tag *"),
        ("sudo docker compose up -d web db", "sudo docker compose up -d *"),
        ("make deploy", "make deploy"),
        ("make VERSION=3", "make *"),
        ("npm run build -- --fast", "npm run build -- --fast"),
        ("python manage.py migrate shop", "python manage.py migrate *"),
        ("./deploy.sh staging", "./deploy.sh staging"),
        ("A=1 ./run --level=3 x.txt", "A=1 ./run --level=* *"),
        ("ssh blue uptime", "ssh *"),
        ("pg_dump a | gzip > b.gz", "pg_dump * | gzip *"),
        ("head -20 x", "head *"),
    ] {
        assert_eq!(shape(line), expected, "{line}");
    }
    assert_eq!(commands("sudo A=1 docker compose -f x up")[0].name(), "docker compose");
}

#[test]
fn what_only_looks_is_no_step() {
    for (line, looks) in [
        ("ls -la", true),
        ("git status", true),
        ("git branch -v", true),
        ("git branch topic", false),
        ("cat a | grep b", true),
        ("cat a | tee b", false),
        ("cat a > b", false),
        ("grep x y 2>/dev/null", true),
        ("sudo systemctl status nginx", true),
        ("zpool list", true),
        ("ssh blue", true),
        ("ssh blue systemctl restart web", false),
        ("make", false),
        ("vim a", false),
    ] {
        assert_eq!(commands(line)[0].only_looks(), looks, "{line}");
    }
    assert!(commands("sudo vim a")[0].is_editor() && !commands("make vim")[0].is_editor());
}

#[test]
fn every_row_of_the_tables_has_commands() {
    let tables = [
        include_str!("looking.table"),
        include_str!("subcommands.table"),
        include_str!("parameters.table"),
        include_str!("purposes.table"),
    ];
    for row in tables.into_iter().flat_map(str::lines).filter(|row| !row.starts_with('#')) {
        assert!(row.split_once(" : ").is_some_and(|(head, rest)| !head.is_empty() && !rest.trim().is_empty()), "{row}");
    }
}

proptest! {
    #[test]
    fn no_word_of_a_line_is_lost(line in "(?s)[ '\"\\\\&|;<>(a-cé=-]{0,40}") {
        let all = commands(&line);
        let text: String = all.iter().map(Command::text).collect();
        let plain = |text: &str| text.replace([' ', '&'], "");
        prop_assert!(all.is_empty() || plain(&text) == plain(&line), "{text:?}");
    }
}
