//! The client's way to the daemon: finds it or starts it, shakes hands, attaches to a session and carries messages.
//!
//! - [`connection::Link`] is a connection that its owner polls; [`connection::open`] and [`connection::request`] are for programs that
//!   ask once. [`connection::ConnectError`] says why there is no connection, and what the user can do.
//! - [`daemon_control`] is `cohab daemon`: status, start, stop, restart, logs.
//! - [`daemon_program`] runs `cohabd` as a program, for what only it knows.
//! - [`attach_environment`] is what a client tells of its environment when it joins a session.
//! - [`config`] reads the client's own table of the settings file, whose owner is the daemon, and from the others what the client must
//!   know: the names of variables that hold keys, which a started daemon must not inherit.
//!
//! Invariants: a daemon is started in a session of its own, without the environment's secrets. Every wait has a limit and every queue
//! a bound. The settings are read leniently: a mistake in the file costs no shell.
//!
//! This crate does not know what the messages mean, and draws nothing.

pub mod attach_environment;
pub mod config;
pub mod connection;
pub mod daemon_control;
pub mod daemon_program;
