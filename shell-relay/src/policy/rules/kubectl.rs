//! `kubectl`: tables, descriptions and histories that show no values of variables.

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

/// Kinds whose tables show no values of anybody's.
const PLAIN_KINDS: &[&str] = &[
    "all",
    "cj",
    "cronjob",
    "cronjobs",
    "daemonset",
    "daemonsets",
    "deploy",
    "deployment",
    "deployments",
    "ds",
    "endpoints",
    "ep",
    "ev",
    "events",
    "hpa",
    "ing",
    "ingress",
    "ingresses",
    "job",
    "jobs",
    "namespace",
    "namespaces",
    "no",
    "node",
    "nodes",
    "ns",
    "po",
    "pod",
    "pods",
    "pv",
    "pvc",
    "replicaset",
    "replicasets",
    "rs",
    "sc",
    "service",
    "services",
    "statefulset",
    "statefulsets",
    "storageclass",
    "sts",
    "svc",
];

/// A table of plain kinds. Whole objects hold the values of variables.
fn assess_get(arguments: &Arguments<'_>, operands: &[&str]) -> Result<(), Refusal> {
    let is_table = |value: &str| matches!(value, "wide" | "name");
    let mut outputs = arguments.options.iter().filter(|(name, _)| matches!(*name, "o" | "output"));
    if !outputs.all(|(_, value)| value.is_some_and(is_table)) || arguments.has(&["w"]) {
        return ask("`kubectl get` that shows whole objects, or goes on");
    }
    let is_plain = operands.first().is_some_and(|kinds| kinds.split(',').all(|kind| PLAIN_KINDS.contains(&kind)));
    if is_plain { Ok(()) } else { ask("`kubectl get` of a kind that may hold secrets") }
}

/// Kinds of [`PLAIN_KINDS`] whose description has no values of variables: nothing that holds containers.
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
