//! Intents about processes: listing, resource use, ending.

use super::super::{
    answer::{block, code, counted, table},
    context::Dialect,
    intent::{Intent, Topic},
    references::pointed_processes,
    run::{Halt, Output, Reply, Run, Step},
    shell_line::{path, word},
    slots::Slots,
};

const ROWS: usize = 10;
/// Lowest process id that is not the system itself.
const FIRST_ORDINARY_PID: u64 = 2;

pub(super) const INTENTS: &[Intent] = &[
    Intent {
        name: "process.cpu",
        topic: Topic::Processes,
        example: "what uses the most cpu?",
        patterns: &[
            "cpu use|process|big ?process ?use ?big ?<num>",
            "load process",
            "why slow ?it ?process -code -query -test",
            "top ?process ?cpu",
            "slow|slowing what ?down ?process",
            "cpu hog ?process ?show ?<num>",
        ],
        plan: |slots, run| by_use(slots, run, "%cpu", "CPU"),
    },
    Intent {
        name: "process.memory",
        topic: Topic::Processes,
        example: "which processes use the most memory?",
        patterns: &[
            "memory process ?use ?big ?<num>",
            "what|who memory use -free ?process ?<num>",
            "memory big ?use ?process ?<num>",
            "memory hog ?process ?show ?<num>",
            "memory use process ?all ?show",
            "process memory ?show ?by",
            "memory use what|who|where ?process ?all -free -howmuch",
        ],
        plan: |slots, run| by_use(slots, run, "%mem", "memory"),
    },
    Intent {
        name: "process.kill-port",
        topic: Topic::Processes,
        example: "kill whatever listens on port 3000",
        patterns: &[
            "kill|stop port <num> ?process ?listen ?use ?it ?run",
            "kill|stop listen <num> ?process ?it",
            "cleanup|free port <num> ?process -is -what -who",
            "port <num> kill|stop ?process ?it ?use ?listen",
            "port <num> use|taken|blocked|busy kill|stop ?process ?it",
        ],
        plan: kill_port,
    },
    Intent {
        name: "process.kill",
        topic: Topic::Processes,
        example: "kill firefox",
        patterns: &[
            "kill <name> ?process ?all ?run -service -port -big",
            "stop <program> ?process ?all ?run -service -port -big",
            "stop process <name> ?all ?run -service -port -big",
            "kill|stop process|pid <num> -port",
            "kill <num> -port -listen",
            "kill|stop it|ordinal|first|last process ?it ?all -port -service",
            "kill it|ordinal|first|last ?it ?process ?all -port -service",
        ],
        plan: kill,
    },
    Intent {
        name: "process.kill-hog",
        topic: Topic::Processes,
        example: "kill the process that uses the most memory",
        patterns: &[
            "kill|stop process memory|cpu use ?big ?all",
            "kill|stop process memory|cpu big ?use",
            "kill|stop memory|cpu hog|use|big ?process ?all ?big ?use",
        ],
        plan: kill_hog,
    },
    Intent {
        name: "process.running",
        topic: Topic::Processes,
        example: "is nginx running?",
        patterns: &[
            "running|runs|alive|läuft <name> ?process ?service ?it -version -command -count -jobs",
            "run <name> is|are|does|do ?process ?it -version -command -count -jobs",
            "process <name> ?find ?show ?run ?all -kill -stop -jobs",
            "run <path> is|are ?process -jobs",
            "up <program> -jobs",
            "run <program> ?it ?process -version -command -jobs",
        ],
        plan: is_running,
    },
    Intent {
        name: "process.list",
        topic: Topic::Processes,
        example: "list my processes",
        patterns: &["process ?run ?show ?all ?user ?my", "what run", "ps", "process run ?what ?show"],
        plan: list_own,
    },
    Intent {
        name: "process.count",
        topic: Topic::Processes,
        example: "how many processes are running?",
        patterns: &["count process ?run ?all"],
        plan: |_, run| {
            let output = run.shell("ps -e -o pid= | wc -l")?;
            Ok(Reply::new(format!("**{}** processes are running.", output.first().unwrap_or("?"))))
        },
    },
    Intent {
        name: "process.tree",
        topic: Topic::Processes,
        example: "show the process tree",
        patterns: &["process tree ?show"],
        plan: tree,
    },
    Intent {
        name: "process.zombies",
        topic: Topic::Processes,
        example: "are there zombie processes?",
        patterns: &["zombie ?process ?find ?show ?all ?it ?count"],
        plan: zombies,
    },
    Intent {
        name: "process.file-users",
        topic: Topic::Processes,
        example: "who uses the file data.db?",
        patterns: &[
            "use file <name> ?process ?who ?open",
            "who|process use|open <path> ?file ?process",
            "open <path> who|process ?file",
        ],
        plan: file_users,
    },
    Intent {
        name: "process.jobs",
        topic: Topic::Processes,
        example: "show background jobs",
        patterns: &[
            "jobs ?show ?all background",
            "jobs",
            "jobs run|background ?show ?all ?what ?it",
            "what jobs ?run ?background",
        ],
        plan: |_, run| {
            // In fish `-l` means the last one only.
            let line = if run.question.dialect == Dialect::Fish { "jobs" } else { "jobs -l" };
            super::show(run, line, "Jobs of this shell:", "This shell has no jobs.")
        },
    },
];

fn by_use(slots: &Slots, run: &mut Run<'_>, column: &str, noun: &str) -> Step {
    let count = slots.count_or(ROWS);
    let line = format!("ps -e -o {column}=,pid=,user=,args= --sort=-{column} | head -n {count}");
    let output = run.shell(&line)?;
    let rows = rows(&output, 4);
    let Some(first) = rows.first() else { return Ok(Reply::new(output.failure())) };
    let text = format!(
        "{} (process {}) uses the most {noun}, {} %:\n\n{}",
        code(first[3].split_whitespace().next().unwrap_or_default().rsplit('/').next().unwrap_or_default()),
        first[1],
        first[0],
        table(&[&format!("{noun} %"), "PID", "User", "Command"], &rows)
    );
    let pids = rows.iter().filter_map(|row| row[1].parse().ok()).collect();
    Ok(Reply::about_processes(pids, text))
}

/// Rows of `columns` columns; the last one keeps its spaces.
fn rows(output: &Output, columns: usize) -> Vec<Vec<String>> {
    output.text.lines().filter_map(|line| columns_of(line, columns)).collect()
}

fn columns_of(line: &str, columns: usize) -> Option<Vec<String>> {
    let mut row = Vec::with_capacity(columns);
    let mut rest = line.trim();
    for _ in 1..columns {
        let (cell, after) = super::split_first(rest)?;
        row.push(cell.to_owned());
        rest = after;
    }
    row.push(brief(rest));
    Some(row)
}

/// A command line for a table: without the folder of its program, and shortened.
fn brief(command: &str) -> String {
    const MAX_CHARS: usize = 70;
    let (program, rest) = command.split_at(command.find(' ').unwrap_or(command.len()));
    let name =
        program.rsplit('/').next().filter(|name| program.starts_with('/') && !name.is_empty()).unwrap_or(program);
    let line = format!("{name}{rest}");
    if line.chars().count() <= MAX_CHARS { line } else { line.chars().take(MAX_CHARS - 1).chain(['…']).collect() }
}

/// Leaves out the threads of the kernel, which have brackets.
fn tree(_: &Slots, run: &mut Run<'_>) -> Step {
    let output = run.shell("ps -e -o pid,user,args --forest")?;
    let is_kernel = |line: &str| {
        let command = line.split_whitespace().skip(2).find(|word| !matches!(*word, "\\_" | "|"));
        command.is_some_and(|command| command.starts_with('['))
    };
    let lines: Vec<&str> = output.lines().into_iter().filter(|line| !is_kernel(line)).collect();
    Ok(Reply::new(format!("Processes below those that started them:\n\n{}", block(&lines, "text"))))
}

fn matching(name: &str, run: &mut Run<'_>) -> Result<Vec<Vec<String>>, Halt> {
    let output = run.attempt(&format!("pgrep -a -i -- {}", word(&literal(name))))?;
    Ok(rows(&output, 2))
}

/// The name as a regular expression that matches only the name.
fn literal(name: &str) -> String {
    name.chars()
        .flat_map(
            |letter| {
                if letter.is_alphanumeric() || "_-@/ ".contains(letter) { vec![letter] } else { vec!['\\', letter] }
            },
        )
        .collect()
}

fn is_running(slots: &Slots, run: &mut Run<'_>) -> Step {
    let name = slots.name();
    let found = matching(name, run)?;
    if found.is_empty() {
        return Ok(Reply::new(format!("**No**, no process named {} is running.", code(name))));
    }
    let text = format!(
        "**Yes**, {} of that name:\n\n{}",
        counted(found.len(), "process", "processes"),
        table(&["PID", "Command"], &found)
    );
    Ok(Reply::about_processes(found.iter().filter_map(|row| row[0].parse().ok()).collect(), text))
}

fn list_own(_: &Slots, run: &mut Run<'_>) -> Step {
    let output = run.shell("ps -x -o pid=,%cpu=,%mem=,args= --sort=-%cpu")?;
    let rows = rows(&output, 4);
    let head = format!("You have {}, busiest first:", counted(rows.len(), "process", "processes"));
    Ok(Reply::new(format!("{head}\n\n{}", table(&["PID", "CPU %", "Memory %", "Command"], &rows))))
}

fn kill(slots: &Slots, run: &mut Run<'_>) -> Step {
    if let Some(first) = slots.number.filter(|_| slots.names.is_empty()).or_else(|| slots.name().parse().ok()) {
        let Some(pid) = the_pid(first, &run.question.text) else {
            return Ok(Reply::new("I see several numbers, and do not know which is the process. Nothing was stopped."));
        };
        return kill_pids(&[pid], &format!("process {pid}"), run);
    }
    let name = slots.name();
    if name.is_empty() {
        let pids = pointed_processes(slots, run)?;
        return kill_pids(&pids, "the listed processes", run);
    }
    let found = matching(name, run)?;
    let pids: Vec<u64> = found.iter().filter_map(|row| row[0].parse().ok()).collect();
    if pids.is_empty() {
        return Ok(Reply::new(format!("No process named {} is running; nothing was stopped.", code(name))));
    }
    kill_pids(&pids, &code(name), run)
}

/// Of several numbers, as in `kill 9 pid 2231`, the one behind `pid`.
fn the_pid(first: u64, text: &str) -> Option<u64> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let is_single = words.iter().filter(|word| word.parse::<u64>().is_ok()).count() <= 1;
    let behind = || words.windows(2).find(|two| two[0].eq_ignore_ascii_case("pid")).and_then(|two| two[1].parse().ok());
    if is_single { Some(first) } else { behind() }
}

fn kill_pids(pids: &[u64], what: &str, run: &mut Run<'_>) -> Step {
    if pids.iter().any(|pid| *pid < FIRST_ORDINARY_PID) {
        return Ok(Reply::new("I do not stop the system itself."));
    }
    let spelled: Vec<String> = pids.iter().map(u64::to_string).collect();
    run.shell(&format!("kill {}", spelled.join(" ")))?;
    Ok(Reply::new(format!("I asked {what} to end ({}).", spelled.join(", "))))
}

/// Ends only a process with a significant share: an idle machine has a busiest process, too.
fn kill_hog(_: &Slots, run: &mut Run<'_>) -> Step {
    const MIN_PERCENT: f64 = 5.0;
    let words = super::super::words::tokenize(&run.question.text);
    let (column, noun) =
        if words.iter().any(|word| word.concept == Some("memory")) { ("%mem", "memory") } else { ("%cpu", "CPU") };
    let output = run.shell(&format!("ps -e -o {column}=,pid=,user=,args= --sort=-{column} | head -n 5"))?;
    // The listing itself is the busiest for a moment, and cohab's own processes do not count.
    let is_ours = |command: &str| {
        command.starts_with("ps -e -o ")
            || command.split_whitespace().next().is_some_and(|program| ["cohab", "cohabd"].contains(&program))
    };
    let rows: Vec<Vec<String>> = rows(&output, 4).into_iter().filter(|row| !is_ours(&row[3])).collect();
    let share = |row: &Vec<String>| row[0].parse::<f64>().unwrap_or_default();
    let Some(first) = rows.first().filter(|row| share(row) >= MIN_PERCENT) else {
        return Ok(Reply::new(format!("No process uses more than {MIN_PERCENT} % {noun}, so nothing was stopped.")));
    };
    let pid = first[1].parse().unwrap_or_default();
    kill_pids(&[pid], &format!("{} ({} % {noun})", code(&first[3]), first[0]), run)
}

fn kill_port(slots: &Slots, run: &mut Run<'_>) -> Step {
    let port = slots.number.unwrap_or_default();
    let output = run.shell("ss -l -t -n -p")?;
    let listeners = super::ports::listeners(&output.text);
    let pids: Vec<u64> = listeners.iter().filter(|found| found.port == port).filter_map(|found| found.pid).collect();
    if pids.is_empty() {
        return Ok(Reply::new(format!("I see no process of yours that listens on port {port}; nothing was stopped.")));
    }
    kill_pids(&pids, &format!("the process on port {port}"), run)
}

fn zombies(_: &Slots, run: &mut Run<'_>) -> Step {
    let output = run.shell("ps -e -o stat=,pid=,ppid=,comm=")?;
    let found: Vec<Vec<String>> = rows(&output, 4).into_iter().filter(|row| row[0].starts_with('Z')).collect();
    Ok(Reply::new(if found.is_empty() {
        "There are no zombie processes.".to_owned()
    } else {
        format!(
            "{}:\n\n{}",
            counted(found.len(), "zombie", "zombies"),
            table(&["State", "PID", "Parent", "Name"], &found)
        )
    }))
}

fn file_users(slots: &Slots, run: &mut Run<'_>) -> Step {
    let name = slots.name();
    let output = run.attempt(&format!("lsof -n -P -w {}", path(name)))?;
    let lines = output.lines();
    Ok(Reply::new(if lines.len() > 1 {
        format!(
            "{} has {} open:\n\n{}",
            counted(lines.len() - 1, "process", "processes"),
            code(name),
            block(&lines, "text")
        )
    } else if output.failed && !lines.is_empty() {
        output.failure()
    } else {
        format!("No process of yours has {} open.", code(name))
    }))
}
