//! Scores how requests are understood: `score_intents REQUESTS LABELS [--list]`. A line of LABELS holds a number, a tab and the names of
//! the intents that would be right, or `-`. With `--list` each request is shown with what was found.

use std::{
    env, fs,
    io::{self, Write as _},
};

fn main() -> io::Result<()> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [requests, labels, rest @ ..] = &arguments[..] else { return Err(io::ErrorKind::InvalidInput.into()) };
    let (requests, labels) = (fs::read_to_string(requests)?, fs::read_to_string(labels)?);
    let (mut all, mut known, mut first, mut three, mut claimed_right, mut claimed_wrong) = (0, 0, 0, 0, 0, 0);
    let mut out = io::stdout().lock();
    for (request, label) in requests.lines().zip(labels.lines()) {
        let right: Vec<&str> = label.split_once('\t').map_or("", |(_, names)| names).split_whitespace().collect();
        let found = cohab_offline::ranking(request);
        let is_right = |name: &String| right.contains(&name.as_str());
        let is_sure = found.first().is_some_and(|found| found.2);
        all += 1;
        known += usize::from(right != ["-"]);
        let is_first = found.first().is_some_and(|found| is_right(&found.0));
        first += usize::from(is_first);
        three += usize::from(found.iter().take(3).any(|found| is_right(&found.0)));
        claimed_right += usize::from(is_sure && is_first);
        claimed_wrong += usize::from(is_sure && !is_first);
        if !rest.is_empty() {
            let sign = if is_first { '+' } else { '-' };
            let found: Vec<String> = found
                .iter()
                .take(3)
                .map(|(name, share, sure)| format!("{name} {share:.2}{}", if *sure { "!" } else { "" }))
                .collect();
            writeln!(out, "{sign} {request}\n    {} <- {}", found.join(", "), right.join(" "))?;
        }
    }
    writeln!(
        out,
        "{all} requests, {known} with an intent; {first} first, {three} among three; {claimed_right} claimed rightly, {claimed_wrong} wrongly"
    )
}
