//! Files that may hold secrets by the shape of their path: what programs keep in hidden folders of a home, and names that say so. The
//! lists of [`super::super::places`] are of those that surely do.

use std::path::Path;

use super::{PathRisk, PlainPath, has_wildcard};
use crate::policy::{Context, Level, glob, places::PLAIN_NAMES};

/// Hidden files and folders of a home that hold settings and programs.
const PLAIN_HIDDEN: &[&str] = &[
    ".asdf",
    ".asdfrc",
    ".atom",
    ".bash*",
    ".bazelrc",
    ".bin",
    ".bun",
    ".cabal",
    ".cache",
    ".cargo",
    ".clang-format",
    ".clang-tidy",
    ".conda",
    ".condarc",
    ".config",
    ".curlrc.example",
    ".deno",
    ".dircolors",
    ".docker",
    ".doom.d",
    ".dotfiles",
    ".dotnet",
    ".editorconfig",
    ".emacs",
    ".emacs.d",
    ".eslintrc*",
    ".exrc",
    ".fonts",
    ".fzf*",
    ".gdbinit",
    ".gemrc",
    ".ghcup",
    ".git",
    ".gitattributes",
    ".gitconfig*",
    ".github",
    ".gitignore*",
    ".gitmessage",
    ".go",
    ".gradle",
    ".gtkrc*",
    ".gvimrc",
    ".hgrc",
    ".hushlogin",
    ".icons",
    ".inputrc",
    ".ipynb_checkpoints",
    ".irbrc",
    ".java",
    ".jshintrc",
    ".julia",
    ".keras",
    ".lein",
    ".lesskey",
    ".linuxbrew",
    ".local",
    ".luarocks",
    ".m2",
    ".mailcap",
    ".manpath",
    ".matplotlib",
    ".mise*",
    ".mypy*",
    ".nano*",
    ".node-gyp",
    ".npm",
    ".nuget",
    ".nvm",
    ".nvmrc",
    ".oh-my-*",
    ".opam",
    ".p10k.zsh",
    ".perltidyrc",
    ".pip",
    ".plenv",
    ".pnpm*",
    ".prettierrc*",
    ".profile",
    ".pylintrc",
    ".pyenv",
    ".python-version",
    ".pythonrc*",
    ".rbenv",
    ".ruby-version",
    ".rustfmt.toml",
    ".rustup",
    ".rvm",
    ".sbt",
    ".screenrc",
    ".sdkman",
    ".selected_editor",
    ".shellcheckrc",
    ".sqliterc",
    ".stack",
    ".stylelintrc*",
    ".swiftpm",
    ".terminfo",
    ".terraform.d",
    ".texlive*",
    ".themes",
    ".tigrc",
    ".tmux*",
    ".tool-versions",
    ".vim*",
    ".virtualenvs",
    ".volta",
    ".vscode*",
    ".wezterm.lua",
    ".Xdefaults",
    ".Xmodmap",
    ".Xresources",
    ".xinitrc",
    ".xprofile",
    ".xsession*",
    ".yarn",
    ".yarnrc*",
    ".z",
    ".zi",
    ".zinit",
    ".zlog*",
    ".zplug",
    ".zprofile",
    ".zsh",
    ".zshenv",
    ".zshrc*",
];
/// Folders and files of `.config` that hold settings.
const PLAIN_CONFIG: &[&str] = &[
    "alacritty",
    "autostart",
    "awesome",
    "bat",
    "bottom",
    "broot",
    "btop",
    "bspwm",
    "dconf",
    "direnv",
    "dunst",
    "environment.d",
    "fastfetch",
    "fd",
    "fish",
    "fontconfig",
    "foot",
    "ghostty",
    "git",
    "gtk-*",
    "helix",
    "htop",
    "hypr",
    "i3*",
    "kak",
    "kitty",
    "lazygit",
    "lf",
    "lsd",
    "micro",
    "mimeapps.list",
    "mise",
    "mpv",
    "nano",
    "neofetch",
    "nix",
    "nix*",
    "nvim",
    "picom",
    "pip",
    "plasma*",
    "polybar",
    "powershell",
    "pulse",
    "pycodestyle",
    "qtile",
    "ranger",
    "redshift",
    "ripgrep",
    "rofi",
    "ruff",
    "sway",
    "sxhkd",
    "systemd",
    "tealdeer",
    "tig",
    "tmux",
    "user-dirs.*",
    "vim",
    "waybar",
    "wezterm",
    "wofi",
    "yapf",
    "yazi",
    "zathura",
    "zed",
    "zellij",
    "zsh",
];
/// Folders of `.local/share` and `.local/state` that hold programs and what comes with them.
const PLAIN_DATA: &[&str] = &[
    "applications",
    "bash-completion",
    "bob",
    "cargo",
    "color-schemes",
    "containers",
    "fish",
    "flatpak",
    "fonts",
    "gem",
    "icons",
    "man",
    "mime",
    "mise",
    "nvim",
    "pipx",
    "pnpm",
    "rustup",
    "systemd",
    "themes",
    "uv",
    "virtualenv*",
    "zinit",
    "zsh",
];
/// Names that say what is in a file, wherever it lies.
const TELLING: &[&str] = &[
    "*.keyring",
    "*.kwl",
    "*.psk",
    "*_history",
    "deploy_key*",
    "id_dsa*",
    "id_ecdsa*",
    "id_ed25519*",
    "id_rsa*",
    "shadow.bak",
    "shadow.old",
    "gshadow.bak",
    "opasswd*",
];
/// The same outside of the folder at work, where such names are not those of code.
const TELLING_ELSEWHERE: &[&str] = &[
    "*credential*",
    "*passwd*",
    "*password*",
    "*secret*",
    "*token*",
    "gshadow*",
    "history.*",
    "id_*",
    "shadow*",
    ".history",
];
/// What stands there comes with the system.
const SYSTEM: &[&str] = &["bin", "boot", "lib", "lib32", "lib64", "nix", "opt", "proc", "sbin", "snap", "sys", "usr"];
/// Plain although the name says otherwise.
const PLAIN_ETC: &[&str] = &["etc/pam.d", "etc/passwd", "etc/passwd-", "etc/apparmor.d", "etc/init.d", "etc/default"];
/// Endings of code, documents and pictures.
const PLAIN_ENDINGS: &[&str] = &[
    "adoc",
    "c",
    "cc",
    "conf.example",
    "cpp",
    "cs",
    "css",
    "example",
    "go",
    "h",
    "hpp",
    "html",
    "java",
    "js",
    "jsx",
    "kt",
    "lua",
    "md",
    "pl",
    "png",
    "po",
    "proto",
    "pub",
    "py",
    "rb",
    "rs",
    "rst",
    "sample",
    "scss",
    "sh",
    "svg",
    "swift",
    "template",
    "ts",
    "tsx",
    "vue",
];

/// Why a file at `path` may hold a secret, by the shape of its path alone: at most a question.
pub(super) fn risk(path: &PlainPath, context: Context<'_>) -> PathRisk {
    if PLAIN_NAMES.iter().any(|plain| glob::matches(path.name(), plain)) {
        return None;
    }
    let cwd = PlainPath::from_path(context.cwd, context);
    let is_at_work = context.cwd != context.home && cwd.is_at_or_above(path);
    let tells = says_secret(path.name(), TELLING) || (!is_at_work && tells_elsewhere(path));
    let is_kept = !is_at_work && is_kept_by_a_program(path, context.home, context);
    (tells || is_kept).then(|| (Level::Ask, format!("may read secrets: {}", path.shown())))
}

/// Whether a name below a folder that is searched says that a secret is in it.
pub(super) fn says_secret(name: &str, patterns: &[&str]) -> bool {
    let lower = name.to_ascii_lowercase();
    let ending = lower.split_once('.').map_or("", |(_, ending)| ending);
    let last = ending.rsplit('.').next().unwrap_or_default();
    !has_wildcard(name)
        && !PLAIN_ENDINGS.iter().any(|plain| *plain == ending || *plain == last)
        && patterns.iter().any(|pattern| glob::matches(&lower, pattern))
}

/// Whether a name says so wherever it lies.
pub(super) fn tells_anywhere(name: &str) -> bool {
    says_secret(name, TELLING)
}

fn tells_elsewhere(path: &PlainPath) -> bool {
    let first = path.components.first().map_or("", String::as_str);
    let is_plain =
        SYSTEM.contains(&first) || PLAIN_ETC.iter().any(|place| Path::new(&path.shown()[1..]).starts_with(place));
    !is_plain && says_secret(path.name(), TELLING_ELSEWHERE)
}

/// Whether it lies in a hidden folder of a home that is not known to be plain.
fn is_kept_by_a_program(path: &PlainPath, home: &Path, context: Context<'_>) -> bool {
    let own = PlainPath::from_path(home, context).components;
    let below: Vec<&str> = match &path.components[..] {
        components if components.starts_with(&own) => components[own.len()..].iter().map(String::as_str).collect(),
        [homes, _, below @ ..] if homes == "home" || homes == "Users" => below.iter().map(String::as_str).collect(),
        [root, below @ ..] if root == "root" => below.iter().map(String::as_str).collect(),
        _ => return false,
    };
    let is_none_of = |name: &str, plain: &[&str]| !plain.iter().any(|pattern| glob::matches(name, pattern));
    match below[..] {
        [".config", name, ..] => is_none_of(name, PLAIN_CONFIG),
        [".local", "share" | "state", name, ..] => is_none_of(name, PLAIN_DATA),
        [first, ..] => first.starts_with('.') && is_none_of(first, PLAIN_HIDDEN),
        [] => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn level(path: &str) -> Level {
        let context = Context::new(Path::new("/home/ann/work/app"), Path::new("/home/ann"));
        crate::policy::assess_line(&format!("cat '{path}'"), context).level
    }

    #[test]
    fn what_looks_like_a_secret_is_asked() {
        for path in [
            "/var/backups/shadow.bak",
            "/srv/x/shadow",
            "/srv/app/credentials",
            "/var/lib/x/api_token",
            "/home/ann/.vnc/x",
            "/home/ann/.pki/nssdb/key4.db",
            "/home/ann/.var/app/org.chromium.Chromium/config/chromium/Default/Cookies",
            "/home/ann/.config/google-chrome-beta/x",
            "/home/ann/.config/Signal/config.json",
            "/home/ann/.config/Slack/x",
            "/home/ann/.local/share/TelegramDesktop/x",
            "/home/ann/.local/share/kwalletd/kdewallet.kwl",
            "/home/ann/.config/Cursor/User/globalStorage/state.vscdb",
            "/home/ann/.ash_history",
            "/home/ann/.ksh_history",
            "/home/ann/.history",
            "/home/ann/.config/nushell/history.txt",
            "/home/ann/.ipython/profile_default/history.sqlite",
            "/home/ann/.ivy2/.credentials",
            "/home/ann/backup/id_rsa_old",
            "deploy_key",
            "x.psk",
            "login.keyring",
            "/home/bob/.foo/x",
            "/root/.foo/x",
            "/home/ann/secrets.txt",
            "/mnt/usb/passwords.csv",
        ] {
            assert!(level(path) >= Level::Ask, "{path}");
        }
    }

    #[test]
    fn code_and_settings_are_plain() {
        for path in [
            "src/token.rs",
            "src/secret_names.rs",
            "tests/shadow",
            "src/password_reset.html",
            "token",
            "/etc/passwd",
            "/etc/pam.d/passwd",
            "/usr/share/doc/passwd/README",
            "/usr/include/shadow.h",
            "/home/ann/.bashrc",
            "/home/ann/.config/nvim/init.lua",
            "/home/ann/.gitconfig",
            "/home/ann/.cargo/config.toml",
            "/home/ann/.local/share/fonts/x",
            "/home/ann/.cache/x",
            "/home/ann/other/tokenizer.py",
            "/home/ann/notes.txt",
            "/home/ann/work/app/.foo/x",
            "/home/ann/.vimrc",
            "/home/ann/id_rsa.pub",
            "/var/log/syslog",
            "order_history.py",
        ] {
            assert_eq!(level(path), Level::Allow, "{path}");
        }
    }
}
