//! Tests that a confined program cannot change, reach or read anything it must not: `harm.lines`, and calls that shells cannot make.

use std::{
    collections::BTreeMap,
    fs,
    io::ErrorKind,
    net::{TcpListener, TcpStream, UdpSocket},
    os::{
        linux::net::SocketAddrExt,
        unix::{
            fs::{MetadataExt, symlink},
            net::{SocketAddr, UnixDatagram, UnixListener, UnixStream},
            process::ExitStatusExt,
        },
    },
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

use crate::support::{Bench, launcher, skips};

const LINES: &str = include_str!("harm.lines");
/// Least number of lines that have an effect here: others lack their program or their rights.
const EFFECTIVE: usize = 35;

/// A process outside of any confinement, in a separate group.
struct Outsider(Child);

impl Outsider {
    fn start() -> Self {
        use std::os::unix::process::CommandExt;
        Self(Command::new("sleep").arg("600").stdin(Stdio::null()).process_group(0).spawn().unwrap())
    }

    fn pid(&self) -> String {
        self.0.id().to_string()
    }
}

impl Drop for Outsider {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The state below a folder: kind and mode, owner, times, content.
fn picture(folder: &Path) -> BTreeMap<PathBuf, String> {
    let mut found = BTreeMap::new();
    let mut waiting = vec![folder.to_owned()];
    while let Some(path) = waiting.pop() {
        let seen = fs::symlink_metadata(&path).unwrap();
        let content = if seen.is_file() { fs::read(&path).unwrap() } else { Vec::new() };
        // git rewrites its index when it may, with the same meaning.
        let is_index = path.ends_with(".git/index") || path.ends_with(".git");
        let times = if is_index { (0, 0) } else { (seen.mtime(), seen.mtime_nsec()) };
        let head = content.len().min(4096);
        let text = format!("{:o} {} {times:?} {} {:x?}", seen.mode(), seen.uid(), content.len(), &content[..head]);
        if seen.is_dir() {
            waiting.extend(fs::read_dir(&path).unwrap().flatten().map(|entry| entry.path()));
        }
        found.insert(path, text);
    }
    found
}

fn scene() -> Bench {
    let bench = Bench::new();
    bench.fill();
    bench.write("outside/kept", "kept\n");
    fs::create_dir(bench.app().join("empty")).unwrap();
    bench
}

fn within(mut command: Command, bench: &Bench, outsider: &Outsider) -> std::process::Output {
    command.env("OUT", bench.home().join("outside")).env("PID", outsider.pid()).stdin(Stdio::null()).output().unwrap()
}

#[test]
fn no_line_of_harm_succeeds() {
    if skips() {
        return;
    }
    let bench = scene();
    let outsider = Outsider::start();
    let before = picture(&bench.home());
    let mut succeeded = Vec::new();
    for line in LINES.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let output = within(bench.confined(&["env", "bash", "-c", line]), &bench, &outsider);
        if output.status.success() {
            succeeded.push(format!("{line}: {output:?}"));
        }
        let now = picture(&bench.home());
        let changed: Vec<_> = now.iter().filter(|(path, text)| before.get(*path) != Some(text)).collect();
        assert!(changed.is_empty() && now.len() == before.len(), "{line} changed {changed:?}");
    }
    assert!(succeeded.is_empty(), "{}", succeeded.join("\n"));
}

#[test]
fn the_lines_of_harm_do_harm_unconfined() {
    // No line may reach beyond the fixture.
    let is_local = |line: &&str| {
        !["mount", "hostname", "date", "kill", "ipc", "su", "keyctl", "~"].iter().any(|word| line.starts_with(word))
    };
    let lines = LINES.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).filter(is_local);
    let is_effective = |line: &&str| {
        let (bench, outsider) = (Bench::new(), Outsider::start());
        bench.write("app/README.md", "needle\n");
        bench.write("app/src/x", "x\n");
        bench.write("outside/kept", "kept\n");
        symlink("x", bench.app().join("src/link")).unwrap();
        fs::create_dir(bench.app().join("empty")).unwrap();
        let mut command = bench.plain(&["bash", "-c", line]);
        command.env("TMPDIR", bench.home());
        within(command, &bench, &outsider).status.success()
    };
    let effective = lines.filter(is_effective).count();
    assert!(effective >= EFFECTIVE, "only {effective} lines do anything here");
}

#[test]
fn no_secret_is_read() {
    if skips() {
        return;
    }
    let bench = scene();
    let outsider = Outsider::start();
    symlink(bench.home().join(".ssh"), bench.app().join("keys")).unwrap();
    symlink(bench.home().join(".netrc"), bench.app().join("plain-name")).unwrap();
    symlink(bench.home(), bench.home().join("self")).unwrap();
    bench.write("app/deep/er/.env.production", "secret\n");
    bench.write("app/deep/server.pem", "secret\n");
    bench.write("app/deep/plain", "fine\n");
    for line in [
        "cat ~/.ssh/id_ed25519",
        "cat ../.ssh/id_ed25519 ../.netrc",
        "cat keys/id_ed25519",
        "cat plain-name",
        "cat ~/self/self/.ssh/id_ed25519",
        "cat /proc/self/cwd/../.netrc",
        "cat /proc/self/root$HOME/.netrc",
        "cat /proc/$PID/root$HOME/.netrc",
        "cat /proc/$$/root$HOME/.aws/credentials",
        "cat .env",
        "cat <.env",
        "cat deep/er/.env.production deep/server.pem",
        "cd ~/.ssh && cat id_ed25519",
        "grep -r secret ~/.ssh ~/.aws .env",
        "find ~ -name 'id_*' -exec cat {} +",
        "tar cf - ~/.ssh | tar xOf -",
        "cp -r ~/.ssh $TMPDIR/ && cat $TMPDIR/.ssh/id_ed25519",
        "cp .env $TMPDIR/x && cat $TMPDIR/x",
        "ln ~/.netrc $TMPDIR/x && cat $TMPDIR/x",
        "ln -s ~/.netrc $TMPDIR/x && cat $TMPDIR/x",
        "mv ~/.netrc $TMPDIR/x && cat $TMPDIR/x",
        "history -r ~/.bash_history && history",
        "exec 5<~/.netrc && cat <&5",
        "HOME=/nowhere cat ~/.netrc",
        "sh ~/.netrc",
        "sort -u .env ~/.netrc",
        "python3 -c 'print(open(\".env\").read())'",
    ] {
        let output = within(bench.confined(&["env", "bash", "-c", line]), &bench, &outsider);
        let text = [output.stdout, output.stderr].concat();
        let text = String::from_utf8_lossy(&text).replace("open secret", "");
        assert!(!text.contains("secret\n"), "{line}: {text}");
    }
    for place in [".ssh", ".aws", "app"] {
        let mut command = bench.confined(&["bash", "-c", "cat ~/.ssh/* ~/.aws/* .env $TMPDIR/../../*"]);
        let output = command.env("TMPDIR", bench.home().join(place)).output().unwrap();
        assert!(!String::from_utf8_lossy(&output.stdout).contains("secret\n"), "{place}: {output:?}");
    }
    let fine = bench.script("cat README.md deep/plain && ls ~/.ssh && ls -a && cat ~/self/app/README.md");
    assert!(fine.status.success(), "{fine:?}");
    let told = bench.confined(&["cat", "/etc/hosts"]).env("HOME", "/nowhere").output().unwrap();
    assert!(told.status.success(), "{told:?}");
}

#[test]
fn places_that_the_caller_names_are_secret_too() {
    if skips() {
        return;
    }
    let bench = scene();
    let kept = bench.write("outside/conversations/kept.db", "secret\n");
    let read = |with: &[&str]| {
        let mut command = Command::new(launcher());
        command.args(with).args(["--", "cat"]).arg(&kept).output().unwrap().status
    };
    assert!(read(&[]).success());
    assert!(!read(&["--secret", kept.parent().unwrap().to_str().unwrap()]).success());
    assert!(read(&["--secret", "/nowhere"]).success());
}

type Deed<'a> = Box<dyn Fn() -> std::io::Result<()> + 'a>;

/// Attempts that need a separate program, which prints the names of those that succeeded.
#[test]
#[ignore = "runs inside of the confinement, started by the test below"]
fn inside() {
    let variable = |name: &str| std::env::var(name).unwrap();
    let (tcp, udp) = (variable("DEED_TCP"), variable("DEED_UDP"));
    let (stream, datagram, hidden) = (variable("DEED_STREAM"), variable("DEED_DATAGRAM"), variable("DEED_ABSTRACT"));
    let abstract_address = SocketAddr::from_abstract_name(hidden).unwrap();
    let pair = || UnixDatagram::pair().map(|(one, _)| one);
    let deeds: [(&str, Deed<'_>); 11] = [
        ("tcp", Box::new(|| TcpStream::connect(&tcp).map(drop))),
        ("tcp listener", Box::new(|| TcpListener::bind("127.0.0.1:0").map(drop))),
        ("udp", Box::new(|| UdpSocket::bind("127.0.0.1:0")?.send_to(b"x", &udp).map(drop))),
        ("unix stream", Box::new(|| UnixStream::connect(&stream).map(drop))),
        ("unix datagram", Box::new(|| UnixDatagram::unbound()?.send_to(b"x", &datagram).map(drop))),
        ("datagram of a pair", Box::new(|| pair()?.send_to(b"x", &datagram).map(drop))),
        ("abstract stream", Box::new(|| UnixStream::connect_addr(&abstract_address).map(drop))),
        ("unix listener", Box::new(|| UnixListener::bind(variable("DEED_NEW")).map(drop))),
        (
            "shared memory",
            Box::new(|| {
                fs::write("/dev/shm/cohab-harm-inside", "x")
                    .and_then(|()| fs::remove_file("/dev/shm/cohab-harm-inside"))
            }),
        ),
        ("priority", Box::new(|| Ok(rustix::process::setpriority_process(rustix::process::getppid(), 3).map(drop)?))),
        ("signal", Box::new(|| Ok(rustix::process::test_kill_process(rustix::process::getppid().unwrap())?))),
    ];
    for (name, deed) in deeds {
        match deed() {
            Ok(()) => println!("DID {name}"),
            Err(error) => println!("failed {name}: {error}"),
        }
    }
    let (mut one, mut other) = UnixStream::pair().unwrap();
    std::io::Write::write_all(&mut one, b"y").unwrap();
    std::io::Read::read_exact(&mut other, &mut [0]).unwrap();
    println!("END");
}

#[test]
fn no_socket_and_no_signal_leaves() {
    if skips() {
        return;
    }
    let bench = scene();
    let own = std::env::current_exe().unwrap();
    let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
    let udp = UdpSocket::bind("127.0.0.1:0").unwrap();
    let stream = UnixListener::bind(bench.home().join("stream")).unwrap();
    let datagram = UnixDatagram::bind(bench.home().join("datagram")).unwrap();
    let hidden = format!("cohab-harm-{}", std::process::id());
    let abstract_stream = UnixListener::bind_addr(&SocketAddr::from_abstract_name(&hidden).unwrap()).unwrap();
    let run = |is_confined: bool| {
        let words = [own.to_str().unwrap(), "harm::inside", "--exact", "--ignored", "--nocapture"];
        let mut command = if is_confined { bench.confined(&words) } else { bench.plain(&words) };
        command.env("DEED_TCP", tcp.local_addr().unwrap().to_string());
        command.env("DEED_UDP", udp.local_addr().unwrap().to_string());
        command.env("DEED_STREAM", bench.home().join("stream")).env("DEED_DATAGRAM", bench.home().join("datagram"));
        command.env("DEED_ABSTRACT", &hidden).env("DEED_NEW", bench.home().join(format!("new-{is_confined}")));
        let output = command.output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(text.contains("END") && output.status.signal().is_none(), "{output:?}");
        text
    };
    let confined = run(true);
    assert!(!confined.contains("DID"), "{confined}");
    tcp.set_nonblocking(true).unwrap();
    udp.set_nonblocking(true).unwrap();
    stream.set_nonblocking(true).unwrap();
    datagram.set_nonblocking(true).unwrap();
    abstract_stream.set_nonblocking(true).unwrap();
    let none = |result: std::io::Result<()>| assert_eq!(result.unwrap_err().kind(), ErrorKind::WouldBlock);
    none(tcp.accept().map(drop));
    none(udp.recv(&mut [0; 8]).map(drop));
    none(stream.accept().map(drop));
    none(datagram.recv(&mut [0; 8]).map(drop));
    none(abstract_stream.accept().map(drop));
    let plain = run(false);
    assert!(plain.matches("DID").count() >= 10, "the deeds can be done: {plain}");
}
