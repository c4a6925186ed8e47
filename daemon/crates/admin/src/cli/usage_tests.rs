use std::fs;

use clap::Parser;
use cohab_model_api::{
    TokenUsage,
    window_size::{ContextWindow, WindowSource},
};
use cohab_store::{Store, row::CallRow};

use super::super::{Cli, Command};
use super::*;

fn parse(args: &[&str]) -> Result<UsageArgs, clap::Error> {
    let command = Cli::try_parse_from(["cohabd", "usage"].iter().chain(args))?.command;
    let Some(Command::Usage(args)) = command else { panic!("another command") };
    Ok(args)
}

struct Home {
    _folder: tempfile::TempDir,
    paths: Paths,
}

impl Home {
    fn empty() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path().to_owned();
        let paths = Paths::new(|name| (name == "COHAB_HOME").then(|| root.clone()), 1000);
        Self { _folder: folder, paths }
    }

    fn with_calls() -> Self {
        let home = Self::empty();
        let store = Store::at(home.paths.usage_file());
        let priced = TokenUsage {
            input: Some(1_200),
            cache_read: Some(40_000),
            output: Some(345),
            cost_microusd: Some(12_345),
            ..TokenUsage::default()
        };
        let unpriced = TokenUsage { input: Some(800), output: Some(90), ..TokenUsage::default() };
        let large = ModelKey { host: "api.example.com".into(), model: "large-4".into() };
        let long = ModelKey {
            host: "127.0.0.1:11434".into(),
            model: "\u{1b}[31mquite-a-long-name-of-a-model-that-runs-here:70b-instruct-q4".into(),
        };
        for (at, session, turn, model, usage) in [
            ("2026-02-27T09:00:00Z", "shell:0195d0aa11", "t1", &large, priced),
            ("2026-02-27T09:01:00Z", "shell:0195d0aa11", "t1", &large, priced),
            ("2026-03-01T21:59:00Z", "cli:0195d0bb22", "t2", &large, unpriced),
            ("2026-03-01T22:01:00Z", "shell:0195d0aa11", "t3", &long, TokenUsage::default()),
        ] {
            store.record(CallRow {
                at: at.parse().expect("a time"),
                session: session.into(),
                turn: turn.into(),
                wire: "openai-chat".into(),
                model: model.clone(),
                usage,
                cost_source: None,
                took_ms: Some(1_500),
            });
        }
        store.learn(&large, |learned| {
            learned.in_use = Some(ContextWindow { tokens: 200_000, source: WindowSource::Table });
        });
        store.learn(&long, |learned| {
            learned.in_use = Some(ContextWindow { tokens: 8_192, source: WindowSource::Default });
        });
        home
    }

    fn read(&self, args: &[&str]) -> ShownUsage {
        let now: Zoned = "2026-03-02T08:00:00+01:00[Europe/Berlin]".parse().expect("a time");
        read(&parse(args).expect("sound arguments"), &self.paths, &now).expect("it can be read")
    }

    fn show(&self, args: &[&str]) -> String {
        let shown = self.read(args);
        if args.contains(&"--json") { render::json(&shown) } else { render::table(&shown, None) }
    }
}

#[test]
fn each_table_fits_a_terminal() {
    let home = Home::with_calls();
    let tables = ["day", "model", "session"].map(|by| home.show(&["--by", by, "--since", "2026-01-01"]));
    for table in &tables {
        assert!(table.lines().all(|line| line.starts_with("context of") || line.chars().count() <= 80), "{table}");
        assert!(!table.contains('\u{1b}'));
    }
    insta::assert_snapshot!(tables.join("---\n"));
}

#[test]
fn at_a_terminal_bars_show_the_days_and_the_shares_of_models() {
    let home = Home::with_calls();
    let store = Store::at(home.paths.usage_file());
    let usage = TokenUsage { input: Some(9_000), output: Some(700), cost_microusd: Some(900), ..TokenUsage::default() };
    let model = ModelKey { host: "api.example.com".into(), model: "small-1".into() };
    let at = "2026-02-20T09:00:00Z".parse().expect("a time");
    let (session, turn, wire) = ("shell:0195d0aa11".into(), "t0".into(), "openai-chat".into());
    store.record(CallRow { at, session, turn, wire, model, usage, cost_source: None, took_ms: None });
    store.flush();
    let shown = home.read(&["--since", "2026-01-01"]);
    let told = [100, 80, 60, 40].map(|columns| {
        let told = render::table(&shown, Some(columns));
        assert!(columns < 60 || told.lines().all(|line| line.chars().count() <= columns), "{told}");
        told
    });
    insta::assert_snapshot!(told.join("---\n"));
    insta::assert_snapshot!("usage_as_svg", render::svg(&shown));
}

#[test]
fn without_counted_tokens_bars_show_questions() {
    let home = Home::empty();
    let store = Store::at(home.paths.usage_file());
    for (day, turn) in [(1, "t1"), (2, "t2"), (2, "t3")] {
        store.record(CallRow {
            at: format!("2026-02-0{day}T09:00:00Z").parse().expect("a time"),
            session: "shell:1".into(),
            turn: turn.into(),
            wire: "openai-chat".into(),
            model: ModelKey { host: "127.0.0.1:1".into(), model: "m".into() },
            usage: TokenUsage::default(),
            cost_source: None,
            took_ms: None,
        });
    }
    store.flush();
    insta::assert_snapshot!(render::table(&home.read(&["--since", "2026-01-01"]), Some(70)), @r"
    day                               questions  in (cached)  out  cost
    2026-02-01        ███████                 1            -    -  unknown
    2026-02-02        ██████████████          2            -    -  unknown
    since 2026-01-01                          3            -    -  unknown
    ");
}

#[test]
fn only_what_is_asked_for_is_counted() {
    let home = Home::with_calls();
    let questions = |since| {
        let json: serde_json::Value = serde_json::from_str(&home.show(&["--json", "--since", since])).expect("JSON");
        json["total"]["questions"].as_u64()
    };
    // It is the 2nd of March here, and was the 1st until an hour after the second question.
    for (since, expected) in [("1d", 0), ("2d", 2), ("3d", 2), ("4d", 3), ("2026-02-28", 2), ("2027-01-01", 0)] {
        assert_eq!(questions(since), Some(expected), "{since}");
    }
    assert_eq!(
        home.show(&["--since", "1d"]),
        "No model has answered since 2026-03-02.\n",
        "no budget unless one is set"
    );
    assert!(Home::empty().show(&[]).starts_with("No model has answered since 2026-02-01.\n"));
}

#[test]
fn what_is_left_of_the_budgets_of_a_day_is_told_whatever_is_asked_for() {
    let home = Home::with_calls();
    fs::create_dir_all(&home.paths.config_dir).expect("a folder");
    let settings = "[budget]\ntokens_per_day = 1000\ncost_per_day_cents = 250\n";
    fs::write(home.paths.config_file(), settings).expect("it can be written");
    let now: Zoned = "2026-02-27T23:00:00Z[UTC]".parse().expect("a time");
    let shown = read(&parse(&["--since", "2027-01-01", "--json"]).expect("sound"), &home.paths, &now);
    let shown = shown.expect("it can be read");
    insta::assert_snapshot!(render::table(&shown, None));
    let json: serde_json::Value = serde_json::from_str(&render::json(&shown)).expect("JSON");
    assert_eq!(json["budget_today"]["tokens"], serde_json::json!({"used": 3_980, "limit": 1_000, "left": 0}));
    assert_eq!(json["budget_today"]["cost_usd"]["left"].as_f64(), Some(2.475_31));
    fs::write(home.paths.config_file(), "[budget]\ntokens_per_day = 0\n").expect("it can be written");
    assert!(!home.show(&[]).contains("budget"), "no limit, no line");
    fs::write(home.paths.config_file(), "[budget").expect("it can be written");
    assert!(!home.show(&[]).contains("budget"), "settings that cannot be read hide nothing else");
}

#[test]
fn json_holds_the_exact_figures_and_null_for_unknown_ones() {
    let home = Home::with_calls();
    let json: serde_json::Value =
        serde_json::from_str(&home.show(&["--json", "--by", "model", "--since", "2026-01-01"])).expect("JSON");
    let large = &json["rows"][1];
    assert_eq!((large["model"].as_str(), large["host"].as_str()), (Some("large-4"), Some("api.example.com")));
    assert_eq!(large["input_tokens"], 83_200);
    assert_eq!((large["cost_usd"].as_f64(), large["is_cost_partial"].as_bool()), (Some(0.02469), Some(true)));
    assert_eq!(
        (large["context_window_tokens"].as_u64(), large["context_window_from"].as_str()),
        (Some(200_000), Some("table"))
    );
    let local = &json["rows"][0];
    assert!(local["cost_usd"].is_null() && local["input_tokens"].is_null() && local["is_cost_partial"] == false);
    assert_eq!(json["total"]["questions"], 3);
}

#[test]
fn arguments_that_mean_nothing_are_refused() {
    for args in [&["--since", "0d"][..], &["--since", "yesterday"], &["--since", "7"], &["--by", "hour"], &["x"]] {
        assert_eq!(parse(args).expect_err("refused").exit_code(), 2, "{args:?}");
    }
    assert_eq!(parse(&[]).expect("sound"), parse(&["--by", "day", "--since", "30d"]).expect("sound"));
}

#[test]
fn a_store_that_cannot_be_read_is_named() {
    let home = Home::empty();
    fs::create_dir_all(&home.paths.state_dir).expect("a folder");
    fs::write(home.paths.usage_file(), "no database at all ".repeat(500)).expect("it can be written");
    let (mut output, mut errors) = (Vec::new(), Vec::new());
    let status = run(&parse(&[]).expect("sound"), &home.paths, &mut output, &mut errors);
    assert_eq!((status, output.len()), (ExitCode::FAILURE, 0));
    let errors = String::from_utf8(errors).expect("text");
    assert!(errors.starts_with("error: ") && errors.contains("usage.db cannot be read: "), "{errors}");
}
