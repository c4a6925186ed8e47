//! Allows views of container and cloud objects that show no secrets.

use super::{super::options::Arguments, Refusal, ask};

/// Judges the operands of the cloud or container program `name` by `rule`.
pub(super) fn assess(name: &str, rule: &str, arguments: &Arguments<'_>, operands: &[&str]) -> Result<(), Refusal> {
    let values_of = |names: &[&str]| arguments.values_of(names).collect::<Vec<_>>();
    match rule {
        "template" => match values_of(&["f", "format"])[..] {
            [] => ask("shows whole objects, which may hold secrets"),
            ref templates if templates.iter().all(|template| shows_no_environment(template)) => Ok(()),
            _ => ask("a template that may show the variables of a container"),
        },
        // `file://` reads a file, an address fetches it.
        "aws" if texts(arguments, operands).all(|text| !text.contains("://") || text.starts_with("s3://")) => Ok(()),
        "gcloud" if values_of(&["format"]).iter().all(|format| is_table(format)) => Ok(()),
        "gcloud" => ask("`gcloud` that shows whole objects, which may hold secrets"),
        "gh" | "forge" if !names_own_host(arguments, operands) => {
            ask(format!("names another host: `{}`", operands.join(" ")))
        }
        "forge" => Ok(()),
        // Filters of `--jq` and templates may read the environment.
        "gh" if texts(arguments, operands).all(|text| !text.to_ascii_lowercase().contains("env")) => Ok(()),
        _ => ask(format!("not known to be read-only: `{name}` with these operands")),
    }
}

/// Whether all operands and repositories stay on the host that the user has set: `OWNER/NAME` and shorter forms do.
fn names_own_host(arguments: &Arguments<'_>, operands: &[&str]) -> bool {
    let is_short = |text: &&str| !text.contains(':') && text.matches('/').count() <= 1;
    let is_repository = |text: &str| {
        let owner = text.split_once('/').map(|(owner, name)| (owner, name.contains(['/', ':'])));
        owner.is_some_and(|(owner, is_longer)| !is_longer && !owner.contains(['.', ':']))
    };
    operands.iter().all(is_short) && arguments.values_of(&["R", "repo"]).all(is_repository)
}

/// Whether it shows columns that it names.
fn is_table(format: &str) -> bool {
    ["table", "value", "csv", "get"].iter().any(|kind| format.starts_with(kind)) && !format.contains("env")
}

fn texts<'a>(arguments: &'a Arguments<'_>, operands: &'a [&str]) -> impl Iterator<Item = &'a str> {
    operands.iter().copied().chain(arguments.options.iter().filter_map(|(_, value)| *value))
}

/// Whether a template of `docker inspect` names only fields that neither are the environment nor hold it.
fn shows_no_environment(template: &str) -> bool {
    let mut names = template.split(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '$')));
    let is_whole = |name: &str| name.trim_start_matches('$').trim_matches('.').is_empty() && !name.is_empty();
    let holds_it = |name: &str| {
        let last = name.rsplit('.').find(|part| !part.is_empty()).unwrap_or_default();
        name.starts_with(['.', '$'])
            && matches!(last, "Config" | "ContainerConfig" | "CreateCommand" | "DriverOpts" | "Options" | "Spec")
    };
    template.contains("{{")
        && !template.contains('\\')
        && !template.to_ascii_lowercase().contains("env")
        && !names.any(|name| is_whole(name) || holds_it(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_template_shows_fields_that_hold_no_environment() {
        for template in [
            "{{.State.Status}}",
            "{{range .NetworkSettings.Networks}}{{.IPAddress}}{{end}}",
            "{{json .Mounts}}",
            "{{.Config.Image}}",
            "table {{.Name}}",
        ] {
            assert!(shows_no_environment(template), "{template}");
        }
        for template in [
            "{{json .}}",
            "{{.}}",
            "{{.Config}}",
            "{{json .Config}}",
            "{{.Config.Env}}",
            "{{.Config.CreateCommand}}",
            "{{range .Config.Env}}x{{end}}",
            "{{index . \"Config\"}}",
            "{{$x := .}}{{$x}}",
            "{{$}}",
            "{{with .Config}}{{.Env}}{{end}}",
            "{{index .Config \"\\x45nv\"}}",
            "json",
        ] {
            assert!(!shows_no_environment(template), "{template}");
        }
    }
}
