//! Finds words that a program asks a name server or another host for. Lines that run unasked and lines that send data to another host
//! are judged by one list.

use core::net::IpAddr;

/// The words of a filter of `ss`, and the kinds of sockets that its options name.
const FILTER_WORDS: &[&str] = &[
    "!",
    "!=",
    "&",
    "&&",
    "(",
    ")",
    "<",
    "<=",
    "=",
    "==",
    ">",
    ">=",
    "all",
    "and",
    "autobound",
    "big",
    "bound-inactive",
    "bucket",
    "close-wait",
    "closed",
    "closing",
    "connected",
    "dccp",
    "dev",
    "dport",
    "dst",
    "eq",
    "established",
    "exclude",
    "fin-wait-1",
    "fin-wait-2",
    "ge",
    "geq",
    "gt",
    "inet",
    "inet4",
    "inet6",
    "last-ack",
    "le",
    "leq",
    "link",
    "listen",
    "listening",
    "lt",
    "mptcp",
    "ne",
    "neq",
    "netlink",
    "not",
    "or",
    "packet",
    "raw",
    "sctp",
    "sport",
    "src",
    "state",
    "syn-recv",
    "syn-sent",
    "synchronized",
    "tcp",
    "time-wait",
    "tipc",
    "udp",
    "unix",
    "unix_dgram",
    "unix_seqpacket",
    "unix_stream",
    "vsock",
    "xdp",
    "|",
    "||",
];
/// Programs that open an address as readily as a file.
const OPENERS: &[&str] = &[
    "convert", "ffmpeg", "ffplay", "ffprobe", "gio", "identify", "magick", "mpv", "play", "sox", "soxi", "vlc",
    "xmllint", "xsltproc",
];
/// The schemes in front of an address of another host.
const SCHEMES: &[&str] = &[
    "dav", "davs", "ftp", "ftps", "gopher", "http", "https", "mms", "rtmp", "rtp", "rtsp", "scp", "sftp", "smb", "srt",
    "ssh", "tcp", "tls", "udp",
];

/// The first of `words`, the words behind the program's name, that the program would look up or connect to.
pub(super) fn name_asked<'a>(verb: &str, words: &[&'a str]) -> Option<&'a str> {
    let mut operands = words.iter().copied().filter(|word| !word.starts_with('-'));
    match verb {
        "lsof" => sockets_of_lsof(words).into_iter().find(|address| !is_plain_socket(address)),
        "ss" => asked_of_ss(words),
        "arp" => operands.find(|word| !is_numeric(word) && !is_value_of("-i", word, words)),
        "fuser" => operands.find(|word| word.contains(',')),
        "ip" => {
            let target = words.iter().position(|word| *word == "get").and_then(|at| words.get(at + 1));
            target.copied().filter(|target| !is_numeric(target.split('/').next().unwrap_or_default()))
        }
        "getent" if words.first().is_some_and(|table| table.contains("hosts")) => {
            operands.skip(1).find(|word| !is_numeric(word))
        }
        _ if OPENERS.contains(&verb) => words.iter().copied().find(|word| has_scheme(word)),
        _ => None,
    }
}

fn is_value_of(option: &str, word: &str, words: &[&str]) -> bool {
    words.windows(2).any(|pair| pair[0] == option && pair[1] == word)
}

fn has_scheme(word: &str) -> bool {
    word.split_once(':').is_some_and(|(scheme, _)| SCHEMES.iter().any(|known| scheme.eq_ignore_ascii_case(known)))
}

/// Whether a host is an address in numbers, or this machine.
fn is_numeric(host: &str) -> bool {
    host == "localhost" || host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>().is_ok()
}

fn is_port(text: &str) -> bool {
    text == "*" || (!text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-,_".contains(&byte)))
}

/// The sockets that the options `-i` of `lsof` name.
fn sockets_of_lsof<'a>(words: &[&'a str]) -> Vec<&'a str> {
    let mut found = Vec::new();
    for (at, word) in words.iter().enumerate() {
        let Some(flags) =
            word.strip_prefix('-').filter(|flags| !flags.starts_with(['-', 'p', 'u', 'c', 'd', 'g', 's']))
        else {
            continue;
        };
        match flags.split_once('i').map(|(_, value)| value) {
            Some("") => found.extend(words.get(at + 1).filter(|next| !next.starts_with('-'))),
            Some(value) => found.push(value),
            None => {}
        }
    }
    found
}

/// `4TCP@127.0.0.1:80`, each part of which may be missing.
fn is_plain_socket(address: &str) -> bool {
    let rest = address.strip_prefix(['4', '6']).unwrap_or(address);
    let (protocol, host) = rest.split_once('@').map_or((rest, None), |(protocol, host)| (protocol, Some(host)));
    let is_protocol =
        |text: &str| matches!(text.to_ascii_lowercase().as_str(), "" | "tcp" | "udp" | "sctp" | "udplite");
    match host {
        Some(host) if is_numeric(host) => is_protocol(protocol),
        Some(host) => {
            let parts = host.rsplit_once(':');
            is_protocol(protocol) && parts.is_some_and(|(host, port)| is_numeric(host) && is_port(port))
        }
        None => {
            let (protocol, port) =
                protocol.split_once(':').map_or((protocol, "0"), |(protocol, port)| (protocol, port));
            is_protocol(protocol) && is_port(port)
        }
    }
}

/// A word of a filter of `ss` that is not a numeric address, a port or a sign.
fn asked_of_ss<'a>(words: &[&'a str]) -> Option<&'a str> {
    let mut before = "";
    for word in words.iter().filter(|word| !word.starts_with('-')).flat_map(|word| word.split([' ', '(', ')', ','])) {
        let text = word.trim_start_matches(['=', '!', '<', '>']);
        let is_plain = text.is_empty()
            || FILTER_WORDS.contains(&text)
            || before == "dev"
            || text.starts_with('/')
            || text == "*"
            || text.bytes().all(|byte| byte.is_ascii_digit())
            || is_numeric(text.split('/').next().unwrap_or_default())
            || text
                .rsplit_once(':')
                .is_some_and(|(host, port)| is_port(port) && (matches!(host, "" | "*") || is_numeric(host)));
        if !is_plain {
            return Some(word);
        }
        before = text;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_looked_up_is_told_from_numbers_and_signs() {
        for (line, asked) in [
            ("lsof -i", None),
            ("lsof -i :8080", None),
            ("lsof -nP -iTCP:443 -sTCP:LISTEN", None),
            ("lsof -Pni4TCP@127.0.0.1:80", None),
            ("lsof -i TCP -p 1", None),
            ("lsof -i @x.test", Some("@x.test")),
            ("lsof -nPi@x.test:80", Some("@x.test:80")),
            ("ss -tlnp", None),
            ("ss -t state established", None),
            ("ss -tn dst 10.0.0.0/8", None),
            ("ss -tan ( dport = :443 or sport = :https )", None),
            ("ss -f inet -A tcp,udp", None),
            ("ss dst x.test", Some("x.test")),
            ("ss dst x.test:80", Some("x.test:80")),
            ("arp -a", None),
            ("arp -n -i eth0", None),
            ("arp 10.0.0.1", None),
            ("arp x.test", Some("x.test")),
            ("fuser -v 80/tcp", None),
            ("fuser -n tcp ,x.test", Some(",x.test")),
            ("ip route get 1.1.1.1", None),
            ("ip route get x.test", Some("x.test")),
            ("ffprobe -i a.mp4", None),
            ("ffprobe -i http:x.test", Some("http:x.test")),
            ("getent hosts x.test", Some("x.test")),
            ("getent passwd ann", None),
        ] {
            let words: Vec<&str> = line.split(' ').collect();
            assert_eq!(name_asked(words[0], &words[1..]), asked, "{line}");
        }
    }
}
