//! Intents about the network: connections, interfaces, reachability, names, downloads.

use super::{
    super::{
        answer::{block, code, table},
        intent::{Intent, Topic},
        run::{Reply, Run, Step},
        shell_line::{is_host, word},
        slots::Slots,
    },
    show,
};

pub(super) const INTENTS: &[Intent] = &[
    Intent {
        name: "network.connections",
        topic: Topic::Network,
        example: "show network connections",
        patterns: &[
            "connection ?network ?show ?open ?all",
            "connection established|active|current ?network ?show ?all",
        ],
        plan: |_, run| show(run, "ss -t -u -n -p", "Open connections:", "There are no open connections."),
    },
    Intent {
        name: "network.my-ip",
        topic: Topic::Network,
        example: "what is my ip?",
        patterns: &["ip ?address ?show ?network", "address network|my ?network"],
        plan: my_ip,
    },
    Intent {
        name: "network.public-ip",
        topic: Topic::Network,
        example: "what is my public ip?",
        patterns: &["ip internet ?what ?see ?have ?my", "public ip|address ?ip ?show", "public ip ?my"],
        plan: public_ip,
    },
    Intent {
        name: "network.interfaces",
        topic: Topic::Network,
        example: "list the network interfaces",
        patterns: &[
            "interface ?network ?show ?all",
            "network card|device ?show",
            "network card|cards|device|adapter ?show ?all",
        ],
        plan: |_, run| show(run, "ip -br link", "Network interfaces:", "There are no network interfaces."),
    },
    Intent {
        name: "network.gateway",
        topic: Topic::Network,
        example: "what is my default gateway?",
        patterns: &["gateway ?default ?ip ?address ?show ?network", "route ?show ?default ?network ?table"],
        plan: |_, run| {
            show(
                run,
                "ip route",
                "Routes; `default via` names the gateway:",
                "There are no routes: this machine has no network.",
            )
        },
    },
    Intent {
        name: "network.ping",
        topic: Topic::Network,
        example: "ping example.org",
        patterns: &[
            "ping <name> ?host ?up ?it",
            "host <name> up|run|network ?ping",
            "up <path> ?host ?it ?network",
            "network <path> ?up",
            "reach <name> ?host",
            "host <path> up|down|run|network|reach",
            "host down|up <path> ?it",
            "network down|up <path>",
        ],
        plan: ping,
    },
    Intent {
        name: "network.online",
        topic: Topic::Network,
        example: "am i online?",
        patterns: &[
            "network|internet ?up ?run ?connection ?it ?status",
            "ping network|internet",
            "connection|network|internet work|working|up|status ?network ?internet ?it",
            "network|internet down|up|work ?it ?connection",
            "have network|internet|connection ?network ?internet ?it",
            "test|check network|internet ?connection",
            "network|internet connection have|it|test|am",
        ],
        plan: |_, run| reach("1.1.1.1", run),
    },
    Intent {
        name: "network.dns",
        topic: Topic::Network,
        example: "look up the address of example.org",
        patterns: &[
            "dns <sure> ?host ?ip ?address ?name ?find",
            "ip|address <sure> ?host ?dns ?find ?show ?name",
            "ip|address have <path> ?host ?dns",
            "dns <name> ?for lookup|resolve|name",
            "lookup <name> ?dns ?name ?ip ?address",
        ],
        plan: dns,
    },
    Intent {
        name: "network.nameservers",
        topic: Topic::Network,
        example: "which dns servers do i use?",
        patterns: &[
            "nameserver ?use ?show ?dns",
            "dns host ?use ?show",
            "dns ?show ?use",
            "dns host ?use ?show ?set ?configured ?where ?what",
            "dns configured|set ?host ?what",
        ],
        plan: nameservers,
    },
    Intent {
        name: "network.http",
        topic: Topic::Network,
        example: "is https://example.org up?",
        patterns: &[
            "http|https|headers|respond <path> ?host ?up",
            "http <path> ?host ?up ?show ?it ?run",
            "http host <path> ?up",
            "check|test|open|what <url> ?host ?up ?it",
            "<url> up|down|respond|reach|run|http|network ?host ?it",
        ],
        plan: |slots, run| http(slots.name(), run),
    },
    Intent {
        name: "network.download",
        topic: Topic::Network,
        example: "download https://example.org/a.zip",
        patterns: &["download <path> ?file ?it"],
        plan: download,
    },
];

fn my_ip(_: &Slots, run: &mut Run<'_>) -> Step {
    let output = run.attempt("ip -br addr")?;
    if output.failed {
        return show(run, "hostname -I", "Addresses of this machine:", "This machine has no address.");
    }
    let rows: Vec<Vec<String>> = output
        .lines()
        .iter()
        .filter_map(|line| {
            let words: Vec<&str> = line.split_whitespace().collect();
            Some(vec![(*words.first()?).to_owned(), words.get(2..)?.join(" ")])
        })
        .filter(|row| !row[1].is_empty())
        .collect();
    let first = rows.iter().find(|row| row[0] != "lo").and_then(|row| row[1].split('/').next());
    let head = match first {
        Some(address) => format!("Your address is {}:", code(address)),
        None => "This machine only has its loopback address:".to_owned(),
    };
    Ok(Reply::new(format!("{head}\n\n{}", table(&["Interface", "Address"], &rows))))
}

fn public_ip(_: &Slots, run: &mut Run<'_>) -> Step {
    let output = run.shell("curl -s --max-time 10 https://ifconfig.me/ip")?;
    Ok(Reply::new(match output.first() {
        Some(address) => format!("Your public address is {} (according to ifconfig.me).", code(address)),
        None => output.failure(),
    }))
}

/// The host in `https://host:port/path`.
fn host_of(name: &str) -> &str {
    let bare = name.split_once("://").map_or(name, |(_, rest)| rest);
    bare.split(['/', '?', '#']).next().unwrap_or(bare)
}

fn no_host(name: &str) -> Step {
    Ok(Reply::new(format!("{} is not the name of a host.", code(name))))
}

fn ping(slots: &Slots, run: &mut Run<'_>) -> Step {
    let name = slots.name();
    if name.contains("://") {
        return http(name, run);
    }
    let host = host_of(name);
    if is_host(host) { reach(host, run) } else { no_host(name) }
}

fn reach(host: &str, run: &mut Run<'_>) -> Step {
    let output = run.attempt(&format!("ping -c 3 -W 3 {}", word(host)))?;
    let lines = output.lines();
    let summary: Vec<&str> =
        lines.iter().copied().filter(|line| line.contains("packet") || line.contains("min/avg")).collect();
    Ok(Reply::new(if output.failed {
        format!("**No**, {} did not answer.\n\n{}", code(host), block(&lines, "text"))
    } else {
        format!("**Yes**, {} answers.\n\n{}", code(host), block(&summary, "text"))
    }))
}

fn dns(slots: &Slots, run: &mut Run<'_>) -> Step {
    let name = slots.target();
    let host = host_of(name);
    if !is_host(host) {
        return no_host(name);
    }
    let output = run.attempt(&format!("getent ahosts {}", word(host)))?;
    let mut addresses: Vec<&str> = output.text.lines().filter_map(|line| line.split_whitespace().next()).collect();
    addresses.dedup();
    addresses.sort_unstable();
    addresses.dedup();
    Ok(Reply::new(if output.failed || addresses.is_empty() {
        format!("{} has no address that I can find.", code(host))
    } else {
        format!("{} has these addresses:\n\n{}", code(host), super::list(&addresses))
    }))
}

fn nameservers(_: &Slots, run: &mut Run<'_>) -> Step {
    let output = run.shell("cat /etc/resolv.conf")?;
    let found: Vec<&str> =
        output.text.lines().filter_map(|line| line.trim().strip_prefix("nameserver ")).map(str::trim).collect();
    Ok(Reply::new(if found.is_empty() {
        "No name server is configured.".to_owned()
    } else {
        format!("Names are looked up at:\n\n{}", super::list(&found))
    }))
}

fn http(url: &str, run: &mut Run<'_>) -> Step {
    let Some(url) = web_address(url) else { return no_host(url) };
    let output = run.attempt(&format!("curl -s -S -I --max-time 10 {}", word(&url)))?;
    let first = output.first().unwrap_or_default();
    Ok(Reply::new(if output.failed || !first.starts_with("HTTP/") {
        format!("**No**, {} does not answer.\n\n{}", code(&url), block(&output.lines(), "text"))
    } else {
        format!("**Yes**, {} answers {}.", code(&url), code(first))
    }))
}

/// A URL that curl may fetch; only the two web schemes.
fn web_address(text: &str) -> Option<String> {
    let url = if text.contains("://") { text.to_owned() } else { format!("https://{text}") };
    let is_web = ["http://", "https://"].iter().any(|scheme| url.starts_with(scheme));
    let is_clean = !url.contains(|letter: char| letter.is_whitespace() || letter.is_control());
    (is_web && is_clean && is_host(host_of(&url))).then_some(url)
}

fn download(slots: &Slots, run: &mut Run<'_>) -> Step {
    let Some(url) = web_address(slots.name()) else { return no_host(slots.name()) };
    run.shell(&format!("curl -f -L -O --no-clobber {}", word(&url)))?;
    let file = url.split(['?', '#']).next().and_then(|path| path.rsplit('/').next()).unwrap_or_default();
    Ok(Reply::about(file, format!("I downloaded {} as {}.", code(&url), code(file))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_web_addresses_are_fetched() {
        assert_eq!(web_address("example.org/x").as_deref(), Some("https://example.org/x"));
        for text in ["file:///etc/passwd", "-o/tmp/x", "https://a b", "https://$(id)", "ftp://x"] {
            assert_eq!(web_address(text), None, "{text}");
        }
    }
}
