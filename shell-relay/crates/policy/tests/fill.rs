//! Tests that values replace their placeholders exactly, or not at all.

use std::process::Command;

use cohab_policy::fill;
use cohab_secrets::{ExactValues, FilledLine, Mark, Scrubber, Settings, placeholders};
use cohab_shell_state::shell::Shell;
use proptest::prelude::*;

/// A scrubber that has met `value`, and the placeholder that it wrote for it.
fn met(value: &str) -> (Scrubber, String) {
    let exact = ExactValues::new([value.as_bytes()]).into();
    let mut scrubber = Scrubber::new(Settings { exact, mark: Some(Mark::fresh()), ..Settings::default() });
    let placeholder = scrubber.text(value).into_owned();
    assert!(placeholder.starts_with("<secret:value#1-"), "{placeholder}");
    (scrubber, placeholder)
}

fn filled(value: &str, template: &str, shell: Shell) -> Result<String, String> {
    let (mut scrubber, placeholder) = met(value);
    match fill(&mut scrubber, &template.replace('@', &placeholder), shell) {
        Ok(line) => Ok(line.expect("there is a placeholder").text().to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

const PLAIN: &str = "aB3dE5fG7hJ9";
const ALL: [Shell; 3] = [Shell::Bash, Shell::Zsh, Shell::Fish];

#[test]
fn a_value_stands_quoted_where_its_placeholder_stood() {
    let value = r#"it's "5$ `x` \n"#;
    for (template, shell, line) in [
        ("printf @", Shell::Bash, r#"printf 'it'\''s "5$ `x` \n'"#),
        ("printf 'a @ b'", Shell::Zsh, r#"printf 'a it'\''s "5$ `x` \n b'"#),
        ("printf \"a @ b\"", Shell::Bash, r#"printf "a it's \"5\$ \`x\` \\n b""#),
        ("printf @", Shell::Fish, r#"printf 'it\'s "5$ `x` \\n'"#),
        ("printf \"@\"", Shell::Fish, r#"printf "it's \"5\$ `x` \\n""#),
        (
            "TOKEN=@ printf x; A=1 B='@' c",
            Shell::Bash,
            r#"TOKEN='it'\''s "5$ `x` \n' printf x; A=1 B='it'\''s "5$ `x` \n' c"#,
        ),
    ] {
        assert_eq!(filled(value, template, shell).as_deref(), Ok(line), "{template}");
    }
    assert_eq!(
        filled(PLAIN, "a 2>&1 | b -k=@ &>x && c", Shell::Bash).as_deref(),
        Ok("a 2>&1 | b -k='aB3dE5fG7hJ9' &>x && c")
    );
}

#[test]
fn where_the_place_is_not_certain_nothing_is_filled_in() {
    for template in [
        "cat <<E\n@\nE",
        "cat <<< @",
        "printf $'@'",
        "printf $\"@\"",
        "printf \"$(printf @)\"",
        "printf `printf @`",
        "(printf @)",
        "printf ${X:-@}",
        "printf \"${X:-@}\"",
        "printf '@",
        "printf \"@",
        "printf x # @",
        "printf \\@",
        "printf \"\\@\"",
        "@",
        "x; @ y",
        "x | @",
        "A=1 @",
        "'@'",
        "if @; then x; fi",
        "printf > @",
        "printf 2>@",
        "printf <@",
        "printf 'a'@",
        "printf @'a'",
        "printf @@",
        "printf \"$(x)\" @",
        "f() { printf @; }",
        "[ x ] || ! @",
    ] {
        for shell in ALL {
            let told = filled(PLAIN, template, shell).expect_err(template);
            assert!(told.starts_with("value#1 is not filled in: "), "{told}");
        }
    }
    assert!(filled(PLAIN, "printf 'a''@'", Shell::Zsh).is_err());
    assert!(filled(PLAIN, "printf @", Shell::Other).is_err());
}

#[test]
fn a_value_that_could_mean_more_than_itself_is_not_filled_in() {
    for (value, template) in [
        ("-rf /home/ann", "rm @"),
        ("--output=x", "curl '@'"),
        ("~ann/secret", "ls @"),
        ("two\nlines-of-text", "printf @"),
        ("escape\u{1b}[31m", "printf @"),
        ("$(reboot now)", "bash -c \"echo @\""),
        ("x'; drop table a", "psql -c \"select '@'\""),
        ("/tmp/program", "sudo @"),
        ("a value <secret:x#1>", "printf @"),
    ] {
        for shell in ALL {
            assert!(filled(value, template, shell).is_err(), "{value} in {template}");
        }
    }
    assert!(filled("-starts-with-a-dash", "curl -H 'X: @'", Shell::Bash).is_ok());
    assert!(filled(PLAIN, "sudo curl -H 'X: @'", Shell::Bash).is_ok());
}

#[test]
fn only_a_placeholder_of_this_scrubber_is_filled_in() {
    let (mut scrubber, own) = met(PLAIN);
    let (_, others) = met(PLAIN);
    for wrong in [
        others,
        own.replace("value", "jwt"),
        own.replace("#1", "#2"),
        own.replace("#1", "#01"),
        "<secret:value#1>".into(),
        own.replace("<secret", "<quoted-secret"),
    ] {
        let line = format!("printf {wrong}");
        assert_eq!(placeholders(&line).count(), 1, "{line}");
        assert!(fill(&mut scrubber, &line, Shell::Bash).is_err(), "{line}");
        assert!(fill(&mut scrubber, &format!("printf {own} {wrong}"), Shell::Bash).is_err(), "{line}");
    }
    assert_eq!(fill(&mut scrubber, "printf x", Shell::Bash), Ok(None));
    assert!(fill(&mut scrubber, &format!("printf {own}"), Shell::Bash).is_ok_and(|line| line.is_some()));
}

#[test]
fn a_short_value_is_not_filled_in() {
    let mut scrubber = Scrubber::new(Settings { mark: Some(Mark::fresh()), ..Settings::default() });
    let clean = scrubber.text("postgres://app:s3cr3t!@db:5432/main").into_owned();
    let error = fill(&mut scrubber, &format!("psql {clean}"), Shell::Bash).expect_err("it is short");
    assert!(error.to_string().contains("too short"), "{error}");
}

#[test]
fn what_was_filled_in_is_taken_out_of_what_comes_back_in_any_form() {
    let mut scrubber = Scrubber::new(Settings { mark: Some(Mark::fresh()), ..Settings::default() });
    let value = "Tr0ub4dor$3x";
    let clean = scrubber.text(&format!("PASSWORD='{value}'")).into_owned();
    assert!(clean.starts_with("PASSWORD='<secret:secret#1-"), "{clean}");
    let placeholder = clean.trim_start_matches("PASSWORD='").trim_end_matches('\'');
    assert_eq!(scrubber.text(value), value, "alone it looks like nothing");
    let line =
        fill(&mut scrubber, &format!("login {placeholder}"), Shell::Bash).expect("it can be").expect("there is one");
    assert_eq!(line.text(), "login 'Tr0ub4dor$3x'");
    for form in [value, "VHIwdWI0ZG9yJDN4", "Tr0ub4dor%243x", "Tr0ub4dor\\$3x"] {
        let back = scrubber.text(&format!("denied: {form}.")).into_owned();
        assert!(back.starts_with("denied: <secret:") && !back.contains(form), "{form}: {back}");
        assert_eq!(back.contains(placeholder), form == value, "the value itself has the placeholder it had");
    }
    assert_eq!(format!("{line:?} {:?}", scrubber.text("x")), "FilledLine \"x\"");
    assert!(!format!("{scrubber:?}").contains(value));
}

#[test]
fn a_line_that_is_filled_in_does_not_print() {
    assert_eq!(format!("{:?}", FilledLine::from("a value".to_owned())), "FilledLine");
}

/// The words of `line` in that shell, one a line; `None` if the shell is not installed.
fn words(shell: Shell, line: &str) -> Option<String> {
    let program = shell.name();
    let mut command = Command::new(program);
    match shell {
        Shell::Bash => command.args(["--norc", "--noprofile"]),
        Shell::Zsh => command.args(["-f", "-o", "rcquotes"]),
        _ => command.arg("--no-config"),
    };
    let output = command.args(["-c", line]).output().ok()?;
    assert!(output.status.success(), "{program} does not take {line:?}: {}", String::from_utf8_lossy(&output.stderr));
    Some(String::from_utf8(output.stdout).expect("text"))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn every_shell_reads_exactly_the_value(value in "[a-zA-Z0-9][ -~äß]{7,24}", around in "[a-z ]{0,6}") {
        prop_assume!(!value.contains("secret:"));
        for shell in ALL {
            for template in ["printf '%s\\n' @", "printf '%s\\n' '<@>'", "printf '%s\\n' \"<@>\"", "printf '%s\\n' x=@"] {
                let line = filled(&value, &template.replace('<', &format!("<{around}")), shell);
                let line = line.map_err(TestCaseError::fail)?;
                let expected = match template {
                    "printf '%s\\n' @" => value.clone(),
                    "printf '%s\\n' x=@" => format!("x={value}"),
                    _ => format!("<{around}{value}>"),
                };
                if let Some(words) = words(shell, &line) {
                    prop_assert_eq!(words.trim_end_matches('\n'), expected, "{:?}: {}", shell, line);
                }
            }
        }
    }

    #[test]
    fn any_line_is_read(line in "[ -~\\n]{0,40}", shell in prop::sample::select(ALL.to_vec())) {
        let (mut scrubber, placeholder) = met(PLAIN);
        let _ = fill(&mut scrubber, &line.replace('@', &placeholder), shell);
    }
}
