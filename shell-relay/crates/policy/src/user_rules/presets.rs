//! Rules for the tests and builds of a project: one consent for the usual commands of its build tool. Pure.

use std::path::Path;

use cohab_shell_state::shell::Shell;

use super::{argv, rule::Rule};

/// A row for each build tool: its usual commands. A rule allows exactly one of them. They run the project's own code, so they belong to a
/// folder, and no row has a command that publishes, installs or removes something.
const TOOLS: &[&[&str]] = &[
    &["cargo test", "cargo check", "cargo build", "cargo clippy", "cargo fmt --check", "cargo nextest run"],
    &["npm test", "npm run test", "npm run build", "npm run lint"],
    &["pnpm test", "pnpm run build", "pnpm run lint"],
    &["yarn test", "yarn build", "yarn lint"],
    &["tsc --noEmit"],
    &["pytest", "pytest -q", "tox", "ruff check", "mypy ."],
    &["go test ./...", "go build ./...", "go vet ./..."],
    &["make", "make test", "make check", "make build", "make lint"],
    &["ninja", "ctest", "meson compile", "meson test"],
    &["mvn test", "mvn verify"],
    &["gradle test", "gradle build"],
    &["./gradlew test", "./gradlew build"],
    &["dotnet test", "dotnet build"],
    &["mix test", "mix compile"],
    &["rake test"],
    &["zig build", "zig build test"],
    &["just test", "just check", "just build"],
];

/// The rules that allow the usual tests and builds of the tool that `line` calls, and `line` itself; none if it is no such command, or
/// if no rule can allow it. Further words may follow the two or more words of a usual command: `cargo test -p shop`.
///
/// ```
/// use cohab_policy::user_rules::{Rule, project_rules};
/// use cohab_shell_state::shell::Shell;
/// let lines = |line| project_rules(line, "/srv/shop".as_ref(), Shell::Bash).iter().map(Rule::line).collect::<Vec<_>>();
/// assert_eq!(lines("go vet ./..."), ["go vet ./...", "go test ./...", "go build ./..."]);
/// assert!(lines("make install").is_empty());
/// ```
#[must_use]
pub fn project_rules(line: &str, folder: &Path, shell: Shell) -> Vec<Rule> {
    let Ok(words) = argv::argv_of(line, shell) else { return Vec::new() };
    let is_usual = |usual: &&str| {
        let usual: Vec<&str> = usual.split(' ').collect();
        words == usual
            || (usual.len() > 1 && words.len() > usual.len() && words.iter().zip(&usual).all(|(a, b)| a == b))
    };
    let Some(tool) = TOOLS.iter().find(|usual| usual.iter().any(is_usual)) else { return Vec::new() };
    let Ok(first) = Rule::of(line, Some(folder), shell) else { return Vec::new() };
    let mut rules = vec![first];
    for rule in tool.iter().filter_map(|usual| Rule::of(usual, Some(folder), shell).ok()) {
        if !rules.contains(&rule) {
            rules.push(rule);
        }
    }
    rules
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(line: &str) -> Vec<String> {
        let folder = Path::new("/srv/shop");
        let rules = project_rules(line, folder, Shell::Bash);
        assert!(rules.iter().all(|rule| rule.folder.as_deref() == Some(folder)), "{line}");
        rules.iter().map(Rule::line).collect()
    }

    #[test]
    fn every_usual_command_can_be_allowed() {
        let usual = TOOLS.iter().flat_map(|tool| tool.iter());
        let refused: Vec<_> = usual.filter(|usual| lines(usual).first().is_none_or(|line| line != *usual)).collect();
        assert!(refused.is_empty(), "{refused:?}");
    }

    #[test]
    fn the_command_of_the_card_comes_first_and_no_rule_twice() {
        let rules = lines("cargo test -p shop");
        assert_eq!(rules.iter().take(3).collect::<Vec<_>>(), ["cargo test -p shop", "cargo test", "cargo check"]);
        let mut sorted = rules.clone();
        sorted.sort_unstable();
        sorted.dedup();
        assert_eq!(sorted.len(), rules.len());
    }

    #[test]
    fn nothing_else_counts_as_a_test_or_a_build() {
        for other in [
            "make install",
            "bun test",
            "cargo publish",
            "cargo",
            "npm install",
            "npm run deploy",
            "pytest tests",
            "cargo test; id",
            "cargo test > out",
            "FOO=1 cargo test",
            "sudo make",
            "/tmp/make",
            "",
        ] {
            assert_eq!(lines(other), [""; 0], "{other}");
        }
    }
}
