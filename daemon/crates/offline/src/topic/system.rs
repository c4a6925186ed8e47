//! Intents about the machine itself: system, hardware, uptime, time.

use super::{
    super::{
        answer::{block, code},
        intent::{Intent, Topic},
        run::{Reply, Run, Step},
        slots::Slots,
    },
    show,
};

pub(super) const INTENTS: &[Intent] = &[
    Intent {
        name: "system.os",
        topic: Topic::System,
        example: "which operating system is this?",
        patterns: &[
            "os ?version ?run ?where ?show ?kernel ?name",
            "what|where linux ?version ?run ?it -find",
            "linux version",
            "what version ubuntu|debian|fedora",
            "what system is ?it",
            "where|what ubuntu|debian|fedora|arch|linux is|it ?version ?run",
            "version ubuntu|debian|fedora|linux|arch ?where ?what ?it",
        ],
        plan: os,
    },
    Intent {
        name: "system.kernel",
        topic: Topic::System,
        example: "kernel version",
        patterns: &[
            "kernel ?version ?run ?where ?show",
            "uname",
            "architecture",
            "linux kernel ?version",
            "uname ?all",
        ],
        plan: |_, run| say(run, "uname -srm", "The kernel is"),
    },
    Intent {
        name: "system.uptime",
        topic: Topic::System,
        example: "how long has this computer been up?",
        patterns: &[
            "uptime ?up ?last ?time ?run ?show it",
            "uptime ?up ?run ?show ?last ?time ?on",
            "uptime ?it ?run ?up ?host ?last",
            "how long run|up ?it ?host ?already",
            "long run|up it|how ?host",
            "howlong run|up ?it ?host ?already",
            "howlong it ?host ?on|up|run",
            "howlong host ?up ?run ?it",
        ],
        plan: uptime,
    },
    Intent {
        name: "system.started",
        topic: Topic::System,
        example: "when was the last reboot?",
        patterns: &[
            "reboot last|when ?it",
            "restart last|when ?it",
            "reboot ?last ?when ?time ?it ?host",
            "when start host|machine|computer|server ?last ?it",
            "last start host|machine|system",
        ],
        plan: |_, run| say(run, "uptime -s", "This machine was started"),
    },
    Intent {
        name: "system.memory",
        topic: Topic::System,
        example: "how much memory is free?",
        patterns: &[
            "memory ?free ?use ?show ?howmuch ?all ?size ?count ?status -process -big -who",
            "swap ?free ?use ?howmuch ?memory ?space",
        ],
        plan: memory,
    },
    Intent {
        name: "system.cpu",
        topic: Topic::System,
        example: "what cpu does this machine have?",
        patterns: &[
            "cpu ?show ?type ?name ?count ?size -use -process -big",
            "count cpu ?it",
            "count cpu ?have ?it",
            "type cpu ?have ?it",
            "where|what cpu it|have ?show",
        ],
        plan: cpu,
    },
    Intent {
        name: "system.load",
        topic: Topic::System,
        example: "what is the system load?",
        patterns: &[
            "load ?cpu ?show ?average ?use ?status",
            "load system ?show ?what",
            "load cpu|system|it ?what ?show",
        ],
        plan: |_, run| say(run, "uptime", "The load averages over 1, 5 and 15 minutes are at the end:"),
    },
    Intent {
        name: "system.date",
        topic: Topic::System,
        example: "what time is it?",
        patterns: &[
            "time ?it ?date ?show -file",
            "date ?show ?time ?it -file",
            "day ?it ?<date> ?date",
            "date <date>",
            "what day ?it ?<date>",
            "what is date ?it ?<date>",
        ],
        plan: |_, run| say(run, "date", "It is"),
    },
    Intent {
        name: "system.calendar",
        topic: Topic::System,
        example: "show a calendar",
        patterns: &["calendar ?show ?<date>"],
        plan: |_, run| show(run, "cal", "This month:", "There is no calendar."),
    },
    Intent {
        name: "system.hostname",
        topic: Topic::System,
        example: "what is the hostname?",
        patterns: &[
            "hostname ?show",
            "name host",
            "name computer|machine",
            "name it ?computer how",
            "how it called",
            "hostname ?it ?what",
            "name host|machine|computer ?it ?what",
        ],
        plan: |_, run| say(run, "hostname", "This machine is called"),
    },
    Intent {
        name: "system.timezone",
        topic: Topic::System,
        example: "which time zone is set?",
        patterns: &["timezone ?show ?where ?time ?set"],
        plan: |_, run| say(run, "date '+%Z (UTC%z)'", "The time zone is"),
    },
    Intent {
        name: "system.gpu",
        topic: Topic::System,
        example: "which graphics card is in here?",
        patterns: &["gpu ?show ?type ?name ?where ?version", "graphics card|adapter|chip ?show ?where"],
        plan: gpu,
    },
    Intent {
        name: "system.usb",
        topic: Topic::System,
        example: "list the USB devices",
        patterns: &["usb ?device ?show ?all ?where ?connection ?attached ?disk"],
        plan: |_, run| show(run, "lsusb", "USB devices:", "No USB device is attached."),
    },
];

/// One line of output in a sentence.
pub(super) fn say(run: &mut Run<'_>, line: &str, head: &str) -> Step {
    let output = run.shell(line)?;
    Ok(Reply::new(match output.lines().as_slice() {
        [] => output.failure(),
        [one] => format!("{head} {}.", code(one.trim())),
        many => format!("{head}\n\n{}", block(many, "text")),
    }))
}

fn os(_: &Slots, run: &mut Run<'_>) -> Step {
    let output = run.attempt("cat /etc/os-release")?;
    let name =
        output.text.lines().find_map(|line| line.strip_prefix("PRETTY_NAME=")).map(|name| name.trim_matches('"'));
    match name {
        Some(name) if !output.failed => Ok(Reply::new(format!("This is **{}**.", name.replace(['*', '`', '<'], "")))),
        _ => say(run, "uname -srm", "This is"),
    }
}

fn memory(_: &Slots, run: &mut Run<'_>) -> Step {
    let output = run.attempt("free -h")?;
    let row: Vec<&str> =
        output.text.lines().find(|line| line.starts_with("Mem:")).unwrap_or_default().split_whitespace().collect();
    match row.as_slice() {
        [_, total, used, .., available] if !output.failed => Ok(Reply::new(format!(
            "**{available}** of {total} memory are available; {used} are used.\n\n{}",
            block(&output.lines(), "text")
        ))),
        _ => Ok(Reply::new(output.failure())),
    }
}

fn cpu(_: &Slots, run: &mut Run<'_>) -> Step {
    let output = run.shell("lscpu")?;
    let field = |name: &str| output.text.lines().find_map(|line| line.trim().strip_prefix(name)).map(str::trim);
    let model = field("Model name:").unwrap_or("an unnamed processor");
    let count = field("CPU(s):").unwrap_or("an unknown number of");
    Ok(Reply::new(format!(
        "{}, {count} CPUs, {}.",
        code(model),
        field("Architecture:").unwrap_or("unknown architecture")
    )))
}

/// Puts `up 1 hour, 2 minutes` into a sentence.
fn uptime(_: &Slots, run: &mut Run<'_>) -> Step {
    let output = run.shell("uptime -p")?;
    let time = output.first().and_then(|line| line.strip_prefix("up "));
    Ok(Reply::new(
        time.map_or_else(|| output.failure(), |time| format!("This machine has been up for {}.", code(time))),
    ))
}

fn gpu(_: &Slots, run: &mut Run<'_>) -> Step {
    let output = run.shell("lspci")?;
    let cards: Vec<&str> = output
        .lines()
        .into_iter()
        .filter(|line| ["VGA", "3D controller", "Display"].iter().any(|kind| line.contains(kind)))
        .collect();
    Ok(Reply::new(if cards.is_empty() {
        "I see no graphics card here.".to_owned()
    } else {
        format!("Graphics:\n\n{}", block(&cards, "text"))
    }))
}
