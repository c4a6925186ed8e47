//! Something else than our shell reads the keys.

use cohab_shell_relay::live::LiveEvent;

use crate::terminal::{Kind, Terminal};

fn wait_replaced(t: &mut Terminal, marker: &str) {
    t.keys(format!("echo {marker}-$$\r"));
    t.wait_text(&format!("{marker}-{}", t.pty.child_pid()));
    t.settle_for(std::time::Duration::from_millis(300));
}

case!(case_075_exec_of_another_shell [bash zsh fish fish4] |kind| {
    let mut t = Terminal::of(kind);
    t.keys("exec sh\r");
    t.wait_foreground("sh");
    wait_replaced(&mut t, "inside");
    assert_eq!(t.refused("echo x"), "shell_replaced");
});

case!(case_075_exec_of_the_same_shell [bash zsh fish fish4] |kind| {
    let mut t = Terminal::of(kind);
    let program = kind.program().unwrap();
    let bare = match kind {
        Kind::Bash => "--norc",
        Kind::Zsh => "-f",
        Kind::Fish | Kind::Fish4 => "-N",
    };
    t.events.clear();
    t.keys(format!("exec {} {bare}\r", program.display()));
    t.settle_for(std::time::Duration::from_millis(500));
    t.keys(if kind.is_fish() { "echo again-$fish_pid\r" } else { "echo again-$$\r" });
    t.wait_text(&format!("again-{}", t.pty.child_pid()));
    let told = |event: &LiveEvent| matches!(event, LiveEvent::NotIntegrated { .. });
    t.wait("the user is told", |t| t.events.iter().any(told));
    assert_eq!(t.events.iter().filter(|event| told(event)).count(), 1);
    assert_eq!(t.refused("echo x"), "shell_replaced");
});
