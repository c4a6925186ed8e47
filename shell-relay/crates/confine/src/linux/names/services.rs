//! Lists the services available to confined programs.

use std::{
    ffi::OsStr,
    fs,
    os::unix::{
        ffi::OsStrExt,
        fs::{FileTypeExt, MetadataExt},
    },
    path::{Path, PathBuf},
};

use rustix::process::geteuid;

const TABLE: &str = include_str!("services.table");
/// Numbers of users who are services of the system.
const LAST_SERVICE: u32 = 999;
/// Permission to write for users other than the owner.
const WRITABLE_BY_OTHERS: u32 = 0o022;

/// Sockets of services, and the conditions under which one is believed.
#[derive(Clone, Debug)]
pub struct Services {
    /// The sockets as programs name them.
    sockets: Vec<PathBuf>,
    /// Folders from here on down must not be writable by others.
    root: PathBuf,
    /// Owners of sockets and folders have this number or a lower one.
    last_owner: u32,
}

impl Services {
    /// The services of this system; `None` if there are none. Root gets none: some services do more than answer when root asks.
    #[must_use]
    pub fn of_system() -> Option<Self> {
        let rows = TABLE.lines().filter(|row| !row.starts_with('#'));
        let sockets = rows.filter_map(|row| match row.split_once(" | ") {
            Some((socket, other)) => (!Path::new(other).exists()).then_some(socket),
            None => Some(row),
        });
        let services = Self::new(sockets.map(PathBuf::from).collect(), "/", LAST_SERVICE);
        let is_any = services.sockets.iter().any(|socket| services.is_believable(socket));
        (is_any && !geteuid().is_root()).then_some(services)
    }

    /// Takes these sockets, if the folders below `root` and the sockets belong to users up to `last_owner`.
    #[must_use]
    pub fn new(sockets: Vec<PathBuf>, root: impl Into<PathBuf>, last_owner: u32) -> Self {
        Self { sockets, root: root.into(), last_owner }
    }

    /// The socket that this address means, links resolved. The address must be literally a path of the table.
    pub(super) fn find(&self, address: &[u8]) -> Option<PathBuf> {
        let asked = Path::new(OsStr::from_bytes(address));
        let socket = self.sockets.iter().find(|socket| socket.as_os_str() == asked.as_os_str())?;
        let real = socket.canonicalize().ok()?;
        self.is_believable(&real).then_some(real)
    }

    /// Whether only the service or root can have put a socket there.
    fn is_believable(&self, socket: &Path) -> bool {
        let Ok(real) = socket.canonicalize() else { return false };
        let is_owned = |path: &Path| fs::symlink_metadata(path).ok().filter(|found| found.uid() <= self.last_owner);
        let is_closed = |folder: &Path| is_owned(folder).is_some_and(|found| found.mode() & WRITABLE_BY_OTHERS == 0);
        let mut folders = real.ancestors().skip(1).take_while(|folder| folder.starts_with(&self.root));
        real.starts_with(&self.root)
            && is_owned(&real).is_some_and(|found| found.file_type().is_socket())
            && folders.all(is_closed)
    }
}

#[cfg(test)]
mod tests {
    use std::{
        fs::Permissions,
        os::unix::{
            fs::{PermissionsExt, symlink},
            net::UnixListener,
        },
    };

    use rustix::process::getuid;

    use super::*;

    #[test]
    fn only_a_socket_out_of_reach_of_others_is_a_service() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let own = root.join("service");
        fs::create_dir(&own).unwrap();
        let (socket, file, link) = (own.join("socket"), own.join("file"), root.join("link"));
        let _listener = UnixListener::bind(&socket).unwrap();
        fs::write(&file, "").unwrap();
        symlink(&own, &link).unwrap();
        let user = getuid().as_raw();
        let sockets = vec![socket.clone(), file.clone(), link.join("socket"), own.join("gone")];
        let services = Services::new(sockets.clone(), &root, user);
        let find = |services: &Services, path: &Path| services.find(path.as_os_str().as_bytes());
        assert_eq!(find(&services, &socket), Some(socket.clone()));
        assert_eq!(find(&services, &link.join("socket")), Some(socket.clone()), "a link of the table is resolved");
        for other in [file, own.join("gone"), own.join("../service/socket"), own.join("./socket"), "socket".into()] {
            assert_eq!(find(&services, &other), None, "{}", other.display());
        }
        assert_eq!(services.find(b""), None);
        let elsewhere = Services::new(sockets.clone(), root.join("other"), user);
        assert_eq!(find(&elsewhere, &socket), None, "it leads out of the root");
        if let Some(lower) = user.checked_sub(1) {
            assert_eq!(find(&Services::new(sockets, &root, lower), &socket), None, "it belongs to a person");
        }
        for (mode, expected) in [(0o755, true), (0o775, false), (0o757, false), (0o1777, false)] {
            fs::set_permissions(&own, Permissions::from_mode(mode)).unwrap();
            assert_eq!(find(&services, &socket).is_some(), expected, "{mode:o}");
        }
    }

    #[test]
    fn the_table_names_plain_paths_and_root_gets_none() {
        for row in TABLE.lines().filter(|row| !row.starts_with('#')) {
            for path in row.split(" | ").map(Path::new) {
                assert!(path.is_absolute() && path.components().count() > 3, "{row}");
                assert!(path.as_os_str().len() < 108, "{row}");
            }
        }
        if geteuid().is_root() {
            assert!(Services::of_system().is_none());
        }
    }
}
