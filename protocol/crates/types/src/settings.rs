//! Declares settings: [`section!`](crate::section) makes a table of `config.toml` out of one row per key.
//!
//! A row is the only place that names a key. It gives the field of the struct, its default, the allowed values, and the description that
//! `cohab config list` and `docs/guide/configuration.md` print. `cohab-config` collects the [`Key`]s of all sections and checks the file
//! by them; nothing is read or checked here.

use std::{borrow::Cow, fmt::Display, str::FromStr};

/// One setting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    /// Full name: the tables it is in, and its own name, joined by dots.
    pub name: Cow<'static, str>,
    /// The kind of its values.
    pub kind: Kind,
    /// Default value, in the form that `set` takes; `None` if the setting is absent by default.
    pub default: Option<&'static str>,
    /// Description, one line.
    pub doc: &'static str,
}

impl Key {
    /// Makes a key. `doc` may have blanks around it.
    #[must_use]
    pub const fn new(name: &'static str, kind: Kind, default: Option<&'static str>, doc: &'static str) -> Self {
        Self { name: Cow::Borrowed(name), kind, default, doc: doc.trim_ascii() }
    }

    /// Whether its value is never shown.
    #[must_use]
    pub fn is_secret(&self) -> bool {
        self.kind == Kind::Secret
    }
}

/// A kind of values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Any nonempty text.
    Text,
    /// Any nonempty text that is never shown.
    Secret,
    /// Name of an environment variable.
    EnvName,
    /// An absolute path, or one that begins with `~/`.
    Path,
    /// A few visible characters, or nothing.
    Prefix,
    /// A wire, a vendor, `offline` or `scripted`.
    Provider,
    /// Address of a service: an `http` or `https` URL with a host. For `scripted` an absolute path.
    Address,
    /// `http` or `https` URL of an OpenTelemetry collector, or nothing.
    Collector,
    /// Name of a profile.
    Profile,
    /// Names of profiles, in their order.
    Profiles,
    /// One of these words.
    Word(&'static [&'static str]),
    /// A whole number from the first to the second.
    Integer(i64, i64),
    /// A number from the first to the second, with or without decimals.
    Number(i64, i64),
    /// `true` or `false`.
    Flag,
}

/// Parses the default of a setting. The tests of `cohab-config` parse every one.
///
/// # Panics
/// The text is not a value of this type.
#[must_use]
pub fn default_value<T: FromStr<Err: Display>>(text: &str) -> T {
    text.parse().unwrap_or_else(|error| panic!("`{text}` cannot be the default of a setting: {error}"))
}

/// Declares a table of the settings file: a struct with [`Default`] and a constant `KEYS`.
///
/// After the struct's name comes the prefix of its keys, with the dot. A row is the description as a doc comment, then
/// `key: Type = "default", kind;`. The default is text, as a user writes it; a row without one has the default of its type, and the key
/// counts as not set. A function that reads the value may follow the kind, as for `#[serde(deserialize_with)]`. Fields that are not
/// keys, as tables inside the table, stand in `also`.
///
/// ```
/// use cohab_types::{section, settings::Kind};
///
/// section! {
///     /// `[coffee]`.
///     #[derive(Debug, serde::Deserialize)]
///     #[serde(deny_unknown_fields, default)]
///     pub struct CoffeeSettings in "coffee." {
///         /// Most cups of a day; 0 for any number
///         cups_per_day: u32 = "3", Kind::Integer(0, 20);
///         /// Milk in the coffee
///         milk: Option<String>, Kind::Text;
///     }
/// }
///
/// assert_eq!(CoffeeSettings::default().cups_per_day, 3);
/// assert_eq!(CoffeeSettings::KEYS[1].name, "coffee.milk");
/// ```
#[macro_export]
macro_rules! section {
    (@value) => { Default::default() };
    (@value $default:literal) => { $crate::settings::default_value($default) };
    (@text) => { None };
    (@text $default:literal) => { Some($default) };
    (
        $(#[$attribute:meta])*
        pub struct $table:ident in $prefix:literal {
            $(
                $(#[doc = $doc:literal])+
                $key:ident: $type:ty $(= $default:literal)?, $kind:expr $(, $read:literal)?;
            )*
            $(also { $( $(#[$other_attribute:meta])* $visibility:vis $other:ident: $other_type:ty, )* })?
        }
    ) => {
        $(#[$attribute])*
        pub struct $table {
            $(
                $(#[doc = $doc])+
                $(#[serde(deserialize_with = $read)])?
                pub $key: $type,
            )*
            $($( $(#[$other_attribute])* $visibility $other: $other_type, )*)?
        }

        impl $table {
            /// The keys of this table, in the order in which they are shown.
            pub const KEYS: &'static [$crate::settings::Key] = &[$(
                $crate::settings::Key::new(
                    concat!($prefix, stringify!($key)),
                    $kind,
                    $crate::section!(@text $($default)?),
                    concat!($($doc),+),
                ),
            )*];
        }

        impl Default for $table {
            fn default() -> Self {
                Self {
                    $( $key: $crate::section!(@value $($default)?), )*
                    $($( $other: Default::default(), )*)?
                }
            }
        }
    };
}
