//! `cohabd mcp-shell`: connects the MCP client of an agent with the socket of the live shell. Passes bytes and reads none of them.

use std::{
    io::{self, Read, Write},
    net::Shutdown,
    os::unix::net::UnixStream,
    path::Path,
    thread,
};

/// The variable that holds the token: arguments of a program can be seen by every user.
pub const TOKEN_VARIABLE: &str = "COHAB_MCP_TOKEN";

/// The variable that holds the path of the socket, for agents that take their MCP servers from the command line.
pub const SOCKET_VARIABLE: &str = "COHAB_MCP_SOCKET";

/// Passes bytes between standard input, the socket and standard output, until one of them ends.
///
/// # Errors
/// The socket cannot be reached.
pub fn run(socket: &Path, token: &str) -> io::Result<()> {
    let mut to_shell = UnixStream::connect(socket)?;
    let mut from_shell = to_shell.try_clone()?;
    to_shell.write_all(format!("{token}\n").as_bytes())?;
    thread::spawn(move || {
        let _ = pass(&mut io::stdin().lock(), &mut to_shell);
        let _ = to_shell.shutdown(Shutdown::Write);
    });
    pass(&mut from_shell, &mut io::stdout().lock())
}

/// Copies pieces as they come.
fn pass(from: &mut impl Read, to: &mut impl Write) -> io::Result<()> {
    let mut piece = vec![0; 64 * 1024];
    loop {
        match from.read(&mut piece) {
            Ok(0) => return Ok(()),
            Ok(count) => {
                to.write_all(&piece[..count])?;
                to.flush()?;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}
