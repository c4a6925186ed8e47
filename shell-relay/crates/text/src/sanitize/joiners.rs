//! Decides which joiners and variation selectors stay in prose. Pure.
//!
//! A joiner (U+200C, U+200D) stays only directly between two letters of a script that is spelled with joiners; U+200D also between two
//! emoji. A variation selector (U+FE0E, U+FE0F) stays only behind a symbol that has both forms. Never two stand behind each other.

use unicode_width::UnicodeWidthChar;

/// The state of one text.
#[derive(Clone, Debug, Default)]
pub(super) struct Joiners {
    /// The last character that stayed.
    last: Option<char>,
    /// A joiner behind it: what follows decides.
    waiting: Option<char>,
}

impl Joiners {
    /// Adds the waiting joiner to `out` if `text`, which follows, calls for it.
    pub(super) fn text(&mut self, text: &str, out: &mut String) {
        let Some(next) = text.chars().next() else { return };
        if let (Some(joiner), Some(last)) = (self.waiting.take(), self.last)
            && joins(last, joiner, next)
        {
            out.push(joiner);
        }
        self.last = text.chars().next_back();
    }

    /// Takes an invisible character: keeps it, lets it wait or drops it.
    pub(super) fn invisible(&mut self, c: char, out: &mut String) {
        let Some(last) = self.last else { return };
        match c {
            '\u{200c}' | '\u{200d}' => self.waiting = self.waiting.or(Some(c)),
            '\u{fe0e}' | '\u{fe0f}' if self.waiting.is_none() && has_two_forms(last) => {
                out.push(c);
                self.last = Some(c);
            }
            _ => {}
        }
    }
}

fn joins(last: char, joiner: char, next: char) -> bool {
    let is_in_word = is_joined_letter(last) && is_joined_letter(next);
    let is_in_emoji = joiner == '\u{200d}' && (is_symbol(last) || last == '\u{fe0f}') && is_symbol(next);
    is_in_word || is_in_emoji
}

/// Letters and marks of Arabic, Syriac, N'Ko, Mandaic, the scripts of India and Sri Lanka, Myanmar and Khmer.
fn is_joined_letter(c: char) -> bool {
    let is_in_script = matches!(c,
        '\u{610}'..='\u{8ff}' | '\u{900}'..='\u{dff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17d3}'
        | '\u{fb50}'..='\u{fdff}' | '\u{fe70}'..='\u{fefc}');
    let is_sign = matches!(c,
        '\u{61b}'..='\u{61f}' | '\u{66a}'..='\u{66d}' | '\u{6d4}' | '\u{700}'..='\u{70d}' | '\u{964}' | '\u{965}' | '\u{970}'
        | '\u{df4}' | '\u{104a}'..='\u{104f}' | '\u{fd3e}' | '\u{fd3f}');
    is_in_script && !is_sign && !c.is_numeric()
}

/// Emoji and the symbols of which some are emoji.
fn is_symbol(c: char) -> bool {
    matches!(c,
        '\u{203c}' | '\u{2049}' | '\u{2122}' | '\u{2139}' | '\u{2194}'..='\u{21aa}' | '\u{231a}'..='\u{23ff}' | '\u{24c2}'
        | '\u{25aa}'..='\u{27bf}' | '\u{2934}' | '\u{2935}' | '\u{2b05}'..='\u{2b55}' | '\u{1f000}'..='\u{1faff}')
}

/// Whether a selector makes a difference: symbols that are narrow without one.
fn has_two_forms(c: char) -> bool {
    is_symbol(c) && c.width() == Some(1)
}
