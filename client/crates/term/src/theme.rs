//! Every colour of the client. Only the terminal's own 16, so that they fit the user's dark or light palette; text itself keeps the
//! terminal's foreground.

use ratatui::style::{Color, Modifier, Style};

/// Text as the terminal shows it.
pub const PLAIN: Style = Style::new();
/// Things of second rank: labels, bars, targets of links.
pub const DIM: Style = Style::new().add_modifier(Modifier::DIM);
/// What the eye should find first.
pub const STRONG: Style = Style::new().add_modifier(Modifier::BOLD);
/// Went well; added lines.
pub const GOOD: Style = Style::new().fg(Color::Green);
/// Went wrong; removed lines.
pub const BAD: Style = Style::new().fg(Color::Red);
/// Words of an added line that the line before it did not have.
pub const ADDED_WORD: Style = GOOD.add_modifier(Modifier::REVERSED);
/// Words of a removed line that the line after it does not have.
pub const REMOVED_WORD: Style = BAD.add_modifier(Modifier::REVERSED);
/// Harm is possible.
pub const DANGER: Style = Style::new().fg(Color::Red).add_modifier(Modifier::BOLD);
/// Needs attention.
pub const WARNING: Style = Style::new().fg(Color::Yellow);
/// The assistant's own marks.
pub const ACCENT: Style = Style::new().fg(Color::Cyan);

/// The first heading level.
pub const TITLE: Style = Style::new().add_modifier(Modifier::BOLD.union(Modifier::UNDERLINED));
/// The second heading level.
pub const HEADING: Style = STRONG;
/// Deeper heading levels.
pub const SUBHEADING: Style = Style::new().add_modifier(Modifier::BOLD.union(Modifier::ITALIC));
/// Code between words.
pub const INLINE_CODE: Style = Style::new().fg(Color::Cyan);
/// Text of a link.
pub const LINK: Style = Style::new().add_modifier(Modifier::UNDERLINED);

/// Keywords of code.
pub const CODE_KEYWORD: Style = Style::new().fg(Color::Magenta);
/// Strings of code.
pub const CODE_STRING: Style = Style::new().fg(Color::Green);
/// Numbers and constants of code.
pub const CODE_CONSTANT: Style = Style::new().fg(Color::Cyan);
/// Names of functions, commands and tags.
pub const CODE_FUNCTION: Style = Style::new().fg(Color::LightBlue);
/// Names of types.
pub const CODE_TYPE: Style = Style::new().fg(Color::Cyan);
/// Comments of code.
pub const CODE_COMMENT: Style = DIM;
