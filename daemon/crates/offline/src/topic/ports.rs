//! Intents about listening programs and their ports on this machine.

use super::{
    super::{
        answer::{code, counted, table},
        intent::{Intent, Topic},
        run::{Reply, Run, Step},
        slots::Slots,
    },
    show,
};

pub(super) const INTENTS: &[Intent] = &[
    Intent {
        name: "network.port",
        topic: Topic::Network,
        example: "what listens on port 8080?",
        patterns: &[
            "port <num> ?listen ?use ?open ?process ?run ?who ?free -kill",
            "listen <num> ?process ?port -kill",
            "who|what use|run <num> ?process -kill",
        ],
        plan: port,
    },
    Intent {
        name: "network.listening",
        topic: Topic::Network,
        example: "show all open ports",
        patterns: &[
            "port ?open ?listen ?show ?all ?use ?process",
            "listen ?show ?process ?all",
            "service|process listen ?show ?what ?all",
        ],
        plan: listening,
    },
];

/// A program that listens.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Listener {
    pub(super) address: String,
    pub(super) port: u64,
    pub(super) pid: Option<u64>,
    pub(super) program: String,
}

/// Reads `ss -l -n -p`, with and without its first column (`tcp`, `udp`).
pub(super) fn listeners(text: &str) -> Vec<Listener> {
    text.lines().filter_map(read_listener).collect()
}

fn read_listener(line: &str) -> Option<Listener> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let state = words.iter().position(|word| ["LISTEN", "UNCONN"].contains(word))?;
    let (address, port) = words.get(state + 3)?.rsplit_once(':')?;
    let users = words.get(state + 5..).unwrap_or_default().join(" ");
    let program = users.split('"').nth(1).unwrap_or_default().to_owned();
    let pid = users.split_once("pid=").and_then(|(_, rest)| rest.split([',', ')']).next()?.parse().ok());
    Some(Listener { address: address.to_owned(), port: port.parse().ok()?, pid, program })
}

fn port(slots: &Slots, run: &mut Run<'_>) -> Step {
    let port = slots.number.unwrap_or_default();
    let output = run.attempt("ss -l -t -u -n -p")?;
    if output.failed {
        // There is no ss, as on macOS.
        return show(
            run,
            &format!("lsof -n -P -i :{port}"),
            &format!("On port {port}:"),
            &format!("Nothing uses port {port}."),
        );
    }
    let found: Vec<Listener> = listeners(&output.text).into_iter().filter(|found| found.port == port).collect();
    let Some(first) = found.first() else {
        return Ok(Reply::new(format!("**Nothing** listens on port {port}.")));
    };
    let who = match (first.program.as_str(), first.pid) {
        ("", _) => "A process of another user".to_owned(),
        (program, Some(pid)) => format!("{} (process {pid})", code(program)),
        (program, None) => code(program),
    };
    let mut pids: Vec<u64> = found.iter().filter_map(|listener| listener.pid).collect();
    pids.dedup();
    Ok(Reply::about_processes(pids, format!("{who} listens on port {port}:\n\n{}", listener_table(&found))))
}

fn listening(_: &Slots, run: &mut Run<'_>) -> Step {
    let output = run.attempt("ss -l -t -u -n -p")?;
    if output.failed {
        return show(run, "lsof -n -P -i", "Programs that use the network:", "Nothing listens.");
    }
    let mut found = listeners(&output.text);
    if found.is_empty() {
        return Ok(Reply::new("Nothing listens on any port."));
    }
    found.sort_by_key(|listener| listener.port);
    Ok(Reply::new(format!(
        "{} are open for listening:\n\n{}",
        counted(found.len(), "port", "ports"),
        listener_table(&found)
    )))
}

fn listener_table(found: &[Listener]) -> String {
    let rows: Vec<Vec<String>> = found
        .iter()
        .map(|listener| {
            let pid = listener.pid.map(|pid| pid.to_string()).unwrap_or_default();
            let program = if listener.program.is_empty() { "?".to_owned() } else { listener.program.clone() };
            vec![listener.port.to_string(), listener.address.clone(), pid, program]
        })
        .collect();
    table(&["Port", "Address", "PID", "Program"], &rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn listeners_are_read_with_and_without_the_kind() {
        let text = "State Recv-Q Send-Q Local Address:Port Peer Address:Port Process\n\
            LISTEN 0 128 127.0.0.1:8080 0.0.0.0:* users:((\"node\",pid=42,fd=3))\n\
            tcp   LISTEN 0 128 [::]:22 [::]:*\n";
        let found = listeners(text);
        assert_eq!(found.len(), 2);
        assert_eq!((found[0].port, found[0].pid, found[0].program.as_str()), (8080, Some(42), "node"));
        assert_eq!((found[1].port, found[1].pid, found[1].address.as_str()), (22, None, "[::]"));
    }
}
