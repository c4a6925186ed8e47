//! Tests for the place of the socket and the check of its users.

#![expect(clippy::print_stderr, reason = "what could not be tried is told")]

use std::{
    fs,
    io::Read as _,
    os::unix::{
        fs::{PermissionsExt, symlink},
        process::CommandExt as _,
    },
    path::{Path, PathBuf},
};

use cohab_protocol::{
    PROTOCOL_VERSION,
    socket::{SocketError, check_peer, connect, listen, secure_directory, socket_path},
};
use tempfile::TempDir;

fn folder() -> TempDir {
    tempfile::Builder::new().prefix("cohab-").tempdir().expect("a temporary folder")
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).expect("it exists").permissions().mode() & 0o777
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_io().build().expect("a runtime")
}

#[test]
fn a_missing_directory_is_made_for_us_alone() {
    let home = folder();
    let path = home.path().join("a/b/run");
    secure_directory(&path).expect("it can be made");
    assert_eq!(mode(&path), 0o700);
    secure_directory(&path).expect("and is fine the second time");
}

#[test]
fn a_directory_open_to_others_is_refused() {
    for open in [0o750, 0o701, 0o777, 0o755] {
        let home = folder();
        let path = home.path().join("run");
        fs::create_dir(&path).expect("it can be made");
        fs::set_permissions(&path, fs::Permissions::from_mode(open)).expect("it is ours");
        let error = secure_directory(&path).expect_err("others can enter");
        assert!(error.to_string().contains(&format!("{open:04o}")), "{error}");
        assert_eq!(mode(&path), open, "nothing was changed behind the user's back");
    }
}

#[test]
fn a_link_in_place_of_the_directory_is_refused() {
    let home = folder();
    let (real, link) = (home.path().join("real"), home.path().join("run"));
    secure_directory(&real).expect("it can be made");
    symlink(&real, &link).expect("a link");
    assert!(matches!(secure_directory(&link), Err(SocketError::UnsafeDirectory { .. })));
}

#[test]
fn a_dangling_link_in_place_of_the_directory_is_refused() {
    let home = folder();
    let link = home.path().join("run");
    symlink(home.path().join("nowhere"), &link).expect("a link");
    assert!(secure_directory(&link).is_err());
    assert!(!home.path().join("nowhere").exists(), "the link was followed");
}

#[test]
fn a_file_in_place_of_the_directory_is_refused() {
    let home = folder();
    let path = home.path().join("run");
    fs::write(&path, "").expect("a file");
    assert!(matches!(secure_directory(&path), Err(SocketError::UnsafeDirectory { .. })));
}

#[test]
fn somebody_elses_directory_is_refused() {
    // `/` belongs to root and is open to all, so for no user is it a private folder.
    let error = secure_directory(Path::new("/proc/1")).expect_err("not a private folder of ours");
    assert!(error.to_string().contains("/proc/1"), "{error}");
}

#[test]
fn the_socket_is_named_after_the_protocol_version() {
    let path = socket_path(Path::new("/run/user/1000/cohab"), 1000);
    assert_eq!(path, PathBuf::from(format!("/run/user/1000/cohab/d{PROTOCOL_VERSION}.sock")));
}

#[test]
fn a_path_too_long_for_a_socket_becomes_a_short_one() {
    let deep = |name: &str| PathBuf::from("/").join("x".repeat(200)).join(name);
    let (one, other) = (socket_path(&deep("a"), 7), socket_path(&deep("b"), 7));
    assert!(one.as_os_str().len() <= 103, "{}", one.display());
    assert_eq!(one.parent(), Some(Path::new("/tmp/cohab-7")));
    assert_ne!(one, other, "two homes share a socket");
    assert_eq!(one, socket_path(&deep("a"), 7), "the name must be stable");
}

#[test]
fn the_longest_path_that_fits_is_kept_and_can_be_bound() {
    let home = folder();
    let name = format!("/d{PROTOCOL_VERSION}.sock");
    let fill = 103 - home.path().as_os_str().len() - name.len() - 1;
    let runtime_dir = home.path().join("y".repeat(fill));
    let path = socket_path(&runtime_dir, 7);
    assert_eq!(path.as_os_str().len(), 103);
    assert!(path.starts_with(home.path()));
    let runtime = runtime();
    let _guard = runtime.enter();
    listen(&path).map(drop).expect("103 bytes fit into a socket's address");
    assert!(!socket_path(&home.path().join("y".repeat(fill + 1)), 7).starts_with(home.path()));
}

#[test]
fn the_socket_itself_is_closed_to_others() {
    let home = folder();
    let path = home.path().join("run/d.sock");
    let runtime = runtime();
    let _guard = runtime.enter();
    let _listener = listen(&path).expect("it can be bound");
    assert_eq!(mode(&path), 0o600);
    assert_eq!(mode(path.parent().expect("it has a folder")), 0o700);
}

#[test]
fn a_stale_socket_is_replaced() {
    let home = folder();
    let path = home.path().join("run/d.sock");
    let runtime = runtime();
    let _guard = runtime.enter();
    drop(listen(&path).expect("it can be bound"));
    assert!(fs::symlink_metadata(&path).is_ok(), "closing leaves the file");
    let listener = listen(&path).expect("it can be bound again");
    let stream = runtime.block_on(connect(&path)).expect("somebody listens");
    check_peer(&stream).expect("it is us");
    drop(listener);
}

#[test]
fn both_ends_see_that_the_other_is_us() {
    let home = folder();
    let path = home.path().join("run/d.sock");
    runtime().block_on(async {
        let listener = listen(&path).expect("it can be bound");
        let client = connect(&path).await.expect("somebody listens");
        let (server, _) = listener.accept().await.expect("the client is there");
        check_peer(&client).expect("the daemon is us");
        check_peer(&server).expect("the client is us");
    });
}

/// The user that systems call `nobody`.
const NOBODY: u32 = 65_534;
/// The socket at which `held_by_somebody_else` connects or listens.
const SOCKET: &str = "COHAB_TEST_SOCKET";
const LISTENS: &str = "COHAB_TEST_LISTENS";

/// The part of another user: connects or listens, and waits for the end.
#[test]
#[ignore = "the test below starts it as another user"]
fn held_by_somebody_else() {
    let path = std::env::var_os(SOCKET).expect("the test below says where");
    let mut stream = match std::env::var_os(LISTENS) {
        Some(_) => {
            let listener = std::os::unix::net::UnixListener::bind(&path).expect("it can be bound");
            fs::set_permissions(&path, fs::Permissions::from_mode(0o666)).expect("it is ours");
            listener.accept().expect("somebody comes").0
        }
        None => std::os::unix::net::UnixStream::connect(&path).expect("somebody listens"),
    };
    let _ = stream.read(&mut [0]);
}

/// Runs the test above as another user. The program lies in a place that this user can read.
fn somebody_else(home: &Path, socket: &Path, listens: bool) -> std::process::Child {
    let program = home.join("program");
    fs::copy(std::env::current_exe().expect("this test"), &program).expect("a copy");
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("it is ours");
    let mut command = std::process::Command::new(program);
    command.args(["held_by_somebody_else", "--exact", "--ignored"]).env(SOCKET, socket);
    command.envs(listens.then_some((LISTENS, "1"))).current_dir("/").uid(NOBODY).gid(NOBODY);
    command.stdout(std::process::Stdio::null()).spawn().expect("it starts")
}

#[test]
fn another_user_is_refused_at_both_ends() {
    if !rustix::process::getuid().is_root() {
        eprintln!("not run: only root can become another user");
        return;
    }
    let home = folder();
    fs::set_permissions(home.path(), fs::Permissions::from_mode(0o777)).expect("it is ours");
    let (ours, theirs) = (home.path().join("run/d.sock"), home.path().join("theirs.sock"));
    runtime().block_on(async {
        let listener = listen(&ours).expect("it can be bound");
        // As if both locks before this one were open.
        fs::set_permissions(home.path().join("run"), fs::Permissions::from_mode(0o755)).expect("it is ours");
        fs::set_permissions(&ours, fs::Permissions::from_mode(0o666)).expect("it is ours");
        let mut child = somebody_else(home.path(), &ours, false);
        let (server, _) = listener.accept().await.expect("they come");
        let error = check_peer(&server).expect_err("it is not us");
        assert!(matches!(error, SocketError::ForeignPeer { uid: NOBODY }), "{error}");
        drop(server);
        assert!(child.wait().expect("it ends").success());

        let mut child = somebody_else(home.path(), &theirs, true);
        let error = loop {
            match connect(&theirs).await {
                Err(SocketError::Io { .. }) if child.try_wait().expect("it is ours").is_none() => {
                    tokio::task::yield_now().await;
                }
                result => break result.expect_err("it is not us"),
            }
        };
        assert!(matches!(error, SocketError::ForeignPeer { uid: NOBODY }), "{error}");
        assert!(child.wait().expect("it ends").success());
    });
}

#[test]
fn connecting_to_nobody_names_the_path() {
    let home = folder();
    let path = home.path().join("none.sock");
    let error = runtime().block_on(connect(&path)).expect_err("nobody listens");
    assert!(error.to_string().contains("none.sock"), "{error}");
}
