//! Intents about services, timers and the system log.

use super::{
    super::{
        answer::{block, code},
        intent::{Intent, Topic},
        run::{Reply, Run, Step},
        shell_line::is_plain_name,
        slots::Slots,
    },
    show,
};

pub(super) const INTENTS: &[Intent] = &[
    Intent {
        name: "system.service",
        topic: Topic::System,
        example: "status of the service ssh",
        patterns: &[
            "service <name> ?status ?run ?up -start -kill -restart -listen",
            "status <name> ?service -git -listen",
            "status <program> ?service -git -listen",
            "service <name> status|run|up|doing|how ?it -listen",
            "status service <name> -listen",
            "status <path> ?service -git -listen",
        ],
        plan: service,
    },
    Intent {
        name: "system.services",
        topic: Topic::System,
        example: "list running services",
        patterns: &["service ?run ?show ?all ?up -fail -listen", "service run ?what ?show ?all ?it -listen"],
        plan: |_, run| {
            show(
                run,
                "systemctl list-units --type=service --state=running --no-pager",
                "Running services:",
                "No services run.",
            )
        },
    },
    Intent {
        name: "system.failed-services",
        topic: Topic::System,
        example: "which services failed?",
        patterns: &[
            "service fail ?show ?all ?where",
            "service fail ?it ?did ?any",
            "fail unit|units ?show ?where",
            "broken service ?show ?all",
        ],
        plan: |_, run| show(run, "systemctl list-units --state=failed --no-pager", "Failed units:", "No unit failed."),
    },
    Intent {
        name: "system.restart-service",
        topic: Topic::System,
        example: "restart the service nginx",
        patterns: &["restart <program> ?service", "restart service <name>", "restart <path> ?service"],
        plan: |slots, run| control(slots, run, "restart"),
    },
    Intent {
        name: "system.stop-service",
        topic: Topic::System,
        example: "stop the service nginx",
        patterns: &["kill|stop service <name>"],
        plan: |slots, run| control(slots, run, "stop"),
    },
    Intent {
        name: "system.start-service",
        topic: Topic::System,
        example: "start the service nginx",
        patterns: &["start service <name>"],
        plan: |slots, run| control(slots, run, "start"),
    },
    Intent {
        name: "system.log",
        topic: Topic::System,
        example: "show the system log",
        patterns: &[
            "log system|journal ?show ?last ?fail ?<num>",
            "journal ?show ?log ?last ?<num>",
            "system fail ?show ?last ?log",
            "journal",
            "last line journal ?<num>",
            "log system ?last ?line ?<num> ?show ?fail ?newest",
            "system log fail ?show ?what ?it",
            "newest log system ?show ?entries",
            "journal line|last ?<num> ?show ?last",
            "journal ?show ?newest ?fail",
        ],
        plan: |slots, run| {
            show(
                run,
                &format!("journalctl -n {} --no-pager", slots.count_or(30)),
                "The latest entries of the log:",
                "The log is empty.",
            )
        },
    },
    Intent {
        name: "system.timers",
        topic: Topic::System,
        example: "list the timers",
        patterns: &["timer ?show ?all ?service ?where ?run", "timer scheduled|planned ?show ?what ?all"],
        plan: |_, run| show(run, "systemctl list-timers --no-pager", "Timers, the next first:", "There are no timers."),
    },
];

fn service(slots: &Slots, run: &mut Run<'_>) -> Step {
    let name = slots.name();
    if !is_plain_name(name) {
        return Ok(Reply::new(format!("{} is not the name of a service.", code(name))));
    }
    let output = run.attempt(&format!("systemctl status --no-pager -n 5 {name}"))?;
    let state = output.text.lines().find_map(|line| line.trim().strip_prefix("Active: "));
    Ok(Reply::new(match state {
        Some(state) => format!("{} is {}.\n\n{}", code(name), code(state), block(&output.lines(), "text")),
        None => output.failure(),
    }))
}

fn control(slots: &Slots, run: &mut Run<'_>, verb: &str) -> Step {
    let name = slots.name();
    if !is_plain_name(name) {
        return Ok(Reply::new(format!("{} is not the name of a service.", code(name))));
    }
    run.shell(&format!("sudo systemctl {verb} {name}"))?;
    Ok(Reply::new(format!("I asked the service {} to {verb}.", code(name))))
}
