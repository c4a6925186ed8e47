//! Compares the agent's commands in a live shell with the same shell without cohab: shell by shell, in one run.

mod client;
mod growth;
mod live;
mod load;
mod prompt;
mod reader;
pub(crate) mod shells;

use cohab_e2e::Home;

use self::shells::Measured;
use crate::report::Report;

const MEASURE: &str = "relay";

pub(crate) fn measure(report: &mut Report, rounds: usize) {
    let home = Home::new();
    shells::furnish(&home);
    let mut usable = Vec::new();
    for shell in shells::all() {
        match shell {
            Ok(shell) => match live::Live::at_prompt(&shell, &home) {
                Ok(_) => usable.push(shell),
                Err(why) => report.unmeasured(MEASURE, &shell.name, &why),
            },
            Err(name) => report.unmeasured(MEASURE, name, "it is not installed"),
        }
    }
    prompt::measure(report, &usable, &home, rounds);
    for shell in &usable {
        report.note(&format!("measuring relay, {}", shell.name));
        load::measure(report, shell, &home, rounds);
        growth::measure(report, shell, &home);
        client::measure(report, shell);
    }
}

/// A subject of the report: the shell and its measure.
fn of(shell: &Measured, what: &str) -> String {
    format!("{}: {what}", shell.name)
}
