//! Tests over all tables.

use std::{collections::HashMap, io::Write as _};

use super::*;

/// The share of paraphrases that find their intent when they were not learned from, in percent.
const BAR: f32 = 50.0;
/// The same when they were.
const LEARNED: f32 = 96.0;
/// The step among the paraphrases: one in this many is looked at.
const ONE_OF: usize = 40;

#[test]
fn the_weights_were_learned_from_these_tables_and_requests() {
    assert!(MODEL.words().next().is_some(), "run scripts/train-intents");
    let requests: &[u8] = &include_bytes!("../../assets/intents.weights")[12..16];
    assert_eq!(requests, training::hash_of_requests().to_le_bytes(), "run scripts/train-intents");
}

#[test]
fn every_paraphrase_finds_its_intent() {
    let mut wrong = Vec::new();
    let samples = training::samples();
    let some: Vec<_> = samples.iter().step_by(ONE_OF).collect();
    for (at, sample) in some.iter().enumerate() {
        let request = sample.request(at);
        let found = rank(&MODEL, &request);
        let is_right = |found: &Request| sample.intents.iter().any(|at| INTENTS[*at].name == found.intent.name);
        if !found.first().is_some_and(is_right) && !sample.intents.is_empty() {
            let said: Vec<&str> = request.iter().map(|word| word.raw.as_str()).collect();
            wrong.push(said.join(" "));
        }
    }
    let share = 100.0 * (1.0 - wrong.len() as f32 / some.len() as f32);
    assert!(share >= LEARNED, "{share:.1} %: {wrong:#?}");
}

#[test]
#[ignore = "takes a minute; run it when tables or features change"]
fn paraphrases_find_their_intent_by_the_others() {
    let samples = training::samples();
    let judged = training::judged(&samples, 0, &training::fold_model(&samples, 0).unwrap());
    let said = training::report(&judged, &MODEL.judge, SURE[0][0]);
    let _ = writeln!(std::io::stderr(), "{said}");
    assert!(100.0 * training::first(&judged, &MODEL.judge) >= BAR, "{said}");
}

#[test]
fn requests_that_no_pattern_understands_are_carried_out() {
    let mut wrong = Vec::new();
    for (request, name) in [
        ("run the linter", "dev.lint"),
        ("build the project", "dev.build"),
        ("compile this", "dev.build"),
        ("good night", "talk.bye"),
        ("what time is it in tokyo", "sys.time.elsewhere"),
        ("when is easter", "date.easter"),
        ("set a timer for 10 minutes", "date.timer"),
        ("what is the meaning of life", "talk.human"),
        ("explain the difference between tcp and udp", "howto.ip.basics"),
        ("convert 5 miles to km", "unit.miles_km"),
        ("convert 98.6 fahrenheit to celsius", "unit.f_c"),
        ("you are stupid", "talk.complaint"),
        ("yes", "talk.yes"),
        ("no", "talk.no"),
        ("how do I quit vim", "howto.vim.quit"),
        ("what does \"Segmentation fault (core dumped)\" mean", "error.segfault"),
        ("which weekday is the 24th of December 2025", "shell.weekday"),
        ("avg of col 2 in data.csv", "text.column_average"),
    ] {
        let found = understand(request);
        let is_right = found.first().is_some_and(|found| found.is_sure() && found.intent.name == name);
        wrong.extend((!is_right).then_some(request));
    }
    assert!(wrong.is_empty(), "{wrong:?}");
}

#[test]
fn no_two_intents_share_a_paraphrase() {
    let mut seen: HashMap<String, &str> = HashMap::new();
    for intent in INTENTS.iter() {
        for say in &intent.says {
            if let Some(other) = seen.insert(say.to_lowercase(), intent.name) {
                assert_eq!(other, intent.name, "{say}");
            }
        }
    }
}

/// A value of each type, with all that shells read as something else.
fn hostile(label: &str) -> String {
    match words::kind_of(label) {
        "number" | "decimal" | "port" | "pid" => "17".to_owned(),
        "size" => "10M".to_owned(),
        "ext" => "log".to_owned(),
        "word" | "host" => "xorbit".to_owned(),
        _ => "a b'; $(touch x) \"`*\\ -r".to_owned(),
    }
}

/// Every command line of every table, with hostile values.
fn lines() -> Vec<(&'static str, String)> {
    let mut lines = Vec::new();
    for intent in INTENTS.iter() {
        for line in intent.commands.iter().flat_map(|command| [Some(command.line), command.fallback]).flatten() {
            let mut values = Values::new();
            let labels = line.split('{').skip(1).filter_map(|rest| rest.split('}').next());
            for label in labels.filter(|inside| plan::is_slot(inside)).map(|inside| Slot::read(inside).label) {
                values.insert(label.clone(), hostile(&label));
            }
            let filled = plan::fill(line, &values).unwrap_or_else(|halt| panic!("{}: {halt:?}", intent.name));
            lines.push((intent.name, filled));
        }
    }
    lines
}

#[test]
fn every_command_can_be_read_by_every_shell() {
    for shell in ["bash", "zsh", "fish"] {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("lines");
        let mut wrong = Vec::new();
        // One line by itself: an open quote would swallow those behind it.
        for chunk in lines().chunks(40) {
            let is_read = |lines: &[(&str, String)]| {
                let text: String = lines.iter().map(|(_, line)| format!("{line}\n")).collect();
                std::fs::write(&file, text).unwrap();
                std::process::Command::new(shell)
                    .arg("-n")
                    .arg(&file)
                    .output()
                    .is_ok_and(|output| output.status.success())
            };
            if std::process::Command::new(shell).arg("--version").output().is_err() {
                break;
            }
            if !is_read(chunk) {
                let single = |one: &&(&str, String)| !is_read(std::slice::from_ref(*one));
                wrong.extend(chunk.iter().filter(single).map(|(name, line)| format!("{name}: {line}")));
            }
        }
        assert!(wrong.is_empty(), "{shell}: {wrong:#?}");
    }
}

#[test]
fn values_stand_outside_of_quotes() {
    for intent in INTENTS.iter() {
        for line in intent.commands.iter().flat_map(|command| [Some(command.line), command.fallback]).flatten() {
            let mut quote = None;
            for (at, byte) in line.bytes().enumerate() {
                match (byte, quote) {
                    (b'\'' | b'"', None) => quote = Some(byte),
                    (b'\'' | b'"', Some(open)) if byte == open => quote = None,
                    (b'{', Some(_)) => {
                        let inside = line[at + 1..].split('}').next().unwrap_or_default();
                        assert!(!plan::is_slot(inside), "{}: {{{inside}}} in quotes", intent.name);
                    }
                    _ => {}
                }
            }
        }
    }
}
