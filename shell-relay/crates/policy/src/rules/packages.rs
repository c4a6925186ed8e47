//! Allows queries of package managers.

use super::{
    super::{Context, options::Arguments, paths},
    Refusal, ask, check_path_text,
};

/// Variables of `go env` that name folders and versions.
const GO_VARIABLES: &[&str] = &[
    "CGO_ENABLED",
    "GO111MODULE",
    "GOARCH",
    "GOBIN",
    "GOCACHE",
    "GOEXE",
    "GOHOSTARCH",
    "GOHOSTOS",
    "GOMOD",
    "GOMODCACHE",
    "GOOS",
    "GOPATH",
    "GOROOT",
    "GOTOOLCHAIN",
    "GOTOOLDIR",
    "GOVERSION",
    "GOWORK",
];

/// Judges the operands of the manager that `rule` names.
pub(super) fn assess(
    rule: &str,
    arguments: &Arguments<'_>,
    operands: &[&str],
    context: Context<'_>,
) -> Result<(), Refusal> {
    match rule {
        "rpm" => assess_rpm(arguments, operands, context),
        "dpkgquery" if arguments.has(&["W", "show"]) => {
            let has_format = arguments.options.iter().any(|(_, value)| value.is_some_and(|text| text.contains("${")));
            if has_format || !operands.is_empty() {
                Ok(())
            } else {
                ask("`dpkg-query -W` without a package or a format")
            }
        }
        "dpkgquery" if arguments.has(&["l", "L", "s", "S", "p", "list", "listfiles", "search", "status"]) => Ok(()),
        "pacman" if is_query_of_pacman(arguments) => Ok(()),
        // In a folder that sets another registry, npm would send the query there.
        "global" if arguments.has(&["g", "global"]) => Ok(()),
        "goenv" if !operands.is_empty() && operands.iter().all(|name| GO_VARIABLES.contains(name)) => Ok(()),
        "aptfile" if matches!(operands, ["search" | "list" | "find" | "show", _]) => Ok(()),
        _ => ask("asks a manager of packages for more than what there is"),
    }
}

fn assess_rpm(arguments: &Arguments<'_>, operands: &[&str], context: Context<'_>) -> Result<(), Refusal> {
    let is_query = arguments.options.first().is_some_and(|(name, _)| matches!(*name, "q" | "query"));
    let may_run = |value: &Option<&str>| value.is_some_and(|text| text.contains("%(") || text.contains("%{lua"));
    if !is_query || arguments.options.iter().any(|(_, value)| may_run(value)) {
        return ask("`rpm` that does more than a query");
    }
    if operands.iter().any(|word| word.contains("://")) {
        return ask("`rpm` that fetches a package");
    }
    operands.iter().try_for_each(|path| check_path_text(path, false, context, paths::read_risk))
}

/// Whether it asks for installed packages, or for the contents of the local lists.
fn is_query_of_pacman(arguments: &Arguments<'_>) -> bool {
    let is_installed = arguments.has(&["Q", "query"]);
    let is_listed =
        arguments.has(&["S", "F"]) && arguments.has(&["s", "i", "l", "g", "search", "info", "list", "groups"]);
    let changes = arguments.has(&["S", "F"]) && arguments.has(&["c", "u", "d", "k", "upgrades", "deps"]);
    (is_installed || is_listed || arguments.has(&["T"])) && !changes
}
