//! Allows `kubectl` tables, descriptions and histories that show no values of variables.

use super::{super::options::Arguments, Refusal, ask};

/// Judges the operands of one of its subcommands, which `rule` names.
pub(super) fn assess(rule: &str, arguments: &Arguments<'_>, operands: &[&str]) -> Result<(), Refusal> {
    match (rule, operands) {
        ("kubectlget", _) => assess_get(arguments, operands),
        // Further operands are names, or `kind/name` like the first.
        ("kubectldescribe", [kind, others @ ..])
            if is_described_without_values(kind)
                && others.iter().all(|other| !other.contains('/') || is_described_without_values(other)) =>
        {
            Ok(())
        }
        ("kubectldescribe", _) => ask("`kubectl describe` of a kind that may show values of variables"),
        _ if arguments.has(&["timeout"]) || has_value(arguments, "watch", "false") => Ok(()),
        _ => ask("waits for what runs elsewhere: `kubectl rollout status` without `--timeout`"),
    }
}

/// Kinds whose tables show no private values, but whose whole objects may.
const PLAIN_KINDS: &[&str] = &[
    "all",
    "clusterrole",
    "clusterrolebinding",
    "clusterrolebindings",
    "clusterroles",
    "cm",
    "configmap",
    "configmaps",
    "componentstatuses",
    "cs",
    "csr",
    "crd",
    "crds",
    "customresourcedefinitions",
    "certificatesigningrequests",
    "cj",
    "cronjob",
    "cronjobs",
    "daemonset",
    "daemonsets",
    "deploy",
    "deployment",
    "deployments",
    "ds",
    "ingressclass",
    "job",
    "jobs",
    "po",
    "pod",
    "pods",
    "replicaset",
    "replicasets",
    "rolebindings",
    "roles",
    "rs",
    "sa",
    "serviceaccounts",
    "statefulset",
    "statefulsets",
    "sts",
];

/// A table of plain kinds. Whole objects hold the values of variables.
fn assess_get(arguments: &Arguments<'_>, operands: &[&str]) -> Result<(), Refusal> {
    let are_all = |known: &dyn Fn(&str) -> bool| operands.first().is_some_and(|kinds| kinds.split(',').all(known));
    let are_open = are_all(&|kind| OPEN_KINDS.contains(&kind));
    let is_table = |value: &str| {
        matches!(value, "wide" | "name") || (are_open && matches!(value, "json" | "yaml")) || shows_plain_fields(value)
    };
    let mut outputs = arguments.options.iter().filter(|(name, _)| matches!(*name, "o" | "output"));
    if !outputs.all(|(_, value)| value.is_some_and(is_table)) || arguments.has(&["w"]) {
        return ask("`kubectl get` that shows whole objects, or goes on");
    }
    let is_plain = are_all(&|kind| OPEN_KINDS.contains(&kind) || PLAIN_KINDS.contains(&kind));
    if is_plain { Ok(()) } else { ask("`kubectl get` of a kind that may hold secrets") }
}

/// Kinds whose whole objects hold no values of variables, and no private data.
const OPEN_KINDS: &[&str] = &[
    "endpoints",
    "endpointslices",
    "ep",
    "ev",
    "events",
    "hpa",
    "ing",
    "ingress",
    "ingresses",
    "namespace",
    "namespaces",
    "netpol",
    "networkpolicies",
    "no",
    "node",
    "nodes",
    "ns",
    "pdb",
    "pv",
    "pvc",
    "quota",
    "resourcequotas",
    "sc",
    "service",
    "services",
    "storageclass",
    "svc",
];

/// Fields that hold a name, a number or a state.
const PLAIN_FIELDS: &[&str] = &[
    "availableReplicas",
    "clusterIP",
    "creationTimestamp",
    "host",
    "hostIP",
    "hostname",
    "image",
    "ip",
    "kind",
    "kubeletVersion",
    "message",
    "name",
    "namespace",
    "nodeName",
    "nodePort",
    "phase",
    "podIP",
    "port",
    "ready",
    "readyReplicas",
    "reason",
    "replicas",
    "restartCount",
    "startTime",
    "status",
    "storageClassName",
    "targetPort",
    "type",
    "uid",
];

/// Whether `jsonpath=` or `custom-columns=` names such fields only, on any path to them.
fn shows_plain_fields(output: &str) -> bool {
    let Some((kind, paths)) = output.split_once('=') else { return false };
    let is_path = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '[' | ']' | '*' | '_');
    let is_plain = |path: &str| {
        // The part in front of a filter is not shown itself.
        let last = path.rsplit('.').next().unwrap_or_default();
        last.ends_with('[') || PLAIN_FIELDS.contains(&last.trim_end_matches("[*]"))
    };
    // The list of a loop is not shown itself either.
    let shown = paths.split("{range ").enumerate().map(|(at, part)| match part.split_once('}') {
        Some((_, rest)) if at > 0 => rest,
        _ => part,
    });
    let mut names = shown.flat_map(|part| part.split(|c| !is_path(c))).filter(|part| part.contains('.')).peekable();
    matches!(kind, "jsonpath" | "custom-columns")
        && !paths.contains("..")
        && !paths.contains("@}")
        && names.peek().is_some()
        && names.all(is_plain)
}

/// Kinds of [`PLAIN_KINDS`] whose description has no values of variables: kinds without containers.
fn is_described_without_values(kind: &str) -> bool {
    let kind = kind.split('/').next().unwrap_or_default();
    matches!(
        kind,
        "no" | "node"
            | "nodes"
            | "ns"
            | "namespace"
            | "namespaces"
            | "svc"
            | "service"
            | "services"
            | "ing"
            | "ingress"
            | "ingresses"
            | "ep"
            | "endpoints"
            | "hpa"
            | "pv"
            | "pvc"
            | "sc"
            | "storageclass"
    )
}

fn has_value(arguments: &Arguments<'_>, name: &str, wanted: &str) -> bool {
    arguments.options.iter().any(|(option, value)| *option == name && *value == Some(wanted))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_fields_without_values_of_anybodys_are_shown() {
        for output in [
            "jsonpath={.items[*].metadata.name}",
            "jsonpath={range .items[*]}{.metadata.name}{\"\\t\"}{.status.phase}{end}",
            "custom-columns=NAME:.metadata.name,IMAGE:.spec.containers[*].image",
        ] {
            assert!(shows_plain_fields(output), "{output}");
        }
        for output in [
            "jsonpath={.items}",
            "jsonpath={.items[*]}",
            "jsonpath={@}",
            "jsonpath={..env}",
            "jsonpath={.spec.containers[*].env[*].value}",
            "jsonpath={.data}",
            "custom-columns=A:.spec",
            "go-template={{.metadata.name}}",
            "json",
            "yaml",
        ] {
            assert!(!shows_plain_fields(output), "{output}");
        }
    }
}
