//! Decides by the words of a name whether its value is a password, a secret or a token. Pure.

/// The kind of secret that a name promises.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sense {
    /// A person may have chosen the value: any word counts.
    Password,
    /// As a password. The word alone often names an object, `web-tls`.
    Secret { is_object: bool },
    /// A program made the value. The word alone often names a piece of code, and a word is no value of it.
    Token { is_object: bool },
}
use Sense::{Password, Secret, Token};

impl Sense {
    /// Whether the name may be that of an object or a piece of code.
    pub(super) fn is_of_object(self) -> bool {
        matches!(self, Secret { is_object: true } | Token { is_object: true })
    }
}

const SECRET: Sense = Secret { is_object: true };
const TOKEN: Sense = Token { is_object: true };
/// Words that end a name, and their sense: `db_password`, `pgpassword`, `loginPasswd`.
const ENDS: &[(&str, Sense)] = &[
    ("password", Password),
    ("passwd", Password),
    ("passphrase", Password),
    ("passcode", Password),
    ("passwort", Password),
    ("kennwort", Password),
    ("contraseña", Password),
    ("contrasena", Password),
    ("wachtwoord", Password),
    ("lösenord", Password),
    ("salasana", Password),
    ("heslo", Password),
    ("hasło", Password),
    ("парол", Password),
    ("пароль", Password),
    ("密码", Password),
    ("密碼", Password),
    ("パスワード", Password),
    ("비밀번호", Password),
    ("口令", Password),
    ("jelszó", Password),
    ("lozinka", Password),
    ("şifre", Password),
    ("المرور", Password),
    ("סיסמה", Password),
    ("authtok", Password),
    ("masterauth", Password),
    ("schlüssel", TOKEN),
    ("credential", TOKEN),
    ("credentials", TOKEN),
    ("secret", SECRET),
    ("token", TOKEN),
    ("apikey", TOKEN),
    ("secretkey", TOKEN),
    ("privatekey", TOKEN),
    ("accesskey", TOKEN),
    ("authkey", TOKEN),
];
/// Short words that count only as a separate part of a name, or behind one of [`BEFORE_SHORT`].
const SHORT: &[&str] =
    &["pass", "pwd", "pw", "psk", "passe", "passw", "pswd", "psw", "mdp", "senha", "clave", "parola"];
/// Beginnings of words that end in a short word: `dbpass`, `userpwd`, `bindpw`.
const BEFORE_SHORT: &str = "\
    admin auth backup become bind db enc ftp http imap key keystore ldap login mail master mqtt my mysql pg proxy redis \
    require root rpc smtp sql ssh remote local store sudo truststore user vnc web wifi wlan";
/// Words in front of `key` that make it a secret: `key` alone is any key.
const BEFORE_KEY: &str = "\
    api secret private access auth encryption signing account master jwt app admin service license shared preshared wep wifi \
    wlan storage subscription recovery activation product unlock decryption deploy session wandb openai stripe";
/// Words in front of `secret` and `token` with which it is a value, and no object or piece of code.
const OWNERS: &str = "access account admin api app auth bearer bootstrap bot client cluster consumer cookie db deploy github \
    gitlab hmac join jwt login oauth registration runner personal private refresh secret service session shared signing slack user webhook";
/// Parts behind the word that do not change its sense.
const NEUTRAL_TAILS: &str = "\
    value base plain db prod dev staging again confirm confirmation default current new old";
/// Parts with which the value is about a secret and not one.
const HARMLESS: &str = "\
    hashed public pub no has is show hide use needs require requires forgot reset existing max min page next num total allow enable \
    disable with without invalid wrong ask csrf continuation cancellation eos bos pad unk hotkey get ask check validate \
    prompt read load find first second render low high band sub by compiler opt create generate make parse";

/// Whether `byte` continues a word; other alphabets have no case here.
fn is_letter(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte >= 0x80
}

/// The words of a name, without numbers: `dbPassword2` is `db`, `Password`.
pub(super) fn words(name: &[u8]) -> impl DoubleEndedIterator<Item = &[u8]> {
    let is_same =
        |a: &u8, b: &u8| is_letter(*a) && is_letter(*b) && !(a.is_ascii_lowercase() && b.is_ascii_uppercase());
    name.chunk_by(is_same).filter(|word| word.first().is_some_and(|byte| is_letter(*byte)))
}

/// The part of `word` before `end`, in any case.
fn before_end<'a>(word: &'a [u8], end: &str) -> Option<&'a [u8]> {
    let (head, tail) = word.split_at_checked(word.len().checked_sub(end.len())?)?;
    tail.eq_ignore_ascii_case(end.as_bytes()).then_some(head)
}

/// Whether a table of words, separated by blanks, holds `word`.
pub(super) fn is_in(table: &str, word: &[u8]) -> bool {
    let (table, length, mut at) = (table.as_bytes(), word.len(), 0);
    while at + length <= table.len() {
        let ends = table.get(at + length).is_none_or(|byte| *byte == b' ');
        if ends && table[at..at + length].eq_ignore_ascii_case(word) {
            return length > 0;
        }
        at += table[at..].iter().take_while(|byte| **byte != b' ').count() + 1;
    }
    false
}

/// Whether this word makes a secret of a `key` behind it, as `api` does.
pub(super) fn is_before_key(word: &[u8]) -> bool {
    is_in(BEFORE_KEY, word)
}

/// Whether a word by itself names a secret.
pub(super) fn is_secret_word(word: &[u8]) -> bool {
    sense_of_word(word).is_some() || is_in("key tokens secrets passwords credentials", word)
}

/// The sense of a name: its last word says what it is.
pub(super) fn sense(name: &[u8]) -> Option<Sense> {
    let is_neutral = |word: &&[u8]| sense_of_word(word).is_none() && is_in(NEUTRAL_TAILS, word);
    let mut back = words(name).rev().skip_while(is_neutral);
    let last = back.next()?;
    let mut is_key = || last.eq_ignore_ascii_case(b"key") && back.next().is_some_and(|word| is_in(BEFORE_KEY, word));
    let (sense, is_key) = match sense_of_word(last) {
        Some(sense) => (sense, false),
        None => is_key().then_some((TOKEN, true))?,
    };
    if words(name).any(|word| is_in(HARMLESS, word)) {
        return None;
    }
    let is_object = || !(is_key || words(name).rev().skip(1).any(|word| is_in(OWNERS, word)));
    Some(match sense {
        Password => Password,
        Secret { .. } => Secret { is_object: is_object() },
        Token { .. } => Token { is_object: is_object() },
    })
}

fn sense_of_word(word: &[u8]) -> Option<Sense> {
    let is_short = |short| before_end(word, short).is_some_and(|head| head.is_empty() || is_in(BEFORE_SHORT, head));
    match SHORT.iter().copied().any(is_short) {
        true => Some(Password),
        false => ENDS.iter().find(|(end, _)| before_end(word, end).is_some()).map(|(_, sense)| *sense),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_word_of_a_name_says_what_it_is() {
        for (names, expected) in [
            (
                "password DB_PASSWORD pgpassword userPasswd CLAVE_DB password2 keystorePass DB_PWD VNC_PW",
                Some(Password),
            ),
            ("JWT_SECRET client_secret clientSecret", Some(Secret { is_object: false })),
            ("API_TOKEN apiKey secret_key_base AWS_SECRET_ACCESS_KEY accessToken", Some(Token { is_object: false })),
            ("password_file token_url key primary_key sort-key public_key max_tokens compass bypass author", None),
            ("password_hash has_password existingSecret secretName PASS_MIN_LEN next_page_token monkey", None),
        ] {
            for name in names.split(' ') {
                assert_eq!(sense(name.as_bytes()), expected, "{name}");
            }
        }
    }
}
