//! Finds commands that do not end by themselves: they follow a file, or unexpectedly wait for the keyboard.

use cohab_shell_syntax::Word;

use super::super::options;

/// Programs that read standard input when no file is named, or when a file is named `-`.
const FILTERS: &[&str] = &[
    "cat",
    "tac",
    "rev",
    "zcat",
    "head",
    "tail",
    "wc",
    "nl",
    "cut",
    "paste",
    "fold",
    "fmt",
    "expand",
    "unexpand",
    "column",
    "sort",
    "uniq",
    "shuf",
    "od",
    "hexdump",
    "hd",
    "xxd",
    "strings",
    "base64",
    "base32",
    "iconv",
    "gzcat",
    "bzcat",
    "xzcat",
    "zstdcat",
    "gunzip",
    "bunzip2",
    "unxz",
    "unzstd",
    "gzip",
    "bzip2",
    "xz",
    "zstd",
    "lz4cat",
    "lzcat",
    "pr",
    "tsort",
    "basenc",
    "bat",
    "batcat",
    "less",
    "addr2line",
    "c++filt",
];
/// Programs that print the sums of the contents of files, or of standard input.
pub(super) const SUMMERS: &[&str] =
    &["md5sum", "sha1sum", "sha224sum", "sha256sum", "sha384sum", "sha512sum", "b2sum", "cksum", "sum", "shasum"];
/// Programs that read standard input only when a file is named `-`.
const COMPARERS: &[&str] = &["join", "comm", "diff", "cmp", "sdiff", "diff3", "colordiff"];
const SEARCHERS: &[&str] = &["grep", "egrep", "fgrep"];

/// The reason why the command would not end by itself. With `has_input` its standard input is not a terminal.
pub(super) fn why_it_never_ends(name: &str, words: &[Word], has_input: bool) -> Option<String> {
    if follows(name, words) {
        return Some(format!("never ends by itself: `{name}` that follows"));
    }
    (!has_input && reads_keyboard(name, words)).then(|| format!("waits for text from the keyboard: `{name}`"))
}

fn follows(name: &str, words: &[Word]) -> bool {
    let flags: &[char] = match name {
        "tail" => &['f', 'F'],
        "journalctl" => &['f'],
        "dmesg" => &['w', 'W'],
        _ => return false,
    };
    words.iter().take_while(|word| word.text != "--").any(|word| match word.text.strip_prefix('-') {
        Some(long) if long.starts_with('-') => long.starts_with("-follow") || long == "-retry",
        Some(short) => short.contains(flags),
        None => false,
    })
}

fn reads_keyboard(name: &str, words: &[Word]) -> bool {
    if matches!(words, [only] if only.text == "--help" || only.text == "--version") {
        return false;
    }
    let texts: Vec<&str> = words.iter().map(|word| word.text.as_str()).collect();
    match name {
        "tr" | "bc" | "datamash" | "col" | "colrm" | "ul" | "cpio" => return true,
        "sed" => return names_no_file(&sed_operands(&texts)),
        "awk" | "gawk" | "mawk" => return awk_reads_keyboard(&texts),
        _ => {}
    }
    let Some(Ok(arguments)) = options::verb(name).map(|spec| spec.split(words)) else { return false };
    let operands: Vec<&str> = arguments.operands.iter().map(|word| word.text.as_str()).collect();
    let behind_first = || operands.get(1..).unwrap_or_default();
    match name {
        "shuf" if arguments.has(&["e", "i"]) => false,
        "jq" if arguments.has(&["n", "null-input", "arg", "argjson"]) => false,
        "jq" | "yq" => names_no_file(behind_first()),
        _ if COMPARERS.contains(&name) => operands.contains(&"-"),
        _ if SEARCHERS.contains(&name) && arguments.has(&["r", "recursive"]) => operands.contains(&"-"),
        _ if SEARCHERS.contains(&name) && arguments.has(&["e", "regexp", "f", "file"]) => names_no_file(&operands),
        _ if SEARCHERS.contains(&name) => names_no_file(behind_first()),
        _ => (FILTERS.contains(&name) || SUMMERS.contains(&name)) && names_no_file(&operands),
    }
}

fn names_no_file(operands: &[&str]) -> bool {
    operands.is_empty() || operands.contains(&"-")
}

/// The words behind the script of `sed`.
fn sed_operands<'a>(words: &[&'a str]) -> Vec<&'a str> {
    let (mut operands, mut has_script) = (Vec::new(), false);
    let mut words = words.iter();
    while let Some(word) = words.next() {
        match word.strip_prefix('-') {
            Some(long) if long.starts_with('-') => has_script |= long.starts_with("-expression="),
            Some(flags) if flags.ends_with('e') => has_script |= words.next().is_some(),
            Some(flags) if flags.contains('e') => has_script = true,
            Some(flags) if !flags.is_empty() => {}
            _ => operands.push(*word),
        }
    }
    if !has_script && !operands.is_empty() {
        operands.remove(0);
    }
    operands
}

fn awk_reads_keyboard(words: &[&str]) -> bool {
    let mut rest = words;
    while let [option, behind @ ..] = rest
        && option.starts_with('-')
    {
        rest = if matches!(*option, "-F" | "-v") { behind.get(1..).unwrap_or_default() } else { behind };
    }
    let Some((program, files)) = rest.split_first() else { return false };
    names_no_file(files) && !is_only_begin(program)
}

/// Whether an awk program is one `BEGIN` block: then no input is read.
fn is_only_begin(program: &str) -> bool {
    let Some(block) = program.trim().strip_prefix("BEGIN") else { return false };
    let mut depth = 0_i32;
    let mut closings = block.char_indices().filter_map(|(at, c)| {
        depth += i32::from(c == '{') - i32::from(c == '}');
        (c == '}' && depth == 0).then_some(at)
    });
    closings.next().is_some_and(|at| at + 1 == block.len())
}
