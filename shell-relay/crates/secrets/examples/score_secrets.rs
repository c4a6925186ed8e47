//! Scores the scrubber on lists of lines: `score_secrets [--rows even|odd] [--misses] [--speed] NAMED.tsv ... ORDINARY.txt ...`.
//!
//! A line of a `.tsv` file is a text, a tab and the secret in it; `\n` stands for the end of a line. A line of any other file is
//! ordinary and must stay as it is. `--misses` prints the lines that fail, `--speed` the megabytes a second. To write rules without
//! fitting them to a list, read the misses of its even rows only, and score its odd rows.

use std::{
    env, fs,
    io::{self, Write},
    time::Instant,
};

use cohab_secrets::Scrubber;

/// Bytes that are scrubbed to measure the speed.
const SPEED_BYTES: usize = 32 * 1024 * 1024;

fn scrubbed(text: &str) -> String {
    Scrubber::default().text(text).into_owned()
}

/// Whether one occurrence of `secret` less is left in `clean` than in `text`, and no long piece of it.
fn is_masked(text: &str, secret: &str, clean: &str) -> bool {
    let run = secret.len().min(12.max(secret.len() / 2));
    let is_left = |part: &[u8]| clean.as_bytes().windows(run).any(|bytes| bytes == part);
    match text.matches(secret).count() {
        0 => false,
        1 => !secret.as_bytes().windows(run).any(is_left),
        more => clean.matches(secret).count() < more,
    }
}

/// Whether nothing but `secret` was replaced.
fn is_exact(text: &str, secret: &str, clean: &str) -> bool {
    text.match_indices(secret).any(|(at, _)| {
        let rest = clean.strip_prefix(&text[..at]).and_then(|rest| rest.strip_suffix(&text[at + secret.len()..]));
        rest.is_some_and(|placeholder| placeholder.starts_with("<secret:") && placeholder.ends_with('>'))
    })
}

fn score(path: &str, rows: &[&str], shows_misses: bool) {
    let (mut good, mut exact) = (0, 0);
    for row in rows {
        let is_good = match row.rsplit_once('\t').filter(|_| path.ends_with(".tsv")) {
            Some((text, secret)) => {
                let (text, secret) = (text.replace("\\n", "\n"), secret.replace("\\n", "\n"));
                let clean = scrubbed(&text);
                exact += usize::from(is_exact(&text, &secret, &clean));
                is_masked(&text, &secret, &clean)
            }
            None => scrubbed(row) == **row,
        };
        good += usize::from(is_good);
        if shows_misses && !is_good {
            let _ = writeln!(io::stdout(), "{row}\n    {}", scrubbed(row));
        }
    }
    let (all, share) = (rows.len(), good as f64 * 100.0 / rows.len().max(1) as f64);
    let told = match path.ends_with(".tsv") {
        true => format!("{good} of {all} masked ({share:.1} %), {exact} with nothing else"),
        false => format!("{} of {all} ordinary lines changed", all - good),
    };
    let _ = writeln!(io::stdout(), "{path}: {told}");
}

fn speed(path: &str, rows: &[&str]) {
    let text = (rows.join("\n") + "\n").repeat(SPEED_BYTES / rows.join("\n").len().max(1) + 1);
    let begin = Instant::now();
    let clean = scrubbed(&text);
    let seconds = begin.elapsed().as_secs_f64();
    let _ = writeln!(io::stdout(), "{path}: {:.0} MB/s ({} bytes out)", text.len() as f64 / 1e6 / seconds, clean.len());
}

fn main() -> io::Result<()> {
    let mut arguments = env::args().skip(1).peekable();
    let (mut parity, mut shows_misses, mut measures) = (None, false, false);
    while let Some(option) = arguments.next_if(|argument| argument.starts_with("--")) {
        match option.as_str() {
            "--rows" => parity = arguments.next(),
            "--misses" => shows_misses = true,
            _ => measures = true,
        }
    }
    for path in arguments {
        let list = fs::read_to_string(&path)?;
        let is_of_half = |number: usize| match parity.as_deref() {
            Some("even") => number.is_multiple_of(2),
            Some("odd") => !number.is_multiple_of(2),
            _ => true,
        };
        let rows: Vec<&str> = (1..).zip(list.lines()).filter(|row| is_of_half(row.0)).map(|row| row.1).collect();
        match measures {
            true => speed(&path, &rows),
            false => score(&path, &rows, shows_misses),
        }
    }
    Ok(())
}
