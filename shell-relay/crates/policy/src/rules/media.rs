//! Allows programs that describe pictures, sounds and documents.

use cohab_shell_syntax::Word;

use super::{
    super::{Context, options::Arguments, paths},
    Refusal, ask, check_path,
};

/// Formats that `identify` reads without the help of another program.
const PICTURES: &[&str] = &["bmp", "gif", "ico", "jpeg", "jpg", "png", "tif", "tiff", "webp"];

/// Judges the operands of the program that `rule` names.
pub(super) fn assess(rule: &str, arguments: &Arguments<'_>, context: Context<'_>) -> Result<(), Refusal> {
    let operands = &arguments.operands[..];
    let read = |words: &[&Word]| words.iter().try_for_each(|word| check_path(word, context, paths::read_risk));
    match (rule, operands) {
        // Addresses, and formats in front of a colon that are programs.
        ("picture" | "local", _) if operands.iter().any(|word| word.text.contains([':', '@', '|'])) => {
            ask("names something else than a file")
        }
        ("picture", _) if !operands.iter().all(|word| is_picture(&word.text)) => {
            ask("`identify` may start another program for a file of this kind")
        }
        ("picture", _) if arguments.options.iter().any(|(_, value)| value.is_some_and(|text| text.contains('@'))) => {
            ask("a format that may read a file")
        }
        ("local", _)
            if arguments.options.iter().any(|(_, value)| value.is_some_and(|text| text.contains("://")))
                || arguments.paths.iter().any(|(path, _)| path.contains([':', '@', '|'])) =>
        {
            ask("an option that names an address or a file")
        }
        ("picture" | "local", _) => read(operands),
        ("tostdout", [file, out]) if out.text == "-" => read(&[file]),
        // `-g NAME FILE`
        ("sips", [name, file]) if name.text.bytes().all(|byte| byte.is_ascii_alphanumeric()) => read(&[file]),
        _ => ask("writes a file, or may"),
    }
}

fn is_picture(name: &str) -> bool {
    name.rsplit_once('.').is_some_and(|(_, kind)| PICTURES.contains(&kind.to_ascii_lowercase().as_str()))
}
