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
    ("authtok", Password),
    ("masterauth", Password),
    ("schlüssel", TOKEN),
    ("secret", SECRET),
    ("token", TOKEN),
    ("apikey", TOKEN),
    ("secretkey", TOKEN),
    ("privatekey", TOKEN),
    ("accesskey", TOKEN),
    ("authkey", TOKEN),
];
/// Short words that count only as a separate part of a name, or behind one of [`BEFORE_SHORT`].
const SHORT: &str = "\
    pass pwd pw psk passe passw pswd psw mdp senha clave parola";
/// Beginnings of words that end in a short word: `dbpass`, `userpwd`, `bindpw`.
const BEFORE_SHORT: &str = "\
    admin auth backup become bind db enc ftp http imap key keystore ldap login mail master mqtt my mysql pg proxy redis \
    require root rpc smtp sql ssh remote local store sudo truststore user vnc web wifi wlan";
/// Words in front of `key` that make it a secret: `key` alone is any key.
const BEFORE_KEY: &str = "\
    api secret private access auth encryption signing account master jwt app admin service license shared preshared wep wifi \
    wlan storage subscription deploy session";
/// Words in front of `secret` and `token` with which it is a value, and no object or piece of code.
const OWNERS: &str = "access account admin api app auth bearer bot client consumer cookie db deploy github gitlab hmac \
    jwt oauth personal private refresh secret service session shared signing slack user webhook";
/// Parts behind the word that do not change its sense.
const NEUTRAL_TAILS: &str = "\
    value base plain db prod dev staging again confirm confirmation default current new old";
/// Parts with which the value is about a secret and not one.
const HARMLESS: &str = "\
    public pub no has is show hide use needs require requires forgot reset existing max min page next num total allow enable \
    disable with without invalid wrong ask csrf continuation cancellation eos bos pad unk hotkey get ask check validate \
    prompt read load find first second render low high band sub by compiler opt create generate make parse";

/// Whether `byte` continues a word; other alphabets have no case here.
fn is_letter(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte >= 0x80
}

/// The words of a name in lower case, without numbers: `dbPassword2` is `db`, `password`.
pub(super) fn words(name: &[u8]) -> Vec<Vec<u8>> {
    let is_same =
        |a: &u8, b: &u8| is_letter(*a) && is_letter(*b) && !(a.is_ascii_lowercase() && b.is_ascii_uppercase());
    let words = name.chunk_by(is_same).filter(|word| word.first().is_some_and(|byte| is_letter(*byte)));
    words.map(<[u8]>::to_ascii_lowercase).collect()
}

/// Whether a table of words, separated by blanks, holds `word`.
pub(super) fn is_in(table: &str, word: &[u8]) -> bool {
    table.split(' ').any(|entry| entry.as_bytes().eq_ignore_ascii_case(word))
}

/// Whether a word by itself names a secret.
pub(super) fn is_secret_word(word: &[u8]) -> bool {
    sense_of_words(&[word.to_vec()]).is_some() || is_in("key tokens secrets passwords credentials", word)
}

/// The sense of a name: its last word says what it is.
pub(super) fn sense(name: &[u8]) -> Option<Sense> {
    sense_of_words(&words(name))
}

fn sense_of_words(words: &[Vec<u8>]) -> Option<Sense> {
    let neutral = words.iter().rev().take_while(|word| is_in(NEUTRAL_TAILS, word)).count();
    let (last, before) = words[..words.len() - neutral].split_last()?;
    if words.iter().any(|word| is_in(HARMLESS, word)) {
        return None;
    }
    let is_key = last == b"key" && before.last().is_some_and(|word| is_in(BEFORE_KEY, word));
    let is_short = SHORT.split(' ').any(|short| {
        let head = last.strip_suffix(short.as_bytes());
        head.is_some_and(|head| head.is_empty() || is_in(BEFORE_SHORT, head))
    });
    let end = || ENDS.iter().find(|(word, _)| last.ends_with(word.as_bytes())).map(|(_, sense)| *sense);
    let sense = if is_short { Some(Password) } else { end().or_else(|| is_key.then_some(TOKEN)) };
    let is_object = !(is_key || before.iter().any(|word| is_in(OWNERS, word)));
    sense.map(|sense| match sense {
        Password => Password,
        Secret { .. } => Secret { is_object },
        Token { .. } => Token { is_object },
    })
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
