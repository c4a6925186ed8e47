//! Golden bytes of every message. A difference here means that two builds would misread each other: raise
//! `PROTOCOL_VERSION`, then run `COHAB_BLESS=1 cargo test -p cohab-protocol --test golden`.

mod samples;

use std::{fs, path::Path};

use cohab_protocol::{ClientMessage, DaemonMessage, SCHEMA_HASH, codec};

fn golden_file() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden.txt")
}

fn unhex(text: &str) -> Vec<u8> {
    assert!(text.len().is_multiple_of(2), "odd number of digits in `{text}`");
    (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).expect("hex digits")).collect()
}

fn recorded(prefix: &str) -> Vec<Vec<u8>> {
    let text = fs::read_to_string(golden_file()).expect("golden.txt is part of the crate");
    let hex = |line: &str| line.split_once(' ').filter(|(name, _)| name.starts_with(prefix)).map(|(_, hex)| unhex(hex));
    text.lines().filter_map(hex).collect()
}

#[test]
fn every_variant_has_the_bytes_it_always_had() {
    let current = samples::golden_lines().join("\n") + "\n";
    if std::env::var_os("COHAB_BLESS").is_some() {
        fs::write(golden_file(), &current).expect("golden.txt can be written");
    }
    let recorded = fs::read_to_string(golden_file()).expect("golden.txt is part of the crate");
    for (now, then) in current.lines().zip(recorded.lines()) {
        assert_eq!(now, then, "the encoding changed: raise PROTOCOL_VERSION, then COHAB_BLESS=1");
    }
    assert_eq!(current, recorded, "variants came or went: raise PROTOCOL_VERSION, then COHAB_BLESS=1");
}

#[test]
fn recorded_bytes_still_mean_the_same_messages() {
    let client: Vec<ClientMessage> =
        recorded("ClientMessage::").iter().map(|bytes| codec::from_bytes(bytes).expect("a message")).collect();
    assert_eq!(client, samples::client_messages());
    let daemon: Vec<DaemonMessage> =
        recorded("DaemonMessage::").iter().map(|bytes| codec::from_bytes(bytes).expect("a message")).collect();
    assert_eq!(daemon, samples::daemon_messages());
}

#[test]
fn the_schema_hash_is_the_fnv_1a_of_the_golden_file() {
    let bytes = fs::read(golden_file()).expect("golden.txt is part of the crate");
    let hash = bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3));
    assert_eq!(SCHEMA_HASH, hash, "golden.txt changed after this crate was built");
}

#[test]
fn every_strict_prefix_of_a_message_is_an_error() {
    for bytes in recorded("DaemonMessage::") {
        for end in 0..bytes.len() {
            assert!(codec::from_bytes::<DaemonMessage>(&bytes[..end]).is_err(), "{end} bytes of {bytes:02x?}");
        }
    }
}

#[test]
fn debug_output_never_shows_a_setting() {
    let setting = cohab_protocol::EnvSetting { name: "OPENAI_API_KEY".into(), value: "sk-secret".into() };
    assert_eq!(format!("{setting:?}"), "EnvSetting(OPENAI_API_KEY=<hidden>)");
}
