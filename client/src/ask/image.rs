//! `cohab ask --image FILE`: the question names the file, and is answered like one that does so by `@path`.

use std::path::Path;

use cohab_system::files::read_regular;
use cohab_text::sanitize::one_line;
use cohab_types::image_format::{IMAGE_MAX_BYTES, ImageFormat};

/// Longest path in an error, in columns.
const PATH_COLUMNS: usize = 300;

/// The word by which a question names an image. Reads the file, which may not be there or be no image. Blocks.
///
/// # Errors
/// A sentence without its end.
pub(super) fn mention(path: &Path, cwd: &Path) -> Result<String, String> {
    let shown = one_line(&path.to_string_lossy(), PATH_COLUMNS);
    let (bytes, _) =
        read_regular(&cwd.join(path), IMAGE_MAX_BYTES as u64).map_err(|error| format!("--image {shown}: {error}"))?;
    if ImageFormat::of(&bytes).is_none() {
        return Err(format!("--image {shown}: neither PNG, JPEG, GIF, WebP nor PDF"));
    }
    let path = cwd.join(path);
    let path = path.to_str().ok_or_else(|| format!("--image {shown}: its path is not valid UTF-8"))?;
    Ok(format!("@{}", escaped(path)))
}

/// The path as one word of a question.
fn escaped(path: &str) -> String {
    let mut word = String::new();
    for sign in path.chars() {
        if sign.is_whitespace() || matches!(sign, '\\' | '"' | '\'') {
            word.push('\\');
        }
        word.push(sign);
    }
    word
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn only_images_of_a_bearable_size_are_named() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = |name: &str, bytes: &[u8]| fs::write(folder.path().join(name), bytes).expect("a file");
        file("my shot.png", b"\x89PNG\r\n\x1a\n rest");
        file("notes.txt", b"text");
        file("huge.gif", &[b"GIF89a".as_slice(), &vec![0; IMAGE_MAX_BYTES]].concat());
        let named = |name: &str| mention(Path::new(name), folder.path());
        let word = named("my shot.png").expect("an image");
        assert!(word.starts_with("@/") && word.ends_with("/my\\ shot.png"), "{word}");
        for (name, fault) in
            [("notes.txt", "neither PNG"), ("none.png", "no such file"), ("huge.gif", "large"), (".", "folder")]
        {
            let refused = named(name).expect_err(name);
            assert!(refused.starts_with("--image ") && refused.contains(fault), "{refused}");
        }
    }
}
