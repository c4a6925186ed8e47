//! Tests for values as people read and write them.

use std::{
    ffi::OsStr,
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
};

use cohab_protocol::{ApprovalMode, CallId, SessionKey, TurnId, WirePath, codec};

#[test]
fn approval_modes_read_back_what_they_print() {
    for mode in [ApprovalMode::ReadOnly, ApprovalMode::Ask, ApprovalMode::Auto, ApprovalMode::All] {
        assert_eq!(mode.to_string().parse(), Ok(mode));
    }
    assert_eq!(ApprovalMode::default(), ApprovalMode::Ask);
}

#[test]
fn an_unknown_approval_mode_is_told_the_known_ones() {
    for text in ["", "ALL", "read_only", "everything"] {
        let error = text.parse::<ApprovalMode>().expect_err("no such mode");
        for known in ["ask", "read-only", "all", &format!("`{text}`")] {
            assert!(error.contains(known), "{error}");
        }
    }
}

#[test]
fn the_stricter_approval_mode_is_the_smaller_one() {
    assert!(
        ApprovalMode::ReadOnly < ApprovalMode::Ask
            && ApprovalMode::Ask < ApprovalMode::Auto
            && ApprovalMode::Auto < ApprovalMode::All
    );
}

#[test]
fn ids_are_fresh_in_order_and_plain_hex() {
    let (first, second) = (TurnId::fresh(), TurnId::fresh());
    assert!(first < second);
    let text = CallId::fresh().to_string();
    // Ids are used in marks and in names of files.
    assert!(text.len() == 32 && text.chars().all(|c| c.is_ascii_hexdigit() && !c.is_ascii_uppercase()), "{text}");
    assert_eq!(format!("{first:?}"), format!("TurnId({first})"));
    assert_eq!(SessionKey("shell:1".into()).to_string(), "shell:1");
}

#[test]
fn a_path_that_is_no_text_survives_the_trip() {
    let odd = Path::new(OsStr::from_bytes(b"/tmp/\xff\n\x01 x"));
    let wire = WirePath::from(odd);
    let bytes = codec::to_bytes(&wire).expect("paths are bytes");
    let back: WirePath = codec::from_bytes(&bytes).expect("the same bytes");
    assert_eq!((back.as_path(), back.to_path_buf()), (odd, PathBuf::from(odd)));
    assert!(!format!("{back:?}").contains('\n'), "a log line stays one line");
}
