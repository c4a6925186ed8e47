//! The shell belongs to the user while the model thinks: commands run at once, the answer comes when there is room for it.

use std::{
    collections::VecDeque,
    sync::mpsc::{Receiver, Sender, channel},
    time::Duration,
};

use cohab_e2e::{Answer, Home, ModelServer, Session, Wire, binaries::in_each_shell, keys, terminal::View};

const HINT: &str = "Still thinking. Type commands; Ctrl-C on an empty line stops it.";
/// Longer than any test waits; a failing test must not block the server's thread for good.
const PATIENCE: Duration = Duration::from_secs(60);

/// A model that gives each answer only when the test releases it.
pub struct Held {
    pub server: ModelServer,
    asked: Receiver<()>,
    release: Sender<()>,
}

impl Held {
    pub fn new(answers: impl IntoIterator<Item = Answer>) -> Self {
        let ((tell, asked), (release, released)) = (channel(), channel());
        let mut answers: VecDeque<_> = answers.into_iter().collect();
        let server = ModelServer::respond_with(Wire::OpenAiChat, move |_| {
            let _ = tell.send(());
            let _ = released.recv_timeout(PATIENCE);
            answers.pop_front().unwrap_or_else(|| Answer::status(400, "the script of this test has no more answers"))
        });
        Self { server, asked, release }
    }

    /// Waits until it is asked.
    pub fn wait_asked(&self) {
        self.asked.recv_timeout(PATIENCE).expect("the model is asked");
    }

    /// Lets it answer what it was asked.
    pub fn answer(&self) {
        self.release.send(()).expect("the server lives");
    }
}

/// Asks, and waits until the model is asked and the status line stands.
pub fn ask(shell: &Session<'_>, model: &Held, question: &str) -> usize {
    let mark = shell.submit(&format!("? {question}"));
    model.wait_asked();
    shell.wait_text("thinking");
    mark
}

/// Types while the model thinks, until the line stands at the prompt.
pub fn type_aside(shell: &Session<'_>, line: &str) {
    shell.send(line);
    shell.wait_for("the line at the prompt", |view| ends_with(view, line));
}

fn ends_with(view: &View, line: &str) -> bool {
    let (row, column) = view.cursor();
    view.rows().get(row).is_some_and(|shown| shown.ends_with(line) && shown.chars().count() == column)
}

#[test]
fn commands_run_at_once_and_the_model_is_told_before_its_next_step() {
    in_each_shell(|name| {
        let model = Held::new([Answer::bash("echo by-agent"), Answer::text("All done.")]);
        let home = Home::with_model(&model.server).env("COHAB_APPROVAL", "all").shell(name);
        let shell = home.cohab();
        let mark = ask(&shell, &model, "do something");
        type_aside(&shell, "echo hi-(é)".replace(['(', ')'], "'").as_str());
        shell.send(keys::ENTER);
        shell.wait_for("the output", |view| view.rows().iter().any(|row| row == "hi-é"));
        shell.wait_prompt();
        assert!(shell.look(|view| view.shows(HINT)), "{}", shell.dump());
        shell.run("mkdir -p sub && cd sub");
        model.answer();
        model.wait_asked();
        model.answer();
        shell.wait_answer(mark, "All done.");
        let conversation = model.server.requests().last().expect("a request").conversation();
        let folder = home.path("sub").display().to_string();
        for told in
            ["[While you were working the user ran", "`echo hi-'é'` (exit 0)", "    hi-é", &format!("in {folder}")]
        {
            assert!(conversation.contains(told), "`{told}` is missing\n{conversation}\n{}", shell.dump());
        }
        let (question, output, answer) =
            shell.look(|view| (view.row_of("do something"), view.row_of("… continuing: do"), view.row_of("All done.")));
        assert!(question < output && output < answer, "{}", shell.dump());
        assert!(shell.run("pwd").contains(&folder), "{}", shell.dump());
    });
}

#[test]
fn a_half_typed_line_survives_the_answer() {
    in_each_shell(|name| {
        let model = Held::new([Answer::text("Because.")]);
        let home = Home::with_model(&model.server).shell(name);
        let shell = home.cohab();
        ask(&shell, &model, "why");
        type_aside(&shell, "echo half");
        model.answer();
        shell.wait_for("the answer and the line", |view| view.shows("Because.") && ends_with(view, "echo half"));
        shell.send("-and-whole\r");
        shell.wait_for("its output", |view| view.rows().iter().any(|row| row == "half-and-whole"));
        shell.wait_prompt();
    });
}

#[test]
fn questions_asked_meanwhile_are_answered_in_order() {
    in_each_shell(|name| {
        let model = Held::new([Answer::text("First."), Answer::text("Second.")]);
        let home = Home::with_model(&model.server).shell(name);
        let shell = home.cohab();
        let mark = ask(&shell, &model, "one");
        type_aside(&shell, "? two");
        shell.send(keys::ENTER);
        shell.wait_text("queued: two");
        model.answer();
        model.wait_asked();
        model.answer();
        shell.wait_answer(mark, "Second.");
        assert!(model.server.wait_for_calls(2)[1].conversation().contains("two"));
        let (first, second) = shell.look(|view| (view.row_of("First."), view.row_of("Second.")));
        assert!(first < second, "{}", shell.dump());
        assert!(shell.run("echo fine").contains("fine"));
    });
}

#[test]
fn control_c_on_an_empty_line_stops_the_turn_and_on_a_line_the_line() {
    in_each_shell(|name| {
        let model = Held::new([Answer::text("Never seen.")]);
        let home = Home::with_model(&model.server).shell(name);
        let shell = home.cohab();
        ask(&shell, &model, "why");
        type_aside(&shell, "echo x");
        // fish may lose it even so. Then nothing happens, and the user presses again.
        let is_gone = || {
            shell.wait_idle();
            shell.send(keys::CTRL_C);
            shell.holds_within(Duration::from_secs(6), |view| view.row_of("echo x") != Some(view.cursor().0))
        };
        assert!((0..3).any(|_| is_gone()), "{}", shell.dump());
        shell.wait_prompt();
        assert!(!shell.look(|view| view.shows("Stopped.")), "{}", shell.dump());
        shell.wait_idle();
        shell.send(keys::CTRL_C);
        shell.wait_text("Stopped.");
        shell.wait_prompt();
        model.answer();
        assert!(shell.run("echo after-$(echo it)").contains("after-it"));
        assert!(!shell.look(|view| view.shows("Never seen.")), "{}", shell.dump());
    });
}

#[test]
fn the_status_line_tells_tokens_after_a_step_and_the_focus_is_asked_for_only_then() {
    let model = Held::new([Answer::bash("echo one").usage(3_000, 210), Answer::text("Done.")]);
    let home = Home::with_model(&model.server).env("COHAB_APPROVAL", "all");
    let shell = home.cohab();
    let mark = ask(&shell, &model, "do it");
    // Reports of the focus are no keys: the shell does not see them, and no turn steps aside.
    shell.send("\x1b[O");
    model.answer();
    model.wait_asked();
    shell.wait_text("3.2k tokens");
    shell.send("\x1b[I");
    model.answer();
    let raw = shell.wait_answer(mark, "Done.");
    assert!(!raw.contains(HINT), "{raw}");
    let changes: Vec<&str> = raw.split("\x1b[?1004").skip(1).filter_map(|rest| rest.get(..1)).collect();
    assert_eq!(changes, ["h", "l", "h", "l"], "{raw:?}");
    shell.type_line("echo clean");
}

#[test]
fn control_l_empties_the_screen_at_once_and_takes_nothing_of_the_answer_later() {
    in_each_shell(|name| {
        let model = Held::new([Answer::text("Because.")]);
        let home = Home::with_model(&model.server).shell(name);
        let shell = home.cohab();
        shell.run("echo before");
        let mark = ask(&shell, &model, "why");
        shell.send("\x0c");
        shell.wait_for("the status alone", |view| !view.shows("before") && view.row_of("thinking") == Some(0));
        model.answer();
        shell.wait_answer(mark, "Because.");
        assert!(shell.look(|view| view.shows("Because.")), "{}", shell.dump());
        assert!(shell.run("echo fine").contains("fine"));
    });
}
