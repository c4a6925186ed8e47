//! The launcher: restricts this process and turns it into a program.

use std::{
    env,
    ffi::{CString, OsStr, OsString},
    fs, io,
    os::unix::ffi::{OsStrExt, OsStringExt},
    path::{Path, PathBuf},
};

use rustix::fs::{Access, access};

use crate::{
    Calls, Folders, Record, Rules, Sockets, Support, bounds, drop_capabilities, enforce, hierarchies, line,
    names::Mediator,
    secrets::{self, Places, Surroundings},
    temporary,
};

/// Exit status: the program was not started, since it could not be confined.
pub const NOT_CONFINED: u8 = 125;
/// Exit status: the program exists and does not start.
pub const NOT_EXECUTABLE: u8 = 126;
/// Exit status: there is no such program.
pub const NOT_FOUND: u8 = 127;
/// The name of the launcher.
pub const NAME: &str = "cohab-confine";
/// The launcher's usage line.
pub const USAGE: &str = "usage: cohab-confine [--record FILE] [--secret PATH]... -- PROGRAM [ARGS...]\n       \
                         cohab-confine [--record FILE] [--secret PATH]... --line SHELL LINE\n";
/// Numbers of users who are people.
const FIRST_PERSON: u32 = 1_000;
const LAST_PERSON: u32 = 60_000;
/// Largest number of homes: each costs some file accesses at every start.
const HOMES_MAX: usize = 16;
/// Programs that ask the kernel by sockets of the network.
const ASKING_BY_INTERFACES: &[&str] = &["arp", "ifconfig", "iwconfig", "mii-tool", "nameif", "netstat", "route"];

/// A request to the launcher.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Request {
    /// The file that receives a line about the rules that confined the program.
    pub record: Option<PathBuf>,
    /// Places of secrets in addition to the known ones.
    pub secrets: Vec<PathBuf>,
    /// The program is a shell that runs one line.
    pub is_line: bool,
    /// The program and its arguments.
    pub words: Vec<OsString>,
}

/// The reason why there is no program.
#[derive(Debug)]
pub struct Failure {
    /// The launcher's exit status.
    pub status: u8,
    /// The message, one line.
    pub message: String,
}

impl Request {
    /// Reads the words behind the launcher's name; `None` if they are invalid.
    #[must_use]
    pub fn parse(words: impl IntoIterator<Item = OsString>) -> Option<Self> {
        let mut words = words.into_iter();
        let mut request = Self::default();
        loop {
            match words.next()?.to_str()? {
                "--record" => request.record = Some(words.next()?.into()),
                "--secret" => request.secrets.push(words.next()?.into()),
                "--line" => {
                    request.is_line = true;
                    break;
                }
                "--" => break,
                _ => return None,
            }
        }
        let words: Vec<OsString> = words.collect();
        request.words = if request.is_line { line::started(&words, env::var_os("SHELL"))? } else { words };
        (!request.words.is_empty()).then_some(request)
    }
}

/// A program that is confined and only needs to be started.
#[derive(Debug)]
pub struct Ready {
    /// The file to execute.
    pub file: CString,
    /// The program's name and arguments.
    pub arguments: Vec<CString>,
    /// Variables that are removed from its environment.
    pub dropped: Vec<OsString>,
    /// Variables that are set in its environment.
    pub variables: Vec<(&'static str, OsString)>,
}

/// What programs get of the environment.
#[derive(Clone, Copy, Debug)]
pub struct Inheritance<'a> {
    /// Variables without keys: a table with rows of `how | names`.
    pub variables: &'a str,
    /// Programs that get no others; all that begin with `python` are among them.
    pub running_code: &'a [&'a str],
}

impl Inheritance<'_> {
    fn is_cut_for(&self, program: &OsStr) -> bool {
        let name = Path::new(program).file_name().and_then(OsStr::to_str);
        name.is_some_and(|name| self.running_code.contains(&name) || name.starts_with("python"))
    }
}

/// Finds the program and restricts this process, which can only become the program then. A shell that runs one line, and a program that
/// runs code in its words, inherits no variable that may hold a key.
///
/// # Errors
/// If there is no such program, or it cannot be confined; then nothing must be started.
pub fn prepare(
    request: &Request,
    places: Places<'_>,
    inheritance: Inheritance<'_>,
    support: Support,
) -> Result<Ready, Failure> {
    let Some(name) = request.words.first() else { return Err(not_confined("there is no program")) };
    let file = executable(name)?;
    if !support.can_launch() {
        return Err(not_confined("this system has nothing to confine a program with"));
    }
    let calls = Calls::Confined(sockets_of(name));
    drop_capabilities(calls).map_err(|error| not_confined(&format!("capabilities stay: {error}")))?;
    let cwd = env::current_dir().unwrap_or_else(|_| PathBuf::from("/"));
    let temporary = temporary_places().find_map(|place| temporary::make(&place.canonicalize().ok()?).ok());
    let mut folders = Folders::default();
    let surroundings = Surroundings { homes: homes(), cwd };
    let mut found = secrets::find(places, &surroundings, &mut folders);
    found.extend(request.secrets.iter().filter_map(|path| path.canonicalize().ok()));
    // The temporary folder has a name of ours, which counts as secret. The folder around it stays as it is: a variable named it.
    found.retain(|secret| temporary.as_ref().is_none_or(|folder| folder.parent() != Some(secret)));
    let known: Vec<PathBuf> = surroundings.homes.iter().chain([&surroundings.cwd]).cloned().collect();
    let rules = Rules {
        writable: temporary.iter().cloned().collect(),
        readable: Some(hierarchies::around(&found, &known, &mut folders)),
        has_terminal: true,
        calls,
    };
    if let Some(file) = &request.record {
        let record = Record {
            pid: rustix::process::getpid().as_raw_nonzero().get(),
            landlock: support.landlock,
            program: name.to_string_lossy().into_owned(),
            cwd: surroundings.cwd,
            temporary: temporary.clone(),
            secrets: found.into_iter().collect(),
        };
        record.append_to(file).map_err(|error| not_confined(&format!("{}: {error}", file.display())))?;
    }
    let mediator = Mediator::of_environment();
    enforce(&rules, support, mediator.as_ref()).map_err(|error| not_confined(&error.to_string()))?;
    ready(&file, request, inheritance, temporary)
}

fn ready(
    file: &Path,
    request: &Request,
    inheritance: Inheritance<'_>,
    temporary: Option<PathBuf>,
) -> Result<Ready, Failure> {
    let text = |word: &OsStr| CString::new(word.as_bytes()).map_err(|error| not_confined(&error.to_string()));
    let (mut variables, mut dropped) = (Vec::new(), Vec::new());
    if request.is_line {
        bounds::bound_processes();
        bounds::bound_memory();
        line::detach_input().map_err(|error| not_confined(&format!("/dev/null: {error}")))?;
        variables.extend(line::variables(temporary.as_deref()));
    }
    if request.is_line || inheritance.is_cut_for(&request.words[0]) {
        dropped = line::dropped(inheritance.variables);
    }
    variables.extend(temporary.map(|folder| ("TMPDIR", folder.into_os_string())));
    // bash passes each program its own path.
    let told = env::var_os("_").and_then(|path| PathBuf::from(path).file_name().map(OsStr::to_owned));
    if told.is_some_and(|name| name == NAME) {
        variables.push(("_", file.into()));
    }
    let arguments = request.words.iter().map(|word| text(word)).collect::<Result<_, _>>()?;
    Ok(Ready { file: text(file.as_os_str())?, arguments, dropped, variables })
}

/// Finds a program as a shell does.
fn executable(name: &OsStr) -> Result<PathBuf, Failure> {
    let failure = |status, why: &str| Failure { status, message: format!("{}: {why}", name.to_string_lossy()) };
    if name.as_bytes().contains(&b'/') {
        let path = PathBuf::from(name);
        return if path.exists() { Ok(path) } else { Err(failure(NOT_FOUND, "No such file or directory")) };
    }
    let path = env::var_os("PATH").unwrap_or_default();
    // An empty entry is the working folder.
    let files = env::split_paths(&path).map(|folder| Path::new(".").join(folder).join(name));
    let mut files = files.filter(|file| file.is_file()).peekable();
    let is_there = files.peek().is_some();
    let found = files.find(|file| access(file, Access::EXEC_OK).is_ok());
    found.ok_or_else(|| match is_there {
        true => failure(NOT_EXECUTABLE, "Permission denied"),
        false => failure(NOT_FOUND, "command not found"),
    })
}

fn sockets_of(name: &OsStr) -> Sockets {
    let name = Path::new(name).file_name();
    let is_asking = name.is_some_and(|name| ASKING_BY_INTERFACES.iter().any(|known| name == *known));
    if is_asking { Sockets::Interfaces } else { Sockets::Netlink }
}

/// Places for a folder for temporary files.
fn temporary_places() -> impl Iterator<Item = PathBuf> {
    let named = ["TMPDIR", "XDG_RUNTIME_DIR"].map(|name| env::var_os(name).map(PathBuf::from));
    let [given, runtime] = named.map(|place| place.filter(|place| place.is_absolute()));
    given.into_iter().chain([PathBuf::from("/tmp")]).chain(runtime)
}

/// The homes by `HOME` and by the system: the variable may have been set for this one line. Root reads the homes of others, too.
fn homes() -> Vec<PathBuf> {
    let given = env::var_os("HOME").map(PathBuf::from);
    let mut homes: Vec<PathBuf> =
        given.into_iter().chain(homes_by_system()).filter_map(|home| home.canonicalize().ok()).collect();
    homes.sort_unstable();
    homes.dedup();
    homes.retain(|home| home.parent().is_some());
    homes
}

/// The homes by `/etc/passwd` alone: other sources of users are services.
fn homes_by_system() -> Vec<PathBuf> {
    let user = rustix::process::getuid().as_raw();
    let users = fs::read("/etc/passwd").unwrap_or_default();
    let homes = users.split(|byte| *byte == b'\n').filter_map(|line| {
        let mut fields = line.split(|byte| *byte == b':');
        let id: u32 = str::from_utf8(fields.nth(2)?).ok()?.parse().ok()?;
        let is_read = id == user || (user == 0 && (FIRST_PERSON..LAST_PERSON).contains(&id));
        let home = fields.nth(2).filter(|_| is_read)?;
        Some(PathBuf::from(OsString::from_vec(home.to_vec())))
    });
    homes.take(HOMES_MAX).collect()
}

fn not_confined(why: &str) -> Failure {
    Failure { status: NOT_CONFINED, message: format!("not started: {why}") }
}

/// The exit status for an error of starting it.
#[must_use]
pub fn status_of(error: &io::Error) -> u8 {
    if error.kind() == io::ErrorKind::NotFound { NOT_FOUND } else { NOT_EXECUTABLE }
}
