//! Resolves the names in a line as the live shell does: its reported aliases, functions and programs. Pure; programs
//! are looked up through `Files`.

use std::{
    collections::HashSet,
    path::{Path, PathBuf},
};

use cohab_shell_state::{
    shell::Shell,
    state::{AliasKind, Item, Snapshot, Value},
};
use cohab_shell_syntax::{SimpleCommand, Structure, parse_plain};

use super::{
    Context,
    caveat::{Caveat, ProgramFault},
    known_names, nested, options,
    rules::xargs,
    shell_options,
};

/// Commands that report the meaning of a name.
const TELL_OF_NAMES: &[&str] = &["command", "type", "whence", "where", "which"];
/// Names that are commands of the shell itself.
const BUILTINS: &[&str] = &[
    "[", "alias", "cd", "command", "compgen", "dirs", "echo", "false", "help", "history", "jobs", "kill", "printf",
    "pwd", "test", "times", "true", "type", "ulimit", "umask", "wait",
];
/// Functions that are part of fish.
const FISH_OWN: &[&str] = &["cd", "diff", "dirs", "egrep", "fgrep", "grep", "help", "history", "ls", "man"];
/// Programs that have special rules instead of a line in the table of options.
const RULED: &[&str] = &["find", "sed", "awk", "gawk", "mawk", "git", "ip", "ps", "man", "xargs"];
/// The folders in which the system keeps programs.
const SYSTEM_FOLDERS: &[&str] =
    &["/usr", "/bin", "/sbin", "/opt", "/snap", "/nix/store", "/run/current-system", "/home/linuxbrew"];
/// Programs that stand in for others and run programs that a project's files name.
const STAND_INS: &[&str] = &["asdf", "mise", "rustup", "volta-shim"];
/// Options that an alias may add to its own name: they change only how something looks.
const PLAIN_OPTIONS: &[&str] = &[
    "-1",
    "-A",
    "-C",
    "-CF",
    "-F",
    "-G",
    "-a",
    "-al",
    "-h",
    "-hF",
    "-l",
    "-la",
    "-lah",
    "-lh",
    "-p",
    "-x",
    "--classify",
    "--color",
    "--color=always",
    "--color=auto",
    "--color=never",
    "--color=tty",
    "--colour=auto",
    "--group-directories-first",
    "--human-readable",
    "--hyperlink=auto",
];
/// Programs whose short options of [`PLAIN_OPTIONS`] have that meaning.
const LISTERS: &[&str] = &["ls", "dir", "df", "du", "free"];

/// Why names in `line` may mean something else than the policy assumes, each once; empty if each name is itself. A line that is
/// not plain was agreed to as it stands.
#[must_use]
pub fn why_not_themselves(line: &str, shell: &Snapshot, context: Context<'_>) -> Vec<Caveat> {
    let reading = known_names::reading(context.shell, line);
    let Ok(commands) = parse_plain(&reading.text) else { return Vec::new() };
    let programs = commands
        .iter()
        .flat_map(|command| command.words.first().into_iter().chain(xargs::programs_run(&command.words)));
    let programs = programs.map(|name| name.text.as_str());
    // What a shell in the line runs knows no alias and no function.
    let in_texts = commands.iter().flat_map(|command| nested::programs_run(&command.words));
    let in_texts = in_texts.filter_map(|name| why_not_the_named(&name, shell, context));
    let mut caveats: Vec<Caveat> = if let Some(structure) = &reading.structure {
        let of_names = programs.filter_map(|name| why_not_the_named(name, shell, context));
        of_names.chain(why_differs(structure, &commands, shell, context)).collect()
    } else {
        let words = commands.iter().flat_map(|command| &command.words);
        let of_words = words.filter_map(|word| why_not_a_plain_word(&word.text, shell));
        let of_names = programs.filter_map(|name| why_not_itself(name, shell, context));
        of_words.chain(of_names).chain(shell_options::why_read_otherwise(&commands, shell)).collect()
    };
    caveats.extend(in_texts);
    let mut seen = HashSet::new();
    caveats.retain(|caveat| seen.insert(caveat.clone()));
    caveats
}

/// The reason why a word means something else in any place.
fn why_not_a_plain_word(word: &str, shell: &Snapshot) -> Option<Caveat> {
    let has = |item: Item| shell.contains_key(&item);
    if has(Item::Alias(AliasKind::Global, word.to_owned())) {
        return Some(Caveat::GlobalAlias(word.to_owned()));
    }
    if has(Item::Abbreviation(word.to_owned())) {
        return Some(Caveat::Abbreviation(word.to_owned()));
    }
    let named = word.strip_prefix('~').and_then(|rest| rest.split('/').next());
    let folder = shell.get(&Item::NamedFolder(named?.to_owned()))?;
    Some(Caveat::NamedFolder { word: word.to_owned(), folder: shown(folder) })
}

fn shown(value: &Value) -> String {
    String::from_utf8_lossy(&value.join(&b' ')).into_owned()
}

/// The reason why the output of a separate shell is not true of the user's shell.
fn why_differs(
    structure: &Structure,
    commands: &[SimpleCommand],
    shell: &Snapshot,
    context: Context<'_>,
) -> Vec<Caveat> {
    let is_hidden = |name: &&String| shell.contains_key(&Item::Variable((*name).clone()));
    let of_variables = structure.environment.iter().filter(is_hidden);
    let of_variables = of_variables.map(|name| Caveat::NotExported(name.clone()));
    let is_of_the_shell = |name: &&str| {
        shell.contains_key(&Item::Function((*name).to_owned()))
            || shell.contains_key(&Item::Alias(AliasKind::Command, (*name).to_owned()))
    };
    let told = commands.iter().filter(|command| TELL_OF_NAMES.contains(&command.words[0].text.as_str()));
    let told = told.flat_map(|command| &command.words[1..]).map(|word| word.text.as_str()).filter(is_of_the_shell);
    let of_names = told.map(|name| Caveat::NotInSeparateShell(name.to_owned()));
    // The user's shell changes the folder.
    let folder = (structure.behind_cd > 0).then(|| {
        let path = shell.contains_key(&Item::Exported("CDPATH".into()))
            || shell.contains_key(&Item::Variable("CDPATH".into()));
        why_not_itself("cd", shell, context).or_else(|| path.then_some(Caveat::CdPath))
    });
    of_variables.chain(of_names).chain(folder.flatten()).collect()
}

fn why_not_itself(name: &str, shell: &Snapshot, context: Context<'_>) -> Option<Caveat> {
    if name.contains('/') {
        return None;
    }
    if let Some(meaning) = shell.get(&Item::Alias(AliasKind::Command, name.to_owned())) {
        let meaning = shown(meaning);
        if !only_adds_plain_options(name, &meaning) {
            return Some(Caveat::Alias { name: name.to_owned(), meaning });
        }
    }
    let suffix = name.rsplit_once('.').map(|(_, suffix)| suffix.to_owned());
    if suffix.is_some_and(|suffix| shell.contains_key(&Item::Alias(AliasKind::Suffix, suffix))) {
        return Some(Caveat::SuffixAlias(name.to_owned()));
    }
    if let Some(definition) = shell.get(&Item::Function(name.to_owned())) {
        let is_fish_own = context.shell == Shell::Fish && FISH_OWN.contains(&name);
        if !(is_fish_own && comes_with_the_system(definition)) {
            return Some(Caveat::Function(name.to_owned()));
        }
    }
    if is_builtin(name, context.shell) {
        let is_off = shell.get(&Item::Builtin(name.to_owned())).is_some_and(|value| value == &[b"off"]);
        return is_off.then(|| Caveat::BuiltinOff(name.to_owned()));
    }
    if let Some(path) = shell.get(&Item::Hashed(name.to_owned())) {
        return Some(Caveat::Hashed { name: name.to_owned(), path: shown(path) });
    }
    why_not_the_named(name, shell, context)
}

fn is_builtin(name: &str, shell: Shell) -> bool {
    BUILTINS.contains(&name) || options::is_own(shell, name)
}

/// As [`why_not_itself`], for a shell without aliases, functions and the like.
fn why_not_the_named(name: &str, shell: &Snapshot, context: Context<'_>) -> Option<Caveat> {
    if name.contains('/') || is_builtin(name, context.shell) {
        return None;
    }
    let Some(path) = shell.get(&Item::Exported("PATH".into())) else {
        return Some(Caveat::NoPath);
    };
    let fault = why_not_the_program(name, path, context)?;
    Some(Caveat::Program { name: name.to_owned(), fault })
}

/// Whether fish has read a function from a file that comes with the system.
fn comes_with_the_system(definition: &Value) -> bool {
    let origin = definition.get(1).map(|path| String::from_utf8_lossy(path));
    origin.is_some_and(|path| path.starts_with("embedded:") || is_of_the_system(Path::new(path.as_ref())))
}

/// Whether an alias is its own name with options that only change how something looks.
fn only_adds_plain_options(name: &str, meaning: &str) -> bool {
    let mut words = meaning.split_whitespace();
    words.next() == Some(name)
        && words.all(|word| PLAIN_OPTIONS.contains(&word) && (word.starts_with("--color") || LISTERS.contains(&name)))
}

fn why_not_the_program(name: &str, path: &Value, context: Context<'_>) -> Option<ProgramFault> {
    let files = context.files?;
    for folder in path.iter().flat_map(|list| list.split(|byte| *byte == b':')) {
        let folder = PathBuf::from(String::from_utf8_lossy(folder).into_owned());
        if !folder.is_absolute() {
            return Some(ProgramFault::RelativePath);
        }
        let place = folder.join(name);
        let Some(program) = files.program(&place) else { continue };
        if place.starts_with(context.cwd) || program.real.starts_with(context.cwd) {
            return Some(ProgramFault::InWorkingDirectory(place));
        }
        if program.is_open {
            return Some(ProgramFault::Open(place));
        }
        if !program.is_trusted {
            return Some(ProgramFault::Foreign(place));
        }
        let is_known = options::verb(name).is_some() || RULED.contains(&name);
        if !is_known && !is_of_the_system(&place) {
            return Some(ProgramFault::NotOfTheSystem(place));
        }
        let real = program.real.file_name().unwrap_or_default();
        if !is_known && STAND_INS.iter().any(|other| real == *other) {
            return Some(ProgramFault::StandIn { real: real.into(), place });
        }
        return None;
    }
    // Nothing of that name is run.
    None
}

fn is_of_the_system(place: &Path) -> bool {
    SYSTEM_FOLDERS.iter().any(|folder| place.starts_with(folder))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Files;
    use crate::Program;

    #[derive(Debug)]
    struct Disk;

    impl Files for Disk {
        fn targets(&self, _path: &Path) -> Option<Vec<PathBuf>> {
            Some(Vec::new())
        }
        fn landings(&self, path: &Path, _follows_last: bool) -> Option<Vec<PathBuf>> {
            Some(vec![path.to_owned()])
        }
        fn find_below(&self, _: &Path, _: bool, _: &dyn Fn(&str) -> bool) -> Option<PathBuf> {
            None
        }
        fn program(&self, path: &Path) -> Option<Program> {
            let (is_trusted, is_open) = match path.to_str()? {
                "/usr/bin/cargo" => {
                    return Some(Program { real: "/usr/bin/rustup".into(), is_trusted: true, is_open: false });
                }
                "/usr/bin/ls" | "/usr/bin/grep" | "/usr/bin/git" | "/usr/bin/python3" | "/home/ann/.cargo/bin/rg" => {
                    (true, false)
                }
                "/home/ann/.pyenv/shims/python3" | "/home/ann/app/bin/ls" => (true, false),
                "/open/ls" => (true, true),
                "/bob/ls" => (false, false),
                _ => return None,
            };
            Some(Program { real: path.to_owned(), is_trusted, is_open })
        }
    }

    fn why(line: &str, shell: Shell, path: &str, items: &[(Item, &str)]) -> Option<String> {
        let value = |text: &str| vec![text.as_bytes().to_vec()];
        let mut snapshot: Snapshot = items.iter().map(|(item, text)| (item.clone(), value(text))).collect();
        snapshot.insert(Item::Exported("PATH".into()), value(path));
        let context = Context::new(Path::new("/home/ann/app"), Path::new("/home/ann")).in_shell(shell);
        why_not_themselves(line, &snapshot, context.with_files(&Disk)).first().map(ToString::to_string)
    }

    fn alias(name: &str) -> Item {
        Item::Alias(AliasKind::Command, name.into())
    }

    #[test]
    fn programs_of_the_system_and_the_users_own_are_themselves() {
        for line in
            ["ls -l", "ls | grep x", "git status", "echo a; cd src", "rg x", "python3 --version", "frobnicate", "./x"]
        {
            let path = "/home/ann/.cargo/bin:/usr/bin";
            assert_eq!(why(line, Shell::Bash, path, &[]), None, "{line}");
        }
    }

    #[test]
    fn what_stands_before_the_program_is_told() {
        for (items, path, reason) in [
            (vec![(alias("ls"), "rm -rf")], "/usr/bin", "`ls` is an alias in this shell: `rm -rf`"),
            (vec![(alias("ls"), "ls --color=auto; id")], "/usr/bin", "alias"),
            (vec![(alias("ls"), "ls $(id)")], "/usr/bin", "alias"),
            (vec![(Item::Function("ls".into()), "")], "/usr/bin", "`ls` is a function in this shell"),
            (vec![], "/open:/usr/bin", "others can change: /open/ls"),
            (vec![], "/bob:/usr/bin", "somebody else: /bob/ls"),
            (vec![], "/home/ann/app/bin:/usr/bin", "a file of the working directory"),
            (vec![], ".:/usr/bin", "working directory first"),
            (vec![], ":/usr/bin", "working directory first"),
        ] {
            let told = why("pwd && ls -l", Shell::Bash, path, &items).unwrap_or_default();
            assert!(told.contains(reason), "{reason}: {told}");
        }
        assert!(why("python3 --version", Shell::Bash, "/home/ann/.pyenv/shims:/usr/bin", &[]).is_some());
        let stand_in = why("cargo --version", Shell::Bash, "/usr/bin", &[]);
        assert_eq!(stand_in.as_deref(), Some("`cargo` may run what the project names: /usr/bin/cargo is rustup"));
    }

    #[test]
    fn programs_that_a_program_of_the_line_runs_are_looked_up() {
        for line in [
            "pwd | xargs ls -l",
            "find . -exec ls -l {} +",
            "timeout -k 1 5 ls -l",
            "sh -c 'ls -l'",
            "find . -exec sh -c 'ls -l \"$1\"' _ {} +",
            "pwd | xargs -n1 bash -c 'for f; do ls -l \"$f\"; done'",
        ] {
            let told = why(line, Shell::Bash, "/open:/usr/bin", &[]).unwrap_or_default();
            assert!(told.contains("others can change: /open/ls"), "{line}: {told}");
        }
    }

    #[test]
    fn each_name_of_a_line_is_told_once() {
        let items = [(alias("ls"), "rm -rf"), (alias("wc"), "sh")];
        let value = |text: &str| vec![text.as_bytes().to_vec()];
        let shell: Snapshot = items.into_iter().map(|(item, text)| (item, value(text))).collect();
        let context = Context::new(Path::new("/home/ann/app"), Path::new("/home/ann"));
        let caveats = why_not_themselves("ls; ls | wc", &shell, context);
        let told: Vec<String> = caveats.iter().map(ToString::to_string).collect();
        assert_eq!(told, ["`ls` is an alias in this shell: `rm -rf`", "`wc` is an alias in this shell: `sh`"]);
    }

    #[test]
    fn an_alias_that_only_colours_is_the_program() {
        for (name, meaning) in [("ls", "ls --color=auto"), ("ls", "ls -lah --color=tty"), ("grep", "grep --color=auto")]
        {
            assert_eq!(why(name, Shell::Zsh, "/usr/bin", &[(alias(name), meaning)]), None, "{meaning}");
        }
        assert!(why("grep x", Shell::Zsh, "/usr/bin", &[(alias("grep"), "grep -h")]).is_some());
        let global = Item::Alias(AliasKind::Global, "L".into());
        assert!(why("ls L", Shell::Zsh, "/usr/bin", &[(global.clone(), "| sh")]).is_some());
        assert_eq!(why("ls x", Shell::Zsh, "/usr/bin", &[(global, "| sh")]), None);
    }

    #[test]
    fn fish_s_own_function_is_told_from_the_users() {
        let why = |origin: &[&str]| {
            let value: Value = origin.iter().map(|part| part.as_bytes().to_vec()).collect();
            let shell =
                [(Item::Function("ls".into()), value), (Item::Exported("PATH".into()), vec![b"/usr/bin".to_vec()])];
            let context = Context::new(Path::new("/home/ann/app"), Path::new("/home/ann")).in_shell(Shell::Fish);
            why_not_themselves("ls -l", &shell.into(), context.with_files(&Disk)).pop()
        };
        for origin in [&["", "/usr/share/fish/functions/ls.fish"][..], &["", "embedded:functions/ls.fish"]] {
            assert_eq!(why(origin), None, "{origin:?}");
        }
        for origin in [&["", "/home/ann/.config/fish/functions/ls.fish"][..], &["h", "-"], &["", "n/a"], &["h"], &[]] {
            assert_eq!(why(origin), Some(Caveat::Function("ls".into())), "{origin:?}");
        }
    }

    #[test]
    fn what_the_shell_itself_leads_elsewhere_is_told() {
        let hashed = Item::Hashed("ls".into());
        let told = why("ls -l", Shell::Bash, "/usr/bin", &[(hashed.clone(), "/tmp/evil")]);
        assert_eq!(told.as_deref(), Some("`ls` stands for `/tmp/evil` in this shell"));
        assert_eq!(why("grep x", Shell::Bash, "/usr/bin", &[(hashed, "/tmp/evil")]), None);
        let pwd = Item::Builtin("pwd".into());
        let told = why("pwd", Shell::Zsh, "/usr/bin", &[(pwd.clone(), "off")]);
        assert_eq!(told.as_deref(), Some("`pwd` is a builtin that is switched off in this shell"));
        assert_eq!(why("pwd", Shell::Zsh, "/usr/bin", &[(pwd, "on")]), None);
        let suffix = Item::Alias(AliasKind::Suffix, "txt".into());
        assert!(why("notes.txt", Shell::Zsh, "/usr/bin", &[(suffix, "sh")]).is_some());
    }

    #[test]
    fn any_word_that_stands_for_something_else_is_told() {
        for (item, line) in [
            (Item::Alias(AliasKind::Global, "L".into()), "ls -l L"),
            (Item::Abbreviation("gco".into()), "echo gco"),
            (Item::NamedFolder("src".into()), "ls ~src"),
            (Item::NamedFolder("src".into()), "ls ~src/app"),
        ] {
            assert!(why(line, Shell::Zsh, "/usr/bin", &[(item.clone(), "x")]).is_some(), "{item:?}");
            assert_eq!(why("ls src ~", Shell::Zsh, "/usr/bin", &[(item, "x")]), None);
        }
    }
}
