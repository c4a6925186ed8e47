//! Draws on a terminal, reads its keys and renders markdown; knows nothing of questions, approvals, shells or the daemon.
//!
//! Drawing works on styled lines of `ratatui` and gives bytes:
//!
//! - [`markdown::MarkdownStream`] turns streamed markdown into lines. Lines that nothing later can change leave it once.
//! - [`live_area::LiveArea`] keeps a few rows at the bottom of the screen and writes only what changed; what stands above them
//!   scrolls away as ordinary output.
//! - [`ansi`] writes lines with the colours that the terminal has; [`capability`] names what terminals understand; [`link`] marks addresses, [`theme`] names the styles, [`wrap`]
//!   breaks lines at a width.
//! - [`output_style::OutputStyle`] selects glyphs, or sentences for screen readers.
//! - [`visible`] makes invisible characters of a text visible; [`clipboard`], [`notify`] and [`program_status`] produce single sequences.
//! - [`pace::FramePace`] limits how often frames are drawn.
//!
//! Reading works on bytes and gives values:
//!
//! - [`background`] asks for the colour of the terminal's background and takes the answer out of the keys.
//! - [`keys::KeyReader`] turns bytes into [`keys::Input`]; [`input::InputText`] is a line that is edited with it.
//! - [`async_tty::AsyncTty`] puts a terminal's descriptor into the event loop; [`window_size`] asks for the size.
//!
//! Invariants: for any text, every byte that [`ansi`] and [`live_area`] write is a printable character or a sequence of this crate's own.
//! Work per chunk of markdown and memory are bounded. Only [`async_tty`] and [`window_size`] touch a descriptor; nothing
//! here opens the user's terminal, changes its modes or decides when to write.

pub mod ansi;
pub mod async_tty;
pub mod background;
pub mod capability;
pub mod clipboard;
#[cfg(any(test, feature = "testing"))]
pub mod describe;
pub mod input;
pub mod keys;
pub mod link;
pub mod live_area;
pub mod markdown;
pub mod notify;
pub mod output_style;
pub mod pace;
pub mod program_status;
#[cfg(any(test, feature = "testing"))]
pub mod test_screen;
pub mod theme;
pub mod visible;
pub mod window_size;
pub mod wrap;
