//! The log writes one file per day, mode 0600. At the usual levels it never holds prompts, keys or texts of commands, and of other
//! crates it holds only errors.

use std::{
    fs::{self, DirBuilder, File, OpenOptions},
    io::{self, Write},
    os::unix::fs::{DirBuilderExt, OpenOptionsExt},
    panic,
    path::{Path, PathBuf},
    sync::Mutex,
};

use cohab_secrets::Scrubber;
use jiff::civil::Date;
use rustix::fs::OFlags;
use tracing::Subscriber;
use tracing_subscriber::{
    EnvFilter, Layer, Registry, filter::LevelFilter, layer::SubscriberExt, registry::LookupSpan,
    util::SubscriberInitExt,
};

use crate::telemetry::SpanLayer;

/// Kept files, including today's.
const KEPT_FILES: usize = 7;
/// Largest file, in bytes; it gets no more lines: a repeated fault must not fill the disk.
const MAX_FILE_BYTES: u64 = 32 * 1024 * 1024;

/// The reason for a missing log.
#[derive(Debug, thiserror::Error)]
pub enum LogError {
    /// Its folder or file cannot be written.
    #[error("the log cannot be written: {0}")]
    Io(#[from] io::Error),
    /// There is one already.
    #[error("the log is already started: {0}")]
    Twice(#[from] tracing_subscriber::util::TryInitError),
}

/// Starts the log of this process, and records panics in it. `spans` takes the spans that the log leaves out.
///
/// # Errors
/// When the folder cannot be written.
pub fn start(folder: &Path, level: LevelFilter, spans: Option<SpanLayer>) -> Result<(), LogError> {
    let files = DailyFiles::open(folder, || jiff::Zoned::now().date())?;
    match spans {
        None => Registry::default().with(lines(files, level)).try_init()?,
        Some(spans) => Registry::default().with(spans).with(lines(files, level)).try_init()?,
    }
    panic::set_hook(Box::new(note_panic));
    Ok(())
}

fn lines<S, W>(files: W, level: LevelFilter) -> impl Layer<S> + Send + Sync
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    W: Write + Send + 'static,
{
    tracing_subscriber::fmt::layer().with_ansi(false).with_writer(Mutex::new(files)).with_filter(filter(level))
}

/// Passes errors of all crates, and what our own crates say at `level`. The names of all of them begin with `cohab`.
fn filter(level: LevelFilter) -> EnvFilter {
    EnvFilter::new(format!("error,cohab={level}"))
}

fn note_panic(panic: &panic::PanicHookInfo<'_>) {
    // A formatted text may quote anything, a prompt for instance; a constant one cannot.
    let message = panic.payload().downcast_ref::<&str>().copied().unwrap_or("(text left out)");
    let place = panic.location().map(ToString::to_string).unwrap_or_default();
    tracing::error!(place, message, "panic");
}

/// `cohabd.YYYY-MM-DD.log` files in one folder.
struct DailyFiles<C> {
    folder: PathBuf,
    today: C,
    date: Date,
    file: File,
    written_bytes: u64,
    scrubber: Scrubber,
}

impl<C: Fn() -> Date> DailyFiles<C> {
    fn open(folder: &Path, today: C) -> io::Result<Self> {
        DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        let date = today();
        let (file, written_bytes) = open_day(folder, date)?;
        Ok(Self { folder: folder.to_owned(), today, date, file, written_bytes, scrubber: Scrubber::default() })
    }
}

impl<C: Fn() -> Date> Write for DailyFiles<C> {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let date = (self.today)();
        if date != self.date {
            (self.file, self.written_bytes) = open_day(&self.folder, date)?;
            self.date = date;
        }
        if self.written_bytes < MAX_FILE_BYTES {
            // A line arrives whole.
            let clean = self.scrubber.bytes(line);
            self.file.write_all(&clean)?;
            self.written_bytes += clean.len() as u64;
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn open_day(folder: &Path, date: Date) -> io::Result<(File, u64)> {
    let path = folder.join(format!("cohabd.{date}.log"));
    let no_link = OFlags::NOFOLLOW.bits().cast_signed();
    let file = OpenOptions::new().create(true).append(true).mode(0o600).custom_flags(no_link).open(path)?;
    let written_bytes = file.metadata()?.len();
    remove_oldest(folder)?;
    Ok((file, written_bytes))
}

fn remove_oldest(folder: &Path) -> io::Result<()> {
    let is_ours = |name: &str| name.starts_with("cohabd.") && name.ends_with(".log");
    let mut names: Vec<String> = fs::read_dir(folder)?
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|name| is_ours(name))
        .collect();
    // ISO dates sort by age.
    names.sort_unstable_by(|one, other| other.cmp(one));
    names.iter().skip(KEPT_FILES).try_for_each(|name| fs::remove_file(folder.join(name)))
}

#[cfg(test)]
mod tests {
    use std::{cell::Cell, os::unix::fs::PermissionsExt};

    use cohab_runtime::middleware::spans;
    use jiff::civil::date;

    use super::*;

    #[test]
    fn our_crates_are_logged_and_spans_of_turns_are_not() {
        let _guard = tracing::subscriber::set_default(Registry::default().with(filter(LevelFilter::TRACE)));
        assert!(tracing::info_span!(target: spans::TARGET, "chat").is_disabled());
        for ours in [
            tracing::info_span!(target: "cohabd::server", "one"),
            tracing::info_span!(target: "cohab_wires::sse", "one"),
        ] {
            assert!(!ours.is_disabled());
        }
        assert!(tracing::info_span!(target: "hyper::client", "one").is_disabled());
    }

    #[test]
    fn a_link_in_the_place_of_the_file_is_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("target");
        std::os::unix::fs::symlink(&target, folder.path().join("cohabd.2026-02-25.log")).unwrap();
        assert!(DailyFiles::open(folder.path(), || date(2026, 2, 25)).is_err() && !target.exists());
    }

    #[test]
    fn each_day_has_a_private_file_and_seven_are_kept() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("notes.log"), "not ours").unwrap();
        let today = Cell::new(date(2026, 2, 25));
        let mut files = DailyFiles::open(&folder.path().join("log"), || today.get()).unwrap();
        for _ in 0..9 {
            files.write_all(b"one\n").unwrap();
            files.write_all(b"two\n").unwrap();
            today.set(today.get().tomorrow().unwrap());
        }
        let mut names: Vec<_> =
            fs::read_dir(folder.path().join("log")).unwrap().map(|one| one.unwrap().path()).collect();
        names.sort();
        assert_eq!(names.len(), KEPT_FILES);
        assert!(names[0].ends_with("cohabd.2026-02-27.log"), "{names:?}");
        assert!(names[6].ends_with("cohabd.2026-03-05.log"), "{names:?}");
        for name in names {
            assert_eq!(fs::read_to_string(&name).unwrap(), "one\ntwo\n");
            assert_eq!(fs::metadata(&name).unwrap().permissions().mode() & 0o777, 0o600);
        }
    }

    #[test]
    fn a_line_keeps_no_secret() {
        let folder = tempfile::tempdir().unwrap();
        let mut files = DailyFiles::open(folder.path(), || date(2026, 1, 1)).unwrap();
        files.write_all(["said glpat", "-aB3dE5fG7hJ9kL1mN2pQ\n"].concat().as_bytes()).unwrap();
        let written = fs::read_to_string(folder.path().join("cohabd.2026-01-01.log")).unwrap();
        assert_eq!(written, "said <secret:gitlab-token#1>\n");
    }

    #[test]
    fn a_flood_does_not_fill_the_disk() {
        let folder = tempfile::tempdir().unwrap();
        let mut files = DailyFiles::open(folder.path(), || date(2026, 1, 1)).unwrap();
        let megabyte = vec![b'x'; 1024 * 1024];
        for _ in 0..40 {
            files.write_all(&megabyte).unwrap();
        }
        let size = fs::metadata(folder.path().join("cohabd.2026-01-01.log")).unwrap().len();
        assert_eq!(size, MAX_FILE_BYTES);
    }
}
