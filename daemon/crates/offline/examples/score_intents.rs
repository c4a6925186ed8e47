//! Scores how the tables understand requests: `score_intents FILE [--list]`. Each line of FILE is a request, a tab and the names of the
//! intents that are right, or `-`, as in `intents/requests.tsv`. With `--list` each request is shown with what was found.

use std::{
    env, fs,
    io::{self, Write as _},
};

fn main() -> io::Result<()> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [file, rest @ ..] = &arguments[..] else { return Err(io::ErrorKind::InvalidInput.into()) };
    let (mut all, mut known, mut first, mut three, mut claimed, mut wrong) = (0, 0, 0, 0, 0, 0);
    let mut out = io::stdout().lock();
    for (request, right) in fs::read_to_string(file)?.lines().filter_map(|line| line.split_once('\t')) {
        let found = cohab_offline::ranking(request);
        let is_right = |name: &str| right.split(' ').any(|right| right == name);
        let is_first = found.first().is_some_and(|found| is_right(found.0));
        let is_sure = found.first().is_some_and(|found| found.2);
        all += 1;
        known += usize::from(right != "-");
        first += usize::from(is_first);
        three += usize::from(found.iter().take(3).any(|found| is_right(found.0)));
        claimed += usize::from(is_sure);
        wrong += usize::from(is_sure && !is_first);
        if !rest.is_empty() {
            let sign = |sure: bool| if sure { "!" } else { "" };
            let found = found.iter().take(3).map(|(name, share, sure)| format!("{name} {share:.2}{}", sign(*sure)));
            let found: Vec<String> = found.collect();
            writeln!(out, "{} {request}\n    {} <- {right}", if is_first { '+' } else { '-' }, found.join(", "))?;
        }
    }
    writeln!(
        out,
        "{all} requests, {known} with an intent; {first} first, {three} among three; {claimed} claimed, {wrong} of them wrongly"
    )
}
