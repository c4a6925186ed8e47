//! Writes lines as bytes for a terminal: text and SGR, nothing else.

use std::borrow::Cow;

use ratatui::{
    style::{Color, Modifier, Style},
    text::{Line, Span},
};

use crate::{background::Background, theme, wrap::wrap_exactly};

/// What the terminal shows besides letters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ColorSupport {
    /// Letters only.
    None,
    /// Bold, dim, italic, underlined and crossed out, without colours.
    Monochrome,
    /// The 16 colours of every terminal, and bold, dim, italic, underlined and crossed out.
    #[default]
    Ansi16,
    /// The same on a light background, with shades of the 256 colours.
    OnLight,
}

impl ColorSupport {
    /// For this process's environment, with what `COLORFGBG` says of the background.
    #[must_use]
    pub fn from_env() -> Self {
        let colors = Self::detect(std::env::var("NO_COLOR").ok().as_deref(), std::env::var("TERM").ok().as_deref());
        colors.on(Background::from_env().unwrap_or_default())
    }

    /// The same for this background. Without colours nothing changes.
    #[must_use]
    pub fn on(self, background: Background) -> Self {
        match (self, background) {
            (Self::Ansi16 | Self::OnLight, Background::Dark) => Self::Ansi16,
            (Self::Ansi16 | Self::OnLight, Background::Light) => Self::OnLight,
            (Self::None | Self::Monochrome, _) => self,
        }
    }

    /// Whether there are colours.
    #[must_use]
    pub fn has_colours(self) -> bool {
        matches!(self, Self::Ansi16 | Self::OnLight)
    }

    /// For the values of `NO_COLOR` and `TERM`. A `dumb` or unset terminal means letters only; any non-empty `NO_COLOR` takes colours
    /// away and nothing else.
    #[must_use]
    pub fn detect(no_color: Option<&str>, term: Option<&str>) -> Self {
        let is_refused = no_color.is_some_and(|value| !value.is_empty());
        match term {
            None | Some("" | "dumb") => Self::None,
            Some(_) if is_refused => Self::Monochrome,
            Some(_) => Self::Ansi16,
        }
    }

    /// What the terminal shows of a style.
    #[must_use]
    pub fn shown(self, style: Style) -> Style {
        match self {
            Self::None => Style::new(),
            Self::Monochrome => Style { fg: None, bg: None, ..style },
            Self::Ansi16 => style,
            Self::OnLight => Style { fg: style.fg.map(theme::on_light), bg: style.bg.map(theme::on_light), ..style },
        }
    }
}

const MODIFIERS: [(Modifier, u8); 6] = [
    (Modifier::BOLD, 1),
    (Modifier::DIM, 2),
    (Modifier::ITALIC, 3),
    (Modifier::UNDERLINED, 4),
    (Modifier::REVERSED, 7),
    (Modifier::CROSSED_OUT, 9),
];

/// Writes one line without its end. Styles are off again afterwards. Controls in the text become `U+FFFD`, tabs a blank.
pub fn write_line(line: &Line<'_>, colors: ColorSupport, out: &mut Vec<u8>) {
    let mut current = Style::new();
    for span in line.spans.iter().filter(|span| !span.content.is_empty()) {
        let style = colors.shown(line.style.patch(span.style));
        write_style_change(current, style, out);
        current = style;
        out.extend_from_slice(harmless(&span.content).as_bytes());
    }
    write_style_change(current, Style::new(), out);
}

/// Writes lines that scroll by, each with CRLF. On a terminal that cannot move its cursor this is all there is.
pub fn write_lines(lines: &[Line<'_>], colors: ColorSupport, out: &mut Vec<u8>) {
    for line in lines {
        write_line(line, colors, out);
        out.extend_from_slice(b"\r\n");
    }
}

/// The first `columns` columns of a line.
#[must_use]
pub fn cut_line(line: &Line<'_>, columns: usize) -> Line<'static> {
    if columns == 0 {
        return Line::default();
    }
    let spans: Vec<Span<'_>> =
        line.spans.iter().map(|span| Span::styled(span.content.as_ref(), line.style.patch(span.style))).collect();
    let mut row = wrap_exactly(&spans, columns).swap_remove(0);
    row.retain(|span| !span.content.is_empty());
    let cut = Line::from(row);
    // One letter may be wider than all columns.
    if cut.width() > columns { Line::default() } else { cut }
}

pub(super) fn harmless(text: &str) -> Cow<'_, str> {
    if !text.chars().any(char::is_control) {
        return Cow::Borrowed(text);
    }
    let replace = |c: char| if c.is_control() { char::REPLACEMENT_CHARACTER } else { c };
    Cow::Owned(text.replace('\t', " ").chars().map(replace).collect())
}

pub(super) fn write_style_change(from: Style, to: Style, out: &mut Vec<u8>) {
    if from == to {
        return;
    }
    let is_colour_lost =
        |from: Option<Color>, to: Option<Color>| !colour_codes(from, 0).is_empty() && colour_codes(to, 0).is_empty();
    let needs_reset = !to.add_modifier.contains(from.add_modifier)
        || is_colour_lost(from.fg, to.fg)
        || is_colour_lost(from.bg, to.bg);
    let (kept, mut codes) = if needs_reset { (Style::new(), vec![0]) } else { (from, Vec::new()) };
    let added =
        |(modifier, _): &&(Modifier, u8)| to.add_modifier.contains(*modifier) && !kept.add_modifier.contains(*modifier);
    codes.extend(MODIFIERS.iter().filter(added).map(|(_, code)| *code));
    if to.fg != kept.fg {
        codes.extend_from_slice(&colour_codes(to.fg, 0));
    }
    if to.bg != kept.bg {
        codes.extend_from_slice(&colour_codes(to.bg, 10));
    }
    if codes.is_empty() {
        return;
    }
    let codes: Vec<String> = codes.iter().map(u8::to_string).collect();
    let codes = codes.join(";");
    out.extend_from_slice(format!("\x1b[{}m", if codes == "0" { "" } else { &codes }).as_bytes());
}

/// The SGR codes of a foreground colour, plus `base`; none for the terminal's own and for exact colours.
fn colour_codes(colour: Option<Color>, base: u8) -> Vec<u8> {
    let code = match colour {
        Some(Color::Indexed(shade)) => return vec![38 + base, 5, shade],
        Some(Color::Black) => 30,
        Some(Color::Red) => 31,
        Some(Color::Green) => 32,
        Some(Color::Yellow) => 33,
        Some(Color::Blue) => 34,
        Some(Color::Magenta) => 35,
        Some(Color::Cyan) => 36,
        Some(Color::Gray) => 37,
        Some(Color::DarkGray) => 90,
        Some(Color::LightRed) => 91,
        Some(Color::LightGreen) => 92,
        Some(Color::LightYellow) => 93,
        Some(Color::LightBlue) => 94,
        Some(Color::LightMagenta) => 95,
        Some(Color::LightCyan) => 96,
        Some(Color::White) => 97,
        Some(Color::Reset | Color::Rgb(..)) | None => return Vec::new(),
    };
    vec![code + base]
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::theme;

    fn bytes(line: &Line<'_>, colors: ColorSupport) -> String {
        let mut out = Vec::new();
        write_line(line, colors, &mut out);
        String::from_utf8(out).expect("text")
    }

    #[test]
    fn styles_change_with_few_codes_and_end_with_the_line() {
        let line = Line::from(vec![
            Span::raw("a"),
            Span::styled("b", theme::STRONG),
            Span::styled("c", theme::DANGER),
            Span::styled("d", theme::BAD),
            Span::raw("e"),
        ]);
        assert_eq!(bytes(&line, ColorSupport::Ansi16), "a\x1b[1mb\x1b[31mc\x1b[0;31md\x1b[me");
        assert_eq!(bytes(&Line::styled("x", theme::GOOD), ColorSupport::Ansi16), "\x1b[32mx\x1b[m");
        assert_eq!(bytes(&line, ColorSupport::Monochrome), "a\x1b[1mbc\x1b[mde");
        assert_eq!(bytes(&line, ColorSupport::None), "abcde");
        assert_eq!(bytes(&line, ColorSupport::OnLight), "a\x1b[1mb\x1b[38;5;124mc\x1b[0;38;5;124md\x1b[me");
    }

    #[test]
    fn no_color_takes_colours_and_a_dumb_terminal_all_styles() {
        assert_eq!(ColorSupport::detect(None, Some("xterm")), ColorSupport::Ansi16);
        assert_eq!(ColorSupport::detect(Some(""), Some("xterm")), ColorSupport::Ansi16);
        assert_eq!(ColorSupport::detect(Some("1"), Some("xterm")), ColorSupport::Monochrome);
        assert_eq!(ColorSupport::detect(Some("1"), Some("dumb")), ColorSupport::None);
        assert_eq!(ColorSupport::detect(None, Some("dumb")), ColorSupport::None);
        assert_eq!(ColorSupport::detect(None, None), ColorSupport::None);
    }

    #[test]
    fn a_light_background_changes_colours_and_nothing_else() {
        assert_eq!(ColorSupport::Ansi16.on(Background::Light), ColorSupport::OnLight);
        assert_eq!(ColorSupport::OnLight.on(Background::Dark), ColorSupport::Ansi16);
        for colors in [ColorSupport::None, ColorSupport::Monochrome] {
            assert_eq!(colors.on(Background::Light), colors);
        }
    }

    #[test]
    fn a_line_is_cut_at_whole_letters() {
        assert_eq!(cut_line(&Line::raw("a日本"), 4).to_string(), "a日");
        assert_eq!(cut_line(&Line::raw("日"), 1).to_string(), "");
    }

    proptest! {
        #[test]
        fn no_control_of_the_text_reaches_the_terminal(text in any::<String>(), is_bold in any::<bool>()) {
            let style = if is_bold { theme::STRONG } else { theme::PLAIN };
            let written = bytes(&Line::styled(text, style), ColorSupport::Ansi16);
            let text = written.strip_prefix("\x1b[1m").unwrap_or(&written);
            let text = text.strip_suffix("\x1b[m").unwrap_or(text);
            prop_assert!(!text.chars().any(char::is_control));
        }
    }
}
