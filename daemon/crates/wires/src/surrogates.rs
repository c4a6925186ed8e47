//! Joins characters that a service cut in two. Services that count text in UTF-16 may end a piece inside a character: JSON then has one
//! half as `\ud83d` at the end of a string of one payload, and the other half starts a string of a later one. Neither half is text, so
//! JSON readers refuse both.

/// Length of half a character in JSON: a backslash, `u` and four digits.
const ESCAPE_BYTES: usize = 6;
/// Stands for an unknown character.
const REPLACEMENT: &str = "\\ufffd";

/// Joins the halves over the payloads of one answer.
#[derive(Debug, Default)]
pub(super) struct Surrogates {
    /// First half of a character, as written, while the second half has not arrived.
    first_half: Option<String>,
}

impl Surrogates {
    /// Returns the payload with whole characters only. A first half at the end of a string moves to its second half; any other single half
    /// is replaced.
    pub(super) fn mend(&mut self, payload: String) -> String {
        if !payload.contains("\\ud") && !payload.contains("\\uD") {
            return payload;
        }
        let mut mended = String::with_capacity(payload.len() + ESCAPE_BYTES);
        let mut rest = payload.as_str();
        while let Some(at) = rest.find('\\') {
            mended.push_str(&rest[..at]);
            let (escape, after) = split_escape(&rest[at..]);
            rest = after;
            match half(escape) {
                None => mended.push_str(escape),
                Some(Half::First) => match split_escape(after) {
                    (second, after) if half(second) == Some(Half::Second) => {
                        mended.push_str(escape);
                        mended.push_str(second);
                        rest = after;
                    }
                    _ if after.starts_with('"') => self.first_half = Some(escape.to_owned()),
                    _ => mended.push_str(REPLACEMENT),
                },
                Some(Half::Second) => match self.first_half.take_if(|_| mended.ends_with('"')) {
                    Some(first) => mended.extend([first.as_str(), escape]),
                    None => mended.push_str(REPLACEMENT),
                },
            }
        }
        mended.push_str(rest);
        mended
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Half {
    First,
    Second,
}

/// The half that an escape stands for, if it stands for one.
fn half(escape: &str) -> Option<Half> {
    match u16::from_str_radix(escape.strip_prefix("\\u")?, 16).ok()? {
        0xd800..=0xdbff => Some(Half::First),
        0xdc00..=0xdfff => Some(Half::Second),
        _ => None,
    }
}

/// The escape at the start of the text, and the rest; without an escape the first part is empty.
fn split_escape(text: &str) -> (&str, &str) {
    let length = match text.as_bytes() {
        [b'\\', b'u', ..] => ESCAPE_BYTES,
        // An escaped backslash does not start another escape.
        [b'\\', ..] => 2,
        _ => 0,
    };
    text.split_at_checked(length).unwrap_or((text, ""))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value;

    use super::*;

    /// A payload with this text, in JavaScript's form: halves of characters as escapes.
    fn payload(text: &[u16]) -> String {
        let written = char::decode_utf16(text.iter().copied()).map(|decoded| match decoded {
            Ok('"') => "\\\"".to_owned(),
            Ok('\\') => "\\\\".to_owned(),
            Ok(character) => character.to_string(),
            Err(half) => format!("\\u{:04x}", half.unpaired_surrogate()),
        });
        format!(r#"{{"text":"{}","n":1}}"#, written.collect::<String>())
    }

    fn text_of(payload: &str) -> String {
        let value: Value = serde_json::from_str(payload).unwrap_or_else(|error| panic!("{error}: {payload}"));
        value["text"].as_str().expect("the text is a string").to_owned()
    }

    proptest! {
        #[test]
        fn a_text_cut_between_any_two_units_is_whole_again(
            text in r#"[a"\\du8🚀𝄞é]{0,12}"#,
            cuts in prop::collection::vec(0_usize..24, 0..5),
        ) {
            let units: Vec<u16> = text.encode_utf16().collect();
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(units.len())).chain([0, units.len()]).collect();
            cuts.sort_unstable();
            let mut surrogates = Surrogates::default();
            let pieces = cuts.windows(2).map(|ends| surrogates.mend(payload(&units[ends[0]..ends[1]])));
            prop_assert_eq!(pieces.map(|piece| text_of(&piece)).collect::<String>(), text);
        }
    }

    #[test]
    fn what_has_no_other_half_is_replaced_and_the_rest_stays() {
        for (payload, mended) in [
            (r#"{"text":"\ud83d!"}"#, "\u{fffd}!"),
            (r#"{"text":"\ude80!"}"#, "\u{fffd}!"),
            (r#"{"text":"a\uDE80\uD83D\n"}"#, "a\u{fffd}\u{fffd}\n"),
            (r#"{"text":"\ud83d\ude80\u00e9"}"#, "🚀é"),
            (r#"{"text":"\\ud83d \\\\\ud83d\ude80"}"#, r"\ud83d \\🚀"),
        ] {
            assert_eq!(text_of(&Surrogates::default().mend(payload.to_owned())), mended, "{payload}");
        }
    }

    #[test]
    fn what_is_no_json_stays_no_json() {
        for payload in [r"\ud8", r#""\ud83d"#, "\\ud8é0", "\\", r#""\ud83d\"#] {
            assert!(
                serde_json::from_str::<Value>(&Surrogates::default().mend(payload.to_owned())).is_err(),
                "{payload}"
            );
        }
    }
}
