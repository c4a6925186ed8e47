//! Reads `OLLAMA_HOST` in the way that Ollama itself does.

use url::Url;

const DEFAULT_HOST: &str = "127.0.0.1";
const DEFAULT_PORT: u16 = 11434;

/// Converts `setting` to an address: a host, a port (`:8080`), both, or a URL. A server that listens on all interfaces is reached on this
/// machine. An invalid setting is returned unchanged, so that the caller can report it.
pub fn base_of_setting(setting: &str) -> String {
    let setting = setting.trim();
    // A named scheme implies its own port.
    let (scheme, place, port) = match setting.split_once("://") {
        Some((scheme @ "https", place)) => (scheme, place, 443),
        Some((scheme @ "http", place)) => (scheme, place, 80),
        Some(_) => return setting.to_owned(),
        None => ("http", setting, DEFAULT_PORT),
    };
    let (authority, path) = place.split_at(place.find('/').unwrap_or(place.len()));
    let has_port = authority.rsplit_once(':').is_some_and(|(before, port)| {
        !port.is_empty()
            && port.bytes().all(|byte| byte.is_ascii_digit())
            && (!before.contains(':') || before.ends_with(']'))
    });
    let (host, port) = match authority.rsplit_once(':').filter(|_| has_port) {
        Some((host, own)) => (host, own.to_owned()),
        None => (authority.trim_end_matches(':'), port.to_string()),
    };
    let host = match host {
        "" | "0.0.0.0" | "[::]" | "::" => DEFAULT_HOST.to_owned(),
        bare if bare.contains(':') && !bare.starts_with('[') => format!("[{bare}]"),
        host => host.to_owned(),
    };
    let address = format!("{scheme}://{host}:{port}{}", path.trim_end_matches('/'));
    if Url::parse(&address).is_ok() { address } else { setting.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_variable_is_read_in_all_its_forms() {
        for (setting, base) in [
            ("127.0.0.1", "http://127.0.0.1:11434"),
            (" box.local ", "http://box.local:11434"),
            (":8080", "http://127.0.0.1:8080"),
            ("0.0.0.0", "http://127.0.0.1:11434"),
            ("0.0.0.0:8080", "http://127.0.0.1:8080"),
            ("[::]:8080", "http://127.0.0.1:8080"),
            ("::1", "http://[::1]:11434"),
            ("[::1]", "http://[::1]:11434"),
            ("localhost:80", "http://localhost:80"),
            ("http://localhost:9999/", "http://localhost:9999"),
            ("http://box", "http://box:80"),
            ("https://box/ollama/", "https://box:443/ollama"),
            ("", "http://127.0.0.1:11434"),
            ("ftp://box", "ftp://box"),
            ("not a host", "not a host"),
        ] {
            assert_eq!(base_of_setting(setting), base, "{setting:?}");
        }
    }
}
