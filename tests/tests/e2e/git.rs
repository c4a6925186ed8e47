//! Git runs unasked only in plain repositories, not in those with settings that would make it start programs.

use std::{fs, os::unix::fs::PermissionsExt as _};

use cohab_e2e::{Answer, Home, ModelServer, Wire, binaries::in_each_of, keys};

const SHELLS: &[&str] = &["bash", "zsh", "fish"];
const READING: [&str; 5] = ["git status", "git diff", "git log -p", "git show", "git blame a.txt"];

fn git(home: &Home, args: &[&str]) {
    let output = home.process("git", &[&["-C", "app"], args].concat()).output().expect("git is installed");
    assert!(output.status.success(), "{args:?}: {output:?}");
}

/// A repository `app` with two commits and a change, and a program `evil` that leaves a trace wherever it runs.
fn repository(home: &Home) {
    fs::create_dir(home.path("app")).expect("a folder");
    home.write(".gitconfig", "[user]\nname = Ann\nemail = ann@example.org\n");
    git(home, &["init", "-q", "-b", "main"]);
    for text in ["one\n", "two\n"] {
        home.write("app/a.txt", text);
        git(home, &["add", "."]);
        git(home, &["commit", "-q", "-m", "a change"]);
    }
    home.write("app/a.txt", "three\n");
    let trace = home.path("trace");
    home.write("evil", &format!("#!/bin/sh\necho \"$0 $*\" >>'{}'\ncat\n", trace.display()));
    let make_executable = |name| fs::set_permissions(home.path(name), fs::Permissions::from_mode(0o755)).expect("ours");
    make_executable("evil");
    // A hook is no setting: a copied repository brings it along.
    fs::copy(home.path("evil"), home.path("app/.git/hooks/post-index-change")).expect("a hook");
}

/// The settings that a copied repository may contain.
fn plant(home: &Home) {
    let evil = home.path("evil").display().to_string();
    for key in [
        "core.fsmonitor",
        "core.pager",
        "diff.external",
        "diff.x.textconv",
        "diff.x.command",
        "filter.x.clean",
        "gpg.program",
        "alias.st",
    ] {
        git(home, &["config", key, &evil]);
    }
    git(home, &["config", "log.showSignature", "true"]);
    home.write("app/.gitattributes", "*.txt diff=x filter=x\n");
    // Creating the repository ran some of them.
    let _ = fs::remove_file(home.path("trace"));
}

#[test]
fn nothing_that_a_repository_names_runs_unasked_and_the_user_sees_its_name() {
    in_each_of(SHELLS, |name| {
        let all = READING.join("; ");
        let calls = [Answer::bash(&all), Answer::bash("cd app && git -C . log"), Answer::text("All done.")];
        let server = ModelServer::start(Wire::OpenAiChat, calls);
        let home = Home::with_model(&server).shell(name);
        repository(&home);
        plant(&home);
        let shell = home.cohab();
        shell.run("cd app");
        let mark = shell.submit("? what have I changed");
        for call in 2..4 {
            shell.wait_approval("can start programs");
            assert!(shell.look(|view| view.history().contains("`core.fsmonitor`")), "{name}\n{}", shell.dump());
            shell.send("n");
            shell.wait_text("Reason (optional).");
            shell.send(keys::ENTER);
            let told = server.wait_for_calls(call)[call - 1].conversation();
            assert!(told.contains("the user did not want it to run"), "{name}: {told}");
        }
        shell.wait_answer(mark, "All done.");
        assert!(!home.path("trace").exists(), "{name}: {}", fs::read_to_string(home.path("trace")).unwrap_or_default());
    });
}

#[test]
fn what_a_repository_names_is_asked_about_before_cohab_ask_starts_git_there() {
    let diff = || Answer::bash("git diff");
    let calls = [diff(), Answer::text("Not looked."), diff(), diff(), Answer::text("All done.")];
    let server = ModelServer::start(Wire::OpenAiChat, calls);
    let home = Home::with_model(&server);
    repository(&home);
    plant(&home);
    // No user is there who could agree.
    let mut asking = home.cohab_process(&["ask", "what have I changed"]);
    let finished = home.finish(asking.current_dir(home.path("app")).spawn().expect("cohab starts"));
    assert!(finished.stdout.contains("Not looked."), "{finished:?}");
    let told = &server.wait_for_calls(2)[1].tool_results()[0].content;
    assert!(told.contains("no client is attached"), "{told}");
    assert!(!home.path("trace").exists(), "{}", fs::read_to_string(home.path("trace")).unwrap_or_default());
    let shell = home.bash();
    shell.run("cd app");
    shell.submit(&format!("{} ask what have I changed", cohab_e2e::binaries::word("cohab")));
    shell.wait_approval("git diff");
    assert!(shell.look(|view| view.history().contains("core.fsmonitor")), "{}", shell.dump());
    shell.send("y");
    // The second time there is no question: it is settled.
    shell.wait_text("All done.");
    let told = &server.wait_for_calls(5)[4].tool_results()[1].content;
    assert!(told.contains("+three"), "{told}");
}

#[test]
fn in_a_plain_repository_git_reads_unasked_without_pager_and_hook_and_shows_how_it_was_typed() {
    in_each_of(SHELLS, |name| {
        let calls = READING.map(Answer::bash).into_iter().chain([Answer::text("All done.")]);
        let server = ModelServer::start(Wire::OpenAiChat, calls);
        let home = Home::with_model(&server).shell(name).env("PAGER", "false");
        repository(&home);
        let shell = home.cohab();
        shell.run("cd app");
        shell.ask("what have I changed", "All done.");
        let told = server.wait_for_calls(6)[5].conversation();
        for text in ["modified:", "+three", "-one", "a change", "Not Committed Yet"] {
            assert!(told.contains(text), "{name}: {text}: {told}");
        }
        assert!(!told.contains("core.fsmonitor"), "the assistant sees its own lines: {told}");
        assert!(!home.path("trace").exists(), "{name}: a hook ran");
        let shown = shell.look(|view| view.history().matches("typed to stay read-only").count());
        assert_eq!(shown, 1, "{name}\n{}", shell.dump());
        let mark = shell.submit("? /typed");
        shell.wait_answer(mark, "--no-textconv a.txt");
        // The user's own history knows nothing of it.
        let counted = shell.run("history | grep -c 'ignore-submodule[s]'");
        assert!(counted.contains("0\r\n"), "{name}: {counted:?}");
    });
}

#[test]
fn variables_that_decide_what_git_does_are_asked_about_once() {
    in_each_of(SHELLS, |name| {
        let calls = [Answer::bash("git status"), Answer::bash("git log"), Answer::text("All done.")];
        let server = ModelServer::start(Wire::OpenAiChat, calls);
        let home = Home::with_model(&server).shell(name);
        repository(&home);
        let shell = home.cohab();
        shell.run("cd app");
        shell.run(if name == "fish" { "set -gx GIT_EXTERNAL_DIFF cat" } else { "export GIT_EXTERNAL_DIFF=cat" });
        let mark = shell.submit("? what have I changed");
        shell.wait_approval("GIT_EXTERNAL_DIFF");
        shell.send("y");
        shell.wait_answer(mark, "All done.");
        let told = server.wait_for_calls(3)[2].conversation();
        assert!(told.contains("modified:") && told.contains("a change"), "{name}: {told}");
    });
}
