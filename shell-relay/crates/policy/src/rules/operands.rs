//! Judges operands with a small language: lists of words in a file, pipes, addresses, encoded signs. A plain name to the
//! programs of coreutils can be something else to others. Also judges the operands that a pattern of file names produces.

use cohab_shell_syntax::Word;

use super::{
    super::{
        Context,
        options::{Arguments, Operands, Spec},
        paths::PlainPath,
    },
    Refusal, ask,
};

/// They open the file that an operand names, with any signs in the name.
const LITERAL: &[&str] = &[
    "[",
    "b2sum",
    "base32",
    "base64",
    "basename",
    "basenc",
    "bat",
    "batcat",
    "bunzip2",
    "bzcat",
    "bzip2",
    "cat",
    "cd",
    "cksum",
    "cmp",
    "column",
    "comm",
    "count",
    "cut",
    "df",
    "diff",
    "diff3",
    "dir",
    "dirname",
    "du",
    "dust",
    "echo",
    "egrep",
    "exa",
    "expand",
    "eza",
    "fd",
    "fdfind",
    "fgrep",
    "file",
    "find",
    "fmt",
    "fold",
    "getfacl",
    "grep",
    "gunzip",
    "gzcat",
    "gzip",
    "hd",
    "head",
    "hexdump",
    "iconv",
    "join",
    "jq",
    "look",
    "ls",
    "lsattr",
    "lsd",
    "lz4cat",
    "lzcat",
    "md5",
    "md5sum",
    "mountpoint",
    "namei",
    "nl",
    "od",
    "paste",
    "path",
    "pr",
    "print",
    "printf",
    "readlink",
    "realpath",
    "rev",
    "rg",
    "scc",
    "sdiff",
    "sed",
    "sha1sum",
    "sha224sum",
    "sha256sum",
    "sha384sum",
    "sha512sum",
    "shuf",
    "sort",
    "stat",
    "string",
    "sum",
    "tac",
    "tail",
    "tar",
    "test",
    "tokei",
    "tr",
    "tree",
    "tsort",
    "unexpand",
    "uniq",
    "unxz",
    "unzstd",
    "wc",
    "xxd",
    "xz",
    "xzcat",
    "yq",
    "zcat",
    "zstd",
    "zstdcat",
];
/// Scripts, in which a named file may become part of a command's text.
const SCRIPTS: &[&str] = &[
    "apt-file",
    "bzdiff",
    "bzgrep",
    "cloc",
    "colordiff",
    "ldd",
    "lsinitramfs",
    "shasum",
    "xdg-mime",
    "xdg-settings",
    "xzdiff",
    "xzgrep",
    "zcmp",
    "zdiff",
    "zegrep",
    "zfgrep",
    "zgrep",
    "zstdgrep",
];
/// Programs that hand names unquoted to a shell: a pattern or a search may find any name.
const HAND_ON_NAMES: &[&str] = &["cloc"];
/// Rules of programs whose operands are names of files.
const RULES_OF_FILES: &[&str] = &[
    "inspect", "jar", "ldd", "local", "pattern", "picture", "place", "rpm", "schema", "sips", "tar", "tostdout",
    "unrar", "unzip", "xmllint", "zipinfo",
];

/// Whether the program opens the file that an operand names, with any signs in the name.
pub(super) fn is_literal(name: &str) -> bool {
    LITERAL.contains(&name)
}

/// Whether no name that others have chosen may get to it.
pub(super) fn hands_on_names(name: &str) -> bool {
    HAND_ON_NAMES.contains(&name)
}

/// Judges the operands and the paths among the options of a program by their text.
pub(super) fn check(name: &str, spec: &Spec, arguments: &Arguments<'_>) -> Result<(), Refusal> {
    if is_literal(name) {
        return Ok(());
    }
    let skipped = match spec.operands {
        Operands::Paths | Operands::OnePath | Operands::PathAndTexts => 0,
        Operands::Rule("pattern") => usize::from(!arguments.has(&["e", "regexp", "f", "file"])),
        Operands::Rule(rule) if RULES_OF_FILES.contains(&rule) || rule.starts_with("needs:") => 0,
        _ if SCRIPTS.contains(&name) => 0,
        // It distinguishes a bucket from another address itself.
        Operands::Rule("aws") => return Ok(()),
        _ => {
            let address = arguments.operands.iter().find(|word| word.text.contains("://"));
            return address.map_or(Ok(()), |word| ask(format!("names an address: `{}`", word.text)));
        }
    };
    for word in arguments.operands.iter().skip(skipped) {
        if word.has_glob && hands_on_names(name) {
            return ask(format!("`{name}` hands the names that a pattern matches to a shell"));
        }
        check_name(name, &word.text)?;
    }
    arguments.paths.iter().try_for_each(|(path, _)| check_name(name, path))
}

/// Judges a name that a program gets.
fn check_name(program: &str, text: &str) -> Result<(), Refusal> {
    if text == "-" || !is_odd_for(program, text) {
        return Ok(());
    }
    ask(format!("`{program}` may take `{text}` for more than a name"))
}

/// Whether this program may take a name for something else.
pub(super) fn is_odd_for(program: &str, text: &str) -> bool {
    if is_literal(program) {
        return false;
    }
    // An operand with this sign sets a variable.
    if matches!(program, "awk" | "gawk" | "mawk") && text.contains('=') {
        return true;
    }
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_./,+-~*?".contains(c);
    has_language(text) || (SCRIPTS.contains(&program) && !text.chars().all(is_plain))
}

fn has_language(text: &str) -> bool {
    let head = text.split('/').next().unwrap_or_default();
    text.starts_with(['@', '|', '+'])
        || head.contains(':')
        || text.contains(|c: char| c.is_control() || matches!(c, '\'' | '"' | '`' | '|'))
        || text.as_bytes().windows(3).any(|part| part[0] == b'%' && part[1..].iter().all(u8::is_ascii_hexdigit))
}

/// Judges what the patterns among the words of a program match: a name may be an option to it, or a list of more words.
pub(super) fn check_matches(program: &str, words: &[Word], context: Context<'_>) -> Result<(), Refusal> {
    let Some(files) = context.files.filter(|_| !context.confines(program)) else { return Ok(()) };
    for word in words.iter().filter(|word| word.has_glob) {
        let Some(path) = PlainPath::resolve(&word.text, word.has_tilde, context) else { continue };
        let Some(matches) = files.matches(path.written()) else {
            return ask(format!("a pattern matches too many files to be checked: `{}`", word.text));
        };
        let may_lead = !word.has_tilde && !word.text.starts_with(['/', '.']);
        for found in matches {
            let name = found.strip_prefix(context.cwd).unwrap_or(&found).to_string_lossy();
            if (may_lead && name.starts_with(['-', '@', '+'])) || is_odd_for(program, &name) {
                return ask(format!("a pattern matches a file whose name `{program}` may take for more: `{name}`"));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_a_language_is_no_plain_one() {
        for text in ["@x", "|x", "+x", "http:x", "a'b", "a\"b", "a`b", "a|", "%2eenv", "x/%2Ey", "a\nb"] {
            assert!(is_odd_for("nm", text) && !is_odd_for("cat", text), "{text}");
        }
        for text in ["a.o", "src/@types/x", "a+b", "100%", "./http:x", "a b", "%zz"] {
            assert!(!is_odd_for("nm", text), "{text}");
        }
        assert!(is_odd_for("zgrep", "a b") && !is_odd_for("zgrep", "/var/log/syslog.*.gz"));
    }
}
