//! The user's secrets are filled in only after a question, and stored nowhere.

use std::{
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use cohab_e2e::{Answer, Home, ModelServer, Request, Session, Wire, binaries::in_each_shell, keys, terminal::View};

/// A token in one of the user's files.
fn token() -> String {
    ["glpat", "-aB3dE5fG7hJ9kL1mN2pQ"].concat()
}

/// The placeholder that the model gets.
fn placeholder(request: &Request) -> String {
    let told = request.conversation();
    let rest = told.split_once("<secret:gitlab-token#").expect("the model is told that there was one").1;
    format!("<secret:gitlab-token#{}>", rest.split_once('>').expect("its end").0)
}

/// A model that hands the user's token to a program which writes it back and into the file `got`.
fn using_the_token() -> ModelServer {
    ModelServer::respond_with(Wire::OpenAiChat, |request| match request.tool_results().len() {
        0 => Answer::bash(&format!("printf '%s\\n' '{}' | tee got", placeholder(request))),
        _ => Answer::text("All done."),
    })
}

/// All files below a folder that hold this text.
fn files_with(folder: &Path, text: &str, found: &mut Vec<PathBuf>) {
    for path in fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()) {
        let is_link = path.is_symlink();
        if path.is_dir() && !is_link {
            files_with(&path, text, found);
        } else if path.is_file() && fs::read(&path).is_ok_and(|bytes| holds(&bytes, text)) {
            found.push(path);
        }
    }
}

fn holds(bytes: &[u8], text: &str) -> bool {
    bytes.windows(text.len()).any(|window| window == text.as_bytes())
}

/// Names of the files that hold this text after the shell has ended: the user's, the shell's, cohab's.
fn kept_in(home: &Home, text: &str) -> Vec<String> {
    let root = home.path("..").canonicalize().expect("the folder of the test");
    let mut found = Vec::new();
    files_with(&root, text, &mut found);
    let name = |path: PathBuf| path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let mut names: Vec<_> = found.into_iter().map(name).collect();
    names.sort();
    names
}

/// A home whose shell keeps a history on disk.
fn home(server: &ModelServer, shell: &str) -> Home {
    let home = Home::with_model(server).shell(shell);
    let rc = fs::read_to_string(home.path(".zshrc")).expect("it was written");
    home.write(".zshrc", &format!("{rc}HISTFILE=~/.zsh_history SAVEHIST=100\n"));
    home
}

/// The user prints the file, and asks; the card is open.
fn asked_about<'home>(home: &'home Home) -> (Session<'home>, usize) {
    home.write("token.txt", &token());
    let shell = home.cohab();
    shell.run("cat token.txt; echo");
    let mark = shell.submit("? is it still good");
    shell.wait_approval("tee got");
    (shell, mark)
}

/// The shell ends in order, as it writes its history then.
fn leave(shell: &Session<'_>) {
    shell.submit("exit");
    shell.wait_exit();
}

#[test]
fn a_secret_goes_to_the_program_that_the_card_names_and_nowhere_else() {
    in_each_shell(|name| {
        let server = using_the_token();
        let home = home(&server, name);
        let (shell, mark) = asked_about(&home);
        let card = shell.look(View::text);
        assert!(card.contains("fills in the gitlab token (gitlab-token#1) here, for printf, tee"), "{name}\n{card}");
        assert!(!home.path("got").exists(), "{name}: it ran before the answer");
        shell.send("y");
        let drawn = shell.wait_answer(mark, "All done.");
        assert_eq!(fs::read_to_string(home.path("got")).expect("it ran"), format!("{}\n", token()), "{name}");
        assert_eq!(drawn.matches(&token()).count(), 1, "{name}: only what the program wrote\n{drawn:?}");
        let requests = server.wait_for_calls(2);
        let result = &requests[1].tool_results()[0].content;
        assert!(result.contains(&placeholder(&requests[0])), "{name}: {result}");
        assert!(requests.iter().all(|request| !request.body.to_string().contains("aB3dE5fG7hJ9")), "{name}");
        let history = shell.run(if name == "zsh" { "fc -l 1" } else { "history" });
        assert!(history.contains("cat token.txt") && !history.contains("aB3dE5fG7hJ9"), "{name}: {history:?}");
        leave(&shell);
        assert_eq!(kept_in(&home, "aB3dE5fG7hJ9"), ["got", "token.txt"], "{name}");
    });
}

#[test]
fn a_refused_secret_is_not_filled_in() {
    in_each_shell(|name| {
        let server = using_the_token();
        let home = home(&server, name);
        let (shell, mark) = asked_about(&home);
        shell.send("n");
        shell.wait_text("Reason (optional).");
        shell.send(keys::ENTER);
        let drawn = shell.wait_answer(mark, "All done.");
        assert!(!drawn.contains("aB3dE5fG7hJ9") && !home.path("got").exists(), "{name}: {drawn:?}");
        let told = server.wait_for_calls(2)[1].body.to_string();
        assert!(!told.contains("aB3dE5fG7hJ9"), "{name}: {told}");
        leave(&shell);
        assert_eq!(kept_in(&home, "aB3dE5fG7hJ9"), ["token.txt"], "{name}");
    });
}

/// For this long keys typed during a command may still be on their way to the next prompt: a line with them goes to the shell unread.
const TYPED_AHEAD: Duration = Duration::from_millis(200);

/// Asks for a password and takes it without echo, as programs do.
const LOGIN: &str = "#!/bin/sh
stty -echo
printf 'Password: '
read -r password
stty echo
printf '\\nlogged in with %s letters\\n' \"${#password}\"
";

#[test]
fn what_is_typed_without_echo_is_kept_nowhere() {
    const PASSWORD: &str = "correct horse battery";
    in_each_shell(|name| {
        let answers = [Answer::bash("sh login"), Answer::text("You are in."), Answer::text("Twice, even.")];
        let server = ModelServer::start(Wire::OpenAiChat, answers);
        let home = home(&server, name);
        home.write_config("[log]\nlevel = \"trace\"\n");
        home.write("login", LOGIN);
        let shell = home.cohab();
        let log_in = |mark: usize| {
            shell.wait_for("the question for a password", |view| view.raw()[mark..].ends_with(b"Password: "));
            shell.send(PASSWORD);
            shell.send(keys::ENTER);
        };
        // To a command of the assistant's, and to one of the user's own.
        let mark = shell.submit("? log in");
        shell.wait_approval("sh login");
        shell.send("y");
        log_in(mark);
        shell.wait_answer(mark, "You are in.");
        let mark = shell.submit("sh login");
        log_in(mark);
        shell.wait_next_prompt(mark);
        let _ = shell.holds_within(TYPED_AHEAD, |_| false);
        shell.ask("how often did I log in", "Twice, even.");
        assert!(shell.look(|view| view.history().matches("logged in with 21 letters").count() == 2), "{name}");
        let raw = shell.raw_since(0);
        assert!(!raw.contains("horse"), "{name}: it is on the screen: {raw:?}");
        let told = server.wait_for_calls(3).iter().map(|request| request.body.to_string()).collect::<String>();
        assert!(told.matches("logged in with 21 letters").count() >= 2 && !told.contains("horse"), "{name}: {told}");
        let history = shell.run(if name == "zsh" { "fc -l 1" } else { "history" });
        assert!(history.contains("sh login") && !history.contains("horse"), "{name}: {history:?}");
        leave(&shell);
        assert_eq!(kept_in(&home, "horse"), Vec::<String>::new(), "{name}");
        assert!(home.daemon_log().contains("DEBUG"), "{name}: {}", home.daemon_log());
    });
}
