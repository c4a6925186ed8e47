//! Shows a page in the user's pager.

use std::{io::Write, process::Stdio};

use tokio::{
    io::AsyncWriteExt,
    process::Command,
    signal::unix::{SignalKind, signal},
};

/// Shows text that is longer than the screen, and keeps its colours.
const DEFAULT_PAGER: &str = "less -RF";

/// Writes the page to the pager, or to the terminal if there is none.
pub(super) async fn show(page: &[u8]) -> std::io::Result<()> {
    let pager = std::env::var("PAGER").ok().filter(|pager| !pager.trim().is_empty());
    // Ctrl-C belongs to the pager: it would otherwise end this process and leave the pager alone with the terminal.
    let _interrupts = signal(SignalKind::interrupt())?;
    let mut command = Command::new("sh");
    command.arg("-c").arg(pager.as_deref().unwrap_or(DEFAULT_PAGER)).stdin(Stdio::piped());
    if let Ok(mut child) = command.spawn() {
        if let Some(mut input) = child.stdin.take() {
            // A reader who leaves early closes the pipe.
            let _ = input.write_all(page).await;
        }
        // 126 and 127: the shell could not run it.
        if !matches!(child.wait().await?.code(), Some(126 | 127)) {
            return Ok(());
        }
    }
    std::io::stdout().lock().write_all(page)
}
