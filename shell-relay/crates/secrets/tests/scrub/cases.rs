//! Single cases of a person or a program. All text here that looks like a secret is made when the test runs.

use std::sync::Arc;

use cohab_secrets::{ExactValues, Mark, PersonalData, Scrubber, Settings, holds_placeholder, placeholders};

use crate::samples::{Dice, formats};

fn scrubbed(text: &str) -> String {
    Scrubber::default().text(text).into_owned()
}

fn github(seed: u64) -> String {
    let formats = formats();
    let format = formats.iter().find(|format| format.label.starts_with("GitHub, personal")).expect("a format");
    format.draw(&mut Dice::new(seed)).text
}

#[test]
fn the_same_value_has_the_same_number_as_long_as_the_conversation_lasts() {
    let (one, two) = (github(1), github(2));
    let mut scrubber = Scrubber::default();
    assert_eq!(
        scrubber.text(&format!("{one} {two} {one}")),
        "<secret:github-token#1> <secret:github-token#2> <secret:github-token#1>"
    );
    assert_eq!(scrubber.text(&format!("TOKEN={two}")), "TOKEN=<secret:github-token#2>");
    assert_eq!(scrubber.report().counts().collect::<Vec<_>>(), [("github-token", 4)]);
    assert_eq!(scrubber.report().to_string(), "       4  github-token\n");
}

#[test]
fn look_alikes_are_told_from_placeholders() {
    assert_eq!(scrubbed("type <secret:github-token#1> now"), "type <quoted-secret:github-token#1> now");
    assert_eq!(scrubbed("<SECRET:x#12>"), "<quoted-secret:x#12>");
    for text in ["<secret: of success#1>", "<secret:#1>", "<secret:x#>", "<secret:x#12345678901>", "<secret:x"] {
        assert_eq!(scrubbed(text), text);
    }
    assert_eq!(Scrubber::default().own_text("type <secret:github-token#1> now"), "type <secret:github-token#1> now");
    assert!(holds_placeholder("echo <secret:jwt#3> | x") && holds_placeholder("echo <secret: <quoted-secret:jwt#3>"));
    assert!(!holds_placeholder("echo <secret: secret:jwt#3> <my-secret:jwt#3>"));
}

fn with_mark() -> Scrubber {
    Scrubber::new(Settings { mark: Some(Mark::fresh()), ..Settings::default() })
}

#[test]
fn a_placeholder_names_the_scrubber_that_wrote_it() {
    let (mut client, mut daemon) = (with_mark(), Scrubber::default());
    let (one, two) = (github(1), github(2));
    let clean = client.text(&format!("use {one}")).into_owned();
    let found: Vec<_> = placeholders(&clean).collect();
    assert!(found.len() == 1 && found[0].can_be_filled() && found[0].name() == "github-token#1", "{found:?}");
    assert_eq!(daemon.text(&clean), clean, "the next one leaves it as it is");
    // Their numbers mean different values, and cannot be taken for each other.
    assert_eq!(daemon.text(&two), "<secret:github-token#1>");
    assert_eq!(
        client.text(&clean),
        clean.replace("<secret", "<quoted-secret"),
        "nothing from elsewhere may bear its mark"
    );
    assert_eq!(client.own_text(&clean), clean);
    assert!(with_mark().text(&one) != clean.trim_start_matches("use "));
}

#[test]
fn a_placeholder_is_no_secret_itself() {
    for around in [
        "curl -u @ x",
        "curl -u me:@ x",
        "TOKEN=@",
        "password: \"@\"",
        "--token @",
        "Authorization: Bearer @",
        "mysql -p@ x",
    ] {
        for seed in 0..20 {
            let placeholder = with_mark().text(&github(seed)).into_owned();
            let text = around.replace('@', &placeholder);
            assert_eq!(Scrubber::default().text(&text), text);
            assert_eq!(with_mark().own_text(&text), text);
        }
    }
}

#[test]
fn the_rest_of_a_long_value_of_our_own_goes_with_its_beginning() {
    let value: String = (0..3_000).map(|at| char::from(b'a' + (at * at % 23) as u8)).collect();
    let exact = Arc::new(ExactValues::new([value.as_bytes()]));
    let mut scrubber = Scrubber::new(Settings { exact, ..Settings::default() });
    assert_eq!(scrubber.text(&format!("a {value} b")), "a <secret:value#1> b");
}

#[test]
fn text_without_secrets_is_not_copied() {
    let text = "nothing to hide, not even a keyboard";
    assert!(matches!(Scrubber::default().text(text), std::borrow::Cow::Borrowed(_)));
}

#[test]
fn a_private_key_goes_to_its_end_line() {
    let body = "aB3/xY+9".repeat(8);
    let key = |name: &str, end: &str| {
        format!("-----BEGIN {name}-----{end}{body}{end}{body}{end}aB3=={end}-----END {name}-----")
    };
    for name in ["PRIVATE KEY", "RSA PRIVATE KEY", "PGP PRIVATE KEY BLOCK"] {
        for end in ["\n", "\r\n", "\\n", " ", "\\\\n", "\",\n\"", "\n> "] {
            let text = format!("before {} after", key(name, end));
            assert_eq!(scrubbed(&text), "before <secret:private-key#1> after", "{name} {end:?}");
        }
    }
    let with_headers = format!(
        "-----BEGIN EC PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00\n\n{body}\n-----END EC PRIVATE KEY-----\n"
    );
    assert_eq!(scrubbed(&with_headers), "<secret:private-key#1>\n");
    let cut = format!("-----BEGIN PRIVATE KEY-----\n{body}\n{body}\n[output was cut here]\n");
    assert_eq!(scrubbed(&cut), "<secret:private-key#1>\n[output was cut here]\n");
}

#[test]
fn only_private_keys_are_blocks() {
    let body = "aB3/xY+9".repeat(8);
    for name in ["PUBLIC KEY", "CERTIFICATE", "RSA PUBLIC KEY", "PGP PUBLIC KEY BLOCK"] {
        let text = format!("-----BEGIN {name}-----\n{body}\n{body}\n-----END {name}-----\n");
        assert_eq!(scrubbed(&text), text);
    }
    for text in [
        "if line.starts_with(\"-----BEGIN RSA PRIVATE KEY-----\") {\n    return Err(KeyError::Unsupported);\n}\n",
        "-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----\n",
        "the line -----BEGIN PRIVATE KEY----- begins a key and -----END PRIVATE KEY----- ends it",
    ] {
        assert_eq!(scrubbed(text), text);
    }
}

#[test]
fn names_tell_what_is_secret_and_what_is_not() {
    let value = ["hT7", "qP2", "xL9", "vB4", "nM6", "kR1"].concat();
    for name in ["API_KEY", "db.password", "clientSecret", "MY_TOKEN", "authKey", "credentials", "secret_key_base"] {
        for text in [format!("{name}={value}"), format!("{name}: '{value}'"), format!("\"{name}\" : \"{value}\",")] {
            assert!(!scrubbed(&text).contains(&value), "{text}");
        }
    }
    for name in
        ["monkey", "author", "keyboard", "rapid", "public_key", "cache_key", "key_id", "tokenizer", "fingerprint"]
    {
        let text = format!("{name}={value}");
        assert_eq!(scrubbed(&text), text);
    }
}

#[test]
fn values_that_are_words_references_and_digests_stay() {
    let hash = "0123456789abcdef".repeat(2);
    for text in [
        "password = get_password(user2)",
        "api_key: ${API_KEY_V2}",
        "token = $TOKEN2",
        "key = Utf8SuffixKey {",
        "secret: /run/secrets/db-password-1",
        "TOKEN=process.env.TOKEN2",
        "auth = config.auth.backend2.name",
        "api = 2026-01-02T03:04:05Z",
        "key = 10.20.30.40:8080",
        "password: {{ vault_password_2 }}",
        "--password PASSWORD   the password to use (at least 8 letters)",
        "--token=<TOKEN1>",
        "postgres://user:password@localhost/db1",
        "Authorization: Bearer $TOKEN1",
        &format!("cache-key: {hash}"),
        &format!("\"key\": \"{hash}\""),
        "https://example.org/?page=2&token=%s",
    ] {
        assert_eq!(scrubbed(text), text);
    }
}

#[test]
fn the_password_of_an_address_goes_and_the_rest_stays() {
    let password = ["q9W", "e8R", "t7Y"].concat();
    assert_eq!(
        scrubbed(&format!("postgres://app:{password}@db:5432/main")),
        "postgres://app:<secret:url-password#1>@db:5432/main"
    );
    assert_eq!(scrubbed(&format!("redis://:{password}@h")), "redis://:<secret:url-password#1>@h");
    assert_eq!(scrubbed(&format!("mysql -u app -p{password} main")), "mysql -u app -p<secret:option-password#1> main");
    assert_eq!(scrubbed(&format!("curl -u me:{password} https://h")), "curl -u me:<secret:curl-password#1> https://h");
}

#[test]
fn own_values_go_in_every_form() {
    let value = "it's \"our\" /key";
    let exact = Arc::new(ExactValues::new([value.as_bytes()]));
    let mut scrubber = Scrubber::new(Settings { exact, ..Settings::default() });
    for form in [
        value.to_owned(),
        r#"it's \"our\" /key"#.to_owned(),
        r#"it's \"our\" \/key"#.to_owned(),
        r"it'\''s ".to_owned() + "\"our\" /key",
        r#"it\'s\ \"our\"\ /key"#.to_owned(),
        "it%27s%20%22our%22%20%2Fkey".to_owned(),
        "it%27s+%22our%22+%2Fkey".to_owned(),
        "aXQncyAib3VyIiAva2V5".to_owned(),
    ] {
        assert_eq!(scrubber.text(&format!("a {form}.")).split('#').next(), Some("a <secret:value"), "{form}");
    }
}

#[test]
fn files_may_be_secret_by_their_names() {
    let line = "db.example.org:5432:main:app:easy\n# a comment:1:2:3:4\nlocalhost:*:*:me\\:too:pass:word\n";
    let clean = Scrubber::default().from_file("/home/me/.pgpass", line.as_bytes()).into_owned();
    let clean = String::from_utf8(clean).expect("text");
    assert_eq!(
        clean,
        "db.example.org:5432:main:app:<secret:postgresql-password#1>\n# a comment:1:2:3:4\nlocalhost:*:*:me\\:too:<secret:postgresql-password#2>\n"
    );
    let store = Scrubber::default().from_file("me.p12", b"\x30\x82\x01").into_owned();
    assert_eq!(store, b"<secret:pkcs12-key#1>");
}

#[test]
fn personal_data_goes_only_when_asked_for() {
    let text = "jane.doe@example.org, +49 170 1234567, 4111 1111 1111 1111, DE89 3704 0044 0532 0130 00, 12345678Z, 192.0.2.7, 2001:db8::7";
    assert_eq!(scrubbed(text), text);
    let mut scrubber = Scrubber::new(Settings { personal: PersonalData::ALL, ..Settings::default() });
    assert_eq!(
        scrubber.text(text),
        "<secret:email#1>, <secret:phone#2>, <secret:card#3>, <secret:iban#4>, <secret:national-id#5>, <secret:ip#6>, <secret:ip#7>"
    );
    for ordinary in [
        "4111 1111 1111 1112",
        "DE88 3704 0044 0532 0130 00",
        "12345678A",
        "127.0.0.1",
        "1.2.3",
        "12:34:56",
        "a@b",
        "std::io::Read",
    ] {
        assert_eq!(scrubber.text(ordinary), ordinary);
    }
    assert!(PersonalData::default().with("email").is_ok_and(|data| data.email && !data.ip));
    let error = PersonalData::default().with("mail").expect_err("no such kind");
    assert_eq!(error, "'mail' is no kind of personal data; there are email, phone, card, iban, national-id, ip");
}

#[test]
fn any_bytes_will_do() {
    let token = github(3);
    let mut bytes = (0..=255).cycle().take(10_000).collect::<Vec<u8>>();
    bytes.extend_from_slice(token.as_bytes());
    bytes.extend_from_slice(&[0, 0xff, 0xfe]);
    let clean = Scrubber::default().bytes(&bytes).into_owned();
    assert!(clean.ends_with(b"\x0f<secret:github-token#1>\0\xff\xfe"));
    assert_eq!(clean[..10_000], bytes[..10_000]);
}

#[test]
fn a_key_is_found_with_the_places_that_a_search_writes() {
    let body = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj";
    let key = ["-----BEGIN PRIVATE KEY-----", body, body, "aB3==", "-----END PRIVATE KEY-----"];
    let places: [fn(usize, &str) -> String; 6] = [
        |number, line| format!("conf/site.pem:{number}:{line}"),
        |number, line| format!("{number}:{line}"),
        |number, line| format!("{number}: {line}"),
        |_, line| format!("conf/site.pem:{line}"),
        |number, line| format!("conf/site.pem-{number}-{line}"),
        |number, line| format!("{number:6}\t{line}"),
    ];
    for place in places {
        let text: String = key.iter().enumerate().map(|(at, line)| place(at + 1, line) + "\n").collect();
        let clean = scrubbed(&text);
        assert!(!clean.contains("MIIEvQ") && clean.contains("private-key"), "{clean}");
    }
}

#[test]
fn names_with_pass_psk_or_pwd_as_a_part_hold_secrets() {
    for text in [
        "smtp_pass: tR7x!qPz9w",
        "ansible_ssh_pass=tR7x!qPz9w",
        "psk=tR7x!qPz9w",
        "wifi_psk=\"tR7x!qPz9w\"",
        "DB_PWD=tR7x!qPz9w",
        "sshpass -p tR7x!qPz9w ssh host",
        "root.pass = tR7x!qPz9w",
    ] {
        assert!(!scrubbed(text).contains("tR7x"), "{}", scrubbed(text));
    }
    for text in ["bypass=tR7x9qPzw", "compass: north-12a", "passenger: x7y8z9w0a", "tests pass: 12 of 14"] {
        assert_eq!(scrubbed(text), text);
    }
}

#[test]
fn the_password_of_an_address_is_a_value_by_itself() {
    let variables =
        [("DATABASE_URL", "postgres://ann:orange-Bicycle@db.example/shop"), ("X", "https://example.org/a@b")];
    let exact = ExactValues::of_environment(variables.into_iter().map(|(name, value)| (name.into(), value.into())));
    let mut scrubber = Scrubber::new(Settings { exact: Arc::new(exact), ..Settings::default() });
    assert!(!scrubber.text("password is orange-Bicycle here").contains("orange-Bicycle"));
    assert_eq!(scrubber.text("example.org/a@b"), "example.org/a@b");
}
