//! Signs in at a server, and out.

use std::{
    env,
    io::{self, BufRead as _, Write as _},
    process::{Command, Stdio},
};

use cohab_mcp::{
    pool::Surroundings,
    server::Server,
    sign_in::{self, SignInRequest, browser::LoopbackBrowser},
};
use cohab_models::key_store::KeyStores;
use cohab_text::sanitize::one_line;
use tokio::sync::mpsc;

use super::{
    arguments::LoginArgs,
    place::{McpFiles, failed},
    trial::usable,
};
use crate::cli::Failure;

/// Longest address that is read from the terminal.
const MAX_PASTED_BYTES: u64 = 16 * 1024;

pub(super) fn login(place: &McpFiles, args: &LoginArgs, is_terminal: bool) -> Result<String, Failure> {
    let server = usable(place.find(&args.name)?)?;
    if server.settings.url.is_none() {
        let hint = "its program signs in by itself, or takes a key from `env`".to_owned();
        return Err(Failure::Other(format!("`{}` is a program, not an address", args.name), Some(hint)));
    }
    let keys = KeyStores::new(&place.paths.config_dir);
    let wanted = SignInRequest { scopes: args.scope.clone(), challenge: None };
    let surroundings = Surroundings { folder: place.home.clone(), ..Surroundings::default() };
    let opens = !args.no_browser;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let granted = runtime.block_on(async {
        let show = move |address: &str| present(address, opens, is_terminal);
        let browser = LoopbackBrowser::new(Box::new(show), pasted(is_terminal)).await;
        let browser = browser.map_err(|error| format!("there is no free port on this machine: {error}"))?;
        sign_in::sign_in(&server, &surroundings, &keys, &place.sign_ins(), &wanted, &browser).await
    });
    // What waits for a pasted address is not waited for.
    runtime.shutdown_background();
    let granted = granted.map_err(|reason| Failure::Other(format!("`{}`: {reason}", server.name), None))?;
    let rights = match granted.is_empty() {
        true => String::new(),
        false => format!(" Rights: {}.", one_line(&granted.join(", "), usize::MAX)),
    };
    let name = &server.name;
    Ok(format!("You are signed in at `{name}`.{rights} `cohab mcp logout {name}` forgets it.\n"))
}

pub(super) fn logout(place: &McpFiles, name: &str) -> Result<String, Failure> {
    let server = place.find(name)?.server;
    Ok(match forget(place, &server)? {
        true => format!("cohab has forgotten how to reach `{name}` as you. The service may still list the access.\n"),
        false => format!("You were not signed in at `{name}`.\n"),
    })
}

/// Forgets the tokens of a server.
pub(super) fn forget(place: &McpFiles, server: &Server) -> Result<bool, Failure> {
    let sign_ins = place.sign_ins();
    // A file is not made for nothing.
    if !sign_ins.has(server) {
        return Ok(false);
    }
    sign_ins.forget(server).map_err(failed)
}

fn present(address: &str, opens: bool, is_terminal: bool) {
    let elsewhere = match is_terminal {
        true => "If the browser runs on another machine, paste the address here that it ends at, and press Enter.\n",
        false => "",
    };
    let text = format!("Agree on this page:\n\n{address}\n\n{elsewhere}");
    // Without a terminal nobody reads it.
    let _ = io::stderr().write_all(text.as_bytes());
    if opens {
        open(address);
    }
}

/// Opens the page where there is a screen; else the user does it.
fn open(address: &str) {
    let has_screen =
        cfg!(target_os = "macos") || ["DISPLAY", "WAYLAND_DISPLAY"].iter().any(|name| env::var_os(name).is_some());
    if has_screen {
        let program = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
        let mut opening = Command::new(program);
        opening.arg(address).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        // The address stands on the terminal, too.
        let _ = opening.spawn();
    }
}

/// The addresses that are typed at the terminal.
fn pasted(is_terminal: bool) -> mpsc::Receiver<String> {
    let (sender, receiver) = mpsc::channel(1);
    if is_terminal {
        std::thread::spawn(move || {
            let mut lines = io::Read::take(io::stdin(), MAX_PASTED_BYTES);
            let mut reader = io::BufReader::new(&mut lines);
            let mut line = String::new();
            while reader.read_line(&mut line).is_ok_and(|length| length > 0) {
                let address = line.trim();
                if !address.is_empty() && sender.blocking_send(address.to_owned()).is_err() {
                    return;
                }
                line.clear();
            }
        });
    }
    receiver
}
