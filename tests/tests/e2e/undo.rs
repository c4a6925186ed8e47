//! `cohab undo` restores the shell from before the turn, and reports all that it could not restore.

use std::{fs, os::unix::fs::PermissionsExt, process::Command};

use cohab_e2e::{
    Answer, Home, ModelServer, Wire, binaries::is_installed_or_skip, home::PROMPT, keys, model_server::Request,
    terminal::View,
};
use serde_json::json;

const CTRL_UNDERSCORE: &str = "\x1f";
/// A hook before a command gets its text from the history.
const HOOKS: &str = concat!(
    include_str!("../../../shell-relay/tests/rc/preexec.bash"),
    "\npreexec() { echo \"hook: $1\" >>~/hooks; }\n"
);

/// A home where everything is approved, and a model that runs this command and then answers, for every question.
fn acting(command: &str) -> (ModelServer, Home) {
    let turn = || [Answer::bash(command), Answer::text("All done.")];
    let server = ModelServer::start(Wire::OpenAiChat, turn().into_iter().chain(turn()));
    let home = Home::with_model(&server).env("COHAB_APPROVAL", "all").env("OLD", "it's old");
    (server, home)
}

#[test]
fn the_line_brings_folder_variables_and_aliases_back_and_says_what_stays() {
    let (server, home) = acting("mkdir d; cd d; export NEW=1 OLD=2; alias ll='ls -l'; f() { :; }");
    let shell = home.cohab();
    shell.ask("change things", "All done.");
    assert!(shell.run("echo \"<$NEW $OLD ${PWD##*/}>\"").contains("<1 2 d>"));
    let raw = shell.run("cohab undo");
    let undone = shell.look(View::history);
    assert!(undone.contains("↶ cd ~ · -NEW ~OLD · unalias ll\n"), "{}", shell.dump());
    assert!(undone.contains("Cannot be undone: function f.\n"), "{}", shell.dump());
    assert!(!raw.contains("builtin"), "the command is not shown: {raw}");
    let now = shell.run("echo \"<${NEW-none} $OLD>\"; pwd; alias ll; type -t f");
    assert!(now.contains("<none it's old>") && now.contains("ll: not found") && now.contains("function"), "{now}");
    assert!(!now.contains("/d\r"), "{now}");
    assert!(shell.run("cohab undo").contains("Nothing to undo"));

    shell.ask("again", "All done.");
    let told = server.wait_for_calls(3)[2].conversation();
    assert!(told.contains("cohab undo") && told.contains("-NEW ~OLD"), "the model knows: {told}");
}

#[test]
fn the_line_and_the_key_undo_in_zsh_and_fish_too() {
    let in_zsh = "mkdir -p d; cd d; export NEW=1 OLD=2; alias ll='ls -l'; f() { :; }";
    let in_fish = "mkdir -p d; cd d; set -gx NEW 1; set -gx OLD 2; umask 077; function f; end";
    for (name, command, told) in
        [("zsh", in_zsh, "-NEW ~OLD · unalias ll\n"), ("fish", in_fish, "-NEW ~OLD · umask 0022\n")]
    {
        if !is_installed_or_skip(name) {
            continue;
        }
        let (server, home) = acting(command);
        let home = home.shell(name);
        let shell = home.cohab();
        let state = r#"echo "<$NEW|$OLD|$PWD>""#;
        let changed = format!("<1|2|{}>", home.path("d").display());
        let as_before = format!("<|it's old|{}>", home.path("").display().to_string().trim_end_matches('/'));
        shell.ask("change things", "All done.");
        assert!(shell.look(View::history).contains("↳ cd ~/d · +NEW ~OLD"), "{}", shell.dump());
        assert!(shell.run(state).contains(&changed), "{}", shell.dump());
        let raw = shell.run("cohab undo");
        let undone = shell.look(View::history);
        assert!(undone.contains(&format!("↶ cd ~ · {told}")), "{}", shell.dump());
        assert!(undone.contains("Cannot be undone: function f.\n"), "{}", shell.dump());
        assert!(!raw.contains("builtin") && !raw.contains("begin;"), "the command is not shown: {raw}");
        assert!(shell.run(state).contains(&as_before), "{}", shell.dump());
        assert!(shell.run("cohab undo").contains("Nothing to undo"));

        shell.ask("again", "All done.");
        let mark = shell.mark();
        shell.send(CTRL_UNDERSCORE);
        assert!(shell.wait_next_prompt(mark).contains("-NEW"), "{}", shell.dump());
        assert!(shell.run(state).contains(&as_before), "{}", shell.dump());
        assert!(server.wait_for_calls(3)[2].conversation().contains("cohab undo"), "the model knows");
    }
}

#[test]
fn what_a_stopped_command_changed_is_told_and_undone() {
    for name in ["bash", "zsh", "fish"].into_iter().filter(|name| is_installed_or_skip(name)) {
        let change = if name == "fish" { "set -gx NEW 1" } else { "export NEW=1" };
        let (_server, home) = acting(&format!("{change}; cd /usr; sh -c 'echo begun; exec sleep 60'"));
        let home = if name == "bash" { home } else { home.shell(name) };
        let shell = home.cohab();
        let mark = shell.submit("? change things");
        shell.wait_for("the command runs", |view| view.rows().iter().any(|row| row == "begun"));
        shell.send(keys::CTRL_C);
        shell.wait_next_prompt(mark);
        assert!(shell.look(View::history).contains("↳ cd /usr · +NEW\n"), "{}", shell.dump());
        shell.run("cohab undo");
        let undone = shell.look(View::history);
        assert!(undone.contains("↶ cd ~ · -NEW\n") && !undone.contains("not known"), "{}", shell.dump());
        assert!(
            shell.run(r#"echo "<$NEW|$PWD>""#).contains(&format!("<|{}>", home.path("").display()).replace("/>", ">"))
        );
    }
}

#[test]
fn what_undo_brings_back_stays_within_the_shell() {
    const OLD: &str = "the-0ld-s3cret";
    for (name, history) in
        [("bash", ".bash_history"), ("zsh", ".zsh_history"), ("fish", ".local/share/fish/fish_history")]
    {
        if !is_installed_or_skip(name) {
            continue;
        }
        let (server, home) = acting(if name == "fish" { "set -e API_TOKEN" } else { "unset API_TOKEN" });
        let file = home.path(history);
        let home = home.env("API_TOKEN", OLD).env("HISTFILE", &file.display().to_string());
        let home = if name == "bash" { home.rc(HOOKS) } else { home.shell(name) };
        if name == "zsh" {
            home.write(".zshrc", &format!("PS1='{PROMPT}' SAVEHIST=100 HISTSIZE=100\n"));
        }
        let shell = home.cohab();
        shell.ask("change things", "All done.");
        shell.run("cohab undo");
        assert!(shell.look(View::history).contains("↶ +API_TOKEN\n"), "{}", shell.dump());
        // Printed, the value would be reported with the command's output.
        shell.run("set | grep -c '0ld-s3cre[t]'");
        assert!(shell.look(View::history).contains("[t]'\n1\n"), "only the variable itself holds it: {}", shell.dump());
        shell.ask("again", "All done.");
        let told = server.wait_for_calls(4).iter().map(Request::conversation).collect::<String>();
        assert!(told.contains("+API_TOKEN"), "{told}");
        assert!(!told.contains(OLD), "the model: {told}");
        shell.send("exit\r");
        shell.wait_exit();
        let state = home.paths().log_dir().parent().expect("a folder of ours").parent().expect("all of it").to_owned();
        let found = home.process("grep", &["-rl", OLD, &state.display().to_string()]).output().expect("grep runs");
        assert_eq!(String::from_utf8_lossy(&found.stdout), "", "neither a log nor anything else on disk");
        let kept = fs::read_to_string(&file).expect("a history");
        assert!(kept.contains("grep -c") && !kept.contains(OLD), "{name}: {kept}");
        if name == "bash" {
            let seen = fs::read_to_string(home.path("hooks")).expect("hooks ran");
            assert!(seen.contains("hook: cohab undo\n") && !seen.contains(OLD), "{seen}");
        }
    }
}

#[test]
fn what_the_user_changed_since_stays_and_what_the_shell_refuses_is_told() {
    let (_server, home) = acting("export MINE=1 FIXED=1 NEW=1");
    let shell = home.cohab();
    shell.ask("change things", "All done.");
    shell.run("export MINE=2; readonly FIXED");
    shell.run("cohab undo");
    let told = shell.look(View::history);
    assert!(told.contains("The shell refused: variable FIXED.\n"), "{}", shell.dump());
    assert!(told.contains("Changed since, and left alone: variable MINE.\n"), "{}", shell.dump());
    assert!(shell.run("echo \"<$MINE $FIXED ${NEW-none}>\"").contains("<2 1 none>"));
}

#[test]
fn the_key_undoes_right_after_the_turn_and_is_the_shells_at_any_other_time() {
    let (_server, home) = acting("export NEW=1");
    let shell = home.cohab();
    shell.ask("change things", "All done.");
    let mark = shell.mark();
    shell.send(CTRL_UNDERSCORE);
    assert!(shell.wait_next_prompt(mark).contains("-NEW"));
    assert!(shell.run("echo \"<${NEW-none}>\"").contains("<none>"));

    shell.ask("again", "All done.");
    // The line editor's own undo takes back what was typed.
    shell.type_line("echo typed");
    shell.send(CTRL_UNDERSCORE);
    shell.wait_prompt();
    assert!(shell.run("echo \"<${NEW-none}>\"").contains("<1>"));
}

#[test]
fn elsewhere_the_command_takes_files_back_and_leaves_what_was_changed_since() {
    assert_eq!(Home::new().run(&["undo"]).stdout, "Nothing to undo: no file changes are recorded.\n");
    let write = |name: &str| Answer::call("write", &json!({"path": name, "content": "theirs"}));
    let server = ModelServer::start(Wire::OpenAiChat, [write("a"), write("b"), Answer::text("All done.")]);
    let home = Home::with_model(&server);
    ["a", "b"].iter().for_each(|name| fs::write(home.path(name), "mine").expect("the home can be written"));
    assert_eq!(home.run(&["ask", "--approve", "all", "change files"]).status, Some(0));
    fs::write(home.path("b"), "mine again").expect("the home can be written");
    let refused = home.run(&["undo"]);
    assert_eq!(refused.status, Some(1), "nobody can be asked: {refused:?}");
    assert!(refused.stderr.contains("there is no terminal to ask whether to undo \"change files\""), "{refused:?}");
    let undone = home.run(&["undo", "--yes"]);
    assert_eq!(undone.status, Some(1), "{undone:?}");
    assert!(
        undone.stdout.starts_with("~/b: left alone, it was changed since; its earlier content is in "),
        "{undone:?}"
    );
    assert!(undone.stdout.ends_with("~/a: restored\n"), "{undone:?}");
    let text = |name: &str| fs::read_to_string(home.path(name)).expect("it is there");
    assert_eq!((text("a"), text("b")), ("mine".to_owned(), "mine again".to_owned()));
}

#[test]
fn files_of_the_last_turn_come_back_without_git() {
    let calls = [
        Answer::call("edit", &json!({"path": "notes.txt", "old_string": "mine", "new_string": "theirs"})),
        Answer::call("write", &json!({"path": "new/made.txt", "content": "made\n"})),
        Answer::bash("export NEW=1"),
        Answer::text("All done."),
    ];
    let server = ModelServer::start(Wire::OpenAiChat, calls);
    let home = Home::with_model(&server).env("COHAB_APPROVAL", "all");
    fs::write(home.path("notes.txt"), "mine\n").expect("the home can be written");
    let shell = home.cohab();
    shell.ask("change files", "All done.");
    assert!(shell.look(View::history).contains("undo: cohab undo"), "{}", shell.dump());
    assert_eq!(fs::read_to_string(home.path("notes.txt")).expect("it is there"), "theirs\n");
    shell.run("cohab undo");
    let undone = shell.look(View::history);
    assert!(undone.contains("~/notes.txt: restored\n"), "{}", shell.dump());
    assert!(undone.contains("~/new/made.txt: removed, the assistant had created it\n"), "{}", shell.dump());
    assert!(undone.contains("↶ -NEW\n"), "{}", shell.dump());
    assert_eq!(fs::read_to_string(home.path("notes.txt")).expect("it is there"), "mine\n");
    assert!(!home.path("new").exists());
    let verified = home.run(&["audit", "verify"]);
    assert_eq!(verified.status, Some(0), "{}", verified.stdout);
    let told = home.run(&["audit", "tail"]).stdout;
    assert!(
        told.contains("$ export NEW=1") && told.contains("by the approval mode") && told.contains("files restored"),
        "{told}"
    );
}

#[test]
fn what_commands_removed_created_and_replaced_comes_back_and_the_rest_is_named() {
    for name in ["bash", "zsh", "fish"].into_iter().filter(|name| is_installed_or_skip(name)) {
        let write = Answer::call("write", &json!({"path": "one.txt", "content": "one"}));
        let command = "touch two.txt && rm -rf notes; mv list.txt old-list.txt; sed -i s/mine/theirs/ config; make";
        let server = ModelServer::start(
            Wire::OpenAiChat,
            [write, Answer::text("Written."), Answer::bash(command), Answer::text("Tidied.")],
        );
        let home = Home::with_model(&server).env("COHAB_APPROVAL", "all");
        let home = if name == "bash" { home } else { home.shell(name) };
        fs::create_dir(home.path("notes")).expect("made");
        for (file, text) in [("notes/todo.txt", "milk"), ("list.txt", "a list"), ("config", "mine")] {
            fs::write(home.path(file), text).expect("written");
        }
        let shell = home.cohab();
        shell.ask("write one", "Written.");
        shell.ask("tidy up", "Tidied.");
        assert!(!home.path("notes").exists() && home.path("two.txt").exists(), "{name}: {}", shell.dump());
        shell.run("cohab undo");
        let told = shell.look(View::history);
        let text = |file: &str| fs::read_to_string(home.path(file)).ok();
        let files = ["notes/todo.txt", "list.txt", "config", "one.txt", "two.txt", "old-list.txt"].map(text);
        let expected = [Some("milk"), Some("a list"), Some("mine"), Some("one"), None, None];
        assert_eq!(files.each_ref().map(Option::as_deref), expected, "{name}: {}", shell.dump());
        assert!(told.contains("~/old-list.txt: moved back to ~/list.txt\n"), "{name}: {}", shell.dump());
        assert!(told.contains("Not undone: what `make` changes in files.\n"), "{name}: {}", shell.dump());
        // An older turn is undone only by its number.
        assert!(shell.run("cohab undo").contains("Nothing to undo"), "{name}");
        assert_eq!(text("one.txt").as_deref(), Some("one"));
        let list = home.run(&["undo", "--list"]).stdout;
        assert!(list.contains("1  now       1  write one\n"), "{name}: {list}");
        assert_eq!(home.run(&["undo", "--turn", "1"]).stdout, "~/one.txt: removed, the assistant had created it\n");
        assert_eq!(home.run(&["undo", "--redo"]).stdout, "~/one.txt: restored\n");
        assert_eq!(text("one.txt").as_deref(), Some("one"));
    }
}

#[test]
fn what_git_did_comes_back_with_its_branch_and_index() {
    for name in ["bash", "zsh", "fish"].into_iter().filter(|name| is_installed_or_skip(name)) {
        let command =
            "git add -A && git commit -qm more; git branch -q -D old; chmod 700 run; git checkout -q -b next; rm run";
        let server = ModelServer::start(Wire::OpenAiChat, [Answer::bash(command), Answer::text("Committed.")]);
        let home = Home::with_model(&server).env("COHAB_APPROVAL", "all");
        let home = if name == "bash" { home } else { home.shell(name) };
        let repository = home.path("shop");
        fs::create_dir(&repository).expect("made");
        let git = |line: &str| {
            let who = ["-c", "user.name=x", "-c", "user.email=x@x"];
            let output = Command::new("git").args(who).args(line.split(' ')).current_dir(&repository).output();
            String::from_utf8(output.expect("it runs").stdout).expect("text")
        };
        git("init -q -b main");
        ["user.name x", "user.email x@x"].iter().for_each(|setting| drop(git(&format!("config {setting}"))));
        fs::write(repository.join("run"), "run").expect("written");
        git("add run");
        git("commit -q -m first");
        git("branch old");
        fs::write(repository.join("new"), "new").expect("written");
        let state = || ["status --porcelain --branch", "for-each-ref", "log --oneline"].map(&git);
        let mode = || fs::metadata(repository.join("run")).expect("it is there").permissions().mode();
        let (before, mode_before) = (state(), mode());
        let shell = home.cohab();
        shell.run("cd shop");
        shell.ask("commit it", "Committed.");
        assert_ne!(state(), before, "{name}: {}", shell.dump());
        shell.run("cohab undo");
        assert_eq!(state(), before, "{name}: {}", shell.dump());
        assert_eq!(mode(), mode_before, "{name}");
    }
}
