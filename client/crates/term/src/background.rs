//! Finds out whether the terminal's background is dark or light: by a question (OSC 11) whose answer comes among the keys, or by the
//! variable `COLORFGBG`. Pure.

use std::borrow::Cow;

/// Asks for the colour of the background.
pub const QUESTION: &[u8] = b"\x1b]11;?\x1b\\";
/// The start of the answer.
const ANSWER: &[u8] = b"\x1b]11;";
/// Longest answer; longer text is none.
const MAX_ANSWER_BYTES: usize = 48;

/// The terminal's background.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Background {
    /// Darker than its letters, or unknown.
    #[default]
    Dark,
    /// Lighter than its letters.
    Light,
}

impl Background {
    /// What `COLORFGBG` says in this process's environment.
    #[must_use]
    pub fn from_env() -> Option<Self> {
        Self::of_colorfgbg(&std::env::var("COLORFGBG").ok()?)
    }

    /// What a value of `COLORFGBG` says, such as `0;15` or `12;default;8`: the last number is the background, among the 16 colours.
    #[must_use]
    pub fn of_colorfgbg(value: &str) -> Option<Self> {
        match value.rsplit(';').next()?.parse::<u8>().ok()? {
            7 | 9..=15 => Some(Self::Light),
            0..=6 | 8 => Some(Self::Dark),
            16.. => None,
        }
    }

    /// The kind of a colour as terminals report it: `rgb:ffff/ffff/dddd`, `rgba:ff/ff/dd/ff` or `#ffffdd`.
    fn of_colour(colour: &str) -> Option<Self> {
        let part = |digits: &str| {
            let largest = 16_f64.powi(i32::try_from(digits.len()).ok()?) - 1.0;
            let value = u32::from_str_radix(digits, 16).ok()?;
            (largest > 0.0).then(|| f64::from(value) / largest)
        };
        let parts: Vec<f64> = if let Some(digits) = colour.strip_prefix('#') {
            let width = (digits.len() / 3).max(1);
            (0..3).filter_map(|index| part(digits.get(index * width..(index + 1) * width)?)).collect()
        } else {
            let (_, digits) = colour.split_once(':')?;
            digits.split('/').filter_map(part).collect()
        };
        let [red, green, blue, ..] = parts[..] else { return None };
        // How bright the eye takes them.
        let luminance = 0.299 * red + 0.587 * green + 0.114 * blue;
        Some(if luminance > 0.5 { Self::Light } else { Self::Dark })
    }
}

/// Takes the answer to [`QUESTION`] out of the keys, however it is cut. Nothing waits for the answer, and no key waits: of an answer that is
/// cut within its first bytes those bytes are passed on as keys.
#[derive(Debug, Default)]
pub struct AnswerFilter {
    /// What may become the answer.
    begun: Vec<u8>,
    /// Bytes of it that were passed on as keys.
    passed: usize,
}

impl AnswerFilter {
    /// The keys in `bytes`, and the background once it is known. Then nothing more is to be filtered: the next such answer is for
    /// another program.
    pub fn keys<'a>(&mut self, bytes: &'a [u8]) -> (Cow<'a, [u8]>, Option<Background>) {
        if self.begun.is_empty() && !bytes.contains(&0x1b) {
            return (Cow::Borrowed(bytes), None);
        }
        let mut keys = Vec::new();
        for (at, &byte) in bytes.iter().enumerate() {
            self.begun.push(byte);
            if let Some(colour) = answer(&self.begun) {
                let background = Background::of_colour(colour).unwrap_or_default();
                self.begun.clear();
                keys.extend_from_slice(&bytes[at + 1..]);
                return (Cow::Owned(keys), Some(background));
            }
            if !may_be_answer(&self.begun) {
                // The last byte may begin the answer.
                let kept = if byte == 0x1b { self.begun.len() - 1 } else { self.begun.len() };
                keys.extend_from_slice(&self.begun[self.passed..kept]);
                self.begun.drain(..kept);
                self.passed = 0;
            }
        }
        // A key must not wait: Esc alone, and Alt-], begin like an answer.
        if self.begun.len() < ANSWER.len() {
            keys.extend_from_slice(&self.begun[self.passed..]);
            self.passed = self.begun.len();
        }
        (Cow::Owned(keys), None)
    }
}

/// The colour in a whole answer.
fn answer(begun: &[u8]) -> Option<&str> {
    let colour = begun.strip_prefix(ANSWER)?;
    let colour = colour.strip_suffix(b"\x07").or_else(|| colour.strip_suffix(b"\x1b\\"))?;
    std::str::from_utf8(colour).ok()
}

fn may_be_answer(begun: &[u8]) -> bool {
    let Some(colour) = begun.strip_prefix(ANSWER) else { return ANSWER.starts_with(begun) };
    let colour = colour.strip_suffix(b"\x1b").unwrap_or(colour);
    begun.len() <= MAX_ANSWER_BYTES && colour.iter().all(|byte| byte.is_ascii_hexdigit() || b"rgb:/#".contains(byte))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn filtered(chunks: &[&[u8]]) -> (Vec<u8>, Option<Background>) {
        let (mut filter, mut all, mut found) = (AnswerFilter::default(), Vec::new(), None);
        for chunk in chunks {
            if found.is_some() {
                all.extend_from_slice(chunk);
                continue;
            }
            let (keys, background) = filter.keys(chunk);
            all.extend_from_slice(&keys);
            found = background;
        }
        (all, found)
    }

    #[test]
    fn the_variable_names_the_background_last() {
        for (value, expected) in [
            ("0;15", Some(Background::Light)),
            ("0;default;7", Some(Background::Light)),
            ("15;0", Some(Background::Dark)),
            ("12;8", Some(Background::Dark)),
            ("15;default", None),
            ("", None),
            ("0;231", None),
        ] {
            assert_eq!(Background::of_colorfgbg(value), expected, "{value}");
        }
    }

    #[test]
    fn a_colour_is_dark_or_light() {
        for (colour, expected) in [
            ("rgb:ffff/ffff/ffff", Some(Background::Light)),
            ("rgb:fd/f6/e3", Some(Background::Light)),
            ("rgba:0000/2b2b/3636/ffff", Some(Background::Dark)),
            ("#ffffdd", Some(Background::Light)),
            ("#1e1e2e", Some(Background::Dark)),
            ("rgb:ffff", None),
            ("", None),
        ] {
            assert_eq!(Background::of_colour(colour), expected, "{colour}");
        }
    }

    #[test]
    fn the_answer_is_no_key() {
        let light = Some(Background::Light);
        assert_eq!(filtered(&[b"a\x1b]11;rgb:ffff/ffff/ffff\x1b\\b\x1b"]), (b"ab\x1b".to_vec(), light));
        assert_eq!(filtered(&[b"\x1b]11;rgb:ff", b"ff/ffff/ffff\x1b", b"\\x"]), (b"x".to_vec(), light));
        let second = b"\x1b]11;rgb:0/0/0\x07";
        assert_eq!(filtered(&[b"\x1b]11;#ffffff\x07", second]), (second.to_vec(), light), "the next is not ours");
    }

    #[test]
    fn a_cut_in_its_first_bytes_passes_those_and_no_more() {
        for cut in 1..ANSWER.len() {
            let (start, rest) = b"\x1b]11;#ffffff\x07x".split_at(cut);
            assert_eq!(filtered(&[start, rest]), ([start, b"x"].concat(), Some(Background::Light)), "{cut}");
        }
    }

    #[test]
    fn keys_do_not_wait() {
        for keys in [&b"\x1b"[..], b"\x1b]", b"\x1b]1", b"\x1b[A", b"abc", b"\x1b]11;rgb:12\r", b"\x1b]11;rgb:zz\x07"] {
            assert_eq!(filtered(&[keys]), (keys.to_vec(), None), "{keys:?}");
        }
    }

    proptest! {
        #[test]
        fn no_key_is_lost_and_none_is_doubled(
            bytes in proptest::collection::vec(prop_oneof![Just(0x1b), Just(b']'), Just(b'1'), Just(b';'), any::<u8>()], 0..200),
            cut in 1usize..9,
        ) {
            // Without an end there is no answer, and an ordinary key ends the start of one.
            let bytes: Vec<u8> = bytes.into_iter().filter(|byte| !matches!(byte, 0x07 | b'\\')).chain([b'z']).collect();
            let chunks: Vec<&[u8]> = bytes.chunks(cut).collect();
            prop_assert_eq!(filtered(&chunks), (bytes, None));
        }
    }
}
