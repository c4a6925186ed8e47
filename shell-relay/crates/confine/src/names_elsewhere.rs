//! Stands in for the server of names on systems without a filter of calls. It makes no connections.

use std::{
    io,
    path::{Path, PathBuf},
};

/// The variable that names the server's socket elsewhere.
pub const VARIABLE: &str = "COHAB_NAMES";

/// The way to a server.
#[derive(Debug)]
pub struct Mediator(());

impl Mediator {
    /// Always `None`.
    #[must_use]
    pub fn of_environment() -> Option<Self> {
        None
    }
}

/// Services that programs can ask.
#[derive(Debug)]
pub struct Services(());

impl Services {
    /// Always `None`.
    #[must_use]
    pub fn of_system() -> Option<Self> {
        None
    }
}

/// Serves no program.
#[derive(Debug)]
pub struct Server(PathBuf);

impl Server {
    /// Fails: there is nothing to serve.
    ///
    /// # Errors
    /// Always.
    pub fn start(_: &Path, _: Services) -> io::Result<Self> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// The socket that the environment of confined programs would name.
    #[must_use]
    pub fn file(&self) -> &Path {
        &self.0
    }
}
