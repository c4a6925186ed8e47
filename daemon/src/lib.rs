//! The daemon as a program: how it starts and ends, its log, and what it sends to a collector.
//!
//! - [`lifecycle`] runs the daemon: it takes the lock, listens at the socket, and ends when it is told to or its files go.
//! - [`log`] writes a file for each day. [`telemetry`] sends spans to a collector of the user's, in a build with the feature `otlp`.
//! - [`folder_watch`] notices when files go from a folder, without a timer.
//!
//! What happens in a session is in `cohab-session`, the commands are in `cohab-admin`, and `cohab-assembly` picks the implementations.

pub mod folder_watch;
pub mod lifecycle;
pub mod log;
pub mod telemetry;
