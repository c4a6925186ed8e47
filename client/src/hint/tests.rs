use cohab_term::test_screen::TestScreen;

use super::*;

const WIDTH: u16 = 50;

/// A prompt on a screen, a hint next to it, and a clock.
struct Bench {
    hint: PromptHint,
    screen: TestScreen,
    now: Instant,
    wanted: Option<Wanted>,
}

impl Bench {
    fn with_prompt(prompt: &str) -> Self {
        let mut bench = Self {
            hint: PromptHint::new(Shell::Bash, WIDTH, OutputStyle::Rich, "Alt-G"),
            screen: TestScreen::new(WIDTH, 6),
            now: Instant::now(),
            wanted: None,
        };
        bench.shell(prompt);
        bench.hint.prompt_ready(Some(""), bench.now);
        bench
    }

    fn new() -> Self {
        Self::with_prompt("$ ")
    }

    fn shell(&mut self, output: &str) {
        let mut out = Vec::new();
        self.hint.before_output(&mut out);
        self.screen.process(&out);
        self.screen.process(output.as_bytes());
        self.hint.after_output(output.as_bytes(), self.now);
    }

    /// Types, and the shell echoes.
    fn keys(&mut self, keys: &str) {
        let mut out = Vec::new();
        self.hint.keys(keys.as_bytes(), true, self.now, &mut out);
        self.screen.process(&out);
        self.shell(if keys == "\r" { "\r\n" } else { keys });
    }

    fn pass(&mut self, milliseconds: u64) {
        self.now += Duration::from_millis(milliseconds);
        let mut out = Vec::new();
        self.wanted = self.hint.tick(self.now, &mut out).or(self.wanted.take());
        self.screen.process(&out);
    }

    fn decide(&mut self, decision: Decision) {
        let wanted = self.wanted.take().expect("a decision is wanted");
        let mut out = Vec::new();
        self.hint.decided(wanted.id, decision, &mut out);
        self.screen.process(&out);
    }

    fn flip(&mut self) {
        let mut out = Vec::new();
        assert!(self.hint.takes_flip(|_| false));
        self.wanted = self.hint.flip(&mut out);
        self.screen.process(&out);
    }

    fn row(&self, row: usize) -> String {
        self.screen.row(row)
    }
}

#[test]
fn the_words_come_after_a_pause_and_go_before_the_next_key() {
    let mut bench = Bench::new();
    bench.keys("what is new");
    let before = bench.screen.screen().cursor_position();
    bench.pass(249);
    assert_eq!(bench.wanted, None);
    bench.pass(1);
    bench.decide(Decision::Assistant);
    assert_eq!(bench.row(0), "$ what is new                    ask  Alt-G: run");
    assert_eq!(bench.screen.screen().cursor_position(), before, "the cursor stays where it was");
    let cell = bench.screen.screen().cell(0, 33).unwrap();
    assert!(cell.dim(), "{cell:?}");
    assert_eq!(bench.hint.deadline(), None, "nothing ticks");
    bench.keys("?");
    assert_eq!(bench.row(0), "$ what is new?");
}

#[test]
fn a_command_gets_no_words() {
    let mut bench = Bench::new();
    bench.keys("ls -l");
    bench.pass(250);
    bench.decide(Decision::Shell);
    assert_eq!(bench.row(0), "$ ls -l");
}

#[test]
fn a_decision_that_comes_too_late_says_nothing() {
    let mut bench = Bench::new();
    bench.keys("what");
    bench.pass(250);
    let wanted = bench.wanted.clone();
    bench.keys("e");
    bench.wanted = wanted;
    bench.decide(Decision::Assistant);
    bench.pass(249);
    assert_eq!(bench.row(0), "$ whate");
}

#[test]
fn a_flip_is_shown_at_once_and_holds_until_the_line_is_run() {
    let mut bench = Bench::new();
    bench.keys("make it so");
    bench.pass(250);
    bench.decide(Decision::Assistant);
    bench.flip();
    assert_eq!(bench.row(0), "$ make it so                     run  Alt-G: ask");
    bench.keys("!");
    assert_eq!(bench.row(0), "$ make it so!");
    bench.pass(250);
    assert_eq!(bench.row(0), "$ make it so!                    run  Alt-G: ask");
    bench.keys("\r");
    assert_eq!(bench.row(0), "$ make it so!");
    assert_eq!(bench.hint.take_flipped("make it so!"), Some(Decision::Shell));
    assert_eq!(bench.hint.take_flipped("make it so!"), None, "once");
}

#[test]
fn a_flip_holds_for_a_line_whose_end_comes_in_one_piece() {
    let mut bench = Bench::new();
    bench.keys("make it");
    bench.pass(250);
    bench.decide(Decision::Assistant);
    bench.flip();
    bench.keys(" so\r");
    assert_eq!(bench.hint.take_flipped("make it so"), Some(Decision::Shell));
}

#[test]
fn a_flip_before_the_pause_waits_for_the_decision() {
    let mut bench = Bench::new();
    bench.keys("ls");
    bench.flip();
    bench.decide(Decision::Shell);
    bench.pass(250);
    assert_eq!(bench.row(0), "$ ls                             ask  Alt-G: run");
    bench.keys("\r");
    assert_eq!(bench.hint.take_flipped("something else"), None, "another line than was flipped");
}

#[test]
fn an_emptied_line_forgets_its_flip() {
    let mut bench = Bench::new();
    bench.keys("ls");
    bench.flip();
    bench.decide(Decision::Shell);
    bench.keys("\u{15}");
    bench.keys("ls\r");
    bench.hint.prompt_ready(Some(""), bench.now);
    assert_eq!(bench.hint.take_flipped("ls"), None);
    assert!(!bench.hint.takes_flip(|_| false), "there is no line");
}

#[test]
fn the_words_stand_left_of_a_right_prompt_and_a_long_line_is_left_alone() {
    let mut bench = Bench::with_prompt("% \x1b[40C~/src\x1b[45D");
    bench.keys("what is new");
    bench.pass(250);
    bench.decide(Decision::Assistant);
    assert_eq!(bench.row(0), "% what is new            ask  Alt-G: run  ~/src");
    bench.keys("?");
    assert_eq!(bench.row(0), "% what is new?                            ~/src");

    let mut bench = Bench::new();
    bench.keys("what is the largest file in this folder");
    bench.pass(250);
    bench.decide(Decision::Assistant);
    assert_eq!(bench.row(0), "$ what is the largest file in this folder");
}

#[test]
fn what_the_shell_writes_takes_the_words_away_and_a_clock_does_not_make_them_blink() {
    let mut bench = Bench::new();
    bench.keys("what is new");
    bench.pass(250);
    bench.decide(Decision::Assistant);
    let words = bench.row(0);
    for _ in 0..RETURNS_MAX {
        bench.shell("\r$ what is new");
        assert_eq!(bench.row(0), "$ what is new");
        bench.pass(250);
        assert_eq!(bench.row(0), words);
    }
    bench.shell("\r$ what is new");
    bench.pass(1000);
    assert_eq!((bench.row(0), bench.hint.deadline()), ("$ what is new".to_owned(), None));
}

#[test]
fn an_announcement_stands_at_the_next_untouched_prompt_until_the_first_key() {
    let mut bench = Bench::new();
    bench.hint.announce("Alt-Enter: why did this fail?", bench.now);
    bench.keys("\r");
    bench.shell("$ ");
    bench.hint.announce("Alt-Enter: why did this fail?", bench.now);
    bench.hint.prompt_ready(Some(""), bench.now);
    bench.pass(250);
    assert_eq!(bench.row(1), "$                  Alt-Enter: why did this fail?");
    bench.keys("l");
    assert_eq!(bench.row(1), "$ l");
    bench.keys("\r");
    bench.shell("$ ");
    bench.hint.prompt_ready(Some(""), bench.now);
    assert_eq!(bench.hint.deadline(), None, "it was told once");
}

#[test]
fn an_announcement_that_comes_late_stands_at_the_prompt_that_is_there_unless_it_is_typed_at() {
    let mut bench = Bench::new();
    bench.keys("\r");
    bench.shell("$ ");
    bench.hint.prompt_ready(Some(""), bench.now);
    bench.hint.announce("? /resume goes on", bench.now);
    bench.pass(250);
    assert_eq!(bench.row(1), "$                              ? /resume goes on");
    bench.keys("l");
    bench.hint.announce("? /resume goes on", bench.now);
    bench.pass(250);
    assert_eq!(bench.row(1), "$ l");
}

#[test]
fn after_a_resize_nothing_is_drawn_or_erased() {
    let mut bench = Bench::new();
    bench.keys("what is new");
    bench.pass(250);
    bench.decide(Decision::Assistant);
    let mut out = Vec::new();
    bench.hint.resized(40, &mut out);
    bench.hint.keys(b"a", true, bench.now, &mut out);
    assert_eq!(out, b"");
    bench.shell("a");
    bench.pass(250);
    bench.decide(Decision::Assistant);
    assert!(!bench.row(0).ends_with("run a"));
}

#[test]
fn no_timer_is_armed_on_the_way_of_a_key_but_with_its_echo() {
    let mut bench = Bench::new();
    bench.hint.keys(b"why", true, bench.now, &mut Vec::new());
    assert_eq!(bench.hint.deadline(), None);
    bench.pass(250);
    assert_eq!(bench.wanted, None);
    bench.shell("why");
    assert!(bench.hint.deadline().is_some());
}

#[test]
fn in_a_wider_terminal_the_words_are_taken_away() {
    let mut bench = Bench::new();
    bench.keys("what is new");
    bench.pass(250);
    bench.decide(Decision::Assistant);
    bench.screen.resize(WIDTH + 10, 6);
    let mut out = Vec::new();
    bench.hint.resized(WIDTH + 10, &mut out);
    bench.screen.process(&out);
    assert_eq!(bench.row(0), "$ what is new");
}

#[test]
fn without_glyphs_there_are_no_words_and_no_timer_but_flips() {
    let mut hint = PromptHint::new(Shell::Zsh, 80, OutputStyle::Accessible, "Alt-G");
    let (now, mut out) = (Instant::now(), Vec::new());
    hint.announce("something", now);
    hint.prompt_ready(Some(""), now);
    hint.keys(b"what is new", true, now, &mut out);
    assert_eq!(hint.deadline(), None);
    let wanted = hint.flip(&mut out).expect("a decision is wanted");
    hint.decided(wanted.id, Decision::Assistant, &mut out);
    hint.keys(b"\r", true, now, &mut out);
    assert_eq!(hint.take_flipped("what is new"), Some(Decision::Shell));
    assert_eq!(out, b"");
}

#[test]
fn keys_for_a_program_are_not_followed() {
    let mut bench = Bench::new();
    let mut out = Vec::new();
    bench.hint.keys(b"what is new", false, bench.now, &mut out);
    assert_eq!(bench.hint.deadline(), None);
    bench.hint.keys(b" here", true, bench.now, &mut out);
    assert_eq!(bench.hint.deadline(), None, "not before the next prompt");
    bench.hint.prompt_ready(None, bench.now);
    bench.hint.keys(b"x", true, bench.now, &mut out);
    assert_eq!(bench.hint.deadline(), None, "keys were typed ahead");
}

proptest::proptest! {
    #[test]
    fn no_other_cell_ever_changes(keys in "[a-z ]{1,60}", right in 0usize..30) {
        let prompt = format!("$ \x1b[{}C{}\x1b[48D", 48 - right.min(20), "r".repeat(right.min(20)));
        let mut bench = Bench::with_prompt(if right % 2 == 0 { "$ " } else { &prompt });
        bench.keys(&keys);
        let before = bench.screen.screen().contents_formatted();
        bench.pass(250);
        if bench.wanted.is_some() {
            bench.decide(Decision::Assistant);
        }
        let mut out = Vec::new();
        bench.hint.before_output(&mut out);
        bench.screen.process(&out);
        let after = bench.screen.screen().contents_formatted();
        proptest::prop_assert_eq!(before, after);
    }
}
