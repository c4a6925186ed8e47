//! Formats amounts for people. Both programs use these functions, so they print the same text.

use crate::ContextRoom;

/// A number in few letters: `950`, `1.2k`, `34k`, `1.5M`.
#[must_use]
pub fn count(number: u64) -> String {
    match number {
        0..1_000 => number.to_string(),
        1_000..10_000 => format!("{}.{}k", number / 1_000, number % 1_000 / 100),
        10_000..1_000_000 => format!("{}k", number / 1_000),
        _ => format!("{}.{}M", number / 1_000_000, number % 1_000_000 / 100_000),
    }
}

/// A cost in millionths of a US dollar: `about $0.0123`, `about $4.20`, and `at least $0.0123` if a part is unknown.
#[must_use]
pub fn cost(microusd: u64, is_partial: bool) -> String {
    let mark = if is_partial { "at least" } else { "about" };
    // Tenths of a cent matter to a reader who counts calls, not to one who counts months.
    let (unit, digits) = if microusd < 1_000_000 { (100, 4) } else { (10_000, 2) };
    let rounded = match (microusd, microusd.saturating_add(unit / 2) / unit) {
        (0, _) => return format!("{mark} $0"),
        // A cost above zero never looks free.
        (_, rounded) => rounded.max(1),
    };
    let whole = 10_u64.pow(digits);
    format!("{mark} ${}.{:0width$}", rounded / whole, rounded % whole, width = digits as usize)
}

/// The use of a model's context: `about 12k of 128k tokens (9 %)`.
#[must_use]
pub fn context(room: &ContextRoom) -> String {
    format!("about {} of {} tokens ({} %)", count(room.total), count(room.max), room.percent)
}

/// The parts of the used context, and the remaining tokens: one sentence without a capital.
#[must_use]
pub fn context_parts(room: &ContextRoom) -> String {
    let (system, messages) = (count(room.system), count(room.messages));
    let (reserve, available) = (count(room.response_reserve), count(room.available));
    let parts = format!("system {system}, messages {messages}, kept for the answer {reserve}");
    if room.fits {
        return format!("{parts}, free {available}");
    }
    format!(
        "{parts}: that does not fit, the oldest is left out. If the model takes more: \
         `cohab config set model.context_window_tokens NUMBER`"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        for (number, text) in
            [(0, "0"), (999, "999"), (1_234, "1.2k"), (34_567, "34k"), (999_999, "999k"), (1_550_000, "1.5M")]
        {
            assert_eq!(count(number), text);
        }
    }

    #[test]
    fn a_full_context_is_told_with_its_parts_and_the_way_out() {
        let room = ContextRoom {
            max: 128_000,
            system: 2_752,
            messages: 9_500,
            response_reserve: 16_384,
            total: 12_252,
            available: 99_364,
            percent: 9,
            fits: true,
        };
        assert_eq!(context(&room), "about 12k of 128k tokens (9 %)");
        assert_eq!(context_parts(&room), "system 2.7k, messages 9.5k, kept for the answer 16k, free 99k");
        let full = context_parts(&ContextRoom { available: 0, fits: false, ..room });
        assert!(full.contains("does not fit") && full.contains("context_window_tokens"), "{full}");
    }

    #[test]
    fn costs_have_the_digits_that_matter() {
        for (microusd, text) in [
            (0, "about $0"),
            (1, "about $0.0001"),
            (149, "about $0.0001"),
            (12_345, "about $0.0123"),
            (999_999, "about $1.0000"),
            (1_004_999, "about $1.00"),
            (4_195_000, "about $4.20"),
            (123_456_789, "about $123.46"),
        ] {
            assert_eq!(cost(microusd, false), text, "{microusd}");
        }
        assert_eq!(cost(12_345, true), "at least $0.0123");
        assert!(cost(u64::MAX, false).starts_with("about $1844674407370"), "{}", cost(u64::MAX, false));
    }
}
