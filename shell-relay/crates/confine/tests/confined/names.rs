//! Tests that a confined program reaches the services of names, and nothing else through their server.

use std::{
    fs,
    io::{self, ErrorKind, Read, Write},
    mem::MaybeUninit,
    os::{
        fd::{AsFd, AsRawFd, OwnedFd},
        linux::net::SocketAddrExt,
        unix::{
            fs::symlink,
            net::{SocketAddr, UnixDatagram, UnixListener, UnixStream},
            process::ExitStatusExt,
        },
    },
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::atomic::{AtomicBool, Ordering},
    thread,
};

use cohab_confine::names::{Server, Services, VARIABLE};
use rustix::{
    event::{PollFd, PollFlags, poll},
    fs::{OFlags, fcntl_getfl, fcntl_setfl},
    io::{FdFlags, fcntl_getfd},
    net::{
        AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendFlags, SocketAddrUnix, SocketFlags,
        SocketType, connect, recvmsg, sendto, socket_with,
    },
};

use crate::support::{Bench, set_mode, skips};

const ANSWER: &str = "me\n";
/// Least number of attempts to connect to an address that changes meanwhile.
const ATTEMPTS: usize = 400;

/// A service with the same answer for all clients, a service that no one may reach, and the server between.
struct Scene {
    bench: Bench,
    service: PathBuf,
    other: UnixListener,
    server: Option<Server>,
    mediator: PathBuf,
}

impl Scene {
    fn new() -> Self {
        let bench = Bench::new();
        let folder = bench.write("run/plain", "").parent().unwrap().to_owned();
        set_mode(&folder, 0o755);
        let (service, mediator) = (folder.join("service"), bench.home().join("mediator"));
        let listener = UnixListener::bind(&service).unwrap();
        thread::spawn(move || {
            for stream in listener.incoming() {
                let _ = stream.unwrap().write_all(ANSWER.as_bytes());
            }
        });
        // Both names have the same length, so that one can be written over the other.
        let other = UnixListener::bind(folder.join("secrets")).unwrap();
        other.set_nonblocking(true).unwrap();
        symlink(&service, folder.join("link")).unwrap();
        let owner = rustix::process::getuid().as_raw();
        let server = Server::start(&mediator, Services::new(vec![service.clone()], &folder, owner)).unwrap();
        Self { bench, service, other, server: Some(server), mediator }
    }

    /// A test of this file, confined.
    fn confined(&self, name: &str) -> Command {
        let own = std::env::current_exe().unwrap();
        let mut command = self.bench.confined(&[own.to_str().unwrap(), name, "--exact", "--ignored", "--nocapture"]);
        command.env(VARIABLE, &self.mediator).env("SERVICE", &self.service).stdin(Stdio::null());
        command
    }

    fn said(&self, name: &str) -> String {
        let output = self.confined(name).output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(text.contains("END") && output.status.success(), "{output:?}");
        // The test's own report follows.
        text.split("END").next().unwrap().to_owned()
    }

    fn assert_other_was_not_reached(&self) {
        assert_eq!(self.other.accept().unwrap_err().kind(), ErrorKind::WouldBlock);
    }
}

fn service() -> PathBuf {
    std::env::var_os("SERVICE").unwrap().into()
}

fn beside(name: &str) -> PathBuf {
    service().with_file_name(name)
}

fn ask(path: &Path) -> io::Result<()> {
    answer(UnixStream::connect(path)?)
}

fn answer(mut stream: UnixStream) -> io::Result<()> {
    let mut said = String::new();
    stream.read_to_string(&mut said)?;
    assert_eq!(said, ANSWER);
    Ok(())
}

fn stream(flags: SocketFlags) -> io::Result<OwnedFd> {
    Ok(socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?)
}

/// Asks with these flags; descriptor and open file keep the program's flags.
fn ask_with(flags: SocketFlags) -> io::Result<()> {
    let socket = stream(flags)?;
    let before = socket.as_raw_fd();
    connect(&socket, &SocketAddrUnix::new(service())?)?;
    assert_eq!(fcntl_getfl(&socket)?.contains(OFlags::NONBLOCK), flags.contains(SocketFlags::NONBLOCK));
    assert_eq!(fcntl_getfd(&socket)?.contains(FdFlags::CLOEXEC), flags.contains(SocketFlags::CLOEXEC));
    assert_eq!(socket.as_raw_fd(), before);
    // From here on it blocks: the end of the answer may come later than the answer.
    fcntl_setfl(&socket, fcntl_getfl(&socket)? - OFlags::NONBLOCK)?;
    answer(socket.into())
}

/// The plain call, with any arguments.
#[expect(unsafe_code, reason = "the kernel looks at the arguments, which may be wrong")]
fn connect_raw(socket: i32, address: *const libc::sockaddr_un, length: u32) -> io::Result<()> {
    let result = unsafe { libc::connect(socket, address.cast(), length) };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

fn report(name: &str, result: &io::Result<()>) {
    match result {
        Ok(()) => println!("DID {name}"),
        Err(error) => println!("failed {name}: {:?}", error.raw_os_error()),
    }
}

type Deed<'a> = (&'a str, Box<dyn Fn() -> io::Result<()> + 'a>);

#[test]
#[ignore = "runs inside of the confinement, started by the tests below"]
fn asking() {
    let deeds: Vec<Deed<'_>> = vec![
        ("plain", Box::new(|| ask(&service()))),
        ("again", Box::new(|| (0..20).try_for_each(|_| ask(&service())))),
        ("flags", Box::new(|| ask_with(SocketFlags::CLOEXEC | SocketFlags::NONBLOCK))),
        ("no flags", Box::new(|| ask_with(SocketFlags::empty()))),
        (
            "threads",
            Box::new(|| {
                let threads: Vec<_> = (0..20).map(|_| thread::spawn(|| ask(&service()))).collect();
                threads.into_iter().try_for_each(|thread| thread.join().unwrap())
            }),
        ),
        (
            "twice on a socket",
            Box::new(|| {
                let socket = stream(SocketFlags::CLOEXEC)?;
                connect(&socket, &SocketAddrUnix::new(service())?)?;
                connect(&socket, &SocketAddrUnix::new(service())?)?;
                answer(socket.into())
            }),
        ),
        (
            "a child",
            Box::new(|| {
                let own = std::env::current_exe()?;
                let mut child = Command::new(own);
                child.args(["names::asking_once", "--exact", "--ignored"]);
                let status = child.stdout(Stdio::null()).status()?;
                if status.success() { Ok(()) } else { Err(io::Error::from_raw_os_error(1)) }
            }),
        ),
    ];
    deeds.iter().for_each(|(name, deed)| report(name, &deed()));
    println!("END");
}

#[test]
#[ignore = "started by the test above"]
fn asking_once() {
    ask(&service()).unwrap();
}

#[test]
fn a_confined_program_asks_for_names() {
    if skips() {
        return;
    }
    let mut scene = Scene::new();
    let said = scene.said("names::asking");
    assert!(!said.contains("failed") && said.matches("DID").count() == 7, "{said}");
    // Without a server the behaviour is as before.
    scene.server = None;
    let said = scene.said("names::asking");
    assert!(!said.contains("DID") && said.contains("failed plain: Some(1)"), "{said}");
}

#[test]
#[ignore = "runs inside of the confinement, started by the test below"]
fn reaching_out() {
    std::env::set_current_dir(service().parent().unwrap()).unwrap();
    let name = service().to_str().unwrap().to_owned();
    let folder = service().parent().unwrap().to_str().unwrap().to_owned();
    let mediator = PathBuf::from(std::env::var_os(VARIABLE).unwrap());
    let abstract_name = SocketAddr::from_abstract_name(&name).unwrap();
    let datagram = || UnixDatagram::unbound().map(OwnedFd::from);
    let sent = |socket: OwnedFd| -> io::Result<()> {
        Ok(sendto(socket, b"x", SendFlags::NOSIGNAL, &SocketAddrUnix::new(beside("secrets"))?).map(drop)?)
    };
    let of_type = |kind| socket_with(AddressFamily::UNIX, kind, SocketFlags::empty(), None).map(drop);
    let deeds: Vec<Deed<'_>> = vec![
        ("another socket", Box::new(|| ask(&beside("secrets")))),
        ("another name", Box::new(|| ask(&beside("link")))),
        ("a relative name", Box::new(|| ask(Path::new("service")))),
        ("two slashes", Box::new(|| ask(Path::new(&format!("{folder}//service"))))),
        ("up and down", Box::new(|| ask(Path::new(&format!("{folder}/../run/service"))))),
        ("a longer name", Box::new(|| ask(Path::new(&format!("{name}s"))))),
        ("an abstract name", Box::new(|| answer(UnixStream::connect_addr(&abstract_name)?))),
        ("the server itself", Box::new(|| ask(&mediator))),
        ("the server's own socket", Box::new(|| UnixDatagram::unbound()?.connect(&mediator))),
        ("a datagram", Box::new(|| sent(datagram()?))),
        ("a stream with an address", Box::new(|| sent(stream(SocketFlags::empty())?))),
        (
            "a connected stream with an address",
            Box::new(|| {
                let socket = stream(SocketFlags::empty())?;
                connect(&socket, &SocketAddrUnix::new(service())?)?;
                sent(socket)
            }),
        ),
        ("a sequence of packets", Box::new(|| Ok(of_type(SocketType::SEQPACKET)?))),
        ("a raw socket", Box::new(|| Ok(of_type(SocketType::RAW)?))),
        ("tcp", Box::new(|| std::net::TcpStream::connect("127.0.0.1:1").map(drop))),
        ("a listener", Box::new(|| UnixListener::bind(format!("{}/x", std::env::var("TMPDIR").unwrap())).map(drop))),
    ];
    deeds.iter().for_each(|(name, deed)| report(name, &deed()));
    println!("END");
}

#[test]
fn nothing_but_the_service_is_reached() {
    if skips() {
        return;
    }
    let scene = Scene::new();
    let said = scene.said("names::reaching_out");
    assert!(!said.contains("DID"), "{said}");
    assert_eq!(said.matches("failed").count(), 16, "{said}");
    scene.assert_other_was_not_reached();
}

#[test]
#[ignore = "runs inside of the confinement, started by the test below"]
fn changing_the_address() {
    static ENDS: AtomicBool = AtomicBool::new(false);
    let sun_path = |path: &Path| SocketAddrUnix::new(path).unwrap().path_bytes().unwrap().to_vec();
    let names = [service(), beside("secrets")].map(|path| sun_path(&path));
    let last = names[0].len() - "service".len();
    assert_eq!(names[0].len(), names[1].len());
    let mut address = libc::sockaddr_un { sun_family: libc::AF_UNIX as u16, sun_path: [0; 108] };
    for (place, byte) in address.sun_path.iter_mut().zip(&names[0]) {
        *place = byte.cast_signed();
    }
    let shared: &'static mut libc::sockaddr_un = Box::leak(Box::new(address));
    let at = &raw mut *shared as usize;
    let changing = thread::spawn(move || {
        let path = (at + std::mem::offset_of!(libc::sockaddr_un, sun_path)) as *mut u8;
        for name in names.iter().cycle().take_while(|_| !ENDS.load(Ordering::Relaxed)) {
            for (index, byte) in name.iter().enumerate().skip(last) {
                #[expect(unsafe_code, reason = "the memory is never freed; only the kernel reads it meanwhile")]
                unsafe {
                    path.add(index).write_volatile(*byte);
                }
            }
        }
    });
    // On a busy machine the other thread may not have its turn for a long time: both outcomes must have been seen.
    let (mut connected, mut refused) = (0, 0);
    while connected + refused < ATTEMPTS || connected == 0 || refused == 0 {
        let socket = stream(SocketFlags::CLOEXEC).unwrap();
        if connect_raw(socket.as_raw_fd(), at as *const _, size_of::<libc::sockaddr_un>() as u32).is_ok() {
            answer(socket.into()).unwrap();
            connected += 1;
        } else {
            refused += 1;
        }
    }
    ENDS.store(true, Ordering::Relaxed);
    changing.join().unwrap();
    println!("END");
}

#[test]
fn an_address_that_changes_meanwhile_leads_nowhere_else() {
    if skips() {
        return;
    }
    let scene = Scene::new();
    scene.said("names::changing_the_address");
    scene.assert_other_was_not_reached();
}

#[test]
#[ignore = "runs inside of the confinement, started by the test below"]
fn asking_wrongly() {
    let own = stream(SocketFlags::CLOEXEC).unwrap();
    let mut address = libc::sockaddr_un { sun_family: libc::AF_UNIX as u16, sun_path: [0; 108] };
    for (place, byte) in address.sun_path.iter_mut().zip(service().to_str().unwrap().bytes()) {
        *place = byte.cast_signed();
    }
    let foreign = libc::sockaddr_un { sun_family: libc::AF_INET as u16, ..address };
    let length = size_of::<libc::sockaddr_un>() as u32;
    let nowhere = std::ptr::without_provenance(16);
    for (name, socket, address, length) in [
        ("no descriptor", 999, &raw const address, length),
        ("nowhere", own.as_raw_fd(), nowhere, length),
        ("too long", own.as_raw_fd(), &raw const address, length + 1),
        ("much too long", own.as_raw_fd(), &raw const address, u32::MAX),
        ("too short", own.as_raw_fd(), &raw const address, 1),
        ("nothing", own.as_raw_fd(), &raw const address, 2),
        ("another family", own.as_raw_fd(), &raw const foreign, length),
    ] {
        report(name, &connect_raw(socket, address, length));
    }
    report("after all", &ask(&service()));
    println!("END");
}

#[test]
fn what_is_asked_wrongly_is_refused_and_holds_nobody_up() {
    if skips() {
        return;
    }
    let said = Scene::new().said("names::asking_wrongly");
    for (name, error) in [
        ("no descriptor", libc::EBADF),
        ("nowhere", libc::EFAULT),
        ("too long", libc::EINVAL),
        ("much too long", libc::EINVAL),
        ("too short", libc::EINVAL),
        ("nothing", libc::EPERM),
        ("another family", libc::EPERM),
    ] {
        assert!(said.contains(&format!("failed {name}: Some({error})")), "{said}");
    }
    assert!(said.contains("DID after all"), "{said}");
}

/// Takes the descriptor that a launcher hands over, and does nothing with it.
fn held(arrivals: &UnixDatagram) -> OwnedFd {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let mut byte = [0];
    recvmsg(arrivals, &mut [io::IoSliceMut::new(&mut byte)], &mut control, RecvFlags::CMSG_CLOEXEC).unwrap();
    let passed = control.drain().find_map(|message| match message {
        RecvAncillaryMessage::ScmRights(mut passed) => passed.next(),
        _ => None,
    });
    passed.unwrap()
}

#[test]
fn a_program_that_waits_for_its_answer_ends_by_a_signal_or_with_the_server() {
    if skips() {
        return;
    }
    let mut scene = Scene::new();
    scene.server = None;
    let arrivals = UnixDatagram::bind(&scene.mediator).unwrap();
    for is_killed in [true, false] {
        let mut child =
            scene.confined("names::asking_once").stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let requests = held(&arrivals);
        // The program waits in the call now.
        poll(&mut [PollFd::from_borrowed_fd(requests.as_fd(), PollFlags::IN)], None).unwrap();
        if is_killed {
            rustix::process::kill_process(rustix::process::Pid::from_child(&child), rustix::process::Signal::TERM)
                .unwrap();
            assert_eq!(child.wait().unwrap().signal(), Some(libc::SIGTERM));
            let mut ended = [PollFd::from_borrowed_fd(requests.as_fd(), PollFlags::empty())];
            poll(&mut ended, None).unwrap();
            assert!(ended[0].revents().contains(PollFlags::HUP), "the server learns that it is gone");
        } else {
            drop(requests);
            assert!(!child.wait().unwrap().success());
        }
    }
}

#[test]
fn the_server_outlives_programs_and_what_is_no_request() {
    if skips() {
        return;
    }
    let scene = Scene::new();
    let to_server = UnixDatagram::unbound().unwrap();
    to_server.connect(&scene.mediator).unwrap();
    to_server.send(b"no descriptor").unwrap();
    let passed = [fs::File::open("/dev/null").unwrap()];
    let passed = [passed[0].as_fd()];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = rustix::net::SendAncillaryBuffer::new(&mut space);
    control.push(rustix::net::SendAncillaryMessage::ScmRights(&passed));
    rustix::net::sendmsg(&to_server, &[io::IoSlice::new(&[0])], &mut control, SendFlags::empty()).unwrap();
    for _ in 0..3 {
        assert!(scene.confined("names::asking_once").output().unwrap().status.success());
    }
    // Waits by number: `wait -n` may have forgotten one that has ended before it.
    let bash = "for n in 1 2 3 4; do \"$0\" names::asking_once --exact --ignored >/dev/null & all+=\" $!\"; done; for one in $all; do wait $one || exit; done";
    let own = std::env::current_exe().unwrap();
    let mut command = scene.bench.confined(&["env", "bash", "-c", bash, own.to_str().unwrap()]);
    command.env(VARIABLE, &scene.mediator).env("SERVICE", &scene.service);
    assert!(command.output().unwrap().status.success());
}
