//! Writes what a server prints on standard error to a file of bounded length.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Write as _},
    os::unix::fs::OpenOptionsExt as _,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use cohab_system::files;
use tokio::{
    io::{AsyncRead, AsyncReadExt as _},
    task::{JoinHandle, spawn_blocking},
    time::timeout,
};

/// A file that has so many bytes becomes the old one, and a new one begins.
const MAX_BYTES: u64 = 256 * 1024;
/// Bytes that are read at once.
const CHUNK_BYTES: usize = 8 * 1024;
/// So many bytes of the end are kept for error messages.
const TAIL_BYTES: usize = 2_000;

/// So long the rest of what an ended server printed is waited for.
const REST_LIMIT: Duration = Duration::from_millis(500);

/// The end of what a server printed.
pub(crate) struct Tail {
    kept: Arc<Mutex<Vec<u8>>>,
    reading: JoinHandle<()>,
}

struct LogFile {
    path: PathBuf,
    file: File,
    length: u64,
}

impl LogFile {
    fn open(path: &Path) -> io::Result<Self> {
        if let Some(folder) = path.parent() {
            files::make_folder(folder)?;
        }
        let file = OpenOptions::new().create(true).append(true).mode(0o600).open(path)?;
        let length = file.metadata()?.len();
        Ok(Self { path: path.to_owned(), file, length })
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        if self.length >= MAX_BYTES {
            fs::rename(&self.path, self.path.with_extension("old.log"))?;
            *self = Self::open(&self.path)?;
        }
        self.file.write_all(bytes)?;
        self.length += bytes.len() as u64;
        Ok(())
    }
}

/// Copies `source` to the file until it ends. Without a file it is read all the same, so that the server does not block.
pub(crate) fn follow(mut source: impl AsyncRead + Unpin + Send + 'static, path: PathBuf) -> Tail {
    let tail = Arc::default();
    let kept = Arc::clone(&tail);
    let reading = tokio::spawn(async move {
        let mut log = spawn_blocking(move || LogFile::open(&path)).await.ok().and_then(Result::ok);
        let mut chunk = vec![0; CHUNK_BYTES];
        while let Ok(count @ 1..) = source.read(&mut chunk).await {
            keep(&kept, &chunk[..count]);
            let Some(mut open) = log.take() else { continue };
            let bytes = chunk[..count].to_vec();
            log = spawn_blocking(move || open.write(&bytes).map(|()| open)).await.ok().and_then(Result::ok);
        }
    });
    Tail { kept: tail, reading }
}

fn keep(tail: &Mutex<Vec<u8>>, bytes: &[u8]) {
    let mut tail = tail.lock().unwrap_or_else(PoisonError::into_inner);
    tail.extend_from_slice(bytes);
    let surplus = tail.len().saturating_sub(TAIL_BYTES);
    tail.drain(..surplus);
}

impl Tail {
    /// Waits until all that an ended server printed is read; what it started may hold its output.
    pub(crate) async fn read_rest(&mut self) {
        let _ = timeout(REST_LIMIT, &mut self.reading).await;
    }

    /// The last line that is not blank, if there is one.
    pub(crate) fn last_line(&self) -> Option<String> {
        let tail = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let text = String::from_utf8_lossy(&tail);
        text.lines().rev().map(str::trim).find(|line| !line.is_empty()).map(str::to_owned)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_is_bounded_and_its_end_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("mcp/time.log");
        let mut log = LogFile::open(&path).unwrap();
        let line = [b'x'; 1_024];
        for _ in 0..600 {
            log.write(&line).unwrap();
        }
        let sizes =
            ["time.log", "time.old.log"].map(|name| fs::metadata(folder.path().join("mcp").join(name)).unwrap().len());
        assert!(sizes.iter().all(|size| *size <= MAX_BYTES + 1_024), "{sizes:?}");
    }

    #[tokio::test]
    async fn the_last_line_says_why_a_server_ended() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.log");
        let (mut writer, reader) = tokio::io::duplex(64);
        let mut tail = follow(reader, path.clone());
        tokio::io::AsyncWriteExt::write_all(&mut writer, b"first\nTraceback\nno module\n\n").await.unwrap();
        drop(writer);
        tail.read_rest().await;
        assert_eq!(tail.last_line().as_deref(), Some("no module"));
        assert_eq!(fs::read_to_string(path).unwrap(), "first\nTraceback\nno module\n\n");
    }
}
