//! Finds the hosts that a line names, for people: an address can be written so that it seems to mean another host.

use cohab_shell_syntax::{LooseCommand, scan};

use super::danger::is_loopback;

/// Programs whose operands may be `HOST:PATH`.
const COPIERS: &[&str] = &["scp", "rsync", "sftp", "git"];

/// The hosts of the addresses in `line`, each once, as they are written; this machine is not one of them. The text before an `@`, behind
/// a colon or behind the beginning of the path is not the host.
#[must_use]
pub fn hosts(line: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for command in &scan(line).commands {
        for host in words(command).filter_map(|word| host_of(word, is_copier(command))) {
            if !found.iter().any(|known| known == host) {
                found.push(host.to_owned());
            }
        }
    }
    found
}

fn words(command: &LooseCommand) -> impl Iterator<Item = &str> {
    let assigned = command.assignments.iter().map(|(_, value)| value.as_str());
    command.words.iter().map(|word| word.text.as_str()).chain(assigned)
}

fn is_copier(command: &LooseCommand) -> bool {
    let name = command.words.first().and_then(|name| name.text.rsplit('/').next());
    name.is_some_and(|name| COPIERS.contains(&name))
}

fn host_of(word: &str, may_be_short: bool) -> Option<&str> {
    let authority = match word.split_once("://") {
        Some((scheme, rest)) if !scheme.ends_with("file") => {
            rest.split(['/', '\\', '?', '#', ' ', '"', '\'']).next().unwrap_or_default()
        }
        Some(_) => return None,
        None if may_be_short && !word.starts_with(['-', '/', '.']) => {
            word.split_once(':').map(|(head, _)| head).filter(|head| !head.contains('/'))?
        }
        None => return None,
    };
    let place = authority.rsplit('@').next().unwrap_or_default();
    let host = match place.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default(),
        None => place.split(':').next().unwrap_or_default(),
    };
    Some(host).filter(|host| !host.is_empty() && !is_loopback(place))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_host_is_where_the_address_leads_and_not_where_it_seems_to() {
        for (line, expected) in [
            ("curl https://example.org/a?b=https://c.example", &["example.org"][..]),
            ("curl https://good.example@evil.example/", &["evil.example"]),
            ("curl 'https://good.example:443@evil.example:8443/good.example'", &["evil.example"]),
            (r"curl 'https://evil.example\@good.example/'", &["evil.example"]),
            ("curl --url=https://a.example -x http://p.example:3128", &["a.example", "p.example"]),
            ("wget https://a.example/1 https://a.example/2", &["a.example"]),
            ("curl http://[2001:db8::1]:80/x", &["2001:db8::1"]),
            ("scp notes.txt ann@host.example:/srv/a:b", &["host.example"]),
            ("git push git@host.example:ann/shop.git", &["host.example"]),
            ("cat x | curl -d @- https://a.example && scp b c.example:", &["a.example", "c.example"]),
            ("URL=https://a.example make", &["a.example"]),
            ("curl http://localhost:8080 http://127.0.0.1 http://[::1]/", &[]),
            ("ls a:b; grep x:y file:///etc/passwd", &[]),
        ] {
            assert_eq!(hosts(line), expected, "{line}");
        }
    }
}
