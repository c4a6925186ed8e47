//! Every colour of the client. On a dark background only the terminal's own 16, so that they fit the user's palette; on a light one shades
//! of their own, since most palettes have no readable yellow, green and cyan there. Text itself keeps the terminal's foreground.

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

/// The first heading level; heads of tables are [`STRONG`].
pub const TITLE: Style = ACCENT.add_modifier(Modifier::BOLD.union(Modifier::UNDERLINED));
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

/// The colours above as shades of the 256 colours that are readable on white and on the beige of light palettes.
const ON_LIGHT: [(Color, u8); 6] = [
    (Color::Red, 124),
    (Color::Green, 22),
    (Color::Yellow, 94),
    (Color::Magenta, 90),
    (Color::Cyan, 24),
    (Color::LightBlue, 25),
];

/// A colour of this list as it is shown on a light background.
#[must_use]
pub fn on_light(colour: Color) -> Color {
    ON_LIGHT.iter().find(|(dark, _)| *dark == colour).map_or(colour, |(_, shade)| Color::Indexed(*shade))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Red, green and blue of a colour of the cube among the 256, each from 0 to 255.
    fn rgb(shade: u8) -> [u8; 3] {
        let level = |digit: u8| if digit == 0 { 0 } else { 55 + 40 * digit };
        let digits = shade - 16;
        [level(digits / 36), level(digits / 6 % 6), level(digits % 6)]
    }

    /// The relative luminance by WCAG.
    fn luminance(rgb: [u8; 3]) -> f64 {
        let [red, green, blue] = rgb.map(|value| {
            let value = f64::from(value) / 255.0;
            if value <= 0.040_45 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
        });
        0.2126 * red + 0.7152 * green + 0.0722 * blue
    }

    #[test]
    fn each_shade_is_readable_on_light_backgrounds() {
        for background in [[255, 255, 255], [0xfd, 0xf6, 0xe3]] {
            for (colour, shade) in ON_LIGHT {
                let contrast = (luminance(background) + 0.05) / (luminance(rgb(shade)) + 0.05);
                assert!(contrast >= 4.5, "{colour} on {background:?}: {contrast:.1}");
            }
        }
    }

    #[test]
    fn each_colour_of_the_client_has_a_shade() {
        let styles = [
            GOOD,
            BAD,
            ADDED_WORD,
            REMOVED_WORD,
            DANGER,
            WARNING,
            ACCENT,
            INLINE_CODE,
            CODE_KEYWORD,
            CODE_STRING,
            CODE_CONSTANT,
            CODE_FUNCTION,
            CODE_TYPE,
        ];
        for style in styles {
            let shown = style.fg.map(on_light);
            assert!(matches!(shown, Some(Color::Indexed(_))), "{style:?}");
        }
    }
}
