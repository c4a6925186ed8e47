//! Names of profiles: `[profiles.NAME]` has the keys of `[model]` and replaces it. Pure.

/// The table of profiles.
pub(super) const TABLE: &str = "profiles";
/// Names `[model]` where the name of a profile is expected.
pub const DEFAULT: &str = "default";
/// Rule for names of profiles, as a hint.
pub(super) const NAME_RULE: &str =
    "a profile's name is up to 40 letters, digits, `-` and `_`, and not `default`, which is `[model]`";
/// Longest name, in bytes.
pub(super) const NAME_MAX_BYTES: usize = 40;

/// Whether `name` is valid for a profile.
#[must_use]
pub fn is_name(name: &str) -> bool {
    let is_letter = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    !name.is_empty() && name.len() <= NAME_MAX_BYTES && name.chars().all(is_letter) && name != DEFAULT
}

/// The table of this profile: `model` for none.
#[must_use]
pub fn table(profile: Option<&str>) -> String {
    profile.filter(|name| *name != DEFAULT).map_or_else(|| "model".to_owned(), |name| format!("{TABLE}.{name}"))
}

/// Converts `profiles.work.name` to `model.name`, and `profiles.work` to `model`. `None` for anything else.
pub(super) fn as_model(name: &str) -> Option<String> {
    let rest = name.strip_prefix(TABLE)?.strip_prefix('.')?;
    let (profile, key) = rest.split_once('.').map_or((rest, None), |(profile, key)| (profile, Some(key)));
    is_name(profile).then(|| key.map_or_else(|| "model".to_owned(), |key| format!("model.{key}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_plain_words() {
        assert!(is_name("a") && is_name("Work-2_b"));
        for name in ["", "default", "a.b", "a b", "ä", &"x".repeat(41)] {
            assert!(!is_name(name), "{name}");
        }
        assert_eq!(as_model("profiles.work.timeouts.connect_ms").as_deref(), Some("model.timeouts.connect_ms"));
        assert_eq!((as_model("profiles"), as_model("profiles.a b.name"), as_model("profilesx.a")), (None, None, None));
    }
}
