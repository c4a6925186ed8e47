//! Programs that run unasked in the user's own shell are locked: they only read. Commands that the user agreed to are not.

use cohab_e2e::{Answer, Home, ModelServer, Request, Wire, binaries::in_each_of};

const SHELLS: &[&str] = &["bash", "zsh", "fish"];
/// Whether the program itself is bound.
const LOOK: &str = "grep -E 'NoNewPrivs|Seccomp:' /proc/self/status";

/// A home with this shell, and a model that runs these commands, one after the other, and then is done; skipped where the kernel cannot
/// lock.
fn in_shells(commands: &[&str], test: impl Fn(&str, &ModelServer, &Home)) {
    in_these_shells(SHELLS, commands, test);
}

fn in_these_shells(shells: &[&str], commands: &[&str], test: impl Fn(&str, &ModelServer, &Home)) {
    if !cohab_sandbox::profile::present().can_launch() {
        return;
    }
    in_each_of(shells, |name| {
        let calls = commands.iter().map(|command| Answer::bash(command));
        let server = ModelServer::start(Wire::OpenAiChat, calls.chain([Answer::text("All done.")]));
        test(name, &server, &Home::with_model(&server).shell(name));
    });
}

/// Shows a link of another process: its user can read that, a locked program cannot.
fn link_of_another() -> String {
    format!("ls -l /proc/{}/exe", std::process::id())
}

/// The output of the commands before this request, in order.
fn results_of(request: &Request) -> Vec<String> {
    request.tool_results().into_iter().map(|result| result.content.clone()).collect()
}

#[test]
fn what_runs_unasked_is_locked_and_nobody_sees_how() {
    in_shells(&[LOOK, "pwd; ls | sort -r | head -n 1; cd a", "pwd"], |name, server, home| {
        home.write("a/b", "");
        let shell = home.cohab();
        shell.run("true");
        shell.ask("what may you do", "All done.");
        let requests = server.wait_for_calls(4);
        let results = results_of(&requests[3]);
        assert!(results[0].contains("NoNewPrivs:\t1") && results[0].contains("Seccomp:\t2"), "{name}: {results:?}");
        assert!(results[2].contains("/a"), "{name}: the shell itself is not locked: {results:?}");
        let told = requests[3].conversation();
        assert!(!told.contains("cohab-confine"), "{name}: {told}");
        assert!(!shell.dump().contains("cohab-confine"), "{name}\n{}", shell.dump());
        let counted = shell.run("history | grep -c 'cohab-confin[e]'");
        assert!(counted.contains("0\r\n"), "{name}: {counted:?}");
    });
}

#[test]
fn what_the_user_agreed_to_and_what_the_user_types_is_not_locked() {
    in_shells(&["touch made && grep NoNewPrivs /proc/self/status"], |name, server, home| {
        let shell = home.cohab();
        shell.run("true");
        let mark = shell.submit("? make it");
        shell.wait_approval("touch made");
        shell.send("y");
        shell.wait_answer(mark, "All done.");
        assert!(home.path("made").exists(), "{name}");
        let told = server.wait_for_calls(2)[1].conversation();
        assert!(told.contains("NoNewPrivs:\\t0") || told.contains("NoNewPrivs:\t0"), "{name}: {told}");
        assert!(shell.run("cat /proc/self/status").contains("NoNewPrivs:\t0"), "{name}");
    });
}

#[test]
fn what_the_lock_stopped_is_asked_about_at_once_and_runs_once_more_after_a_yes() {
    let link = link_of_another();
    in_shells(&[&link, &link, &format!("cd / && {link}")], |name, server, home| {
        let shell = home.cohab();
        shell.run("true");
        let mark = shell.submit("? which program is that");
        shell.wait_approval("it ran unasked and failed");
        assert_eq!(server.wait_for_calls(1).len(), 1, "{name}: the model waits");
        shell.send("y");
        let told = results_of(&server.wait_for_calls(2)[1]).remove(0);
        assert!(told.contains("[lock: first it could only read") && told.contains(" -> /"), "{name}: {told}");
        assert!(!told.contains("Permission denied"), "{name}: {told}");
        // It was a yes to one run.
        shell.wait_approval("it ran unasked and failed");
        shell.send("n");
        shell.wait_for("the row for a word", |view| view.text().contains("Enter refuses"));
        shell.send("\r");
        shell.wait_answer(mark, "All done.");
        let told = results_of(&server.wait_for_calls(4)[3]);
        for (result, why) in told[1..].iter().zip(["it did not run once more", "the user was not asked"]) {
            assert!(result.contains("Permission denied") && result.contains(why), "{name}: {told:#?}");
            assert!(!result.contains(" -> /"), "{name}: {told:#?}");
        }
        let record = home.run(&["audit", "tail"]).stdout;
        let again = record.matches("you let it run again without the lock").count();
        assert_eq!(again, 1, "{name}: {record}");
    });
}

#[test]
fn ctrl_c_at_that_card_stops_the_answer_and_runs_nothing() {
    in_shells(&[&link_of_another()], |name, server, home| {
        let shell = home.cohab();
        shell.run("true");
        let mark = shell.submit("? which program is that");
        shell.wait_approval("it ran unasked and failed");
        shell.send("\x03");
        let shown = shell.wait_answer(mark, "Stopped.");
        assert!(!shown.contains(" -> /"), "{name}: {shown:?}");
        assert!(shell.run("echo still; echo here").contains("still\r\nhere"), "{name}\n{}", shell.dump());
        assert_eq!(server.wait_for_calls(1).len(), 1, "{name}");
    });
}

#[test]
fn with_confined_all_an_unknown_program_runs_and_is_asked_about_where_it_is_stopped() {
    in_shells(&["ptx words.txt", "mktemp part-XXXXXX"], |name, server, home| {
        home.write_config("[approval]\nconfined = \"all\"\n");
        home.write("words.txt", "one two\nthree\n");
        let shell = home.cohab();
        shell.run("true");
        let mark = shell.submit("? which words are there");
        shell.wait_approval("it ran unasked and failed");
        let told = results_of(&server.wait_for_calls(2)[1]).remove(0);
        assert!(told.contains("three"), "{name}: the first one ran without a card: {told}");
        let is_made = || {
            std::fs::read_dir(home.path(".")).is_ok_and(|mut names| {
                names.any(|name| name.is_ok_and(|name| name.file_name().to_string_lossy().starts_with("part-")))
            })
        };
        assert!(!is_made(), "{name}: it could not write");
        shell.send("y");
        shell.wait_answer(mark, "All done.");
        assert!(is_made(), "{name}: after the consent it could");
    });
}

#[test]
fn pagers_print_and_end() {
    in_shells(&["sort -r words.txt | less -S", "less words.txt; man -k nothing-like-this"], |name, server, home| {
        home.write("words.txt", "alpha\nomega\n");
        let shell = home.cohab();
        shell.run("true");
        shell.ask("show me the words", "All done.");
        let told = results_of(&server.wait_for_calls(3)[2]);
        assert!(told[0].contains("omega\nalpha") && told[1].contains("alpha\nomega"), "{name}: {told:?}");
    });
}

#[test]
fn the_lock_can_be_switched_off() {
    in_shells(&[LOOK], |name, server, home| {
        home.write_config("[client]\nlock = false\n");
        let shell = home.cohab();
        shell.run("true");
        shell.ask("what may you do", "All done.");
        let told = server.wait_for_calls(2)[1].tool_results()[0].content.clone();
        assert!(told.contains("NoNewPrivs:\t0"), "{name}: {told}");
    });
}

#[test]
fn loops_and_substitutions_run_locked_and_leave_no_variable() {
    const BASH: &[&str] = &[
        "for f in *.txt; do echo \"$f: $(wc -l < \"$f\")\"; done",
        "n=$(ls *.txt | wc -l); if [ \"$n\" -gt 1 ]; then echo \"many: $n\"; fi",
        "diff <(sort a.txt) <(sort b.txt)",
        "find . -name '*.txt' | while read -r f; do head -n 1 \"$f\"; done | sort",
        "for i in 1 2; do grep -c NoNewPrivs:.1 /proc/self/status; done",
        "echo \"[${f-none}${n-none}${i-none}]\"",
        "if command -v systemctl >/dev/null; then systemctl --version | head -n 1; fi",
    ];
    const FISH: &[&str] = &[
        "for f in *.txt; echo \"$f: $(wc -l < $f)\"; end",
        "set -l n (count *.txt); if test $n -gt 1; echo \"many: $n\"; else; echo few; end",
        "sort (find . -name a.txt) | diff - b.txt",
        "find . -name '*.txt' | while read -l f; head -n 1 $f; end | sort",
        "for i in 1 2; grep -c NoNewPrivs:.1 /proc/self/status; end",
        "echo \"[$f$n$i]none\"",
        "if type -q systemctl; systemctl --version | head -n 1; end",
    ];
    for (shells, lines) in [(&SHELLS[..2], BASH), (&SHELLS[2..], FISH)] {
        loops_run_locked(shells, lines);
    }
}

fn loops_run_locked(shells: &[&str], lines: &[&str]) {
    in_these_shells(shells, lines, |name, server, home| {
        home.write("w/a.txt", "one\n");
        home.write("w/b.txt", "two\nthree\n");
        let shell = home.cohab();
        shell.run("cd w");
        let mark = shell.submit("? look around");
        shell.wait_approval("none");
        shell.send("y");
        shell.wait_answer(mark, "All done.");
        let requests = server.wait_for_calls(lines.len() + 1);
        let results = results_of(&requests[lines.len()]);
        let expected = ["a.txt: 1\nb.txt: 2", "many: 2", "< one\n---\n> t", "one\ntwo", "1\n1", "none", "systemd"];
        for (result, expected) in results.iter().zip(expected) {
            assert!(result.contains(expected), "{name}: {expected:?} in {results:#?}");
        }
        assert!(
            results[5].contains(if name == "fish" { "[]none" } else { "[nonenonenone]" }),
            "{name}: {}",
            results[5]
        );
        assert!(!shell.dump().contains("cohab-confine"), "{name}\n{}", shell.dump());
    });
}
