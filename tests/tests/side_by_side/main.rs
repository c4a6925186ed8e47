//! A shell under cohab looks the same as the shell alone, cell by cell: one test for each shell and table of cases.
//!
//! `COHAB_SIDE_BY_SIDE=words` runs only the cases whose names contain these words; `COHAB_SIDE_BY_SIDE_PAUSE=900` waits after each
//! step and compares once more. `scripts/side-by-side` has both, and the plugins that no package has.

use std::{fs, path::PathBuf};

use cohab_e2e::{
    binaries::workspace_root,
    side_by_side::{runner, shell::Shell},
};

mod tables;

fn folder() -> PathBuf {
    workspace_root().join("tests/side_by_side")
}

fn check(table: &str, shell: Shell) {
    let read = |name: &str| {
        let path = folder().join(name);
        fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    };
    runner::check(shell, table, &read(&format!("{table}.cases")), &read("exceptions.txt"));
}

macro_rules! tables {
    ($($table:ident: $($test:ident $shell:ident)*;)*) => {
        $(mod $table {
            use super::*;

            $(#[test]
            fn $test() {
                check(stringify!($table), Shell::$shell);
            })*
        })*
    };
}

tables! {
    readline: bash Bash;
    readline_vi: bash Bash;
    zle: zsh Zsh;
    fish_editor: fish Fish fish4 Fish4;
    lines: bash Bash zsh Zsh fish Fish fish4 Fish4;
    output: bash Bash zsh Zsh fish Fish fish4 Fish4;
    programs: bash Bash zsh Zsh fish Fish fish4 Fish4;
    jobs: bash Bash zsh Zsh fish Fish fish4 Fish4;
    plugins: bash Bash zsh Zsh fish Fish fish4 Fish4;
}
