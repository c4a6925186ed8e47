//! Finds the files of a project that the commands of its hooks name, so that the consent to the hooks covers their content.
//!
//! It rather finds too many: what a variable holds is not known, so what stands behind one is looked for in the project, and every folder that
//! a command names may be the one that a further word starts from.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

/// Most scripts of a file of hooks.
const MAX_SCRIPTS: usize = 32;
/// Most folders that further words are looked for in.
const MAX_FOLDERS: usize = 8;
/// Most different words of all commands of a file.
const MAX_WORDS: usize = 2_048;
/// Characters between words, outside of quotes.
const SEPARATORS: &str = ";|&<>()=`";

/// The files of the project that commands name which run at its root. What they run in turn is not followed. Blocks.
///
/// # Errors
/// There are too many of them; a phrase.
pub fn of_commands<'a>(commands: impl Iterator<Item = &'a str>, root: &Path) -> Result<Vec<PathBuf>, String> {
    let mut words = BTreeSet::new();
    for command in commands {
        words.extend(words_of(command));
    }
    if words.len() > MAX_WORDS {
        return Err(format!("its commands have more than {MAX_WORDS} different words; move them to scripts"));
    }
    let folders = folders(&words, root)?;
    let mut scripts = BTreeSet::new();
    for path in folders.iter().flat_map(|folder| words.iter().filter_map(|word| file(word, folder, root))) {
        scripts.insert(path);
        if scripts.len() > MAX_SCRIPTS {
            return Err(format!("its commands name more than {MAX_SCRIPTS} files of the project"));
        }
    }
    Ok(scripts.into_iter().collect())
}

/// What may be a path in a command, once as the shell reads it, and once without any quotes: a command may hold another one.
fn words_of(command: &str) -> BTreeSet<String> {
    let unquoted = command.replace(['"', '\'', '\\'], "");
    let flat = unquoted.split(is_separator).map(str::to_owned);
    let mut words = BTreeSet::new();
    for word in flat.chain(quoted_words(command)) {
        let parts = word.split([':', ',']).map(str::to_owned).collect::<Vec<_>>();
        for word in parts.into_iter().chain([word]) {
            words.extend(behind_variable(&word).map(str::to_owned));
            words.insert(word);
        }
    }
    words.remove("");
    words
}

fn is_separator(c: char) -> bool {
    c.is_whitespace() || SEPARATORS.contains(c)
}

/// Words with what quotes hold together.
fn quoted_words(command: &str) -> Vec<String> {
    let (mut words, mut word, mut quote) = (Vec::new(), String::new(), None);
    let mut rest = command.chars();
    while let Some(c) = rest.next() {
        match (c, quote) {
            ('\\', None | Some('"')) => word.extend(rest.next()),
            ('"' | '\'', None) => quote = Some(c),
            (c, Some(open)) if c == open => quote = None,
            (c, None) if is_separator(c) => words.push(std::mem::take(&mut word)),
            (c, _) => word.push(c),
        }
    }
    words.push(word);
    words
}

/// The path behind `$NAME/`, `${NAME…}/` or `$(…)/`, whose last part alone is a word.
fn behind_variable(word: &str) -> Option<&str> {
    let rest = match word.rsplit_once('}') {
        Some((_, rest)) => rest,
        None if word.starts_with('$') => word.split_once('/')?.1,
        None => word,
    };
    let rest = rest.trim_start_matches('/');
    (rest.len() < word.len()).then_some(rest)
}

/// The root, and the folders of the project that a command may change to.
fn folders(words: &BTreeSet<String>, root: &Path) -> Result<BTreeSet<PathBuf>, String> {
    let mut folders = BTreeSet::from([root.to_owned()]);
    let mut open = vec![root.to_owned()];
    while let Some(from) = open.pop() {
        for word in words {
            let Ok(folder) = from.join(word).canonicalize() else { continue };
            if folder.starts_with(root) && folder.is_dir() && folders.insert(folder.clone()) {
                open.push(folder);
            }
            if folders.len() > MAX_FOLDERS {
                return Err(format!("its commands name more than {MAX_FOLDERS} folders of the project"));
            }
        }
    }
    Ok(folders)
}

/// The file that a word names in a folder of the project. A link there may lead to a file elsewhere.
fn file(word: &str, folder: &Path, root: &Path) -> Option<PathBuf> {
    let named = folder.join(word);
    let path = named.canonicalize().ok().filter(|path| path.is_file())?;
    (path.starts_with(root) || named.starts_with(root)).then_some(path)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn project() -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap().join("shop");
        fs::create_dir_all(root.join("my hooks")).unwrap();
        fs::create_dir_all(root.join("src/.h")).unwrap();
        for name in ["check.sh", "my hooks/a.sh", "src/.h/b.sh"] {
            fs::write(root.join(name), name).unwrap();
        }
        (folder, root)
    }

    fn found(command: &str, root: &Path) -> Vec<String> {
        let scripts = of_commands([command].into_iter(), root).unwrap();
        scripts.iter().map(|path| path.strip_prefix(root).unwrap().display().to_string()).collect()
    }

    #[test]
    fn a_script_is_found_in_each_way_to_name_it() {
        let (_folder, root) = project();
        let absolute = root.join("check.sh").display().to_string();
        for command in [
            "./check.sh",
            "sh check.sh --fast",
            "$CLAUDE_PROJECT_DIR/check.sh",
            "\"${COHAB_PROJECT_DIR}\"/check.sh",
            "${CLAUDE_PROJECT_DIR:-.}/check.sh",
            "${CLAUDE_PROJECT_DIR:-$(pwd)}/check.sh",
            "$PWD/check.sh",
            "$(git rev-parse --show-toplevel)/check.sh",
            "`pwd`/check.sh",
            "sh -c 'exec \"./check.sh\"'",
            "cd src && ../check.sh",
            "X=check.sh; sh $X",
            absolute.as_str(),
        ] {
            assert_eq!(found(command, &root), ["check.sh"], "{command}");
        }
        assert_eq!(found("'my hooks/a.sh'", &root), ["my hooks/a.sh"]);
        for command in ["cd src; .h/b.sh", "cd src; cd .h; ./b.sh", "D=src/.h; $D/b.sh", "PATH=src/.h:$PATH b.sh"] {
            assert_eq!(found(command, &root), ["src/.h/b.sh"], "{command}");
        }
        assert_eq!(found("/bin/sh -c 'echo hello'", &root), Vec::<String>::new());
    }

    #[test]
    fn a_link_of_the_project_is_followed_out_of_it() {
        let (folder, root) = project();
        let outside = folder.path().canonicalize().unwrap().join("outside.sh");
        fs::write(&outside, "").unwrap();
        std::os::unix::fs::symlink(&outside, root.join("link.sh")).unwrap();
        assert_eq!(of_commands(["./link.sh"].into_iter(), &root).unwrap(), [outside]);
    }

    #[test]
    fn too_many_words_files_or_folders_are_a_fault() {
        let (_folder, root) = project();
        let many = |n: usize, name: &dyn Fn(usize) -> String| (0..n).map(name).collect::<Vec<_>>().join(" ");
        for n in 0..=MAX_SCRIPTS {
            fs::write(root.join(format!("s{n}")), "").unwrap();
            fs::create_dir(root.join(format!("d{n}"))).unwrap();
        }
        let fault = |command: String| of_commands([command.as_str()].into_iter(), &root).unwrap_err();
        assert_eq!(found(&many(MAX_SCRIPTS, &|n| format!("s{n}")), &root).len(), MAX_SCRIPTS);
        assert!(fault(many(MAX_SCRIPTS + 1, &|n| format!("s{n}"))).contains("more than 32 files"));
        assert!(fault(many(MAX_FOLDERS, &|n| format!("d{n}"))).contains("more than 8 folders"));
        assert!(fault(many(MAX_WORDS + 1, &|n| format!("w{n}"))).contains("different words"));
    }
}
