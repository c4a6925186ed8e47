//! Learns the weights of the gate from labelled lines. Deterministic: the same lines give the same file.

mod data;
mod measure;
mod model;
mod names;
mod variants;
mod world;

use std::{
    fs,
    io::{self, Write as _},
    path::Path,
    process::ExitCode,
};

use cohab_line_classifier::weights::Weights;
use data::{Part, Sample, Source};

const USAGE: &str = "Usage: train_gate LINES.tsv WEIGHTS HELD_OUT.tsv

Reads lines `shell<TAB>line` and `ai<TAB>line`, writes the weights and a sample of the lines that were never learned from.
";
/// Lines in the style of people, written for this program.
const SPOKEN: &str = include_str!("spoken.tsv");
/// Mistakes of each kind that are shown.
const SHOWN: usize = 25;
/// Held-out lines that become test data.
const KEPT_LINES: usize = 4_200;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [lines, weights, held_out] = arguments.as_slice() else {
        let _ = io::stderr().write_all(USAGE.as_bytes());
        return ExitCode::from(2);
    };
    match run(Path::new(lines), Path::new(weights), Path::new(held_out)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(io::stderr(), "train_gate: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(lines: &Path, weights_file: &Path, held_out_file: &Path) -> io::Result<()> {
    let text = fs::read_to_string(lines)?;
    let samples: Vec<Sample<'_>> =
        data::read(&text, Source::Corpus).chain(data::read(SPOKEN, Source::Spoken)).collect();
    let of = |parts: &[Part]| -> Vec<Sample<'_>> {
        samples.iter().filter(|sample| parts.contains(&sample.part)).cloned().collect()
    };
    let (fit, tuning, held_out) = (of(&[Part::Fit]), of(&[Part::Tuning]), of(&[Part::HeldOut]));
    say(&format!("{} lines to learn from, {} to tune on, {} held out", fit.len(), tuning.len(), held_out.len()))?;

    let all_names = names::first_words(&samples);
    let trial = learn(&fit);
    say("tuning lines, learned from the others:")?;
    say(&measure::thresholds(&tuning, &trial, &all_names))?;
    say(&measure::table(&tuning, &trial, &all_names, SHOWN))?;

    let weights = learn(&of(&[Part::Fit, Part::Tuning]));
    fs::write(weights_file, weights.to_file())?;
    say(&format!("{}: {} bytes, {} names", weights_file.display(), weights.to_file().len(), weights.names.len()))?;
    say("held-out lines:")?;
    say(&measure::table(&held_out, &weights, &all_names, 0))?;
    let kept = held_out.iter().filter(|sample| sample.source == Source::Corpus).take(KEPT_LINES);
    fs::write(held_out_file, data::write(kept, &all_names))
}

fn learn(samples: &[Sample<'_>]) -> Weights {
    let names = names::collect(samples);
    let variants = variants::all(samples, &names);
    let variants = variants.iter().map(|variant| Sample {
        text: &variant.text,
        decision: variant.decision,
        part: Part::Fit,
        source: Source::Variant,
        hash: variant.hash,
    });
    let samples: Vec<Sample<'_>> = samples.iter().cloned().chain(variants).collect();
    model::learn(&samples, &names)
}

fn say(text: &str) -> io::Result<()> {
    writeln!(io::stdout(), "{text}")
}
