//! Stores the local model servers that the user agreed to, one line each: `host:port<TAB>kind`. Another kind at the same port is
//! another server.

use std::{
    fs::{self, OpenOptions},
    io::{self, Read, Write},
    os::unix::fs::OpenOptionsExt,
    path::PathBuf,
};

use rustix::fs::OFlags;

/// Largest valid file, in bytes.
const MAX_FILE_BYTES: u64 = 64 * 1024;

/// The file of consents.
#[derive(Clone, Debug)]
pub struct KnownServers {
    path: PathBuf,
}

impl KnownServers {
    /// Kept at `path`, which need not exist.
    #[must_use]
    pub fn new(path: PathBuf) -> Self {
        Self { path }
    }

    /// Whether the user agreed. False if the file cannot be read.
    #[must_use]
    pub fn contains(&self, url: &str, server: &str) -> bool {
        let wanted = line(url, server);
        self.read().is_ok_and(|text| text.lines().any(|known| known == wanted))
    }

    /// Records that the user agreed.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn add(&self, url: &str, server: &str) -> io::Result<()> {
        if let Some(folder) = self.path.parent() {
            fs::create_dir_all(folder)?;
        }
        let mut file = self.options().append(true).create(true).mode(0o600).open(&self.path)?;
        file.write_all(format!("{}\n", line(url, server)).as_bytes())
    }

    fn read(&self) -> io::Result<String> {
        let mut text = String::new();
        self.options().read(true).open(&self.path)?.take(MAX_FILE_BYTES).read_to_string(&mut text)?;
        Ok(text)
    }

    fn options(&self) -> OpenOptions {
        let mut options = OpenOptions::new();
        options.custom_flags(OFlags::NOFOLLOW.bits().cast_signed());
        options
    }
}

/// Control characters could forge a line.
fn line(url: &str, server: &str) -> String {
    let authority = url.split_once("://").map_or(url, |(_, rest)| rest).split('/').next().unwrap_or_default();
    let plain = |text: &str| text.chars().filter(|c| !c.is_control()).collect::<String>();
    format!("{}\t{}", plain(authority), plain(server))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    #[test]
    fn consent_is_kept_by_host_port_and_kind_in_a_private_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state/known-servers");
        let servers = KnownServers::new(path.clone());
        assert!(!servers.contains("http://127.0.0.1:11434/v1", "Ollama"));
        servers.add("http://127.0.0.1:11434/v1", "Ollama").unwrap();
        assert!(servers.contains("http://127.0.0.1:11434", "Ollama"));
        assert!(!servers.contains("http://127.0.0.1:11434", "vLLM"));
        assert!(!servers.contains("http://127.0.0.1:1143", "Ollama"));
        assert_eq!(fs::metadata(path).unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn a_link_in_place_of_the_file_is_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("target");
        fs::write(&target, "127.0.0.1:1\tx\n").unwrap();
        symlink(&target, folder.path().join("link")).unwrap();
        let servers = KnownServers::new(folder.path().join("link"));
        assert!(!servers.contains("http://127.0.0.1:1", "x"));
        servers.add("http://127.0.0.1:2", "x").unwrap_err();
    }

    #[test]
    fn a_name_cannot_forge_a_line() {
        let folder = tempfile::tempdir().unwrap();
        let servers = KnownServers::new(folder.path().join("known-servers"));
        servers.add("http://127.0.0.1:1", "x\n127.0.0.1:2\ty").unwrap();
        assert!(!servers.contains("http://127.0.0.1:2", "y"));
    }
}
