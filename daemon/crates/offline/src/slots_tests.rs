use proptest::prelude::*;

use super::super::words::tokenize;
use super::*;

fn slots(text: &str) -> Slots {
    read_slots(&tokenize(text)).0
}

#[test]
fn sizes_are_read_in_their_usual_forms() {
    let mib = 1024 * 1024;
    for (text, expected) in [
        ("files bigger than 100 MB", SizeBound::Above(100 * mib)),
        ("files over 1.5G", SizeBound::Above(1536 * mib)),
        ("anything at least 10k", SizeBound::Above(10 * 1024)),
        ("files smaller than 1 mb", SizeBound::Below(mib)),
        ("less than 500 bytes", SizeBound::Below(500)),
        ("100MB+ files", SizeBound::Above(100 * mib)),
        ("dateien größer als 2 gb", SizeBound::Above(2048 * mib)),
    ] {
        assert_eq!(slots(text).size, Some(expected), "{text}");
    }
    assert_eq!(slots("show 5 files").size, None);
}

#[test]
fn places_are_read_in_their_usual_forms() {
    for (text, expected) in [
        ("big files in ~/src", Some("~/src")),
        ("what is here", Some(".")),
        ("size of this folder", Some(".")),
        ("files in the docs folder", Some("docs")),
        ("count files in my home directory", Some("~")),
        ("files in 'my stuff'", Some("my stuff")),
        ("changed in the last 2 days", None),
        ("what is big", None),
    ] {
        assert_eq!(slots(text).place.as_deref(), expected, "{text}");
    }
}

#[test]
fn extensions_are_read_in_their_usual_forms() {
    for (text, expected) in [
        ("find *.rs", "rs"),
        ("all .txt files", "txt"),
        ("count python files", "py"),
        ("files with extension md", "md"),
        ("find pdfs", "pdf"),
        ("log files", "log"),
    ] {
        assert_eq!(slots(text).extensions, [expected], "{text}");
    }
    assert!(slots("show .bashrc").extensions.is_empty());
}

#[test]
fn numbers_and_assignments_are_read() {
    assert_eq!(slots("top 5").number, Some(5));
    assert_eq!(slots("who listens on :8080").number, Some(8080));
    assert_eq!(slots("set FOO=a=b").assignment, Some(("FOO".into(), "a=b".into())));
    assert_eq!(slots("set 1FOO=x").assignment, None);
}

proptest! {
    #[test]
    fn any_words_are_read(text in "((in|of|last|older|than|since|ago|days|mb|5|1e9|[.]rs|[*][.]|=|named|this|folder|\\PC{1,5}) ?){0,14}") {
        let tokens = tokenize(&text);
        prop_assert_eq!(read_slots(&tokens).1.len(), tokens.len());
    }
}
