//! The minimal terminal proxy copies bytes both ways and looks at none. The bench compares cohab with it.
//!
//! Usage: `pty_proxy_minimal PROGRAM [ARGUMENTS]`. It does not follow changes of the terminal's size.

use std::{
    io::{self, Read, Write},
    process::ExitCode,
    thread,
};

use portable_pty::{CommandBuilder, PtySize, native_pty_system};
use rustix::termios::{OptionalActions, tcgetattr, tcgetwinsize, tcsetattr};

fn pump(mut from: impl Read, mut to: impl Write) {
    let mut buffer = vec![0; 64 * 1024];
    while let Ok(bytes @ 1..) = from.read(&mut buffer) {
        if to.write_all(&buffer[..bytes]).and_then(|()| to.flush()).is_err() {
            return;
        }
    }
}

fn main() -> ExitCode {
    let window = tcgetwinsize(io::stdin()).expect("stdin is a terminal");
    let before = tcgetattr(io::stdin()).expect("stdin is a terminal");
    let size = PtySize { rows: window.ws_row, cols: window.ws_col, pixel_width: 0, pixel_height: 0 };
    let pty = native_pty_system().openpty(size).expect("the system has a PTY left");
    let mut command = CommandBuilder::from_argv(std::env::args_os().skip(1).collect());
    command.cwd(std::env::current_dir().expect("there is a working directory"));
    let mut child = pty.slave.spawn_command(command).expect("the program starts");
    drop(pty.slave);
    let (reader, writer) = (pty.master.try_clone_reader(), pty.master.take_writer());
    let mut raw = before.clone();
    raw.make_raw();
    tcsetattr(io::stdin(), OptionalActions::Now, &raw).expect("stdin is a terminal");
    thread::spawn(move || pump(io::stdin().lock(), writer.expect("a fresh PTY can be written")));
    pump(reader.expect("a fresh PTY can be read"), io::stdout().lock());
    let status = child.wait().map_or(1, |status| status.exit_code());
    tcsetattr(io::stdin(), OptionalActions::Now, &before).expect("stdin is a terminal");
    ExitCode::from(u8::try_from(status).unwrap_or(1))
}
