//! Measures the share of secrets of each format that is found, on samples that were not used to write the rules.

use std::{
    collections::BTreeMap,
    io::{self, Write},
};

use cohab_secrets::Scrubber;

use crate::samples::{AROUND_NAMES, AROUND_TOKENS, Dice, Format, assigned, formats, is_gone};

/// Samples of each format.
const ROUNDS: usize = 40;

/// Hits and tries.
#[derive(Default)]
struct Score {
    found: usize,
    tried: usize,
    missed: BTreeMap<&'static str, Vec<String>>,
}

impl Score {
    fn add(&mut self, format: &Format, text: &str, secret: &str) {
        self.tried += 1;
        if is_gone(secret, &Scrubber::default().bytes(text.as_bytes())) {
            self.found += 1;
        } else {
            self.missed.entry(format.label).or_default().push(text.to_owned());
        }
    }

    fn share(&self) -> f64 {
        self.found as f64 / self.tried as f64
    }

    fn told(&self) -> String {
        let mut told = format!("{} of {}\n", self.found, self.tried);
        for (label, texts) in &self.missed {
            told += &format!("{label}: {}, as {:?}\n", texts.len(), texts[0]);
        }
        told
    }
}

fn score(places: &[&str]) -> Score {
    let mut dice = Dice::new(7);
    let mut score = Score::default();
    for format in formats().iter().filter(|format| places.contains(&format.place)) {
        for round in 0..ROUNDS {
            let sample = format.draw(&mut dice);
            let text = match format.place {
                "token" => AROUND_TOKENS[round % AROUND_TOKENS.len()].replace("{}", &sample.text),
                "named" => assigned(AROUND_NAMES[round % AROUND_NAMES.len()], dice.pick(&format.names), &sample.text),
                _ => sample.text,
            };
            score.add(format, &text, &sample.secret);
        }
    }
    let _ = writeln!(io::stderr(), "{places:?}: {}", score.told());
    score
}

#[test]
fn values_that_are_recognised_by_themselves_are_found() {
    let score = score(&["token", "near", "block"]);
    assert!(score.tried > 5_000 && score.share() >= 0.98, "{}", score.told());
}

#[test]
fn values_in_their_places_are_found() {
    let score = score(&["place", "guess", "manifest", "cookie", "netrc"]);
    assert!(score.tried > 800 && score.share() >= 0.98, "{}", score.told());
}

#[test]
fn values_that_only_their_names_tell_are_found() {
    let score = score(&["named"]);
    assert!(score.tried > 4_000 && score.share() >= 0.97, "{}", score.told());
}

#[test]
fn no_format_is_missed_altogether() {
    let mut dice = Dice::new(11);
    for format in formats().iter().filter(|format| !["pgpass", "store"].contains(&format.place)) {
        let mut found = 0;
        for _ in 0..ROUNDS {
            let sample = format.draw(&mut dice);
            let text = match format.names.first() {
                Some(name) => assigned("NAME_VALUE=\"{}\"", name, &sample.text),
                None => sample.text,
            };
            found += usize::from(is_gone(&sample.secret, &Scrubber::default().bytes(text.as_bytes())));
        }
        assert!(found * 2 >= ROUNDS, "{}: {found} of {ROUNDS}", format.label);
    }
}
