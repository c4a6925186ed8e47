use std::{
    fs::{self, Permissions},
    os::unix::fs::{PermissionsExt, symlink},
    path::Path,
};

use cohab_protocol::Paths;
use proptest::prelude::*;

use super::keys::{Check, KEYS, Kind};
use super::*;

/// A folder with this `config.toml`, mode 0600.
fn home(text: impl AsRef<[u8]>) -> (tempfile::TempDir, Paths) {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().to_owned();
    let paths = Paths::new(|name| (name == "COHAB_HOME").then(|| root.clone()), 1000);
    fs::create_dir_all(&paths.config_dir).unwrap();
    fs::write(paths.config_file(), text).unwrap();
    fs::set_permissions(paths.config_file(), Permissions::from_mode(0o600)).unwrap();
    (dir, paths)
}

/// The errors of a file, without its path, each with its hint.
fn faults(text: impl AsRef<[u8]>) -> Vec<String> {
    let (_guard, paths) = home(text);
    let path = paths.config_file();
    let problems = match ConfigFile::read(&path) {
        Ok(file) => file.problems(),
        Err(error) => vec![error],
    };
    assert_eq!(load(&paths).err().as_ref(), problems.first(), "loading fails with the first fault");
    let shown = problems.iter().map(|problem| {
        let line = problem.to_string().replace(&path.display().to_string(), "");
        problem.hint.as_ref().map_or(line.clone(), |hint| format!("{line} / {hint}"))
    });
    shown.collect()
}

fn set(text: &str, name: &str, value: &str) -> Result<String, String> {
    let (_guard, paths) = home(text);
    let key = keys::find(name).expect("a known key");
    let file = ConfigFile::read(&paths.config_file()).map_err(|error| error.to_string())?;
    file.set(&key, key.parse(value)?).map_err(|error| error.message)?;
    Ok(fs::read_to_string(paths.config_file()).unwrap())
}

#[test]
fn a_missing_or_empty_file_means_defaults() {
    let (_guard, paths) = home("");
    for _ in 0..2 {
        let settings = load(&paths).unwrap();
        assert_eq!(settings.limits, LimitSettings::default());
        assert_eq!((settings.approval.mode, settings.log.level), (ApprovalMode::Ask, LevelFilter::INFO));
        assert!(settings.model.provider.is_none());
        fs::remove_dir_all(&paths.config_dir).or_else(|_| fs::create_dir(&paths.config_dir)).unwrap();
    }
}

#[test]
fn the_defaults_of_the_table_are_the_defaults_of_the_code() {
    let mut text = String::new();
    for key in KEYS.iter() {
        if let Some(default) = key.default {
            text += &format!("{} = {}\n", key.name, key.parse(default).unwrap());
        }
    }
    let (_guard, paths) = home(text);
    let settings = load(&paths).unwrap();
    assert_eq!(settings.limits, LimitSettings::default());
    assert_eq!(settings.approval, ApprovalSettings::default());
    assert_eq!(settings.log, LogSettings::default());
    assert_eq!(settings.telemetry, TelemetrySettings::default());
}

/// A valid value of the kind, at its limit.
fn example(kind: Kind) -> String {
    match kind {
        Kind::Text | Kind::Secret | Kind::EnvName => "X".into(),
        Kind::Path | Kind::Address => "/bin/sh".into(),
        Kind::Collector => "https://collector.example:4318".into(),
        Kind::Profile | Kind::Profiles => "default".into(),
        Kind::Provider => "scripted".into(),
        Kind::Prefix => "??".into(),
        Kind::Word(words) => words[words.len() - 1].into(),
        Kind::Integer(_, most) => most.to_string(),
        Kind::Number(_, most) => format!("{most}.0"),
        Kind::Flag => "true".into(),
    }
}

#[test]
fn every_key_of_the_table_is_understood() {
    let mut text = String::new();
    for key in KEYS.iter() {
        text += &format!("{} = {}\n", key.name, key.parse(&example(key.kind)).unwrap());
    }
    let (_guard, paths) = home(text);
    let settings = load(&paths).unwrap();
    assert_eq!(settings.profile.as_deref(), Some("default"));
    assert_eq!(settings.limits.steps_per_turn, 1_000);
    assert_eq!(settings.limits.command_timeout(), Duration::from_secs(86_400));
    assert_eq!((settings.approval.mode, settings.log.level), (ApprovalMode::All, LevelFilter::TRACE));
    assert_eq!((settings.model.retries, settings.model.timeouts.connect_ms), (Some(20), Some(3_600_000)));
}

#[test]
fn every_field_of_the_settings_is_in_the_table() {
    for table in ["model", "model.timeouts", "tiers", "cache", "approval", "limits", "telemetry", "log"] {
        let error = toml::from_str::<Settings>(&format!("[{table}]\nno_such_key = 1")).unwrap_err();
        let (_, expected) = error.message().split_once("expected").expect("the names of the fields");
        let fields = expected.split('`').skip(1).step_by(2);
        for field in fields.filter(|field| *field != "timeouts") {
            assert!(keys::find(&format!("{table}.{field}")).is_some(), "{table}.{field} is not in the table");
        }
    }
}

#[test]
fn profiles_have_the_keys_of_the_model() {
    let mut text = "profile = 'work'\n".to_owned();
    for key in KEYS.iter().filter(|key| key.name.starts_with("model.")) {
        let name = key.name.replace("model.", "profiles.work.");
        text += &format!("{name} = {}\n", keys::find(&name).unwrap().parse(&example(key.kind)).unwrap());
    }
    let (_guard, paths) = home(&text);
    assert_eq!(load(&paths).unwrap().model_of(None).unwrap().retries, Some(20));
    assert_eq!(
        faults("[profiles.work]\nnam = 'x'\ntimeouts.conect_ms = 5\nretries = 'many'\n[profiles.work.wire]\na = 1\n"),
        [
            ":2:1: unknown key `profiles.work.nam` / did you mean `profiles.work.name`?",
            ":3:10: unknown key `profiles.work.timeouts.conect_ms` / did you mean `profiles.work.timeouts.connect_ms`?",
            ":4:1: `profiles.work.retries` must be a whole number from 0 to 20, not \"many\"",
            ":5:16: unknown key `profiles.work.wire` / the keys of `[profiles.work]` are `provider`, `base_url`, `name`, \
             `api_key_env`, `key_command`, `api_key`, `key_store`, `max_output_tokens`, `context_window_tokens`, \
             `reasoning_effort`, `temperature`, `retries`, `fallback`",
        ]
    );
    assert_eq!(
        faults("profiles.work = 1\n[profiles.'a b']\nname = 'x'\n"),
        [
            ":1:10: `profiles.work` must be a table",
            &format!(":2:11: unknown key `profiles.a b` / {}", profile::NAME_RULE),
        ]
    );
    assert_eq!(faults("[profile.work]\nname = 'x'\n"), [":1:2: `profile` must be the name of a profile, not a table"]);
}

#[test]
fn the_profile_in_force_must_be_there() {
    assert_eq!(
        faults("profile = 'wrk'\n[profiles.work]\n[profiles.home]\n"),
        [":1:1: there is no profile `wrk` / did you mean `work`? profiles: `work`, `home`, `default`"]
    );
    assert!(faults("profile = 'x'\n")[0].contains("cohab setup --profile x"));
    assert!(faults("profile = 'default'\n").is_empty());
    assert!(faults("profile = 'a b'\n")[0].contains("must be the name of a profile"));
}

#[test]
fn an_address_is_a_url_or_the_path_of_a_script() {
    assert!(set("", "model.base_url", "not a url").unwrap_err().contains("must be a URL such as `https://host/v1`"));
    for wrong in ["127.0.0.1:8080", "ftp://host/", "http://"] {
        assert!(set("", "model.base_url", wrong).is_err(), "{wrong}");
    }
    for right in ["http://127.0.0.1:8080/v1", "https://host", "http://[::1]:1/v1/"] {
        assert!(set("", "profiles.a.base_url", right).is_ok(), "{right}");
    }
    assert!(set("model.provider = 'scripted'\n", "model.base_url", "/tmp/script.json").is_ok());
    assert_eq!(
        faults("[model]\nprovider = 'openai'\nbase_url = '/tmp/x'\n"),
        [
            ":3:1: `model.base_url` is a path, \"/tmp/x\"; only the provider `scripted` takes a path / it must be a URL such as `https://host/v1` or `http://127.0.0.1:8080/v1`; for `scripted` an absolute path"
        ]
    );
}

#[test]
fn unknown_keys_are_errors_with_their_place_and_the_nearest_name() {
    assert_eq!(
        faults("[limits]\nsteps_per_turn = 5\n  step_per_tun = 5 # x\n[aproval]\nmode = 'ask'\n"),
        [
            ":3:3: unknown key `limits.step_per_tun` / did you mean `limits.steps_per_turn`?",
            ":4:2: unknown key `aproval` / did you mean `approval`?",
        ]
    );
    assert_eq!(
        faults("hotkey = 'none'\nmodel.timeouts.x_ms = 1\nmodel = { }\n").len(),
        1,
        "a file that is no TOML has one fault"
    );
    assert_eq!(
        faults("hotkey = 'none'\n\"ä\\n\".zzz = 1\nmodel = { nam = 'x', name = 'ü', namee = 1 }"),
        [
            ":1:1: unknown key `hotkey` / did you mean `client.hotkey`?",
            ":2:1: unknown key `ä` / `cohab config list` shows all keys",
            ":3:11: unknown key `model.nam` / did you mean `model.name`?",
            ":3:34: unknown key `model.namee` / did you mean `model.name`?",
        ]
    );
}

#[test]
fn wrong_values_are_errors_that_say_what_is_allowed() {
    let text = "[limits]\nsteps_per_turn = 1001\ncommand_timeout_ms = '5s'\n[approval]\nmode = 'never'\n[client]\nlogin = 1\n\
                shell = 'zsh'\nquestion_prefix = 'a b'\nhotkey = []\n[log]\nlevel.x = 1\n[[model]]\n";
    assert_eq!(
        faults(text),
        [
            ":2:1: `limits.steps_per_turn` must be a whole number from 0 to 1000, not 1001",
            ":3:1: `limits.command_timeout_ms` must be a whole number from 1000 to 86400000, not \"5s\"",
            ":5:1: `approval.mode` must be one of `ask`, `read-only`, `auto`, `all`, not \"never\"",
            ":7:1: `client.login` must be `true` or `false`, not 1",
            ":8:1: `client.shell` must be an absolute path or one that begins with `~/`, not \"zsh\"",
            ":9:1: `client.question_prefix` must be at most 8 characters, without blanks, not \"a b\"",
            ":10:1: `client.hotkey` must be one of `alt-enter`, `ctrl-space`, `none`, \
             not a value of type array",
            ":12:1: `log.level` must be one of `off`, `error`, `warn`, `info`, `debug`, `trace`, not a table",
            ":13:3: `model` must be a table",
        ]
    );
    for key in ["alt-space", "ctrl-g", "ctrl-o"] {
        assert_eq!(
            faults(format!("client.hotkey = '{key}'").as_str()),
            [format!(":1:8: `client.hotkey` must be one of `alt-enter`, `ctrl-space`, `none`, not \"{key}\"")],
            "the client does not know this key"
        );
    }
    assert_eq!(faults("model = 'gpt'"), [":1:1: `model` must be a table"]);
    assert_eq!(
        faults("model.api_key_env = 'sk-123'"),
        [":1:7: `model.api_key_env` must be the name of an environment variable"],
        "what was meant for the other key is not shown"
    );
}

#[test]
fn what_is_no_toml_is_an_error_with_its_place() {
    assert_eq!(
        faults("[limits]\nsteps_per_turn = \n"),
        [":2:18: string values must be quoted, expected literal string"]
    );
    assert_eq!(faults("a = 1\na = 2\n"), [":2:1: duplicate key"]);
    assert_eq!(faults(b"[log]\n# caf\xc3\xa9 caf\xe9\n"), [":2:11: the file is not UTF-8 here"]);
    assert_eq!(faults("\u{feff}[lo]\n"), [":1:2: unknown key `lo` / did you mean `log`?"]);
    assert_eq!(faults("x".repeat(2 * 1024 * 1024)), [": is too large: more than 1048576 bytes"]);
    assert_eq!(faults(format!("a = {}", "[".repeat(100_000))).len(), 1);
    assert_eq!(faults(format!("{}a = 1", "a.".repeat(300_000))).len(), 1);
    assert_eq!(faults((0..60_000).map(|n| format!("k{n} = 1\n")).collect::<String>()).len(), 50);
}

#[test]
fn a_key_in_a_file_that_others_can_read_is_refused_and_never_shown() {
    let (_guard, paths) = home("[model]\napi_key = 'sk-secret'\n");
    assert!(load(&paths).unwrap().model.api_key.is_some());
    fs::set_permissions(paths.config_file(), Permissions::from_mode(0o640)).unwrap();
    let error = load(&paths).unwrap_err();
    let path = paths.config_file().display().to_string();
    assert_eq!(
        error.to_string(),
        format!("{path}:2:1: `model.api_key` is in a file that other users can access (mode 0640)")
    );
    assert_eq!(error.hint.unwrap(), format!("chmod 600 {path}"));
    assert_eq!(faults("model.api_key = 12345"), [":1:7: `model.api_key` must be text that is not empty"]);
}

#[test]
fn what_is_no_file_is_an_error_and_never_waited_for() {
    let (_guard, paths) = home("");
    fs::remove_file(paths.config_file()).unwrap();
    fs::create_dir(paths.config_file()).unwrap();
    assert!(load(&paths).unwrap_err().to_string().ends_with("config.toml: is a folder, not a file"));
    fs::remove_dir(paths.config_file()).unwrap();
    symlink("/dev/zero", paths.config_file()).unwrap();
    assert!(load(&paths).unwrap_err().to_string().ends_with("config.toml: is a device, not a regular file"));
    fs::remove_file(paths.config_file()).unwrap();
    symlink("gone", paths.config_file()).unwrap();
    assert!(load(&paths).unwrap_err().to_string().ends_with("config.toml: no such file"));
}

#[test]
fn setting_keeps_comments_order_and_everything_else() {
    let text =
        "# mine\n[log] # quiet\nlevel = \"warn\" # not \"off\"\n\n[limits]\n# few\nsteps_per_turn   =  7\n# end\n";
    assert_eq!(set(text, "log.level", "debug").unwrap(), text.replace("\"warn\"", "\"debug\""));
    assert_eq!(set(text, "limits.steps_per_turn", "8").unwrap(), text.replace('7', "8"));
    let added = set(text, "client.login", "true").unwrap();
    assert_eq!(added, format!("{text}\n[client]\nlogin = true\n"));
    let scattered = "[log]\n[model]\n[log.x]\n";
    assert!(set(scattered, "client.login", "true").unwrap_err().contains("`log.x`"));
    let scattered = "model.name = 'x'\n[log]\n# log\n[limits]\n[model.timeouts]\n# end";
    assert_eq!(set(scattered, "client.login", "true").unwrap(), format!("{scattered}\n[client]\nlogin = true\n"));
    let inner = set(text, "limits.command_timeout_ms", "9000").unwrap();
    assert_eq!(inner, text.replace("7\n", "7\ncommand_timeout_ms = 9000\n"));
}

#[test]
fn setting_works_in_every_shape_of_table() {
    assert_eq!(set("", "model.timeouts.connect_ms", "5").unwrap(), "[model.timeouts]\nconnect_ms = 5\n");
    assert_eq!(set("log.level = 'info'\n", "log.level", "off").unwrap(), "log.level = \"off\"\n");
    assert_eq!(
        set("model = { name = 'x' }\n", "model.timeouts.connect_ms", "5").unwrap(),
        "model = { name = 'x' , timeouts.connect_ms = 5 }\n"
    );
    assert_eq!(set("model = 5\n", "model.name", "x").unwrap_err(), "`model` must be a table");
}

#[test]
fn top_level_settings_stand_before_all_tables() {
    assert_eq!(set("", "profile", "default").unwrap(), "profile = \"default\"\n");
    let text = "# mine\n[log]\nlevel = \"warn\"\n\n[profiles.work]\n# end\n";
    let changed = set(text, "profile", "work").unwrap();
    assert!(changed.starts_with("profile = \"work\"\n") && changed.ends_with("[profiles.work]\n# end\n"), "{changed}");
    assert_eq!(set(&changed, "profile", "default").unwrap(), changed.replace("work\"", "default\""));
}

#[test]
fn several_changes_are_one_and_what_is_unset_is_gone() {
    let (_guard, paths) = home("# mine\n[model] # here\nname = 'old' # x\napi_key_env = 'OLD'\nretries = 3\n");
    let file = ConfigFile::read(&paths.config_file()).unwrap();
    let key = |name: &str| keys::find(name).unwrap();
    let changes = [
        Change::Set(key("model.name"), "new".into()),
        Change::Unset(key("model.api_key_env")),
        Change::Unset(key("model.key_command")),
        Change::Unset(key("profiles.none.name")),
        Change::Set(key("profiles.work.provider"), "offline".into()),
    ];
    file.change(&changes).unwrap();
    assert_eq!(
        fs::read_to_string(paths.config_file()).unwrap(),
        "# mine\n[model] # here\nname = \"new\" # x\nretries = 3\n\n[profiles.work]\nprovider = \"offline\"\n"
    );
    let file = ConfigFile::read(&paths.config_file()).unwrap();
    let wrong = [Change::Unset(key("model.name")), Change::Set(key("model.retries"), 99.into())];
    assert!(file.change(&wrong).unwrap_err().message.contains("from 0 to 20"));
    assert_eq!(fs::read_to_string(paths.config_file()).unwrap(), file.text(), "nothing was written");
}

#[test]
fn setting_a_wrong_value_or_in_a_wrong_file_writes_nothing() {
    assert!(set("", "limits.steps_per_turn", "1001").unwrap_err().contains("from 0 to 1000, not 1001"));
    assert!(set("", "limits.steps_per_turn", "many").unwrap_err().contains("not \"many\""));
    assert!(set("[log]\nlevle = 1\n", "log.level", "off").unwrap_err().contains("unknown key `log.levle`"));
    let mended = set("[log]\nlevel = 'loud'\n", "log.level", "off").unwrap();
    assert_eq!(mended, "[log]\nlevel = \"off\"\n", "a wrong value can be mended");
}

#[test]
fn a_file_is_written_private_through_links_and_only_if_it_is_still_the_same() {
    let (_guard, paths) = home("");
    let (key, value) = (keys::find("client.login").unwrap(), || true.into());
    let real = paths.config_dir.join("dotfile.toml");
    fs::rename(paths.config_file(), &real).unwrap();
    symlink("dotfile.toml", paths.config_file()).unwrap();
    fs::set_permissions(&real, Permissions::from_mode(0o644)).unwrap();

    let file = ConfigFile::read(&paths.config_file()).unwrap();
    file.set(&key, value()).unwrap();
    assert_eq!(fs::metadata(&real).unwrap().permissions().mode() & 0o777, 0o600);
    assert!(fs::symlink_metadata(paths.config_file()).unwrap().is_symlink());
    let error = file.set(&key, value()).unwrap_err();
    assert!(error.to_string().ends_with("config.toml: changed meanwhile"));

    let fresh = Path::new(&paths.config_dir).join("new/deep/config.toml");
    ConfigFile::read(&fresh).unwrap().set(&key, value()).unwrap();
    assert_eq!(fs::read_to_string(&fresh).unwrap(), "[client]\nlogin = true\n");
    assert_eq!(fs::metadata(fresh.parent().unwrap()).unwrap().permissions().mode() & 0o777, 0o700);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_bytes_are_settings_or_faults_with_a_place(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        faults(bytes);
    }

    #[test]
    fn any_lines_are_settings_or_faults_with_a_place(
        lines in prop::collection::vec("(\\[|\\[\\[)?(model|log|limits|client|profiles|profile|x)(\\.(timeouts|level|name|x))?( = |\\]|\\]\\])('off'|1|\\{\\}|\\[\\])?", 0..6),
    ) {
        for fault in faults(lines.join("\n")) {
            prop_assert!(fault.starts_with(':') && fault.as_bytes()[1].is_ascii_digit(), "{}", fault);
        }
    }

    #[test]
    fn what_is_set_is_read_again(text in "[^\\p{C}]{1,40}", steps in 1_i64..=1_000) {
        prop_assume!(!text.trim().is_empty());
        let first = set("# c\n", "model.name", &text).unwrap();
        let both = set(&first, "limits.steps_per_turn", &steps.to_string()).unwrap();
        let (_guard, paths) = home(&both);
        let settings = load(&paths).unwrap();
        prop_assert_eq!(settings.model.name.as_deref(), Some(text.as_str()));
        prop_assert_eq!(i64::from(settings.limits.steps_per_turn), steps);
        prop_assert!(both.starts_with("# c\n"));
    }
}

#[test]
fn profiles_that_are_named_must_be_there() {
    assert_eq!(
        faults(
            "[model]\nfallback = ['wrk', 'default']\n[tiers]\nlow = 'x'\n[profiles.work]\nfallback = ['work', 'y']\n"
        ),
        [
            ":2:1: there is no profile `wrk` / did you mean `work`? profiles: `work`, `default`",
            ":4:1: there is no profile `x` / profiles: `work`, `default`",
            ":6:1: there is no profile `y` / profiles: `work`, `default`",
        ]
    );
    assert_eq!(
        faults("[model]\nfallback = 3\n"),
        [":2:1: `model.fallback` must be a list of up to 8 names of profiles, not 3"]
    );
    let file = set("[profiles.a]\n[profiles.b]\n", "model.fallback", "a, b").unwrap();
    assert!(file.contains("fallback = [\"a\", \"b\"]"), "{file}");
}
