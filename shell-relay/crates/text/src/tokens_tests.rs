use super::*;

/// Texts of many kinds, each under a line `=== KIND TOKENS`, with the tokens that the tokenizer o200k counts.
const SAMPLES: &str = include_str!("token_samples.txt");

fn samples() -> impl Iterator<Item = (&'static str, f64, &'static str)> {
    let sections = SAMPLES.strip_prefix("=== ").expect("it begins with a section").split("\n=== ");
    sections.map(|section| {
        let (head, text) = section.split_once('\n').expect("a text below its line");
        let (kind, tokens) = head.split_once(' ').expect("kind and tokens");
        (kind, tokens.parse().expect("a number"), text)
    })
}

#[test]
fn runs_are_counted_by_their_class() {
    let hex = "0123456789abcdef".repeat(4);
    for (text, tokens) in [
        ("", 0),
        ("word", 1),
        ("two words", 2),
        ("incomprehensible", 4),
        ("1234567", 3),
        ("port 80", 3),
        ("a\n\nb", 4),
        ("日本語", 3),
        ("привет", 2),
        ("\u{1f600}", 1),
        (hex.as_str(), 38),
    ] {
        assert_eq!(estimate_tokens(text), tokens, "{text:?}");
    }
}

#[test]
fn each_kind_of_text_is_within_a_quarter_of_what_a_tokenizer_counts() {
    let errors: Vec<(&str, f64)> =
        samples().map(|(kind, tokens, text)| (kind, estimate_tokens(text) as f64 / tokens - 1.0)).collect();
    assert!(errors.len() >= 20, "{errors:?}");
    let wrong: Vec<_> = errors.iter().filter(|(_, error)| error.abs() > 0.25).collect();
    assert!(wrong.is_empty(), "{wrong:?}");
    let mean = errors.iter().map(|(_, error)| error.abs()).sum::<f64>() / errors.len() as f64;
    assert!(mean < 0.10, "{mean}");
}

#[test]
fn long_words_and_long_numbers_are_not_taken_for_base64() {
    let dense = |text: &str| estimate_tokens(text) as f64 / text.len() as f64 > 0.5;
    assert!(dense(&"dGhlIHF1aWNr0A+/".repeat(3)));
    assert!(dense(&"0123abcd".repeat(5)));
    assert!(!dense(&"0123abcd".repeat(4)), "too short");
    assert!(!dense(&"somelonglowercaseword".repeat(3)), "no digit");
    assert!(!dense(&"some1long2lowercase3word".repeat(3)), "neither hex nor upper case");
}

#[test]
fn a_text_counts_about_as_much_as_its_parts() {
    for (kind, _, text) in samples() {
        let lines: u64 = text.split_inclusive('\n').map(estimate_tokens).sum();
        let whole = estimate_tokens(text);
        assert!(whole <= lines && lines <= whole + text.lines().count() as u64 * 2, "{kind}: {whole}, {lines}");
    }
}
