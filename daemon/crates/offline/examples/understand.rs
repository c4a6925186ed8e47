//! Shows how the built-in assistant understands each line of its input.

use std::io::{self, BufRead as _, Write as _};

fn main() -> io::Result<()> {
    for line in io::stdin().lock().lines() {
        let line = line?;
        writeln!(io::stdout(), "? {line}\n{}", cohab_offline::explain(&line))?;
    }
    Ok(())
}
