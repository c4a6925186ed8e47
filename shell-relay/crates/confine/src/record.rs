//! Records the rules that confined a program, and explains its failure by them.
//!
//! The kernel does not report which call it refused. The launcher writes down the rules that held, and a failure is explained by
//! comparing them with the last output of the program. An explanation is a likely cause, never a proof.

use std::{
    fs::OpenOptions,
    io::{self, Write},
    os::unix::{
        ffi::OsStrExt,
        fs::{MetadataExt, OpenOptionsExt},
    },
    path::{Component, Path, PathBuf},
};

/// Messages of programs after a refusal by the kernel, in lower case.
pub const REFUSALS: [&str; 10] = [
    "permission denied",
    "operation not permitted",
    "read-only file system",
    "cross-device link",
    "could not resolve host",
    "couldn't resolve host",
    "temporary failure in name resolution",
    "network is unreachable",
    "no new privileges",
    "eacces",
];
/// Refusals, and words near them, that mean another host or a service.
const OF_NETWORK: [&str; 7] =
    ["resol", "network", "socket", "connect", "cannot open netlink", "bus", "daemon is not running"];
/// The searched length of the end of an output, in bytes.
const SEARCHED_BYTES: usize = 16 * 1024;

/// The rules that one program ran under.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Record {
    /// The program's process.
    pub pid: i32,
    /// Version of Landlock's interface.
    pub landlock: u8,
    /// The program's name as it was given.
    pub program: String,
    /// The program's working folder.
    pub cwd: PathBuf,
    /// The folder that it could write.
    pub temporary: Option<PathBuf>,
    /// The paths that it could not read.
    pub secrets: Vec<PathBuf>,
}

/// The probable reason for the failure of a confined program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Denied {
    /// The program could not read this place of a secret.
    Secret(PathBuf),
    /// The program named this path, which it cannot change.
    Path(PathBuf),
    /// The program could reach no host and no service.
    Network,
    /// The kernel refused something that the program did not name.
    Unknown,
}

impl Record {
    /// Adds a line to `file`, which must be a private file of the user's.
    ///
    /// # Errors
    /// If there is no such file, or it cannot be written.
    pub fn append_to(&self, file: &Path) -> io::Result<()> {
        let flags = rustix::fs::OFlags::NOFOLLOW.bits().cast_signed();
        let mut opened = OpenOptions::new().append(true).custom_flags(flags).open(file)?;
        let found = opened.metadata()?;
        if !found.is_file() || found.uid() != rustix::process::getuid().as_raw() || found.mode() & 0o077 != 0 {
            return Err(io::Error::other("the file for the record is not private"));
        }
        opened.write_all(self.to_line().as_bytes())
    }

    /// One line, its fields divided by tabs.
    #[must_use]
    pub fn to_line(&self) -> String {
        let paths =
            [Some(&self.cwd), self.temporary.as_ref()].map(|path| path.map_or_else(String::new, |path| escaped(path)));
        let mut line = format!("{}\t{}\t{}", self.pid, self.landlock, escaped(Path::new(&self.program)));
        for field in paths.into_iter().chain(self.secrets.iter().map(|path| escaped(path))) {
            line += "\t";
            line += &field;
        }
        line + "\n"
    }

    /// Reads what [`Record::to_line`] wrote.
    #[must_use]
    pub fn from_line(line: &str) -> Option<Self> {
        let mut fields = line.strip_suffix('\n').unwrap_or(line).split('\t');
        Some(Self {
            pid: fields.next()?.parse().ok()?,
            landlock: fields.next()?.parse().ok()?,
            program: plain(fields.next()?).to_string_lossy().into_owned(),
            cwd: plain(fields.next()?),
            temporary: fields.next().filter(|field| !field.is_empty()).map(plain),
            secrets: fields.map(plain).collect(),
        })
    }

    /// The likely cause of a failure; `None` if the confinement had nothing to do with it.
    #[must_use]
    pub fn explain(&self, status: i32, output: &str) -> Option<Denied> {
        if status == 0 {
            return None;
        }
        let end = &output.as_bytes()[output.len().saturating_sub(SEARCHED_BYTES)..];
        let end = String::from_utf8_lossy(end);
        let refused: Vec<&str> = end.lines().filter(|line| is_refusal(line)).collect();
        let paths = || refused.iter().flat_map(|line| named(line)).map(|name| lexical(&self.cwd.join(name)));
        let secret = paths().find(|path| self.secrets.iter().any(|secret| path.starts_with(secret)));
        let is_network = |line: &&str| OF_NETWORK.iter().any(|word| line.to_lowercase().contains(word));
        match (refused.as_slice(), secret) {
            ([], _) => None,
            (_, Some(secret)) => Some(Denied::Secret(secret)),
            (refused, None) if refused.iter().any(is_network) => Some(Denied::Network),
            _ => Some(
                paths()
                    .find(|path| path.exists() || path.parent().is_some_and(Path::exists))
                    .map_or(Denied::Unknown, Denied::Path),
            ),
        }
    }
}

fn is_refusal(line: &str) -> bool {
    let line = line.to_lowercase();
    REFUSALS.iter().any(|words| line.contains(words))
}

/// The words of a message that may be paths: quoted words, and words between two colons.
fn named(line: &str) -> Vec<&str> {
    let quotes = [('\'', '\''), ('"', '"'), ('‘', '’'), ('`', '\'')];
    let quoted = quotes.iter().filter_map(|(open, close)| {
        let rest = line.split_once(*open)?.1;
        Some(rest.split_once(*close)?.0)
    });
    // The action stands in front of its object.
    let fields: Vec<&str> = line.split(": ").skip(1).collect();
    let fields = fields.into_iter().rev().filter(|field| !is_refusal(field) && !field.contains(['\'', '"', '‘']));
    quoted.chain(fields).filter(|name| !name.is_empty()).collect()
}

/// The path without `.` and `..`, by its text alone.
fn lexical(path: &Path) -> PathBuf {
    path.components().fold(PathBuf::new(), |mut plain, component| {
        match component {
            Component::ParentDir => drop(plain.pop()),
            Component::CurDir => {}
            other => plain.push(other),
        }
        plain
    })
}

fn escaped(path: &Path) -> String {
    let mut text = String::new();
    for byte in path.as_os_str().as_bytes() {
        match byte {
            0x21..=0x7e if *byte != b'\\' => text.push(char::from(*byte)),
            _ => text += &format!("\\{byte:02x}"),
        }
    }
    text
}

fn plain(text: &str) -> PathBuf {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let [first, behind @ ..] = rest {
        let code = behind.get(..2).and_then(|code| u8::from_str_radix(std::str::from_utf8(code).ok()?, 16).ok());
        match (first, code) {
            (b'\\', Some(byte)) => {
                bytes.push(byte);
                rest = &behind[2..];
            }
            _ => {
                bytes.push(*first);
                rest = behind;
            }
        }
    }
    PathBuf::from(std::ffi::OsStr::from_bytes(&bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record() -> Record {
        Record {
            pid: 7,
            landlock: 6,
            program: "cat".into(),
            cwd: "/home/me/a b".into(),
            temporary: Some("/tmp/x/7".into()),
            secrets: vec!["/home/me/.ssh".into(), "/home/me/a b/.env".into()],
        }
    }

    #[test]
    fn a_line_is_read_as_it_was_written() {
        let odd = Record { program: "a\tb\n\\é".into(), temporary: None, ..record() };
        for record in [record(), odd, Record::default()] {
            let line = record.to_line();
            assert_eq!(line.matches('\n').count(), 1, "{line}");
            assert_eq!(Record::from_line(&line), Some(record), "{line}");
        }
        assert_eq!(Record::from_line("cat"), None);
    }

    #[test]
    fn a_failure_names_the_secret_the_path_or_the_network() {
        let explain = |status, output| record().explain(status, output);
        for (output, expected) in [
            ("cat: /home/me/.ssh/id: Permission denied", Some(Denied::Secret("/home/me/.ssh/id".into()))),
            ("cat: ../.ssh/id: Permission denied\n", Some(Denied::Secret("/home/me/.ssh/id".into()))),
            ("cat: .env: Permission denied", Some(Denied::Secret("/home/me/a b/.env".into()))),
            (
                "head: cannot open '.env' for reading: Permission denied",
                Some(Denied::Secret("/home/me/a b/.env".into())),
            ),
            ("touch: cannot touch '/etc/x': Permission denied", Some(Denied::Path("/etc/x".into()))),
            ("ping: socket: Operation not permitted", Some(Denied::Network)),
            ("curl: (6) Could not resolve host: example.org", Some(Denied::Network)),
            ("Operation not permitted", Some(Denied::Unknown)),
            ("cat: x: No such file or directory", None),
        ] {
            assert_eq!(explain(1, output), expected, "{output}");
        }
        assert_eq!(explain(0, "cat: .env: Permission denied"), None);
    }

    #[test]
    fn only_a_private_file_takes_a_record() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("record");
        assert!(record().append_to(&file).is_err(), "it makes none");
        std::fs::write(&file, "").unwrap();
        for (mode, expected) in [(0o644, false), (0o600, true)] {
            std::fs::set_permissions(&file, PermissionsExt::from_mode(mode)).unwrap();
            assert_eq!(record().append_to(&file).is_ok(), expected);
        }
        let link = folder.path().join("link");
        std::os::unix::fs::symlink(&file, &link).unwrap();
        assert!(record().append_to(&link).is_err());
        assert_eq!(std::fs::read_to_string(&file).unwrap(), record().to_line());
    }
}
