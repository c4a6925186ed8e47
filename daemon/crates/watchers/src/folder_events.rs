//! Hears of changes in folders and files, without a timer.

use std::{
    collections::{BTreeMap, BTreeSet},
    ffi::{OsStr, OsString},
    io,
    path::Path,
};

use crate::watch::WatcherId;

/// What is heard about: a place, for a watcher.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventPlace<'a> {
    /// The content of this file.
    Content(&'a Path),
    /// This name in its folder: it comes or goes.
    Name(&'a Path),
    /// Everything in this folder.
    Folder(&'a Path),
}

/// Something happened to a place of this watcher; in a folder, to the entry of this name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Heard {
    /// The watcher.
    pub id: WatcherId,
    /// The entry.
    pub name: Option<String>,
}

/// Who is interested in what the kernel reports by one number.
#[derive(Debug, Default)]
struct Listeners {
    /// Watchers of everything there.
    all: BTreeSet<WatcherId>,
    /// Watchers of one name there.
    named: BTreeMap<OsString, BTreeSet<WatcherId>>,
}

impl Listeners {
    fn forget(&mut self, id: WatcherId) {
        self.all.remove(&id);
        self.named.retain(|_, ids| {
            ids.remove(&id);
            !ids.is_empty()
        });
    }

    fn is_empty(&self) -> bool {
        self.all.is_empty() && self.named.is_empty()
    }

    fn all(&self) -> impl Iterator<Item = WatcherId> {
        self.all.iter().chain(self.named.values().flatten()).copied()
    }
}

/// Places that are heard about.
#[derive(Debug)]
pub struct FolderEvents {
    #[cfg(target_os = "linux")]
    events: tokio::net::unix::pipe::Receiver,
    listeners: BTreeMap<i32, Listeners>,
    /// The numbers of each watcher.
    numbers: BTreeMap<WatcherId, BTreeSet<i32>>,
}

#[cfg(target_os = "linux")]
mod linux {
    use std::{ffi::CStr, mem::MaybeUninit, os::unix::ffi::OsStrExt};

    use rustix::fs::inotify::{self, CreateFlags, ReadFlags, Reader, WatchFlags};
    use tokio::net::unix::pipe::Receiver;

    use super::*;

    /// Room for a good number of events; more are read in a second round.
    const EVENT_BUFFER_BYTES: usize = 4096;
    const COMES_OR_GOES: WatchFlags = WatchFlags::CREATE
        .union(WatchFlags::DELETE)
        .union(WatchFlags::MOVED_FROM)
        .union(WatchFlags::MOVED_TO)
        .union(WatchFlags::DELETE_SELF)
        .union(WatchFlags::MOVE_SELF)
        .union(WatchFlags::ONLYDIR);
    const CHANGES: WatchFlags = WatchFlags::MODIFY.union(WatchFlags::CLOSE_WRITE).union(WatchFlags::ATTRIB);

    impl FolderEvents {
        /// Hears of nothing so far.
        ///
        /// # Errors
        /// The system has no more room for it.
        pub fn new() -> io::Result<Self> {
            let events = inotify::init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC)?;
            // Not a pipe, but read like one.
            let events = Receiver::from_owned_fd_unchecked(events)?;
            Ok(Self { events, listeners: BTreeMap::new(), numbers: BTreeMap::new() })
        }

        /// Hears of these places, and of no others, for this watcher. A file that is not there has no content to hear of.
        ///
        /// # Errors
        /// A folder is not there, or the system watches as many as it may.
        pub fn listen(&mut self, id: WatcherId, places: &[EventPlace<'_>]) -> io::Result<()> {
            let before = self.numbers.remove(&id).unwrap_or_default();
            for number in &before {
                if let Some(listeners) = self.listeners.get_mut(number) {
                    listeners.forget(id);
                }
            }
            let heard = places.iter().try_for_each(|place| self.add(id, *place));
            let now = self.numbers.get(&id).cloned().unwrap_or_default();
            for number in before.difference(&now) {
                self.drop_unheard(*number);
            }
            heard
        }

        /// Hears of nothing for this watcher any more.
        pub fn forget(&mut self, id: WatcherId) {
            let _ = self.listen(id, &[]);
        }

        fn add(&mut self, id: WatcherId, place: EventPlace<'_>) -> io::Result<()> {
            let (path, flags, name) = match place {
                EventPlace::Content(path) => (path, CHANGES | WatchFlags::DELETE_SELF | WatchFlags::MOVE_SELF, None),
                EventPlace::Name(path) => (path.parent().unwrap_or(path), COMES_OR_GOES, path.file_name()),
                EventPlace::Folder(path) => (path, COMES_OR_GOES | CHANGES, None),
            };
            // Another watcher may hear of the same place otherwise.
            let number = match inotify::add_watch(&self.events, path, flags | WatchFlags::MASK_ADD) {
                Ok(number) => number,
                Err(rustix::io::Errno::NOENT) if matches!(place, EventPlace::Content(_)) => return Ok(()),
                Err(error) => return Err(error.into()),
            };
            let listeners = self.listeners.entry(number).or_default();
            match name {
                Some(name) => listeners.named.entry(name.to_owned()).or_default().insert(id),
                None => listeners.all.insert(id),
            };
            self.numbers.entry(id).or_default().insert(number);
            Ok(())
        }

        fn drop_unheard(&mut self, number: i32) {
            if self.listeners.get(&number).is_some_and(Listeners::is_empty) {
                self.listeners.remove(&number);
                // It may be gone already, with its file.
                let _ = inotify::remove_watch(&self.events, number);
            }
        }

        /// Completes when something was heard. Cancel-safe.
        ///
        /// # Errors
        /// The system stops reporting.
        pub async fn ready(&self) -> io::Result<()> {
            self.events.readable().await
        }

        /// What was heard since the last call, once it is [`ready`](Self::ready).
        pub fn read(&mut self) -> Vec<Heard> {
            let mut heard = Vec::new();
            let mut buffer = [MaybeUninit::uninit(); EVENT_BUFFER_BYTES];
            let mut reader = Reader::new(&self.events, &mut buffer);
            let (listeners, numbers) = (&mut self.listeners, &self.numbers);
            let read_all = || -> io::Result<()> {
                loop {
                    let event = reader.next()?;
                    let name = event.file_name().map(CStr::to_bytes).map(OsStr::from_bytes);
                    if event.events().contains(ReadFlags::QUEUE_OVERFLOW) {
                        heard.extend(numbers.keys().map(|id| Heard { id: *id, name: None }));
                    } else if let Some(all) = listeners.get(&event.wd()) {
                        heard.extend(all.hear(name));
                        if event.events().contains(ReadFlags::IGNORED) {
                            listeners.remove(&event.wd());
                        }
                    }
                }
            };
            // It ends when there is no more to read.
            let _ = self.events.try_io(read_all);
            heard
        }
    }

    impl Listeners {
        /// Those who hear of an event, at this entry or at the place itself.
        fn hear(&self, name: Option<&OsStr>) -> Vec<Heard> {
            let Some(name) = name else { return self.all().map(|id| Heard { id, name: None }).collect() };
            let named = self.named.get(name).into_iter().flatten().map(|id| Heard { id: *id, name: None });
            let entry = name.to_string_lossy().into_owned();
            let all = self.all.iter().map(|id| Heard { id: *id, name: Some(entry.clone()) });
            named.chain(all).collect()
        }
    }
}

/// Other systems are not asked: their watchers look by themselves, seldom.
#[cfg(not(target_os = "linux"))]
#[expect(missing_docs, clippy::unused_self, reason = "the same as on Linux")]
impl FolderEvents {
    pub fn new() -> io::Result<Self> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub fn listen(&mut self, _: WatcherId, _: &[EventPlace<'_>]) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub fn forget(&mut self, _: WatcherId) {}

    pub async fn ready(&self) -> io::Result<()> {
        std::future::pending().await
    }

    pub fn read(&mut self) -> Vec<Heard> {
        Vec::new()
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::fs;

    use futures::FutureExt as _;

    use super::*;

    async fn ids(events: &mut FolderEvents) -> BTreeSet<WatcherId> {
        events.ready().await.expect("they are reported");
        events.read().into_iter().map(|heard| heard.id).collect()
    }

    #[tokio::test]
    async fn each_watcher_hears_of_its_own_places_only() {
        let folder = tempfile::tempdir().unwrap();
        let (a, b) = (folder.path().join("a"), folder.path().join("b"));
        fs::write(&a, "1").unwrap();
        let mut events = FolderEvents::new().unwrap();
        events.listen(1, &[EventPlace::Name(&a), EventPlace::Content(&a)]).unwrap();
        events.listen(2, &[EventPlace::Name(&b), EventPlace::Content(&b)]).unwrap();
        events.listen(3, &[EventPlace::Folder(folder.path())]).unwrap();
        fs::write(&a, "2").unwrap();
        assert_eq!(ids(&mut events).await, [1, 3].into());
        fs::write(&b, "1").unwrap();
        assert_eq!(ids(&mut events).await, [2, 3].into());
        assert!(events.ready().now_or_never().is_none(), "all was read");
        events.forget(3);
        fs::write(folder.path().join("c"), "1").unwrap();
        assert_eq!(ids(&mut events).await, BTreeSet::new(), "no one hears of others");
    }

    #[tokio::test]
    async fn a_replaced_file_is_heard_of_and_a_missing_folder_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let (a, new) = (folder.path().join("a"), folder.path().join("new"));
        fs::write(&a, "1").unwrap();
        let mut events = FolderEvents::new().unwrap();
        let places = [EventPlace::Name(a.as_path()), EventPlace::Content(a.as_path())];
        for text in ["2", "3"] {
            events.listen(1, &places).unwrap();
            fs::write(&new, text).unwrap();
            fs::rename(&new, &a).unwrap();
            assert_eq!(ids(&mut events).await, [1].into());
        }
        assert!(events.listeners.len() <= 3, "numbers of replaced files are dropped: {events:?}");
        assert!(events.listen(2, &[EventPlace::Name(&folder.path().join("no/x"))]).is_err());
    }
}
