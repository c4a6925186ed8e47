//! Reads the calls of programs that unpack an archive or apply a patch. Pure.

use crate::{
    arguments::Arguments,
    steps::Lister,
    words::{PatternWord, WordPiece},
};

/// Options of `rsync` with a value in the next word: what the value is for does not matter, the operands are not told apart then.
pub(crate) const RSYNC_VALUES: [&str; 12] = [
    "-e",
    "-f",
    "-B",
    "-M",
    "-T",
    "--exclude",
    "--include",
    "--filter",
    "--files-from",
    "--rsh",
    "--backup-dir",
    "--temp-dir",
];
/// Options of `tar` that have a value.
const TAR_VALUES: [&str; 9] =
    ["-f", "-C", "--file", "--directory", "--strip-components", "--exclude", "-b", "--strip", "--wildcards-match"];
/// Options of `tar` that change neither the names nor the places of what it unpacks.
const TAR_PLAIN: [&str; 35] = [
    "-x",
    "-f",
    "-C",
    "-v",
    "-z",
    "-j",
    "-J",
    "-a",
    "-p",
    "-m",
    "-b",
    "-o",
    "-k",
    "-U",
    "--extract",
    "--get",
    "--file",
    "--directory",
    "--strip-components",
    "--strip",
    "--exclude",
    "--verbose",
    "--gzip",
    "--bzip2",
    "--xz",
    "--zstd",
    "--auto-compress",
    "--preserve-permissions",
    "--no-same-owner",
    "--no-same-permissions",
    "--overwrite",
    "--keep-old-files",
    "--wildcards",
    "--same-permissions",
    "--touch",
];
/// Options of `unzip` that list or test.
const UNZIP_QUIET: [&str; 6] = ["-l", "-t", "-p", "-v", "-Z", "-z"];

/// What a program that handles archives changes.
pub(crate) enum Unpacked {
    /// No file.
    Nothing,
    /// This archive.
    Written(PatternWord),
    /// The files of this archive.
    From { lister: Lister, archive: PatternWord, folder: Option<PatternWord>, strip: usize },
    /// It is not known.
    Unclear,
}

/// Reads a call of `program`.
pub(crate) fn unpack(program: &str, words: &[&PatternWord]) -> Unpacked {
    if program == "unzip" { unzip(words) } else { tar(words) }
}

fn tar(words: &[&PatternWord]) -> Unpacked {
    // `tar xzf FILE` has its letters without a dash.
    let mut first = words.first().map(|word| (*word).clone());
    if let Some(first) = first.as_mut().filter(|word| !word.raw.starts_with('-'))
        && let Some(letters) = first.literal()
    {
        let dashed = format!("-{letters}");
        *first = PatternWord { pieces: vec![WordPiece::Text(dashed.clone())], raw: dashed };
    }
    let words: Vec<&PatternWord> = first.iter().chain(words.iter().skip(1).copied()).collect();
    let arguments = Arguments::of(&words, &TAR_VALUES);
    let has = |options: &[&str]| options.iter().any(|option| arguments.has(option));
    let archive = arguments.value_of("-f,--file");
    if has(&["-t", "--list", "-d", "--diff", "--compare"]) {
        return Unpacked::Nothing;
    }
    match archive {
        Some(archive) if has(&["-c", "-r", "-u", "--create", "--append", "--update"]) => {
            Unpacked::Written(archive.clone())
        }
        Some(archive) if has(&["-x", "--extract", "--get"]) => {
            let strip = match arguments.value_of("--strip-components,--strip") {
                Some(number) => number.literal().and_then(|number| number.parse().ok()),
                None => Some(0),
            };
            let is_plain =
                !arguments.is_unclear && arguments.options.iter().all(|option| TAR_PLAIN.contains(&option.as_str()));
            match strip {
                Some(strip) if is_plain && archive.raw != "-" => Unpacked::From {
                    lister: Lister::Tar,
                    archive: archive.clone(),
                    folder: arguments.value_of("-C,--directory").cloned(),
                    strip,
                },
                _ => Unpacked::Unclear,
            }
        }
        _ => Unpacked::Unclear,
    }
}

fn unzip(words: &[&PatternWord]) -> Unpacked {
    let arguments = Arguments::of(words, &["-d", "-x", "-P"]);
    if UNZIP_QUIET.iter().any(|option| arguments.has(option)) {
        return Unpacked::Nothing;
    }
    // Without the names of folders each file goes to the same one.
    let strip = if arguments.has("-j") { usize::MAX } else { 0 };
    match arguments.operands.first() {
        Some(archive) if !arguments.is_unclear => Unpacked::From {
            lister: Lister::Unzip,
            archive: archive.clone(),
            folder: arguments.value_of("-d").cloned(),
            strip,
        },
        _ => Unpacked::Unclear,
    }
}

/// A call of `patch`.
pub(crate) struct Patched {
    pub file: PatternWord,
    pub strip: Option<usize>,
    pub folder: Option<PatternWord>,
}

/// Reads a call of `patch` with this standard input. `None` if its patch is not to be found.
pub(crate) fn patch(words: &[&PatternWord], input: Option<&PatternWord>) -> Option<Patched> {
    let arguments = Arguments::of(
        words,
        &["-p", "-i", "-d", "-F", "-D", "-r", "-z", "-B", "-V", "-Y", "--strip", "--input", "--directory", "--fuzz"],
    );
    let is_plain = !arguments.is_unclear && arguments.operands.is_empty() && !arguments.has("-o");
    let strip = match arguments.value_of("-p,--strip") {
        Some(number) => Some(number.literal()?.parse().ok()?),
        None => None,
    };
    let file = arguments.value_of("-i,--input").or(input).filter(|_| is_plain)?.clone();
    Some(Patched { file, strip, folder: arguments.value_of("-d,--directory").cloned() })
}
