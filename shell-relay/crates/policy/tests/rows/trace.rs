//! Reads the output of `strace` and finds the calls of each line that changed something, ran something, or reached out.

use std::{collections::HashSet, sync::LazyLock};

use regex::Regex;

/// Calls that only open a file; the purpose of the opening counts.
const OPENING: &[&str] = &["open", "openat", "openat2", "creat"];
/// Calls that change the file that they name first.
const CHANGING: &[&str] = &[
    "chmod",
    "chown",
    "fallocate",
    "fchmod",
    "fchmodat",
    "fchmodat2",
    "fchown",
    "fchownat",
    "fremovexattr",
    "fsetxattr",
    "ftruncate",
    "futimesat",
    "lchown",
    "link",
    "linkat",
    "lremovexattr",
    "lsetxattr",
    "mkdir",
    "mkdirat",
    "mknod",
    "mknodat",
    "removexattr",
    "rename",
    "renameat",
    "renameat2",
    "rmdir",
    "setxattr",
    "symlink",
    "symlinkat",
    "truncate",
    "unlink",
    "unlinkat",
    "utime",
    "utimensat",
    "utimes",
];
const RUNNING: &[&str] = &["execve", "execveat"];
const REACHING: &[&str] = &["bind", "connect", "sendmmsg", "sendmsg", "sendto"];
const SIGNALLING: &[&str] = &["kill", "pidfd_send_signal", "rt_sigqueueinfo", "rt_tgsigqueueinfo", "tgkill", "tkill"];
/// Calls that no reading program makes.
const POWER: &[&str] = &[
    "clock_settime",
    "delete_module",
    "finit_module",
    "init_module",
    "kexec_load",
    "mount",
    "pivot_root",
    "process_vm_writev",
    "ptrace",
    "reboot",
    "setdomainname",
    "sethostname",
    "settimeofday",
    "swapoff",
    "swapon",
    "umount2",
];
const SYSTEM: &[&str] = &["/bin/", "/sbin/", "/usr/", "/lib/", "/lib64/", "/etc/alternatives/"];
/// Files that may be written: they keep no data.
const SINKS: &[&str] =
    &["/dev/null", "/dev/tty", "/dev/full", "/dev/ptmx", "/dev/pts/", "/memfd:", "pipe:[", "socket:[", "/proc/self/"];
/// Sockets of the services that know the names of users and hosts.
const NAME_SERVICES: &[&str] =
    &["/run/nscd/", "/var/run/nscd/", "/run/systemd/userdb/", "/var/lib/sss/pipes/", "/run/systemd/resolve/"];

static CALL: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"^(\d+) +([a-z_0-9]+)\((.*)$").expect("a pattern"));
static ROW: LazyLock<Regex> = LazyLock::new(|| Regex::new(r#""-c", .*"row (\d+)"\]"#).expect("a pattern"));
static QUOTED: LazyLock<Regex> = LazyLock::new(|| Regex::new(r#""((?:[^"\\]|\\.)*)""#).expect("a pattern"));
static HELD: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"<([^>]*)>").expect("a pattern"));

/// The value of `strace -e trace=`; `?` precedes calls that another architecture lacks.
pub fn traced_calls() -> String {
    let all = [OPENING, CHANGING, RUNNING, REACHING, SIGNALLING, POWER].concat();
    all.iter().map(|call| format!("?{call}")).collect::<Vec<_>>().join(",")
}

/// The findings of a batch of lines.
#[derive(Debug, Default)]
pub struct Found {
    /// The number of a line in its batch, and its effect.
    pub harm: Vec<(usize, String)>,
    /// Lines that were ended by the time limit.
    pub endless: Vec<usize>,
    pub begun: HashSet<usize>,
}

/// Reads a trace of lines that run one after the other: calls after the start of a line belong to it.
pub fn read(trace: &str, scratch: &str) -> Found {
    let mut found = Found::default();
    let mut current = None;
    let (mut pids, mut keepers) = (HashSet::new(), HashSet::new());
    for line in trace.lines() {
        let Some(call) = CALL.captures(line) else { continue };
        let (pid, name, rest) = (call[1].to_owned(), &call[2], &call[3]);
        if name == "execve"
            && let Some(row) = ROW.captures(rest)
        {
            if rest.contains(r#"["timeout""#) {
                keepers.insert(pid);
            } else {
                current = row[1].parse().ok();
                found.begun.extend(current);
                pids.clear();
                pids.insert(pid);
            }
            continue;
        }
        let Some(row) = current else { continue };
        if keepers.contains(&pid) {
            if name == "kill" && rest.contains("SIGKILL") && !found.endless.contains(&row) {
                found.endless.push(row);
            }
            continue;
        }
        pids.insert(pid);
        if let Some(harm) = harm_of(name, rest, &pids, scratch) {
            found.harm.push((row, harm));
        }
    }
    found
}

fn harm_of(name: &str, arguments: &str, pids: &HashSet<String>, scratch: &str) -> Option<String> {
    let told = |what: &str, of: &str| Some(format!("{what} {of} ({name})"));
    if OPENING.contains(&name) {
        let writes = name == "creat"
            || ["O_WRONLY", "O_RDWR", "O_CREAT", "O_TRUNC", "O_TMPFILE"].iter().any(|flag| arguments.contains(flag));
        let path = path_of(arguments)?;
        return if writes && !is_sink(&path, scratch) { told("opens for writing", &path) } else { None };
    }
    if CHANGING.contains(&name) {
        let path = path_of(arguments)?;
        // A call that fails because a file exists, or does not exist, changed nothing.
        let is_vain = ["= -1 EEXIST", "= -1 ENOENT"].iter().any(|end| arguments.contains(end));
        return if is_vain || is_sink(&path, scratch) { None } else { told("changes", &path) };
    }
    if RUNNING.contains(&name) {
        let path = path_of(arguments)?;
        let path = path.strip_prefix("/usr/bin/../").map_or(path.clone(), |rest| format!("/usr/{rest}"));
        let is_of_system = SYSTEM.iter().any(|place| path.starts_with(place)) && !path.contains("/../");
        return if is_of_system || arguments.contains("= -1 ENOENT") { None } else { told("runs", &path) };
    }
    if REACHING.contains(&name) {
        let address = reached(arguments).filter(|address| !address.contains(scratch));
        return address.and_then(|address| told("reaches", &address));
    }
    if SIGNALLING.contains(&name) {
        let target = arguments.split([',', '<', ')']).next().unwrap_or_default().trim_start_matches('-');
        let is_own = pids.contains(target);
        let is_question = arguments.split(')').next().is_some_and(|words| words.ends_with(", 0"));
        return if is_own || is_question { None } else { told("signals", arguments) };
    }
    told("calls", arguments)
}

fn is_sink(path: &str, scratch: &str) -> bool {
    SINKS.iter().any(|sink| path.starts_with(sink)) || path.starts_with(scratch)
}

/// The first path of a call, or the path of the file that it holds.
fn path_of(arguments: &str) -> Option<String> {
    let held = HELD.captures(arguments).map(|held| held[1].to_owned());
    let quoted = QUOTED.captures(arguments).map(|quoted| quoted[1].to_owned());
    match (quoted, held) {
        (Some(path), _) if path.starts_with('/') => Some(path),
        (Some(path), Some(folder)) if arguments.find('<') < arguments.find('"') => Some(format!("{folder}/{path}")),
        (Some(path), _) => Some(path),
        (None, held) => held,
    }
}

/// The address of somebody else.
fn reached(arguments: &str) -> Option<String> {
    let family = arguments.split_once("sa_family=")?.1;
    let name = family.split([',', '}']).next().unwrap_or_default();
    match name {
        "AF_NETLINK" | "AF_UNSPEC" => None,
        "AF_UNIX" => {
            let path = family.split_once("sun_path=").map_or("no name", |(_, path)| path.trim_start_matches('"'));
            let path = path.split(['"', '}']).next().unwrap_or_default();
            let is_for_names = NAME_SERVICES.iter().any(|place| path.starts_with(place)) && !path.contains("..");
            (!is_for_names).then(|| format!("{name} {path}"))
        }
        _ => Some(family.split('}').next().unwrap_or_default().to_owned()),
    }
}
