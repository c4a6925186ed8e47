//! Intents about software packages. The shell is asked for the installed package manager.

use super::{
    super::{
        answer::{MAX_ROWS, block, code, counted, table},
        intent::{Intent, Topic},
        run::{Halt, Reply, Run, Step},
        shell_line::is_plain_name,
        slots::Slots,
    },
    show,
};

/// Package managers in the order in which they are looked for, and their verbs.
const MANAGERS: [PackageManager; 4] = [
    PackageManager {
        program: "apt",
        install: "sudo apt install",
        remove: "sudo apt remove",
        search: "apt-cache search",
        list: "dpkg -l",
        owner: "dpkg -S",
        outdated: "apt list --upgradable",
        update: "sudo apt upgrade",
    },
    PackageManager {
        program: "dnf",
        install: "sudo dnf install",
        remove: "sudo dnf remove",
        search: "dnf search",
        list: "rpm -qa",
        owner: "rpm -q -f",
        outdated: "dnf check-update",
        update: "sudo dnf upgrade",
    },
    PackageManager {
        program: "pacman",
        install: "sudo pacman -S",
        remove: "sudo pacman -R",
        search: "pacman -Ss",
        list: "pacman -Q",
        owner: "pacman -Qo",
        outdated: "pacman -Qu",
        update: "sudo pacman -Syu",
    },
    PackageManager {
        program: "brew",
        install: "brew install",
        remove: "brew uninstall",
        search: "brew search",
        list: "brew list",
        owner: "brew which-formula",
        outdated: "brew outdated",
        update: "brew upgrade",
    },
];

struct PackageManager {
    program: &'static str,
    install: &'static str,
    remove: &'static str,
    search: &'static str,
    list: &'static str,
    owner: &'static str,
    outdated: &'static str,
    update: &'static str,
}

pub(super) const INTENTS: &[Intent] = &[
    Intent {
        name: "packages.installed",
        topic: Topic::Packages,
        example: "is docker installed?",
        patterns: &[
            "installed <name> ?package ?version ?it ?where -process",
            "have <program> ?installed -process",
            "have <program> ?installed ?it -process",
            "is <program> there|available ?process ?installed -process",
        ],
        plan: installed,
    },
    Intent {
        name: "packages.where",
        topic: Topic::Packages,
        example: "where is python3?",
        patterns: &[
            "where <program> ?command ?installed ?path -folder -file",
            "where command <name> ?it",
            "path <program> ?command ?where",
            "where <program> installed ?command",
        ],
        plan: which,
    },
    Intent {
        name: "packages.version",
        topic: Topic::Packages,
        example: "which version of git do I have?",
        patterns: &[
            "version <name> ?installed ?package ?show ?where ?run",
            "version <program> ?installed ?where ?show",
            "version <place> ?where ?installed ?run",
            "<program> version ?show ?installed ?where ?have",
        ],
        plan: version,
    },
    Intent {
        name: "packages.install",
        topic: Topic::Packages,
        example: "install htop",
        patterns: &[
            "install <name> ?package -where",
            "install package <name>",
            "install <program> ?package",
            "need|want <name> installed|install ?package",
            "need installed <name>",
        ],
        plan: |slots, run| change(slots, run, |manager| manager.install, "is installed"),
    },
    Intent {
        name: "packages.remove",
        topic: Topic::Packages,
        example: "uninstall htop",
        patterns: &["uninstall <name> ?package", "delete package <name>"],
        plan: |slots, run| change(slots, run, |manager| manager.remove, "is removed"),
    },
    Intent {
        name: "packages.owner",
        topic: Topic::Packages,
        example: "which package owns /bin/ls?",
        patterns: &[
            "package own|contain|provide|provides|from <path> ?file ?where",
            "package <path> ?file ?where ?own -install -search -find",
        ],
        plan: owner,
    },
    Intent {
        name: "packages.search",
        topic: Topic::Packages,
        example: "search for a package named ripgrep",
        patterns: &[
            "find package <name> ?name",
            "package name <name> find|is|there ?it",
            "is package <name> ?it ?name -installed -where",
            "find package for <name>",
        ],
        plan: search,
    },
    Intent {
        name: "packages.outdated",
        topic: Topic::Packages,
        example: "which packages can be upgraded?",
        patterns: &[
            "outdated ?package ?show ?where",
            "package update|upgraded ?show ?free ?where ?all",
            "update available|free ?package",
            "package update|outdated is|are ?my ?where ?all",
            "update free|available|are|is ?package ?it",
            "need update|outdated ?package ?anything",
            "update is|are|any ?package ?available ?free",
        ],
        plan: outdated,
    },
    Intent {
        name: "packages.upgrade",
        topic: Topic::Packages,
        example: "update all packages",
        patterns: &[
            "update all package",
            "update system|package|all",
            "install update ?all ?package",
            "update all ?package ?system",
            "update system ?package ?all",
        ],
        plan: upgrade,
    },
    Intent {
        name: "packages.list",
        topic: Topic::Packages,
        example: "list the installed packages",
        patterns: &["package installed ?show ?what ?all ?where -count", "show package ?all ?my"],
        plan: list_all,
    },
    Intent {
        name: "packages.count",
        topic: Topic::Packages,
        example: "how many packages are installed?",
        patterns: &["count package ?installed", "count installed ?package"],
        plan: count,
    },
];

fn manager(run: &mut Run<'_>) -> Result<&'static PackageManager, Halt> {
    let output = run.attempt("command -v apt dnf pacman brew")?;
    let found = |manager: &&PackageManager| {
        output.lines().iter().any(|line| line.trim().rsplit('/').next() == Some(manager.program))
    };
    MANAGERS
        .iter()
        .find(found)
        .ok_or_else(|| Halt::Over("I found no package manager (apt, dnf, pacman, brew).".to_owned()))
}

/// The name of a package or program, if it has no other meaning in a line.
fn plain(slots: &Slots) -> Result<&str, Halt> {
    let name = slots.target();
    if is_plain_name(name) {
        Ok(name)
    } else {
        Err(Halt::Over(format!("{} is not the name of a package or program.", code(name))))
    }
}

fn installed(slots: &Slots, run: &mut Run<'_>) -> Step {
    let name = plain(slots)?;
    let output = run.attempt(&format!("command -v {name}"))?;
    if let Some(path) = output.first().filter(|_| !output.failed) {
        return Ok(Reply::new(format!("**Yes**, {} is installed: {}.", code(name), code(path))));
    }
    let manager = manager(run)?;
    let query = match manager.program {
        "apt" => format!("dpkg -s {name}"),
        "dnf" => format!("rpm -q {name}"),
        "pacman" => format!("pacman -Q {name}"),
        _ => format!("brew list {name}"),
    };
    let output = run.attempt(&query)?;
    let is_there = !output.failed && !output.text.contains("deinstall ok");
    Ok(Reply::new(if is_there {
        format!("**Yes**, the package {} is installed; it has no command of that name.", code(name))
    } else {
        format!(
            "**No**, there is neither a command nor a package {}. `install {name}` would ask {} for it.",
            code(name),
            manager.program
        )
    }))
}

fn list_all(_: &Slots, run: &mut Run<'_>) -> Step {
    let manager = manager(run)?;
    let (filter, counter) = if manager.program == "apt" { ("grep '^ii'", "grep -c '^ii'") } else { ("cat", "wc -l") };
    let total = run.shell(&format!("{} | {counter}", manager.list))?;
    let output = run.shell(&format!("{} | {filter} | head -n {MAX_ROWS}", manager.list))?;
    let name = |line: &str| {
        let mut words = line.split_whitespace().filter(|word| *word != "ii");
        Some(vec![words.next().unwrap_or_default().to_owned(), words.next()?.to_owned()])
    };
    let rows: Vec<Vec<String>> = output.lines().into_iter().filter_map(name).collect();
    let total = total.first().unwrap_or("?");
    let text = format!("**{total}** packages are installed ({}). The first of them:", manager.program);
    Ok(Reply::new(format!(
        "{text}\n\n{}\n\nAll of them: {}",
        table(&["Package", "Version"], &rows),
        code(manager.list)
    )))
}

fn which(slots: &Slots, run: &mut Run<'_>) -> Step {
    let name = plain(slots)?;
    let output = run.attempt(&format!("type -a {name}"))?;
    Ok(Reply::new(if output.failed || output.first().is_none() {
        format!("There is no command {}.", code(name))
    } else {
        format!("{}:\n\n{}", code(name), block(&output.lines(), "text"))
    }))
}

fn version(slots: &Slots, run: &mut Run<'_>) -> Step {
    let name = plain(slots)?;
    let output = run.attempt(&format!("{name} --version"))?;
    Ok(Reply::new(match output.first() {
        Some(line) if !output.failed => format!("{}: {}", code(name), code(line)),
        _ => format!("{} does not report a version. {}", code(name), output.failure()),
    }))
}

fn change(slots: &Slots, run: &mut Run<'_>, verb: fn(&PackageManager) -> &'static str, outcome: &str) -> Step {
    let name = plain(slots)?;
    let manager = manager(run)?;
    let output = run.shell(&format!("{} {name}", verb(manager)))?;
    let last = output.lines().last().map(|line| format!("\n\n{}", block(&[line], "text"))).unwrap_or_default();
    Ok(Reply::new(format!("{} {outcome}.{last}", code(name))))
}

fn owner(slots: &Slots, run: &mut Run<'_>) -> Step {
    let manager = manager(run)?;
    let name = slots.name();
    let line = format!("{} {}", manager.owner, super::super::shell_line::path(name));
    show(run, &line, &format!("{} comes from:", code(name)), "No package owns it.")
}

fn search(slots: &Slots, run: &mut Run<'_>) -> Step {
    let name = plain(slots)?;
    let manager = manager(run)?;
    show(
        run,
        &format!("{} {name} | head -n 40", manager.search),
        &format!("Packages that fit {}:", code(name)),
        "No package fits.",
    )
}

fn outdated(_: &Slots, run: &mut Run<'_>) -> Step {
    let manager = manager(run)?;
    // `dnf check-update` ends with 100 when there are some, `pacman -Qu` with 1 when there are none.
    let output = run.attempt(manager.outdated)?;
    let rows: Vec<&str> = output
        .lines()
        .into_iter()
        .filter(|line| !line.starts_with("Listing") && !line.starts_with("WARNING"))
        .collect();
    Ok(Reply::new(if rows.is_empty() {
        "Every package is up to date, as far as the last refresh of the lists knows.".to_owned()
    } else {
        format!("{} can be upgraded:\n\n{}", counted(rows.len(), "package", "packages"), block(&rows, "text"))
    }))
}

fn upgrade(_: &Slots, run: &mut Run<'_>) -> Step {
    let manager = manager(run)?;
    run.shell(manager.update)?;
    Ok(Reply::new(format!("I ran {}.", code(manager.update))))
}

fn count(_: &Slots, run: &mut Run<'_>) -> Step {
    let manager = manager(run)?;
    let filter = if manager.program == "apt" { " | grep -c '^ii'" } else { " | wc -l" };
    let output = run.shell(&format!("{}{filter}", manager.list))?;
    Ok(Reply::new(format!("**{}** packages are installed ({}).", output.first().unwrap_or("?"), manager.program)))
}
