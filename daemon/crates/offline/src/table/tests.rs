//! Tests over all tables.

use std::{collections::HashMap, io::Write as _};

use super::*;

/// The share of paraphrases that find their intent when they were not learned from, in percent.
const BAR: f32 = 30.0;
/// The same when they were.
const LEARNED: f32 = 96.0;
/// The step among the paraphrases: one in this many is looked at.
const ONE_OF: usize = 40;
/// Parts of the paraphrases; one is left out at a time.
const FOLDS: usize = 5;

/// A slot with a value of its type.
fn with_value(word: &Word) -> Word {
    let value = match word.slot.as_ref().map(words::Slot::kind) {
        None => return word.clone(),
        Some("number" | "pid") => "17",
        Some("port") => "8080",
        Some("size") => "10MB",
        Some("ext") => ".log",
        Some("glob") => "*.log",
        Some("url") => "https://example.org/a.tgz",
        Some("host") => "example.org",
        Some("date") => "2026-11-26",
        Some("expr") => "3+4",
        Some("word") => "xorbit",
        Some("text") => "'some words'",
        Some(_) => "src/notes.txt",
    };
    words(value).swap_remove(0)
}

#[test]
fn the_weights_were_learned_from_these_tables() {
    assert!(MODEL.words().next().is_some(), "run scripts/train-intents");
}

#[test]
fn every_paraphrase_finds_its_intent() {
    let mut wrong = Vec::new();
    let samples = training::samples();
    let some: Vec<_> = samples.iter().step_by(ONE_OF).collect();
    for sample in &some {
        let request: Vec<Word> = sample.words.iter().map(with_value).collect();
        let found = rank(&MODEL, &request);
        if found.first().is_none_or(|found| found.intent.name != INTENTS[sample.intent].name) {
            let said: Vec<&str> = request.iter().map(|word| word.raw.as_str()).collect();
            wrong.push(format!("{}: {}", INTENTS[sample.intent].name, said.join(" ")));
        }
    }
    let share = 100.0 * (1.0 - wrong.len() as f32 / some.len() as f32);
    assert!(share >= LEARNED, "{share:.1} %: {wrong:#?}");
}

#[test]
#[ignore = "takes a minute; run it when tables or features change"]
fn paraphrases_find_their_intent_by_the_others() {
    let samples = training::samples();
    let (mut right, mut among, mut sure, mut sure_right) = (0, 0, 0, 0);
    for fold in 0..FOLDS {
        let is_out = |at: usize| at * 7919 % FOLDS == fold;
        let learned: Vec<_> =
            samples.iter().enumerate().filter(|(at, _)| !is_out(*at)).map(|(_, sample)| sample).collect();
        let model = Model::read(&training::learn(&learned)).unwrap();
        for (_, sample) in samples.iter().enumerate().filter(|(at, _)| is_out(*at)) {
            let request: Vec<Word> = sample.words.iter().map(with_value).collect();
            let found = rank(&model, &request);
            let name = INTENTS[sample.intent].name;
            let is_right = found.first().is_some_and(|found| found.intent.name == name);
            right += usize::from(is_right);
            among += usize::from(found.iter().take(3).any(|found| found.intent.name == name));
            let is_sure = found.first().is_some_and(Request::is_sure);
            sure += usize::from(is_sure);
            sure_right += usize::from(is_sure && is_right);
        }
    }
    let share = |count: usize| 100.0 * count as f32 / samples.len() as f32;
    let said = format!(
        "{:.1} % first, {:.1} % among three, {:.1} % sure, of which {:.1} % right",
        share(right),
        share(among),
        share(sure),
        100.0 * sure_right as f32 / sure as f32
    );
    assert!(share(right) >= BAR, "{said}");
    let _ = writeln!(std::io::stderr(), "{said}");
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
            for label in labels.filter(|inside| plan::is_slot(inside)).map(|inside| words::Slot::read(inside).label) {
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
