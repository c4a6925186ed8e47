use std::{ffi::OsString, fs, io, os::unix::fs::PermissionsExt};

use clap::{CommandFactory, Parser};

use super::{
    super::{Cli, Command, parse_from},
    *,
};

struct Home {
    _dir: tempfile::TempDir,
    paths: Paths,
}

/// What a command printed.
#[derive(Debug, PartialEq)]
struct Ran {
    status: ExitCode,
    output: String,
    errors: String,
}

impl Home {
    fn new(text: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().to_owned();
        let paths = Paths::new(|name| (name == "COHAB_HOME").then(|| root.clone()), 1000);
        fs::create_dir_all(&paths.config_dir).unwrap();
        fs::write(paths.config_file(), text).unwrap();
        fs::set_permissions(paths.config_file(), fs::Permissions::from_mode(0o600)).unwrap();
        Self { _dir: dir, paths }
    }

    fn run(&self, args: &[&str]) -> Ran {
        self.run_with(args, "")
    }

    fn run_with(&self, args: &[&str], input: &str) -> Ran {
        let command = Cli::try_parse_from(["cohabd", "config"].iter().chain(args)).unwrap().command;
        let Some(Command::Config(command)) = command else { panic!("a config command") };
        let (mut output, mut errors) = (Vec::new(), Vec::new());
        let status = run_with_input(&command, &self.paths, &mut input.as_bytes(), &mut output, &mut errors);
        let text = |bytes: Vec<u8>| {
            String::from_utf8(bytes).unwrap().replace(&self.paths.config_file().display().to_string(), "FILE")
        };
        Ran { status, output: text(output), errors: text(errors) }
    }

    fn text(&self) -> String {
        fs::read_to_string(self.paths.config_file()).unwrap()
    }
}

fn done(output: &str) -> Ran {
    Ran { status: ExitCode::SUCCESS, output: output.into(), errors: String::new() }
}

fn failed(errors: &str) -> Ran {
    Ran { status: ExitCode::FAILURE, output: String::new(), errors: errors.into() }
}

#[test]
fn the_command_line_is_sound_and_runs_the_daemon_by_default() {
    Cli::command().debug_assert();
    let parse =
        |args: &[&str]| Cli::try_parse_from(args).map(|cli| cli.command.unwrap_or(Command::Run { detach: false }));
    assert_eq!(parse(&["cohabd"]).unwrap(), Command::Run { detach: false });
    assert_eq!(parse(&["cohabd", "run"]).unwrap(), Command::Run { detach: false });
    assert_eq!(parse(&["cohabd", "config", "path"]).unwrap(), Command::Config(ConfigCommand::Path));
    assert_eq!(parse(&["cohabd", "--version"]).unwrap_err().exit_code(), 0);
    assert_eq!(parse(&["cohabd", "config", "--help"]).unwrap_err().exit_code(), 0);
    assert_eq!(parse(&["cohabd", "walk"]).unwrap_err().exit_code(), 2);
    assert_eq!(parse(&["cohabd", "config", "set", "x"]).unwrap_err().exit_code(), 2);
    assert_eq!(parse(&["cohabd", "config"]).unwrap_err().exit_code(), 2);
}

#[test]
fn help_fits_a_screen() {
    for args in
        [vec!["cohabd", "--help"], vec!["cohabd", "config", "--help"], vec!["cohabd", "config", "set", "--help"]]
    {
        let help = Cli::try_parse_from(args).unwrap_err().to_string();
        assert!(help.lines().count() <= 24, "{help}");
    }
}

#[test]
fn path_and_get_print_what_is_in_force() {
    let home =
        Home::new("[limits]\nsteps_per_turn = 7\n[client]\nquestion_prefix = ''\n[model]\nname = \"a \\\"b\\\"\"\n");
    assert_eq!(home.run(&["path"]), done("FILE\n"));
    assert_eq!(home.run(&["get", "limits.steps_per_turn"]), done("7\n"));
    assert_eq!(home.run(&["get", "limits.steps_per_turn", "--origin"]), done("7\tFILE:2\n"));
    assert_eq!(home.run(&["get", "approval.mode", "--origin"]), done("ask\tdefault\n"));
    assert_eq!(home.run(&["get", "client.question_prefix"]), done("\n"));
    assert_eq!(home.run(&["get", "model.name"]), done("a \"b\"\n"));
    assert_eq!(home.run(&["get", "model.retries"]), failed("error: `model.retries` is not set and has no default\n"));
    assert_eq!(
        home.run(&["get", "limits.steps"]),
        failed("error: unknown key `limits.steps`\nHint: did you mean `limits.steps_per_turn`?\n")
    );
}

#[test]
fn set_changes_the_file_and_get_reads_it_again() {
    let home = Home::new("# mine\n");
    assert_eq!(home.run(&["set", "limits.steps_per_turn", "9"]), done("limits.steps_per_turn = 9\n"));
    assert_eq!(home.run(&["get", "limits.steps_per_turn"]), done("9\n"));
    assert!(home.text().starts_with("# mine\n"), "{}", home.text());
    let before = home.text();
    assert_eq!(
        home.run(&["set", "limits.steps_per_turn", "-5"]),
        failed("error: `limits.steps_per_turn` must be a whole number from 0 to 1000, not -5\n")
    );
    assert_eq!(home.text(), before);
}

#[test]
fn a_secret_comes_from_standard_input_only_and_is_masked_everywhere() {
    let home = Home::new("");
    let refused = home.run(&["set", "model.api_key", "sk-1"]);
    assert!(refused.errors.contains("not accepted on the command line") && !refused.errors.contains("sk-1"));
    assert_eq!(home.run_with(&["set", "model.api_key", "-"], "sk-2\n"), done("model.api_key = ********\n"));
    assert_eq!(home.text(), "[model]\napi_key = \"sk-2\"\n");
    assert_eq!(home.run(&["get", "model.api_key"]), done("********\n"));
    for listed in [home.run(&["list"]), home.run(&["list", "--json"])] {
        assert!(listed.output.contains("********") && !listed.output.contains("sk-2"));
    }
    let empty = home.run_with(&["set", "model.api_key", "-"], "\n");
    assert_eq!(empty, failed("error: `model.api_key` must be text that is not empty\n"));
}

#[test]
fn check_prints_every_fault_or_ok() {
    assert_eq!(Home::new("").run(&["check"]), done("OK\n"));
    let home = Home::new("[limits]\nsteps_per_turn = 1001\nstepz = 1\n");
    let expected = "error: FILE:2:1: `limits.steps_per_turn` must be a whole number from 0 to 1000, not 1001\n\
                    error: FILE:3:1: unknown key `limits.stepz`\n\
                    Hint: the keys of `[limits]` are `steps_per_turn`, `stalled_steps`, `command_timeout_ms`, `tool_output_max_bytes`\n";
    assert_eq!(home.run(&["check"]), failed(expected));
    assert_eq!(home.run(&["get", "log.level"]), failed(expected), "a wrong file is never half used");
}

#[test]
fn check_also_reads_the_table_of_models() {
    let home = Home::new("");
    let models = home.paths.models_file();
    fs::write(&models, "[[model]]\nmatch = \"m*\"\ninput_usd_per_mtok = -1\n").unwrap();
    let Ran { status, errors, .. } = home.run(&["check"]);
    assert_eq!(status, ExitCode::FAILURE);
    assert!(errors.contains("models.toml:3:22: a price must be from 0"), "{errors}");
    fs::write(&models, "[[model]]\nmatch = \"m*\"\ninput_usd_per_mtok = 1\n").unwrap();
    assert_eq!(home.run(&["check"]), done("OK\n"));
}

#[test]
fn list_shows_every_key_and_marks_those_of_the_file() {
    let home = Home::new("log.level = 'off'\n");
    let listed = home.run(&["list"]).output;
    assert!(listed.contains("log.level = off *\n") && listed.contains("limits.steps_per_turn = 50\n"), "{listed}");
    assert!(listed.contains("client.shell = (not set)\n    Shell to start"));
    assert!(listed.contains("roles.namer = ") && !listed.contains("Reserved"), "{listed}");
    assert!(home.run(&["list", "--all"]).output.contains("roles.narrator = (not set)\n    Reserved for a future role"));
    let set = Home::new("roles.narrator = 'default'\n").run(&["list"]).output;
    assert!(set.contains("roles.narrator = default *\n"), "{set}");
    let json: serde_json::Value = serde_json::from_str(&home.run(&["list", "--json"]).output).unwrap();
    let all = json.as_array().unwrap();
    assert_eq!(all.len(), KEYS.len());
    let level = all.iter().find(|entry| entry["key"] == "log.level").unwrap();
    assert_eq!(
        (&level["value"], &level["origin"], &level["default"]),
        (&json!("off"), &json!("FILE:1"), &json!("info"))
    );
}

#[test]
fn a_reader_that_went_away_is_status_three() {
    struct Gone;
    impl Write for Gone {
        fn write(&mut self, _bytes: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::BrokenPipe.into())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let home = Home::new("");
    let status = run_with_input(&ConfigCommand::Check, &home.paths, &mut io::empty(), &mut Gone, &mut Gone);
    assert_eq!(status, ExitCode::from(3));
}

#[test]
fn help_and_mistakes_of_the_settings_name_the_command_that_people_type() {
    for args in [&["cohabd", "config", "--help"][..], &["cohabd", "config", "set"], &["cohabd", "config", "nope"]] {
        let text = parse_from(args.iter().map(OsString::from).collect()).unwrap_err().to_string();
        assert!(text.contains("Usage: cohab config"), "{text}");
    }
    let text = parse_from(vec!["cohabd".into(), "--help".into()]).unwrap_err().to_string();
    assert!(text.contains("Usage: cohabd"), "{text}");
}

#[test]
fn the_name_of_a_table_is_answered_with_its_keys() {
    let advice = keys::advice("approval");
    assert_eq!(advice, "the keys of `[approval]` are `mode`, `confined`");
}

#[cfg(not(feature = "otlp"))]
#[test]
fn an_endpoint_that_this_build_cannot_use_is_told() {
    let home = Home::new("");
    let set = home.run(&["set", "telemetry.otlp_endpoint", "http://127.0.0.1:4318"]);
    assert!(set.output.contains("\nNote: ") && set.output.contains("--features otlp"), "{set:?}");
    assert!(home.run(&["check"]).output.starts_with("OK\nNote: "));
    assert_eq!(home.run(&["set", "telemetry.otlp_endpoint", ""]).output, "telemetry.otlp_endpoint = \n");
    assert_eq!(home.run(&["check"]).output, "OK\n");
    let wrong = home.run(&["set", "telemetry.otlp_endpoint", "127.0.0.1:4318"]);
    assert!(wrong.errors.contains("must be a URL such as `http://127.0.0.1:4318`"), "{wrong:?}");
}
