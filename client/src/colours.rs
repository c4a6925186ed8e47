//! Finds the colours of this process's terminal by the environment and the user's settings, without asking the terminal.

use cohab_daemon_link::config;
use cohab_protocol::Paths;
use cohab_term::{ansi::ColorSupport, background::Background};
use cohab_types::client_settings::Theme;

/// The background by the setting; with `auto` by `COLORFGBG`, else a dark one.
#[must_use]
pub fn background(theme: Theme) -> Background {
    match theme {
        Theme::Dark => Background::Dark,
        Theme::Light => Background::Light,
        Theme::Auto => Background::from_env().unwrap_or_default(),
    }
}

/// The colours of a subcommand's output.
#[must_use]
pub fn of_subcommand() -> ColorSupport {
    let theme = config::load(&Paths::from_env().config_file()).client.theme;
    ColorSupport::from_env().on(background(theme))
}
