//! Cases with a shell on another machine.

use std::{fs, path::Path, process::Command};

use cohab_shell_relay::live::LiveEvent;

use crate::terminal::{Terminal, has};

/// Files for `ssh -F FOLDER/config there`: it starts a separate `sshd` for the one connection, over a pipe, so that there is no port and
/// nothing to end. If that is not possible, prints a note and returns `false`.
fn set_up(folder: &Path) -> bool {
    let path = folder.to_str().unwrap();
    for key in ["host_key", "user_key"] {
        let mut keygen = Command::new("ssh-keygen");
        keygen.args(["-q", "-t", "ed25519", "-N", "", "-f", &format!("{path}/{key}")]);
        assert!(keygen.status().unwrap().success());
    }
    let server = format!(
        "HostKey {path}/host_key\nAuthorizedKeysFile {path}/user_key.pub\nStrictModes no\nUsePAM no\nPidFile none\nPrintMotd no\n\
         PermitRootLogin yes\nForceCommand env PS1='there> ' sh -i\n"
    );
    fs::write(folder.join("sshd_config"), server).unwrap();
    let sshd = format!("/usr/sbin/sshd -i -f {path}/sshd_config");
    // For root sshd wants a folder that the system's own service makes.
    let start = if rustix::process::geteuid().is_root() && !Path::new("/run/sshd").exists() {
        format!("unshare -m sh -c 'mount -t tmpfs none /run && mkdir /run/sshd && exec {sshd}'")
    } else {
        sshd
    };
    let client = format!(
        "Host there\nProxyCommand {start}\nIdentityFile {path}/user_key\nIdentitiesOnly yes\nBatchMode yes\nLogLevel QUIET\n\
         StrictHostKeyChecking no\nUserKnownHostsFile {path}/known\nGlobalKnownHostsFile /dev/null\n"
    );
    fs::write(folder.join("config"), client).unwrap();
    let tried = Command::new("ssh").args(["-F", &format!("{path}/config"), "-n", "there"]).output().unwrap();
    if !tried.status.success() {
        eprintln!("SKIPPED: no sshd of our own can be reached: {}", String::from_utf8_lossy(&tried.stderr));
    }
    tried.status.success()
}

case!(case_101_ssh [bash zsh fish fish4] |kind| {
    let folder = tempfile::tempdir().unwrap();
    if !has("sshd") || !has("ssh") || !set_up(folder.path()) {
        return;
    }
    let mut t = Terminal::of(kind);
    t.keys(format!("ssh -F {}/config there\r", folder.path().display()));
    t.wait_text("\nthere>");
    assert_eq!(cohab_shell_relay::live::Probe::foreground_name(&t.pty).as_deref(), Some("ssh"));
    t.settle();
    let before = t.text();
    assert_eq!(t.refused("echo x"), "nested");
    t.settle();
    assert_eq!(t.text(), before, "nothing was typed");
    t.keys("echo fine\r");
    t.wait_text("\nfine\nthere>");
    t.events.clear();
    t.keys("exit\r");
    t.wait("the prompt", |t| t.events.contains(&LiveEvent::PromptReady));
    assert_eq!(t.run("echo back").output, "back\n");
});
