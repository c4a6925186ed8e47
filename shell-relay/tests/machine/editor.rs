//! Describes the line editors as seen from outside: the keys that they obey, and the marks with which they answer.

use cohab_shell_state::shell::Shell;

use crate::bench::mark;

pub const SHELLS: [Shell; 3] = [Shell::Bash, Shell::Zsh, Shell::Fish];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key {
    Stash,
    Load,
    Run,
    Fence,
    Restore,
    Query,
    Fresh,
    Accept,
    Clear,
    Take,
    /// The key that stands for the user's Enter, or Enter itself.
    Enter,
}

/// Name, bytes in bash and zsh, bytes in fish.
const KEYS: [(Key, &str, &str, &str); 11] = [
    (Key::Stash, "<stash>", "\x1b[7391;1~", "\x1er1"),
    (Key::Load, "<load>", "\x1b[7391;2~", "\x1er2"),
    (Key::Run, "<run>", "\x1b[7391;3~", "\x1er3"),
    (Key::Fence, "<fence>", "\x1b[7391;n~", "\x1ern"),
    (Key::Restore, "<restore>", "\x1b[7391;4~", "\x1er4"),
    (Key::Query, "<query>", "\x1b[7391;5~", "\x1er5"),
    (Key::Fresh, "<fresh>", "\x1b[7391;6~", "\x1er6"),
    (Key::Accept, "<accept>", "\x1b[7391;7~", "\x1er7"),
    (Key::Clear, "<clear>", "\x1b[7391;8~", "\x1er8"),
    (Key::Take, "<take>", "\x1b[7391;9~", "\x1er9"),
    (Key::Enter, "Enter", "\r", "\x1er0"),
];

/// The prefix of every key of ours.
pub fn ours(shell: Shell) -> &'static str {
    if shell == Shell::Fish { "\x1er" } else { "\x1b[7391;" }
}

pub fn bytes_of(shell: Shell, key: Key) -> &'static str {
    let (_, _, others, fish) = KEYS.iter().find(|(known, ..)| *known == key).expect("every key has bytes");
    if shell == Shell::Fish { fish } else { others }
}

/// Keys of ours by their names.
pub fn named(shell: Shell, keys: &str) -> String {
    let mut named = keys.replace("\x1b\r", "Alt-Enter");
    for (key, name, ..) in KEYS {
        let name = if key == Key::Enter && shell == Shell::Fish { "<enter>" } else { name };
        named = named.replace(bytes_of(shell, key), name);
    }
    named.replace('\x03', "^C").replace('\r', "Enter")
}

/// The key that these bytes begin with.
pub fn first_key(shell: Shell, keys: &str) -> Option<Key> {
    KEYS.iter().map(|(key, ..)| *key).find(|key| keys.starts_with(bytes_of(shell, *key)))
}

/// The keys with a meaning to the editor, in order.
pub fn keys_in(shell: Shell, keys: &str) -> Vec<Key> {
    let mut found: Vec<(usize, Key)> = Vec::new();
    for (key, ..) in KEYS {
        found.extend(keys.match_indices(bytes_of(shell, key)).map(|(at, _)| (at, key)));
    }
    found.sort_by_key(|(at, _)| *at);
    found.into_iter().map(|(_, key)| key).collect()
}

/// The shell's output at one key. `id` is the id of the command in its file.
pub fn answer(shell: Shell, key: Key, id: &str) -> String {
    let all = |bodies: &[&str]| bodies.iter().map(|body| mark(body)).collect::<String>();
    let begins = format!("O;{id}");
    match (key, shell) {
        (Key::Load, Shell::Bash) => mark(&format!("L;{id}")) + "$ " + &mark("B"),
        (Key::Load, _) => mark(&format!("L;{id}")),
        (Key::Fence, _) => mark("L;="),
        (Key::Run, Shell::Bash) => "$ stub".to_owned() + &all(&["B", "C", &begins]) + "output",
        (Key::Run, _) => "stub\r\n".to_owned() + &all(&["C", &begins]) + "output",
        (Key::Stash | Key::Take, Shell::Bash) => mark("S;3") + "$ " + &mark("B"),
        (Key::Stash | Key::Take, Shell::Zsh) => "\r$ \x1b[K".to_owned() + &mark("S;3"),
        (Key::Stash | Key::Take, _) => mark("S;3") + "\r$ \x1b[K",
        (Key::Clear, Shell::Bash) => mark("S;0") + &mark("B"),
        (Key::Clear, _) => mark("S;0"),
        (Key::Query, Shell::Bash) => mark("Q;1;q") + "$ " + &mark("B"),
        (Key::Query, _) => mark("Q;1;q"),
        (Key::Restore, Shell::Bash) => mark("B"),
        (Key::Restore, _) => "q".to_owned(),
        // An empty line is no command in fish: nothing ends.
        (Key::Fresh, Shell::Fish) => mark("B") + "$ ",
        (Key::Fresh, Shell::Bash) => mark("D;;0;/e") + "$ " + &mark("B"),
        (Key::Fresh, _) => mark("D;;0;/e") + "$ " + &mark("B"),
        (Key::Enter, Shell::Bash) => mark("N;1;q") + "$ " + &mark("B"),
        (Key::Enter, _) => mark("N;1;q"),
        (Key::Accept, _) => mark("C"),
    }
}

/// The first prompt, or the one after a command that was accepted by the user or by us (`id`).
pub fn prompt_after(shell: Shell, command: Option<&str>) -> String {
    match (command, shell) {
        (None, Shell::Fish) => mark("B") + "$ ",
        (id, Shell::Fish) => mark(&format!("D;{};0;/home", id.unwrap_or_default())) + &mark("B") + "$ ",
        (id, _) => mark(&format!("D;{};0;/home", id.unwrap_or_default())) + "$ " + &mark("B"),
    }
}
