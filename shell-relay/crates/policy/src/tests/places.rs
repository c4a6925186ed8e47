//! Tests for the places that are listed as secret, as starting something or as plain, through whole lines.

use std::path::PathBuf;

use super::*;

const SECRET: &[&str] = &[
    "~/.ssh/config",
    "~/.gnupg/x",
    "~/.aws/config",
    "~/.azure/x",
    "~/.kube/config",
    "~/.docker/config.json",
    "~/.config/gcloud/x",
    "~/.config/gh/hosts.yml",
    "~/.netrc",
    "~/.pgpass",
    "~/.my.cnf",
    "~/.npmrc",
    "~/.pypirc",
    "~/.cargo/credentials",
    "~/.git-credentials",
    "~/.password-store/a.gpg",
    "~/.local/share/keyrings/x",
    "~/.mozilla/x",
    "~/.librewolf/x",
    "~/.config/vivaldi/x",
    "~/.bash_history",
    "~/.psql_history",
    "~/.dbshell",
    "~/.mongodb/x",
    "~/.lesshst",
    ".env",
    ".env.local",
    "id_rsa",
    "id_ecdsa",
    "id_ed25519",
    "a.pem",
    "a.key",
    "a.p12",
    "a.pfx",
    "a.kdbx",
    "a.jks",
    "/etc/shadow",
    "/etc/gshadow",
    "/etc/sudoers",
    "/etc/sudoers.d/x",
    "/proc/1/environ",
    "/proc/1/mem",
    "/dev/sda",
    "/dev/zram0",
    "/dev/nbd1",
    "/dev/sr0",
    "/dev/ram0",
    "~/.config/cohab/x",
    "~/.local/share/cohab/x",
    "/run/user/1/cohab/x",
    "/dev/tcp/1.2.3.4/5",
    "/dev/udp/1.2.3.4/5",
    "'/Users/ann/Library/Application Support/Firefox/x'",
];
const DECIDING: &[&str] = &[
    "~/.bashrc",
    "~/.zshrc",
    "~/.profile",
    "~/.config/fish/config.fish",
    "~/.config/autostart/x.desktop",
    "~/.config/systemd/user/x.service",
    "/etc/cron.d/x",
    "/var/spool/cron/ann",
    ".git/hooks/pre-commit",
    ".git/config",
    ".envrc",
    ".vscode/tasks.json",
    "~/bin/ls",
    "~/.local/bin/ls",
    "~/.cargo/bin/ls",
    "~/go/bin/ls",
    "~/.deno/bin/ls",
    "~/.npm-global/bin/ls",
    "/usr/local/bin/ls",
    "/opt/x/bin/ls",
    "/etc/x",
    "/usr/x",
    "/boot/x",
    "/sys/x",
    "/proc/sys/x",
];

#[test]
fn every_stated_place_is_judged_as_stated() {
    for path in SECRET {
        for line in [
            format!("cat {path}"),
            format!("head -n 1 < {path}"),
            format!("grep -f {path} x"),
            format!("echo x > {path}"),
            format!("touch {path}"),
        ] {
            assert_eq!(level(&line), Level::Danger, "{line}");
        }
        // The existence of a file is no secret.
        for line in [format!("test -f {path}"), format!("[ ! -f {path} ]"), format!("[ x -nt {path} ]")] {
            assert_eq!(level(&line), Level::Allow, "{line}");
        }
    }
    for path in DECIDING {
        for line in [format!("cp x {path}"), format!("echo x >> {path}"), format!("mv {path} x"), format!("tee {path}")]
        {
            assert_eq!(level(&line), Level::Danger, "{line}");
        }
    }
    for line in ["cp x bin/tool", "cp x build/bin/tool", "cp x /tmp/y", "cp x ../other/y", "echo x > notes.txt"] {
        assert_eq!(level(line), Level::Ask, "{line}");
    }
    for path in [
        "~/.ssh/id_rsa.pub",
        "~/.ssh/known_hosts",
        ".env.example",
        ".env.sample",
        ".env.template",
        "/dev/null",
        "bin/tool",
    ] {
        assert_eq!(level(&format!("cat {path}")), Level::Allow, "{path}");
    }
    for path in ["~root/x", "~+/x", "~-/x", "~1"] {
        assert_eq!(level(&format!("cat {path}")), Level::Ask, "{path}");
    }
}

#[test]
fn what_is_written_to_a_folder_of_path_is_danger_whatever_it_is_called() {
    let programs = ["/home/ann/tools", "/srv/scripts"].map(PathBuf::from);
    let level = |line: &str| assess_line(line, context().with_programs(&programs)).level;
    for line in [
        "cp x ~/tools/ls",
        "echo x > /srv/scripts/git",
        "mv ~/tools/a b",
        "ln -s x /srv/scri*/y",
        "mv ~/tools ~/old",
        "chmod +x ../../tools/x",
    ] {
        assert_eq!(level(line), Level::Danger, "{line}");
        assert_eq!(assess_line(line, context()).level, Level::Ask, "{line}");
    }
    // A deeper file is not found by its name.
    for line in ["cp x ~/tools/src/main.rs", "cp x ~/tool", "touch /srv/scripts.txt"] {
        assert_eq!(level(line), Level::Ask, "{line}");
    }
    assert_eq!(level("ls ~/tools"), Level::Allow);
}
