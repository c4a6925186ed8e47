//! Shows how the built-in assistant understands each line of its input. What stands behind a tab is shown with it: what is expected, for
//! people who score a list.

use std::io::{self, BufRead as _, Write as _};

fn main() -> io::Result<()> {
    let mut out = io::stdout().lock();
    for (line, number) in io::stdin().lock().lines().zip(1..) {
        let line = line?;
        let (request, expected) = line.split_once('\t').unwrap_or((&line, ""));
        writeln!(out, "{number} ? {request}")?;
        if !expected.is_empty() {
            writeln!(out, "  = {expected}")?;
        }
        writeln!(out, "{}", cohab_offline::explain(request))?;
    }
    Ok(())
}
