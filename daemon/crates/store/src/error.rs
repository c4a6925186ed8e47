//! The error of the stores.

use std::io;

use rusqlite::ErrorCode;

/// Why the store cannot be used. `Display` is a phrase.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// SQLite says no.
    #[error("{0}")]
    Sqlite(#[from] rusqlite::Error),
    /// The system says no.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// A pipe, a folder, a device.
    #[error("it is not a regular file")]
    Irregular,
    /// Tables of somebody else.
    #[error("it is the database of another program")]
    Foreign,
    /// Reading it has shown that it holds something that cannot be read.
    #[error("a part of it cannot be read")]
    Broken,
    /// A later release has changed it.
    #[error("a later release of cohab wrote it (version {0})")]
    TooNew(usize),
    /// As many facts are remembered as may be.
    #[error("it holds {0} facts, which is the limit")]
    Full(u64),
}

impl StoreError {
    /// Whether the file holds something that SQLite cannot read.
    #[must_use]
    pub fn is_corruption(&self) -> bool {
        match self {
            Self::Sqlite(error) => {
                matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase))
            }
            Self::Broken => true,
            Self::Io(_) | Self::Irregular | Self::Foreign | Self::TooNew(_) | Self::Full(_) => false,
        }
    }

    pub(super) fn is_busy(&self) -> bool {
        matches!(self, Self::Sqlite(error) if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy))
    }

    /// What helps against it, if anything does.
    #[must_use]
    pub fn remedy(&self) -> Option<&'static str> {
        const BROKEN: &str = "with the next question the daemon starts a new one with everything that can be read, \
                              and keeps this one next to it as `.broken`";
        const AWAY: &str = "move it away, and the daemon starts a new one";
        const OURS: &str = "check that you own the file and its folder and can write to them";
        const ROOM: &str = "free space on the disk; `cohab sessions rm --older-than 30d` frees some here";
        let code = match self {
            Self::TooNew(_) => return Some("use that release, or move the file away, and the daemon starts a new one"),
            Self::Irregular | Self::Foreign => return Some(AWAY),
            Self::Broken => return Some(BROKEN),
            Self::Full(_) => return Some("forget some with `cohab memory forget`"),
            Self::Io(error) => {
                return match error.kind() {
                    io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => Some(OURS),
                    io::ErrorKind::StorageFull => Some(ROOM),
                    _ => None,
                };
            }
            Self::Sqlite(error) => error.sqlite_error_code()?,
        };
        match code {
            ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase => Some(BROKEN),
            ErrorCode::ReadOnly | ErrorCode::CannotOpen | ErrorCode::PermissionDenied => Some(OURS),
            ErrorCode::DiskFull => Some(ROOM),
            ErrorCode::SystemIoFailure => Some("check whether the disk is full or broken"),
            ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked => Some("another program has it open; try again"),
            _ => None,
        }
    }
}
