//! The machine itself.

use super::{
    super::{
        answer::{block, code, counted, list},
        context::Dialect,
        intent::{Intent, Topic},
        run::{Reply, Run, Step},
        shell_line::is_variable_name,
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
        plan: |_, run| say(run, "uptime", "Load averages over 1, 5 and 15 minutes stand at the end:"),
    },
    Intent {
        name: "system.users",
        topic: Topic::System,
        example: "who is logged in?",
        patterns: &[
            "login who|user ?show ?all",
            "user ?show ?online ?login -use -my -delete",
            "who login",
            "who online ?else ?it",
            "who login ?it ?host ?else",
            "user login ?show ?all",
            "login user ?show",
            "who it|host login|on|online",
        ],
        plan: |_, run| show(run, "who", "Logged in are:", "Nobody is logged in on a terminal."),
    },
    Intent {
        name: "system.all-users",
        topic: Topic::System,
        example: "list all user accounts",
        patterns: &["user account|accounts ?show ?all", "show all user"],
        plan: accounts,
    },
    Intent {
        name: "system.last-logins",
        topic: Topic::System,
        example: "show the last logins",
        patterns: &["last login ?show ?all ?<num>", "login history", "who last login ?it", "login last|recent ?show"],
        plan: |slots, run| {
            show(run, &format!("last -n {}", slots.count_or(10)), "Last logins:", "No logins are recorded.")
        },
    },
    Intent {
        name: "system.whoami",
        topic: Topic::System,
        example: "who am i?",
        patterns: &[
            "whoami ?show",
            "where|what user am",
            "group ?user ?show ?my ?all",
            "am root|user ?i",
            "what username ?my",
            "group my|i|user ?show ?what",
        ],
        plan: who_am_i,
    },
    Intent {
        name: "system.home",
        topic: Topic::System,
        example: "what is my home directory?",
        patterns: &[
            "homefolder",
            "path home folder ?my ?where",
            "where|what home ?folder ?my ?located ?path",
            "home folder path|where|what",
            "homefolder ?folder ?located ?path ?where ?it",
        ],
        plan: |_, run| say(run, "printenv HOME", "Your home folder is"),
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
        name: "system.variable",
        topic: Topic::System,
        example: "what is the value of $HOME?",
        patterns: &[
            "variable|env <name> ?show ?content -set -unset -delete",
            "value <target> ?variable ?env ?show",
            "echo <name>",
            "what set <path>",
            "show|print|echo|what|value <name> variable|set",
            "show|what|value|print|echo <var>",
            "variable <name> set|show|what|value|print -unset -delete",
        ],
        plan: variable,
    },
    Intent {
        name: "system.environment",
        topic: Topic::System,
        example: "show the environment variables",
        patterns: &[
            "env variable ?show ?all ?set",
            "env ?show ?all",
            "variable show|what ?all ?set",
            "env ?variable ?show ?all ?where ?set ?what",
        ],
        plan: environment,
    },
    Intent {
        name: "system.path",
        topic: Topic::System,
        example: "show my PATH",
        patterns: &[
            "path ?show ?variable ?env ?content ?<place> -file -folder",
            "path env|variable ?show",
            "path",
            "what <place> path",
            "echo path",
            "path content ?show ?variable",
        ],
        plan: search_path,
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
        name: "system.shell",
        topic: Topic::System,
        example: "which shell am i using?",
        patterns: &[
            "shell where|use|what|run ?use ?version",
            "am bash|zsh|fish use|in ?i",
            "bash|zsh|fish am|use ?it ?or",
        ],
        plan: |_, run| say(run, "printenv SHELL", "Your login shell is"),
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
fn say(run: &mut Run<'_>, line: &str, head: &str) -> Step {
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

fn accounts(_: &Slots, run: &mut Run<'_>) -> Step {
    const FIRST_PERSON: u32 = 1000;
    const NOBODY: u32 = 65534;
    let output = run.shell("getent passwd")?;
    let people: Vec<&str> = output
        .text
        .lines()
        .filter_map(|line| {
            let mut fields = line.split(':');
            let name = fields.next()?;
            let id: u32 = fields.nth(1)?.parse().ok()?;
            (id == 0 || (FIRST_PERSON..NOBODY).contains(&id)).then_some(name)
        })
        .collect();
    Ok(Reply::new(format!("{} of people and root:\n\n{}", counted(people.len(), "account", "accounts"), list(&people))))
}

/// `up 1 hour, 2 minutes` in a sentence.
fn uptime(_: &Slots, run: &mut Run<'_>) -> Step {
    let output = run.shell("uptime -p")?;
    let time = output.first().and_then(|line| line.strip_prefix("up "));
    Ok(Reply::new(
        time.map_or_else(|| output.failure(), |time| format!("This machine has been up for {}.", code(time))),
    ))
}

/// Reads `uid=1000(ann) gid=1000(ann) groups=1000(ann),27(sudo)`.
fn who_am_i(_: &Slots, run: &mut Run<'_>) -> Step {
    let output = run.shell("id")?;
    let line = output.first().unwrap_or_default();
    let in_brackets = |text: &str| Some(text.split_once('(')?.1.split_once(')')?.0.to_owned());
    let field = |name: &str| line.split(' ').find_map(|field| field.strip_prefix(name));
    let user = field("uid=").and_then(in_brackets);
    let groups: Vec<String> = field("groups=").unwrap_or_default().split(',').filter_map(in_brackets).collect();
    let Some(user) = user else { return Ok(Reply::new(output.failure())) };
    let id: String = field("uid=").unwrap_or_default().chars().take_while(char::is_ascii_digit).collect();
    let groups: Vec<String> = groups.iter().map(|group| code(group)).collect();
    Ok(Reply::new(format!("You are {} (user id {id}), in the groups {}.", code(&user), groups.join(", "))))
}

/// Names only: values may be secret, and what a command prints goes further than its terminal.
fn environment(_: &Slots, run: &mut Run<'_>) -> Step {
    let line = match run.question.dialect {
        Dialect::Bash => "compgen -e",
        Dialect::Zsh => "typeset +x",
        Dialect::Fish => "set -n -x",
    };
    let output = run.shell(line)?;
    let names = output.lines();
    Ok(Reply::new(format!(
        "{} are set: {}.\n\nAsk `value of $NAME` for one; `env` prints all values.",
        counted(names.len(), "variable", "variables"),
        names.iter().map(|name| code(name)).collect::<Vec<_>>().join(", ")
    )))
}

pub(super) fn variable(slots: &Slots, run: &mut Run<'_>) -> Step {
    let name = slots.target().trim_start_matches('$');
    if name == "PATH" {
        return search_path(slots, run);
    }
    if !is_variable_name(name) {
        return Ok(Reply::new("Please name the variable, like `value of $HOME`."));
    }
    let output = run.attempt(&format!("printenv {name}"))?;
    Ok(Reply::new(match output.first() {
        Some(value) if !output.failed => format!("{} is {}.", code(name), code(value)),
        _ => format!("{} is not set.", code(name)),
    }))
}

fn search_path(_: &Slots, run: &mut Run<'_>) -> Step {
    let output = run.shell("printenv PATH")?;
    let folders: Vec<&str> = output.first().unwrap_or_default().split(':').collect();
    Ok(Reply::new(format!(
        "Programs are looked for in {}, in this order:\n\n{}",
        counted(folders.len(), "folder", "folders"),
        list(&folders)
    )))
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
