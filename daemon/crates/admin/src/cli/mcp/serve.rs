//! `cohab mcp serve` gives an agent elsewhere the shell that the user shares; `cohab mcp shared` lists what is shared.

use std::{
    fmt::Write as _,
    io::{self, BufReader, Write},
    process::ExitCode,
};

use cohab_acp::{SharedShell, Shares, serve};
use cohab_protocol::Paths;
use cohab_text::sanitize::{escaped_json, one_line};
use serde_json::{Value, json};

use super::ServeArgs;
use crate::cli::{Failure, finish};

/// Longest folder in a list, in columns.
const FOLDER_COLUMNS: usize = 60;

/// Serves one caller until its input ends. Writes to standard output itself, from a thread.
pub fn serve(args: &ServeArgs, paths: &Paths, errors: &mut dyn Write) -> ExitCode {
    let input = &mut BufReader::new(io::stdin());
    let served = serve::run(&Shares::of(paths), args.shell.as_deref(), input, Box::new(io::stdout()));
    finish(served.map_err(Failure::from), &mut io::sink(), errors)
}

pub(super) fn shared(paths: &Paths, as_json: bool) -> String {
    listing(&Shares::of(paths).list(), as_json)
}

fn listing(shells: &[SharedShell], as_json: bool) -> String {
    if as_json {
        let value = |one: &SharedShell| -> Value {
            json!({"name": one.name, "shell": one.shell, "folder": one.folder.to_string_lossy()})
        };
        let all: Vec<Value> = shells.iter().map(value).collect();
        return escaped_json(&json!({ "shells": all }).to_string()) + "\n";
    }
    if shells.is_empty() {
        return "No shell is shared. `? /share` at a prompt shares that shell.\n".to_owned();
    }
    let width = shells.iter().map(|one| one.name.len()).max().unwrap_or_default();
    let mut text = String::new();
    for SharedShell { name, shell, folder, .. } in shells {
        let folder = one_line(&folder.to_string_lossy(), FOLDER_COLUMNS);
        // Writing to a text cannot fail.
        let _ = writeln!(text, "{name:width$}  {shell:4}  {folder}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shells_are_listed_with_kind_and_folder() {
        assert!(listing(&[], false).starts_with("No shell is shared."));
        assert_eq!(listing(&[], true), "{\"shells\":[]}\n");
    }
}
