//! Recognizes variables that hold secrets by their names. All callers share one table; it distinguishes their uses. Pure.

/// A use of a variable's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Use {
    /// Its value would be reported or shown: one hidden value too many is better.
    Display,
    /// Its value is looked for and replaced in every text: a place or a setting would make holes everywhere.
    Search,
    /// Programs of ours would inherit it: a missing variable may break them.
    Inherit,
}

/// The required position of a part in a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum At {
    Anywhere,
    /// The whole name, or its last word.
    End,
    /// Its last word, behind others: `PWD` alone is a folder.
    Behind,
    Nowhere,
}
use At::{Anywhere, Behind, End, Nowhere};

/// Parts of names, and the positions in which each counts if the value is shown, searched for, inherited.
const PARTS: &[(&str, At, At, At)] = &[
    ("KEY", Anywhere, Anywhere, End),
    ("APIKEY", Anywhere, Anywhere, Anywhere),
    ("TOKEN", Anywhere, Anywhere, Anywhere),
    ("SECRET", Anywhere, Anywhere, Anywhere),
    ("PASSWORD", Anywhere, Anywhere, Anywhere),
    ("PASSWD", Anywhere, Anywhere, Anywhere),
    ("PASSPHRASE", Anywhere, Anywhere, End),
    ("PASS", Anywhere, Anywhere, End),
    ("PWD", Anywhere, Behind, Behind),
    ("CREDENTIAL", Anywhere, Anywhere, Anywhere),
    ("CREDS", Anywhere, Anywhere, End),
    ("CRED", Anywhere, Anywhere, Nowhere),
    // `GIT_AUTHOR_NAME` and `SSH_AUTH_SOCK` are needed.
    ("AUTH", Anywhere, Anywhere, Nowhere),
    ("COOKIE", Anywhere, Anywhere, Nowhere),
];
/// Ends of names whose values are places, settings or people, which occur in harmless texts.
const PLACES: &[&str] = &[
    "_AUTHOR_NAME",
    "_AUTHOR_EMAIL",
    "_AUTHOR_DATE",
    "_SOCK",
    "_SOCKET",
    "_FILE",
    "_PATH",
    "_DIR",
    "_URL",
    "_URI",
    "XAUTHORITY",
    "_ASKPASS",
    "_PID",
    "KEYTIMEOUT",
];

/// Whether a variable of that name holds a secret for this use of its value. A password inside a URL is found without this.
#[must_use]
pub fn holds_secret(name: &str, purpose: Use) -> bool {
    let name = name.to_ascii_uppercase();
    if purpose == Use::Search && PLACES.iter().any(|end| name.ends_with(end)) {
        return false;
    }
    PARTS.iter().any(|(part, display, search, inherit)| {
        let at = match purpose {
            Use::Display => display,
            Use::Search => search,
            Use::Inherit => inherit,
        };
        let before = name.strip_suffix(part);
        match at {
            Anywhere => name.contains(part),
            End => before.is_some_and(|before| before.is_empty() || before.ends_with('_')),
            Behind => before.is_some_and(|before| before.ends_with('_')),
            Nowhere => false,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Shown, searched for, inherited.
    fn per_use(name: &str) -> [bool; 3] {
        [Use::Display, Use::Search, Use::Inherit].map(|purpose| holds_secret(name, purpose))
    }

    #[test]
    fn keys_are_told_by_their_names() {
        for name in [
            "GITHUB_TOKEN",
            "DB_PASSWORD",
            "aws_secret_access_key",
            "ANTHROPIC_API_KEY",
            "KEY",
            "OPENAI_APIKEY",
            "PGPASSWORD",
            "MYSQL_PWD",
            "AWS_SESSION_TOKEN",
            "MY_CREDENTIALS",
            "SMTP_PASS",
            "SSH_PASSPHRASE",
        ] {
            assert_eq!(per_use(name), [true; 3], "{name}");
        }
        for name in ["PATH", "HOME", "EDITOR", "LANG", "TERM"] {
            assert_eq!(per_use(name), [false; 3], "{name}");
        }
    }

    #[test]
    fn what_is_at_stake_decides_in_doubt() {
        for (name, expected) in [
            ("SSH_AUTH_SOCK", [true, false, false]),
            ("XAUTHORITY", [true, false, false]),
            ("GIT_ASKPASS", [true, false, false]),
            ("SSL_KEY_FILE", [true, false, false]),
            ("GITHUB_TOKEN_FILE", [true, false, true]),
            ("NPM_CONFIG__AUTH", [true, true, false]),
            ("GIT_AUTHOR_NAME", [true, false, false]),
            ("HTTP_AUTHORIZATION", [true, true, false]),
            ("SESSION_COOKIE", [true, true, false]),
            ("KEYBOARD", [true, true, false]),
            ("PWD", [true, false, false]),
            ("OLDPWD", [true, false, false]),
        ] {
            assert_eq!(per_use(name), expected, "{name}");
        }
    }
}
