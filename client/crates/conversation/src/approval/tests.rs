use std::path::Path;

use cohab_policy_io::files::FileSystem;
use cohab_protocol::{ApprovalDecision as Decision, ProposedCommand, RunMode, TurnId};
use cohab_shell_state::shell::Shell;

use super::*;

struct Asked {
    question: OpenQuestion,
    now: Instant,
}

fn command(text: &str, is_dangerous: bool) -> ApprovalRequest {
    let (command, cwd) = (text.into(), Path::new("/home/ann/src").into());
    ApprovalRequest {
        approval_id: ApprovalId::fresh(),
        turn_id: TurnId::fresh(),
        subject: ApprovalSubject::Command { command, cwd, mode: RunMode::Live },
        is_dangerous,
        reasons: vec!["it is new".into()],
        is_each_time: false,
    }
}

fn batch(commands: &[&str]) -> ApprovalRequest {
    let proposed = |text: &&str| ProposedCommand {
        approval_id: ApprovalId::fresh(),
        command: (*text).into(),
        cwd: Path::new("/home/ann/src").into(),
        mode: RunMode::Live,
        reasons: vec!["it is new".into()],
    };
    ApprovalRequest {
        subject: ApprovalSubject::Commands(commands.iter().map(proposed).collect()),
        ..command("", false)
    }
}

impl Asked {
    fn new(request: ApprovalRequest) -> Self {
        let now = Instant::now();
        let (question, _) = OpenQuestion::new(request, Arc::new(ApprovalEnvironment::of_ann(&FileSystem)), now);
        Self { question, now: now + DEAF }
    }

    /// A key by itself, pressed with a look at the screen.
    fn key(&mut self, key: char) -> KeyOutcome {
        self.now += DEAF;
        assert_eq!(self.type_on(key), KeyOutcome::default(), "{key} waits for what follows");
        self.now += CHOICE_REST;
        self.question.on_time(self.now)
    }

    /// A letter long after the one before.
    fn key_alone(&mut self, key: char) -> KeyOutcome {
        self.now += LINE_REST;
        self.type_on(key)
    }

    fn type_on(&mut self, key: char) -> KeyOutcome {
        self.press(KeyCode::Char(key))
    }

    fn press(&mut self, key: KeyCode) -> KeyOutcome {
        self.question.on_input(&Input::Key(KeyPress::plain(key)), self.now)
    }

    /// What was decided about which command.
    fn decided(outcome: &KeyOutcome) -> Option<(&str, &Decision)> {
        let (request, decision) = outcome.decided.as_ref()?;
        let ApprovalSubject::Command { command, .. } = &request.subject else { return Some(("", decision)) };
        Some((command, decision))
    }
}

fn rule_in(outcome: &KeyOutcome) -> &Rule {
    match &outcome.task {
        Some(Task::Store { rules, .. }) if rules.len() == 1 => &rules[0],
        other => panic!("{other:?}"),
    }
}

#[test]
fn each_key_decides_what_it_says() {
    for (key, decision) in [('y', Decision::Once), ('s', Decision::Session), ('S', Decision::Session)] {
        let outcome = Asked::new(command("cargo test", false)).key(key);
        assert_eq!(Asked::decided(&outcome), Some(("cargo test", &decision)), "{key}");
        assert!(outcome.is_closed);
    }
    let stop = &Asked::new(command("cargo test", false)).press(KeyCode::Escape);
    assert_eq!(Asked::decided(stop), Some(("cargo test", &Decision::CancelTurn)));
    assert_eq!(Asked::new(command("cargo test", false)).key('x'), KeyOutcome::default());
}

fn shown(asked: &Asked) -> String {
    asked.question.question(79, OutputStyle::Rich).lines.iter().map(|line| format!("{line}\n")).collect()
}

#[test]
fn what_lasts_shows_its_rule_before_y_stores_it() {
    let folder = Path::new("/home/ann/src");
    for (key, place, folder, decision, remembered) in [
        ('d', "in ~/src", Some(folder), Decision::Folder, "~/src"),
        ('a', "in every folder", None, Decision::Always, "every folder"),
    ] {
        let mut asked = Asked::new(command("cargo test", false));
        assert_eq!(asked.key(key), KeyOutcome::default());
        assert!(shown(&asked).contains(&format!("allow `cargo test` {place}")), "{}", shown(&asked));
        assert_eq!(asked.press(KeyCode::Escape), KeyOutcome::default());
        assert!(shown(&asked).contains("a always"), "Esc goes back: {}", shown(&asked));
        asked.key(key);
        assert_eq!(asked.key(key), KeyOutcome::default(), "only y stores it");
        let stored = asked.key('y');
        assert!(stored.decided.is_none() && !stored.is_closed, "decided when it is stored");
        assert_eq!((rule_in(&stored).line(), rule_in(&stored).folder.as_deref()), ("cargo test".into(), folder));
        assert_eq!(asked.key('y'), KeyOutcome::default(), "a key while it is stored");
        let id = asked.question.request.approval_id;
        let outcome = asked.question.on_done(TaskResult::Stored { question: id, result: Ok(()) }, asked.now);
        assert_eq!(Asked::decided(&outcome), Some(("cargo test", &decision)));
        let remark = format!("Remembered for {remembered}, in ~/.config/cohab/rules.toml.");
        assert_eq!(outcome.remark, Some((remark, false)));
    }
}

#[test]
fn p_shows_the_tests_and_builds_of_the_project_before_y_stores_them() {
    let mut asked = Asked::new(command("cargo test -p shop", false));
    assert!(shown(&asked).contains("p lets tests and builds run here unasked"), "{}", shown(&asked));
    assert_eq!(asked.key('p'), KeyOutcome::default());
    let rows = shown(&asked);
    assert!(
        rows.contains("`cargo test -p shop`, `cargo test`, `cargo check`") && rows.contains("y stores them"),
        "{rows}"
    );
    let stored = asked.key('y');
    let Some(Task::Store { rules, .. }) = &stored.task else { panic!("{stored:?}") };
    let folder = Path::new("/home/ann/src");
    assert_eq!(*rules, cohab_policy::user_rules::project_rules("cargo test -p shop", folder, Shell::Bash));
    let id = asked.question.request.approval_id;
    let outcome = asked.question.on_done(TaskResult::Stored { question: id, result: Ok(()) }, asked.now);
    assert_eq!(Asked::decided(&outcome), Some(("cargo test -p shop", &Decision::Folder)));
}

#[test]
fn p_means_nothing_for_other_commands() {
    for (text, is_dangerous) in [("make install", false), ("touch a", false), ("cargo test", true)] {
        let mut asked = Asked::new(command(text, is_dangerous));
        assert!(!shown(&asked).contains("tests and builds"), "{text}");
        assert_eq!(asked.key_alone('p'), KeyOutcome::default());
        assert_eq!(asked.question.answering, Answering::Keys, "{text}");
    }
}

/// A card in place of the prompt that the user had.
fn unattended() -> Asked {
    let mut asked = Asked::new(command("cargo test", false));
    asked.question.wait_for_attention();
    asked
}

#[test]
fn a_line_for_the_shell_answers_no_card_however_slowly_it_is_typed() {
    for pause in [120, 350, 900] {
        let mut asked = unattended();
        for letter in "docker says yes\tnow\r".chars() {
            let key = match letter {
                '\t' => KeyCode::Tab,
                '\r' => KeyCode::Enter,
                letter => KeyCode::Char(letter),
            };
            assert_eq!(asked.press(key), KeyOutcome::default(), "{letter}");
            asked.now += Duration::from_millis(pause);
            assert_eq!(asked.question.on_time(asked.now), KeyOutcome::default(), "{letter}");
        }
        assert_eq!(asked.question.answering, Answering::Unattended, "{pause} ms between keys");
    }
}

#[test]
fn a_card_in_place_of_the_prompt_says_which_key_makes_it_listen() {
    for key in [KeyCode::Tab, KeyCode::Enter, KeyCode::Up, KeyCode::Down, KeyCode::Left, KeyCode::Right] {
        let mut asked = unattended();
        assert_eq!(shown(&asked), "╰ Tab or an arrow to answer · Esc stop\n");
        for letter in ['y', 'd'] {
            assert_eq!(asked.key_alone(letter), KeyOutcome::default());
        }
        asked.question.on_input(&Input::Paste("y".into()), asked.now);
        asked.now += LINE_REST;
        assert_eq!(asked.press(key), KeyOutcome::default(), "{key:?} decides nothing");
        assert!(shown(&asked).contains("y once"), "{key:?}");
        assert_eq!(Asked::decided(&asked.key('y')), Some(("cargo test", &Decision::Once)));
    }
    for stop in [KeyPress::plain(KeyCode::Escape), KeyPress::ctrl('c')] {
        let mut asked = unattended();
        let outcome = asked.question.on_input(&Input::Key(stop), asked.now);
        assert_eq!(Asked::decided(&outcome), Some(("cargo test", &Decision::CancelTurn)));
    }
}

#[test]
fn a_consent_for_the_session_is_offered_only_where_there_is_one() {
    let now = Instant::now();
    for (lasting, is_offered) in [(Lasting::Shell, true), (Lasting::Answer, false)] {
        let environment = Arc::new(ApprovalEnvironment { lasting, ..ApprovalEnvironment::of_ann(&FileSystem) });
        let subject = ApprovalSubject::FileRead { tool: "read".into(), path: Path::new("/x").into() };
        for request in [command("cargo test", false), ApprovalRequest { subject, ..command("", false) }] {
            let (question, _) = OpenQuestion::new(request, Arc::clone(&environment), now);
            assert_eq!(shown(&Asked { question, now }).contains("s this session"), is_offered, "{lasting:?}");
        }
    }
}

#[test]
fn what_could_not_be_stored_holds_for_the_session_and_is_said() {
    let mut asked = Asked::new(command("cargo test", false));
    asked.key('d');
    asked.key('y');
    let id = asked.question.request.approval_id;
    let outcome =
        asked.question.on_done(TaskResult::Stored { question: id, result: Err("it is too large".into()) }, asked.now);
    assert_eq!(Asked::decided(&outcome), Some(("cargo test", &Decision::Session)));
    let (remark, is_failure) = outcome.remark.unwrap();
    assert!(
        is_failure && remark.contains("it is too large") && remark.contains("Remembered for this shell"),
        "{remark}"
    );
    // A disk that hangs does not delay the question for longer than a second.
    let mut asked = Asked::new(command("cargo test", false));
    asked.key('d');
    asked.key('y');
    assert_eq!(asked.question.deadline(), Some(asked.now + STORE_LIMIT));
    assert_eq!(asked.question.on_time(asked.now), KeyOutcome::default());
    let outcome = asked.question.on_time(asked.now + STORE_LIMIT);
    assert_eq!(Asked::decided(&outcome), Some(("cargo test", &Decision::Session)));
}

#[test]
fn danger_is_never_remembered_also_if_only_the_client_sees_it() {
    for request in [command("touch a", true), command("rm -rf x", false)] {
        let mut asked = Asked::new(request);
        assert!(asked.question.request.is_dangerous);
        for key in ['s', 'd', 'a', 'o'] {
            assert_eq!(asked.key(key), KeyOutcome::default(), "{key}");
        }
        assert_eq!(asked.key('y'), KeyOutcome::default(), "y alone is not enough");
    }
}

#[test]
fn danger_that_was_typed_into_the_command_wants_the_word_too() {
    for (asked_for, is_dangerous) in [("cargo test", false), ("rm -rf y", true)] {
        let mut asked = Asked::new(command(asked_for, is_dangerous));
        asked.key('e');
        asked.question.on_input(&Input::Key(KeyPress::ctrl('u')), asked.now);
        asked.question.on_input(&Input::Paste("rm -rf x".into()), asked.now);
        assert_eq!(asked.press(KeyCode::Enter), KeyOutcome::default(), "{asked_for}");
        let shown: String =
            asked.question.question(79, OutputStyle::Rich).lines.iter().map(|line| format!("{line}\n")).collect();
        assert_eq!(
            shown,
            "│ Dangerous as edited:\n│ $ rm -rf x\n╰ Type yes and Enter to do it, Esc to go back.\nyes? \n"
        );
        asked.question.on_input(&Input::Paste("yes".into()), asked.now);
        let outcome = asked.press(KeyCode::Enter);
        let edited = Decision::Edited { command: "rm -rf x".into() };
        assert_eq!(Asked::decided(&outcome), Some((asked_for, &edited)));
    }
}

#[test]
fn what_was_typed_into_the_command_is_judged_by_where_its_links_lead_and_by_which_folders_are_ours() {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path().canonicalize().unwrap();
    std::fs::create_dir(home.join(".ssh")).unwrap();
    std::fs::write(home.join(".ssh/id_rsa"), "").unwrap();
    std::os::unix::fs::symlink(".ssh/id_rsa", home.join("notes")).unwrap();
    let own_folders = Arc::new([home.join("moved")]);
    let environment =
        Arc::new(ApprovalEnvironment { home: home.clone(), own_folders, ..ApprovalEnvironment::of_ann(&FileSystem) });
    for (edited, is_danger) in [("cat notes", true), ("touch moved/rules.toml", true), ("touch notes.md", false)] {
        let mut request = command("cargo test", false);
        if let ApprovalSubject::Command { cwd, .. } = &mut request.subject {
            *cwd = home.as_path().into();
        }
        let now = Instant::now();
        let (question, _) = OpenQuestion::new(request, Arc::clone(&environment), now);
        let mut asked = Asked { question, now: now + DEAF };
        asked.key('e');
        asked.question.on_input(&Input::Key(KeyPress::ctrl('u')), asked.now);
        asked.question.on_input(&Input::Paste(edited.into()), asked.now);
        assert_eq!(asked.press(KeyCode::Enter).decided.is_none(), is_danger, "{edited}");
    }
}

#[test]
fn a_line_typed_without_looking_decides_nothing() {
    for request in [command("rm -rf x", true), command("cargo test", false)] {
        let mut asked = Asked::new(request);
        for key in "whoami --yes".chars() {
            assert_eq!(asked.type_on(key), KeyOutcome::default(), "{key}");
            asked.now += Duration::from_millis(120);
        }
        assert_eq!(asked.question.answering, Answering::Keys);
        asked.key('n');
        assert!(matches!(asked.question.answering, Answering::Refusing(_)), "a key by itself counts again");
    }
}

#[test]
fn a_line_that_begins_with_an_offered_key_decides_nothing() {
    for line in ["yes", "systemctl stop x", "docker ps", "apt update", "echo hello", "no", "y y", "sS"] {
        let mut asked = Asked::new(command("cargo test", false));
        for letter in line.chars() {
            assert_eq!(asked.type_on(letter), KeyOutcome::default(), "{line}: {letter}");
            asked.now += CHOICE_REST * 9 / 10;
            assert_eq!(asked.question.on_time(asked.now), KeyOutcome::default(), "{line}: {letter}");
        }
        assert_eq!(asked.press(KeyCode::Enter), KeyOutcome::default(), "{line}");
        assert_eq!(asked.question.answering, Answering::Keys, "{line}");
        assert_eq!(Asked::decided(&asked.key('y')), Some(("cargo test", &Decision::Once)), "{line}");
    }
    // A paste behind a key is no answer either.
    let mut asked = Asked::new(command("cargo test", false));
    asked.type_on('y');
    asked.question.on_input(&Input::Paste("es".into()), asked.now);
    assert_eq!(asked.question.on_time(asked.now + DEAF), KeyOutcome::default());
}

#[test]
fn a_key_is_shown_at_once_and_enter_need_not_wait() {
    let mut asked = Asked::new(command("cargo test", false));
    let dimmed = |asked: &Asked| {
        let lines = asked.question.question(79, OutputStyle::Rich).lines;
        let spans = lines.iter().flat_map(|line| &line.spans);
        spans.filter(|span| span.style == cohab_term::theme::DIM).map(|span| span.content.clone()).collect::<String>()
    };
    assert!(!dimmed(&asked).contains("once"));
    asked.type_on('s');
    assert!(dimmed(&asked).contains("once") && !dimmed(&asked).contains("this session"), "{}", dimmed(&asked));
    assert_eq!(asked.question.deadline(), Some(asked.now + CHOICE_REST));
    assert_eq!(Asked::decided(&asked.press(KeyCode::Enter)), Some(("cargo test", &Decision::Session)));
    // Esc and Ctrl-C stop after any choice.
    let mut asked = Asked::new(command("cargo test", false));
    asked.type_on('y');
    assert_eq!(Asked::decided(&asked.press(KeyCode::Escape)), Some(("cargo test", &Decision::CancelTurn)));
    assert_eq!(asked.question.on_time(asked.now + DEAF), KeyOutcome::default());
}

#[test]
fn what_is_not_offered_is_no_key() {
    for text in ["sudo make", "bash x.sh", "a | b", "git commit -m x", "find . -name x -exec ls {} +", "curl x"] {
        let mut asked = Asked::new(command(text, false));
        for key in ['d', 'a', 'o'] {
            assert_eq!(asked.key(key), KeyOutcome::default(), "{text} {key}");
        }
    }
    let asked = ApprovalRequest {
        subject: ApprovalSubject::FileRead { tool: "read".into(), path: Path::new("/x").into() },
        ..command("", false)
    };
    let mut asked = Asked::new(asked);
    for key in ['d', 'a', 'e', 'o'] {
        assert_eq!(asked.key(key), KeyOutcome::default(), "{key}");
    }
    assert!(asked.key('s').is_closed);
}

#[test]
fn what_is_asked_each_time_offers_nothing_that_lasts() {
    let subject = ApprovalSubject::FileRead { tool: "read".into(), path: Path::new("/x").into() };
    for (asked, is_command) in
        [(command("touch a", false), true), (ApprovalRequest { subject, ..command("", false) }, false)]
    {
        let mut asked = Asked::new(ApprovalRequest { is_each_time: true, ..asked });
        for key in ['s', 'd', 'a', 'o'] {
            assert_eq!(asked.key(key), KeyOutcome::default(), "{key}");
        }
        assert_eq!(asked.question.offer.edit, is_command);
        assert!(asked.key('y').is_closed);
    }
}

#[test]
fn a_batch_is_decided_as_one() {
    let mut asked = Asked::new(batch(&["touch a", "touch b"]));
    for key in ['s', 'd', 'a', 'e'] {
        assert_eq!(asked.key(key), KeyOutcome::default(), "{key}");
    }
    let outcome = asked.key('y');
    assert!(outcome.is_closed);
    let (request, decision) = outcome.decided.unwrap();
    assert!(matches!(request.subject, ApprovalSubject::Commands(commands) if commands.len() == 2));
    assert_eq!(decision, Decision::Once);
    let mut asked = Asked::new(batch(&["touch a", "touch b"]));
    asked.key('n');
    asked.question.on_input(&Input::Paste("not now".into()), asked.now);
    let outcome = asked.press(KeyCode::Enter);
    assert_eq!(outcome.decided.unwrap().1, Decision::Refused { note: "not now".into() });
    assert!(outcome.is_closed);
}

#[test]
fn a_line_that_is_being_typed_when_the_question_comes_decides_nothing() {
    let mut asked = Asked::new(command("touch a", false));
    asked.now -= DEAF / 3;
    for letter in "python -e say".chars() {
        assert_eq!(asked.type_on(letter), KeyOutcome::default(), "{letter}");
        asked.now += DEAF * 2 / 3;
    }
    asked.now += DEAF;
    assert_eq!(Asked::decided(&asked.key('y')), Some(("touch a", &Decision::Once)));

    let mut asked = Asked::new(command("touch a", false));
    asked.now -= DEAF / 3;
    asked.press(KeyCode::Escape);
    asked.now += DEAF / 3;
    assert_eq!(
        Asked::decided(&asked.press(KeyCode::Escape)),
        Some(("touch a", &Decision::CancelTurn)),
        "no word goes on"
    );
}

#[test]
fn details_are_shown_once_and_decide_nothing() {
    let text = |asked: &Asked| cohab_term::describe::plain(&asked.question.card(80, OutputStyle::Rich));
    let mut asked = Asked::new(command("cargo build && make; touch a", false));
    assert!(!text(&asked).contains("1. cargo build"));
    let shown = asked.question.shown_card();
    let outcome = asked.key('v');
    assert_eq!(outcome, KeyOutcome { has_new_card: true, ..KeyOutcome::default() });
    assert!(text(&asked).contains("1. cargo build — asked: may run code: `cargo`"), "{}", text(&asked));
    assert_ne!(asked.question.shown_card(), shown, "a card that does not fit is printed again");
    asked.now += DEAF;
    assert_eq!(asked.type_on('v'), KeyOutcome::default());
    asked.now += DEAF + CHOICE_REST;
    assert_eq!(asked.question.on_time(asked.now), KeyOutcome::default(), "there are no more details");
    assert_eq!(Asked::decided(&asked.key('y')), Some(("cargo build && make; touch a", &Decision::Once)));
}

#[test]
fn a_batch_is_decided_one_by_one_each_under_its_own_id() {
    let request = batch(&["touch a", "touch b", "touch c"]);
    let ApprovalSubject::Commands(commands) = request.subject.clone() else { panic!() };
    let (batch_id, ids) = (request.approval_id, commands.iter().map(|one| one.approval_id).collect::<Vec<_>>());
    let mut asked = Asked::new(request);
    assert!(asked.key('o').has_new_card);
    assert!(asked.question.is_about(batch_id) && asked.question.is_about(ids[0]));
    assert_eq!(asked.type_on('y'), KeyOutcome::default(), "keys are ignored until the card could be read");
    asked.now += DEAF;
    let first = asked.key('y');
    assert_eq!(first.decided.as_ref().unwrap().0.approval_id, ids[0]);
    assert_eq!(Asked::decided(&first), Some(("touch a", &Decision::Once)));
    assert!(first.has_new_card && !first.is_closed);
    asked.now += DEAF;
    asked.key('n');
    let second = asked.press(KeyCode::Enter);
    assert_eq!(second.decided.as_ref().unwrap().0.approval_id, ids[1]);
    assert_eq!(Asked::decided(&second), Some(("touch b", &Decision::Refused { note: String::new() })));
    asked.now += DEAF;
    let third = asked.press(KeyCode::Escape);
    assert_eq!(Asked::decided(&third), Some(("touch c", &Decision::CancelTurn)));
    assert!(third.is_closed);
}

#[test]
fn a_batch_with_danger_in_it_is_asked_one_by_one() {
    let mut asked = Asked::new(batch(&["touch a", "rm -rf x"]));
    assert!(
        matches!(&asked.question.request.subject, ApprovalSubject::Command { command, .. } if command == "touch a")
    );
    asked.key('y');
    assert!(asked.question.request.is_dangerous);
}

#[test]
fn the_files_are_looked_at_for_a_moment_only() {
    let now = Instant::now();
    let new = |line| OpenQuestion::new(command(line, false), Arc::new(ApprovalEnvironment::of_ann(&FileSystem)), now);
    let (question, task) = new("rm a.log");
    assert!(matches!(task, Some(Task::Look { .. })));
    assert_eq!(question.deadline(), Some(now + LOOK_LIMIT));
    let (question, task) = new("cargo test");
    assert_eq!((task, question.deadline()), (None, None), "there is nothing to look at");
}

#[test]
fn a_shell_of_its_own_is_bash_whatever_the_users_is() {
    let mut request = command("cargo =x", false);
    let offers = |request: &ApprovalRequest| {
        let environment = ApprovalEnvironment { shell: Shell::Zsh, ..ApprovalEnvironment::of_ann(&FileSystem) };
        OpenQuestion::new(request.clone(), Arc::new(environment), Instant::now()).0.offer.always.is_some()
    };
    assert!(!offers(&request), "zsh reads it otherwise");
    if let ApprovalSubject::Command { mode, .. } = &mut request.subject {
        *mode = RunMode::Isolated;
    }
    assert!(offers(&request));
}
