//! Intents about users and their environment: accounts, logins, variables.

use super::{
    super::{
        answer::{code, counted, list},
        context::Dialect,
        intent::{Intent, Topic},
        run::{Reply, Run, Step},
        shell_line::is_variable_name,
        slots::Slots,
    },
    show,
    system::say,
};

pub(super) const INTENTS: &[Intent] = &[
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
        plan: |_, run| show(run, "who", "Logged-in users:", "No user is logged in on a terminal."),
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
];

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

/// Lists names only: values may be secret, and the output of a command does not stay in its terminal.
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
