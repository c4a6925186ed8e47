//! Snapshot of the verdict of every line of every table in this folder, with its reasons. A change of code that is meant to change no
//! verdict leaves the snapshot as it is; a change of wording changes the hashes, a change of judgement also the counts.

use std::{fmt::Write as _, fs, path::Path};

use super::*;

/// FNV-1a: the same on each machine and in each release of Rust.
fn mixed(hash: u64, text: &str) -> u64 {
    text.bytes().chain([0]).fold(hash, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// The line of a row and its shell: in `.tsv` the last and the first column, in `.txt` the row and the first word of the name.
fn shell_and_line(row: &str, name: &str) -> (Shell, String) {
    let has_columns = name.ends_with(".tsv");
    let shell = if has_columns { row.split('\t').next() } else { name.split('_').next() };
    let shell = match shell {
        Some("zsh") => Shell::Zsh,
        Some("fish") => Shell::Fish,
        _ => Shell::Bash,
    };
    (shell, if has_columns { row.rsplit('\t').next().unwrap_or_default().to_owned() } else { row.to_owned() })
}

fn row_of_counts(name: &str, text: &'static str) -> String {
    let (mut counts, mut hash) = ([[0_usize; 4]; 2], 0xcbf2_9ce4_8422_2325);
    for row in lines(text) {
        let (shell, line) = shell_and_line(&row, name);
        for (counts, context) in counts.iter_mut().zip([context(), locked()]) {
            let verdict = assess_line(&line, context.in_shell(shell));
            counts[verdict.level as usize] += 1;
            hash = mixed(mixed(hash, &line), verdict.level.word());
            hash = verdict.reasons.iter().fold(hash, |hash, reason| mixed(hash, reason));
        }
    }
    let [plain, locked] = counts.map(|[allow, ask, danger, _]| format!("{allow:>5} {ask:>5} {danger:>5}"));
    format!("{name:<29} | {plain} | {locked} | {hash:016x}\n")
}

#[test]
fn every_verdict_on_the_tables_is_as_it_was() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/tests");
    let entries = fs::read_dir(folder).expect("the tables are there").flatten().map(|entry| entry.path());
    let mut tables: Vec<_> =
        entries.filter(|path| path.extension().is_some_and(|is| is == "txt" || is == "tsv")).collect();
    tables.sort();
    let mut seen =
        "table: allowed, asked, dangerous | the same where programs are locked | hash of lines and reasons\n"
            .to_owned();
    for path in tables {
        let text = fs::read_to_string(&path).expect("tables are UTF-8").leak();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        write!(seen, "{}", row_of_counts(&name, text)).expect("writing to memory succeeds");
    }
    insta::assert_snapshot!(seen);
}
