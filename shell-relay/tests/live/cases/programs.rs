//! Cases with programs that need the terminal and the keyboard.

use std::{fs, os::unix::fs::PermissionsExt, process::Command, time::Duration};

use cohab_shell_relay::live::{AwaitedInput, LiveEvent};
use cohab_types::command::Ending;

use crate::terminal::{Kind, Terminal, has};

/// Waits until the running command reads a line that is not echoed.
fn wait_for_password_prompt(t: &mut Terminal, id: &str) {
    let waiting = LiveEvent::WaitingForInput { id: id.to_owned(), what: AwaitedInput::Password };
    t.wait("the password prompt", |t| t.events.contains(&waiting));
}

fn shown_count(t: &Terminal, part: &str) -> usize {
    String::from_utf8_lossy(&t.shown).matches(part).count()
}

case!(case_041_unechoed_line [bash zsh fish fish4] |kind| {
    let mut t = Terminal::of(kind);
    // fish's own `read` is a line editor; see the next case.
    let text = "stty -echo; read x; stty echo; echo got $x";
    let mut request = t.request(&if kind.is_fish() { format!("sh -c '{text}'") } else { text.to_owned() });
    request.timeout = Duration::from_millis(900);
    let id = t.begin_request(request);
    wait_for_password_prompt(&mut t, &id);
    // The command's time stands still meanwhile.
    t.settle_until(Duration::from_millis(1200));
    t.shown.clear();
    t.keys("secret\r");
    let outcome = t.result(&id).unwrap();
    assert_eq!((outcome.ending, outcome.output.trim_start()), (Ending::Exited, "got secret\n"));
    assert_eq!(shown_count(&t, "secret"), 1);
    t.settle();
    assert_eq!(t.run("echo next").output, "next\n");
});

case!(case_041_editor_within_a_command [fish fish4] |kind| {
    let mut t = Terminal::of(kind);
    let id = t.begin("read -s -P 'password: ' x; echo got (string length $x)");
    t.wait_text("\npassword:");
    t.keys("secret\r");
    let outcome = t.result(&id).unwrap();
    assert!(outcome.status == Some(0) && outcome.output.ends_with("got 6\n"), "{outcome:?}");
    assert_eq!(shown_count(&t, "secret"), 0, "{:?}", String::from_utf8_lossy(&t.shown));
    t.settle();
    assert_eq!(t.run("echo next").output, "next\n");
});

case!(case_042_sudo_without_password [bash zsh fish fish4] |kind| {
    if !has("sudo") || !rustix::process::geteuid().is_root() {
        eprintln!("SKIPPED: only root needs no password");
        return;
    }
    let mut t = Terminal::of(kind);
    let outcome = t.run("sudo -k; sudo true");
    assert_eq!((outcome.status, outcome.output.as_str()), (Some(0), ""));
});

/// Makes, for one command only, a user whose password is `right-secret`. The machine's own files stay as they are.
const SUDO_WITH_PASSWORD: &str = "mount --bind shadow /etc/shadow && mount --bind sudoers /etc/sudoers && \
    exec setpriv --reuid=65534 --regid=65534 --clear-groups sudo -p 'the password: ' id -u\n";
const SHADOW: &str = "root:*:19000:0:99999:7:::\nnobody:$6$cohabtest$iNrpmgwYhkAOc0OaIMyQnwP/93qH5TKcZOVev5HULL7ZgLY0vAf4c.7W0AV01G05VbewF\
    G7Szpx48VRZmNxgK.:19000:0:99999:7:::\n";

/// A terminal in which `unshare -m sh ask` asks for that password; if that is not possible, prints a note.
fn with_sudo(kind: Kind) -> Option<Terminal> {
    if !has("sudo") || !has("setpriv") || !has("unshare") {
        return None;
    }
    let binds = "mount --bind /etc/passwd /etc/shadow";
    let may_bind = Command::new("unshare").args(["-m", "sh", "-c", binds]).output().is_ok_and(|o| o.status.success());
    if !may_bind {
        eprintln!("SKIPPED: only root, with mounts of its own, can make a user with a known password");
        return None;
    }
    let t = Terminal::of(kind);
    for (name, content, mode) in [
        ("ask", SUDO_WITH_PASSWORD, 0o600),
        ("shadow", SHADOW, 0o600),
        ("sudoers", "Defaults timestamp_timeout=0\nnobody ALL=(ALL) ALL\n", 0o440),
    ] {
        let path = t.home_path().join(name);
        fs::write(&path, content).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
    }
    Some(t)
}

case!(case_042_sudo_with_password [bash zsh fish fish4] |kind| {
    let Some(mut t) = with_sudo(kind) else { return };
    let id = t.begin("unshare -m sh ask");
    wait_for_password_prompt(&mut t, &id);
    t.wait_text("\nthe password:");
    t.keys("right-secret\r");
    let outcome = t.result(&id).unwrap();
    assert_eq!((outcome.status, outcome.output.as_str()), (Some(0), "the password: \n0\n"));
    assert_eq!(shown_count(&t, "secret"), 0);
    assert!(!format!("{:?}", t.events).contains("secret"));
    t.settle();
    assert_eq!(t.run("echo next").output, "next\n");
});

case!(case_042_sudo_with_a_wrong_password [bash zsh fish fish4] |kind| {
    if !has("sudo") || !has("setpriv") {
        return;
    }
    let mut t = Terminal::of(kind);
    let user = if rustix::process::geteuid().is_root() { "setpriv --reuid=65534 --regid=65534 --clear-groups " } else { "" };
    let id = t.begin(&format!("sudo -k; {user}sudo -p 'the password: ' true"));
    wait_for_password_prompt(&mut t, &id);
    t.wait_text("the password:");
    t.shown.clear();
    t.keys("wrong-secret\r");
    t.wait("the second question", |t| t.shown.windows(13).any(|part| part == b"the password:"));
    // An end of input: sudo can miss an interrupt that comes this early.
    t.keys("\x04");
    let outcome = t.result(&id).unwrap();
    assert_ne!(outcome.status, Some(0));
    assert!(outcome.output.contains("the password:") && !outcome.output.contains("secret"), "{}", outcome.output);
    assert_eq!(shown_count(&t, "secret"), 0);
    assert!(!format!("{:?}", t.events).contains("secret"));
    t.settle();
    assert_eq!(t.run("echo next").output, "next\n");
});

case!(case_043_vim [bash zsh fish fish4] |kind| {
    if !has("vim") {
        return;
    }
    let mut t = Terminal::of(kind);
    let id = t.begin("vim -u NONE");
    t.wait("vim's screen", |t| t.live.modes().alternate_screen());
    t.wait_text("VIM - Vi IMproved");
    t.keys(":q\r");
    let outcome = t.result(&id).unwrap();
    assert_eq!(outcome.status, Some(0));
    assert!(outcome.output.contains("[full-screen program ran]"), "{}", outcome.output);
    assert!(!t.live.modes().alternate_screen());
    t.wait_screen("$ vim -u NONE\n$");
});

case!(case_044_less [bash zsh fish fish4] |kind| {
    if !has("less") {
        return;
    }
    let mut t = Terminal::of(kind);
    let id = t.begin("seq 200 | less");
    t.wait_text("\n23\n:");
    t.keys("q");
    assert_eq!(t.result(&id).unwrap().status, Some(0));
    t.wait_screen("$ seq 200 | less\n$");
});

case!(case_045_fzf [bash zsh fish fish4] |kind| {
    if !has("fzf") {
        return;
    }
    let mut t = Terminal::of(kind);
    for options in ["", " --height 5"] {
        // With a height it asks for the place of the cursor. fish runs a pipeline that begins with a builtin in its own process group.
        let command = format!("printf 'one\\ntwo\\n' | fzf{options}");
        let id = t.begin(&command);
        t.wait_text("2/2");
        // The text of its query contains no key of ours.
        t.wait_text("\n>");
        t.keys("tw");
        t.wait_text("1/2");
        t.wait_text("\n> tw");
        t.keys("\r");
        let outcome = t.result(&id).unwrap();
        assert_eq!(outcome.status, Some(0));
        assert!(outcome.output.ends_with("two\n"), "{:?}", outcome.output);
        t.settle();
    }
});
