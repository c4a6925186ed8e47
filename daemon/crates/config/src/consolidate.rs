//! Who proposes what is worth remembering.

/// The ways to find proposals.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Consolidate {
    /// None are made; the model may propose something in its turn.
    Off,
    /// Rules read commands and files.
    #[default]
    Rules,
    /// A model reads finished conversations as well.
    Model,
}

impl Consolidate {
    /// All of them, by their names in the settings.
    pub const WORDS: &'static [&'static str] = &["off", "rules", "model"];
}

impl std::str::FromStr for Consolidate {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, String> {
        match word {
            "off" => Ok(Self::Off),
            "rules" => Ok(Self::Rules),
            "model" => Ok(Self::Model),
            other => Err(format!("there is no way `{other}` to find proposals")),
        }
    }
}
