//! Tests for invariants of the decision that hold for any weights.

use super::{
    Decision::{self, Assistant, Shell},
    Names,
    explain::explain,
    judge::{MAX_LOOKS, UNSURE, decide, judge},
    line::{Line, Shape},
    test_names::{BARE, DEVELOPERS, SUBCOMMANDS},
    weights::Weights,
};

fn decided(line: &str) -> Decision {
    judge(line, &DEVELOPERS).decision
}

fn all_go_to(decision: Decision, lines: &[&str]) {
    for line in lines {
        let judgement = judge(line, &DEVELOPERS);
        assert_eq!(judgement.decision, decision, "{line:?}: {}", judgement.reason);
    }
}

/// A machine with a shell that also knows these words: as aliases, functions, abbreviations.
struct WithOwn(&'static [&'static str]);

impl Names for WithOwn {
    fn resolves(&self, name: &str) -> bool {
        self.0.contains(&name) || DEVELOPERS.resolves(name)
    }

    fn is_own(&self, name: &str) -> bool {
        self.0.contains(&name)
    }

    fn exists(&self, argument: &str) -> bool {
        DEVELOPERS.exists(argument)
    }
}

#[test]
fn a_subcommand_of_cohab_is_never_a_question() {
    let lines = SUBCOMMANDS.iter().flat_map(|name| {
        ["", " last", " title last Fixing the app", " why is my disk full", " what is this?"]
            .map(|rest| format!("cohab {name}{rest}"))
    });
    for line in lines {
        for machine in [BARE, DEVELOPERS] {
            assert_eq!(judge(&line, &machine).decision, Shell, "{line}");
        }
    }
    all_go_to(Assistant, &["cohab is slow today, why is that", "why does cohab ask what is obvious?"]);
}

#[test]
fn what_is_written_to_a_program_of_the_users_own_stays_with_it() {
    let own = WithOwn(&["jrnl", "mydiary", "todo", "./ask.sh"]);
    for line in [
        "jrnl today: went for a walk with the dog.",
        "mydiary I told her that we are to be parents",
        "todo add write the report for them",
        "./ask.sh how is the weather in Rome",
    ] {
        assert_eq!(judge(line, &own).decision, Shell, "{line}");
    }
    for line in ["mydiary is slow, what can I do", "mydiary does not start?", "convert all heic photos to jpg"] {
        assert_eq!(judge(line, &own).decision, Assistant, "{line}");
    }
}

#[test]
fn what_the_user_named_is_a_command_however_it_reads() {
    let own = WithOwn(&["hi", "ehco", "ec"]);
    for line in ["hi", "hi there", "ec one", "ehco one"] {
        assert_eq!(judge(line, &own).decision, Shell, "{line}");
    }
    let own = WithOwn(&["please", "z", "backup"]);
    for line in ["please apt update", "z my notes", "backup everything"] {
        assert_eq!(judge(line, &own).decision, Shell, "{line}");
        assert_eq!(judge(line, &DEVELOPERS).decision, Assistant, "{line}");
    }
    assert_eq!(judge("backup is slow, why", &own).decision, Assistant);
    for line in ["hi there", "hi", "thank you", "go on", "hi there, what is this?"] {
        assert_eq!(judge(line, &DEVELOPERS).decision, Assistant, "{line}");
    }
    assert_eq!(judge("go back", &WithOwn(&["go"])).decision, Assistant, "everybody has a `go`");
}

#[test]
fn a_word_that_continues_a_compound_is_the_shells_with_a_command_behind_it() {
    all_go_to(
        Shell,
        &[
            "do echo $i",
            "do echo $iecho ok",
            "do git commit -m done",
            "then rm -rf build",
            "then [ -f x ]",
            "else echo $name again",
            "elif grep -q word file",
            "and echo $status",
            "not test -f x",
            "done",
            "done < notes",
            "fi",
            "esac",
            "end",
            "do x=1",
        ],
    );
    all_go_to(
        Assistant,
        &[
            "do the tests pass",
            "do the tests pass with $HOME unset",
            "do my tests need -v",
            "then what should I do",
            "do it again without sudo",
            "else tell me what $PATH is",
            "do find out why my build is slow",
            "and what about the other one",
        ],
    );
}

#[test]
fn two_letters_of_a_command_exchanged_are_no_question() {
    all_go_to(Shell, &["ehco one", "grpe word", "gerp word", "dokcer ps", "mkae install", "sduo reboot"]);
    all_go_to(Assistant, &["grpe says nothing", "ehco what", "form what", "explain this"]);
}

#[test]
fn signs_of_a_shell_keep_a_line_with_it() {
    all_go_to(
        Shell,
        &[
            "",
            "   ",
            " what is this",
            "\\what is this",
            "show files | wc -l",
            "deploy it > notes",
            "notify me; ls",
            "make it so && push",
            "WHAT=this is it",
            "/usr/bin/ls",
            "!!",
            "!what is this",
            "sudo !!",
            "# what is this",
            "what is this &",
            "cat <<EOF",
            "diff <(ls a) <(ls b)",
            "$EDITOR the notes",
            "{ what is this }",
            "(cd /tmp && ls)",
            "ls 2>&1",
            "ls>files",
            "git status",
            "make all",
            "ls",
            "frobnicate",
        ],
    );
}

#[test]
fn a_sentence_stays_one_with_signs_of_a_shell_in_it() {
    all_go_to(
        Assistant,
        &[
            "$? is 137, what does that mean",
            "~ is full, what can I throw away",
            "!! what did this do to my files",
            "| or |&, which one is it?",
            "2>&1 what does that do",
            "{} in find, why does it need the \\;",
            "https://example.com/a.tgz can you unpack this for me",
            "/etc/fstab has an entry that I do not know",
            "--force sounds scary, when is it right?",
            "show me the files | wc -l",
            "tell me why > notes",
            "what is this; ls",
            "what happens if I run rm -rf / && reboot",
            "is it safe to type dd if=/dev/zero of=/dev/sda; sync?",
            "./what is this",
            "ps aux | grep foo always shows the grep itself, how do people avoid that",
        ],
    );
    let own = WithOwn(&["./what", "~/bin/tell", "show"]);
    for line in ["./what is this", "~/bin/tell me why", "show me the files | wc -l"] {
        assert_eq!(judge(line, &own).decision, Shell, "{line}");
    }
    all_go_to(
        Shell,
        &[
            "echo what is this to me, and why? | cowsay",
            "git commit -m 'what is this, and why do I do it?' && git push",
            "rm -rf build # what is this, and why do I do it?",
            "printf \"is it ok?\" && ls; echo what is it to you, and why",
            "for i in this that; do echo what is it; done",
        ],
    );
}

#[test]
fn a_question_about_a_command_that_destroys_never_runs_it() {
    all_go_to(
        Assistant,
        &[
            "rm -rf ~ would delete what",
            "rm everything except *.md",
            "sudo dd if=/dev/zero of=/dev/sda would do what exactly",
            "kill -9 1 or reboot, which is safer",
            "chmod -R 777 / is it dangerous?",
        ],
    );
    all_go_to(
        Shell,
        &["rm -rf build a b i", "rm -i the-*.txt", "kill -9 %1 # is it mine, or whose?", "rm 'what is this' that"],
    );
}

#[test]
fn what_a_program_does_is_told_and_not_run() {
    all_go_to(
        Assistant,
        &[
            "apt upgrade hangs at 40%",
            "pip install numpy fails with error: externally-managed-environment",
            "$HOME points to the wrong user after sudo su",
            "/usr/bin/python3 vanished after the upgrade",
            "rename draft-*.txt to final-*.txt",
            "mv a.txt into archive/",
            "$@ and $* difference",
            "2>&1 >file versus >file 2>&1",
            "perl -pe vs sed -E for multi line replace",
            "su or sudo -i",
            "rsync -a or -av over lan",
            "which package provides libGL.so.1",
        ],
    );
    all_go_to(
        Shell,
        &[
            "grep -r fails src",
            "cd builds",
            "pytest -k hangs tests",
            "echo it hangs at 40%",
            "command echo where are we",
            "git grep returns lib",
            "cp a.txt to",
            "ls runs 2>/dev/null | wc -l",
        ],
    );
}

#[test]
fn signs_within_quotes_and_prose_are_none() {
    all_go_to(
        Assistant,
        &[
            "what does \"a | b\" mean in bash",
            "why does 'x && y' fail here?",
            "find files bigger than > 5MB in my home folder",
            "what's the difference between a->b and a.b in C",
            "how do I clone <url> into a folder",
            "(so far) it works, but why is it so slow",
        ],
    );
}

#[test]
fn a_question_mark_in_front_is_for_the_assistant() {
    assert_eq!((decided("? ls"), decided("?ls -la | wc")), (Assistant, Assistant));
}

#[test]
fn an_argument_that_is_there_makes_a_command_of_a_line_that_could_be_either() {
    struct Has(&'static str);
    impl Names for Has {
        fn resolves(&self, name: &str) -> bool {
            DEVELOPERS.resolves(name)
        }
        fn exists(&self, argument: &str) -> bool {
            argument == self.0
        }
    }
    let unsure = |line: &str| {
        let verdict = decide(&Line::read(line), line, &Has(""), Weights::embedded());
        verdict.score.is_some_and(|score| score > 0.0 && score < UNSURE)
    };
    let lines = [
        "make tests pass",
        "sort images by size",
        "cut videos",
        "split terminals vertically",
        "sort photos by date",
        "join tables",
    ];
    let line = lines.into_iter().find(|line| unsure(line)).expect("one of them is near the threshold");
    let argument = line.split(' ').nth(1).expect("two words");
    let judgement = judge(line, &Has(argument));
    assert_eq!(judgement.decision, Shell);
    assert_eq!(judgement.reason, format!("`{argument}` is here, so it is meant as an argument"));
    assert_eq!(judge(line, &Has("other")).decision, Assistant);
    // After a word that is not a command, no word is an argument.
    assert_eq!(judge("summarize README.md", &Has("README.md")).decision, Assistant);
}

#[test]
fn the_disk_is_asked_about_few_words_and_only_in_doubt() {
    struct Counting(std::cell::Cell<usize>);
    impl Names for Counting {
        fn resolves(&self, name: &str) -> bool {
            DEVELOPERS.resolves(name)
        }
        fn exists(&self, _: &str) -> bool {
            self.0.set(self.0.get() + 1);
            false
        }
    }
    let counting = Counting(std::cell::Cell::new(0));
    for line in ["ls -la src", "cat a.txt | wc", "why is the build of this project so slow today?"] {
        let _ = judge(line, &counting);
    }
    assert_eq!(counting.0.get(), 0);
    for line in super::test_names::rows(include_str!("fixtures/held_out.tsv")).take(1_000).map(|(_, line)| line) {
        counting.0.set(0);
        let _ = judge(line, &counting);
        assert!(counting.0.get() <= MAX_LOOKS, "{line}");
    }
}

#[test]
fn every_judgement_has_a_reason_that_is_harmless() {
    for line in ["", "ls", "cat a | b", "what is this thing?", "\u{1b}[31mred is this", "\u{202e}txt is what", "你好"]
    {
        for machine in [BARE, DEVELOPERS] {
            let reason = judge(line, &machine).reason;
            assert!(!reason.is_empty() && !reason.contains(['\u{1b}', '\u{202e}']), "{line:?}: {reason:?}");
        }
    }
}

#[test]
fn quotes_are_one_word_and_apostrophes_are_no_quotes() {
    let shapes = |line: &str| Line::read(line).tokens.iter().map(|token| token.shape).collect::<Vec<_>>();
    assert_eq!(shapes("git commit -m \"it's a | b\""), [Shape::Plain, Shape::Plain, Shape::Flag, Shape::Quoted]);
    assert_eq!(shapes("what's Tom's file"), [Shape::Plain, Shape::Plain, Shape::Plain]);
    assert_eq!(shapes("awk '{print $1}' a.txt"), [Shape::Plain, Shape::Quoted, Shape::Path]);
    assert!(Line::read("echo \"open").signs.open_quote);
    assert!(!Line::read("grep 'a|b' file").signs.pipe);
}

#[test]
fn the_explanation_reads_well() {
    let told = ["make the tests pass", "ls -la | wc -l", "frobnicate the thing quickly"]
        .map(|line| explain(line, &DEVELOPERS));
    let heads: Vec<&str> = told.iter().filter_map(|text| text.lines().next()).collect();
    assert_eq!(
        heads,
        [
            "ai          `make` is a command, but the rest reads as a sentence",
            "shell       has a pipe",
            "ai          `frobnicate` is not a command here, and the line reads as a sentence",
        ]
    );
    assert!(told[1].contains("by the rule `structure`"), "{}", told[1]);
    assert!(told[0].contains("above 0: ai") && told[0].lines().count() >= 6, "{}", told[0]);
}

#[test]
fn a_builtin_of_another_shell_is_no_command_that_is_missing_here() {
    /// A machine on which only the shell's own builtins are found.
    struct Nothing;

    impl Names for Nothing {
        fn resolves(&self, _: &str) -> bool {
            false
        }

        fn exists(&self, _: &str) -> bool {
            false
        }
    }

    for line in
        ["switch to branch main", "switch to main", "count the lines of all python files", "status of the build"]
    {
        assert_eq!(judge(line, &Nothing).decision, Assistant, "{line}");
    }
    for line in ["set_color red", "abbr -a gs git status", "print -l $path", "zmodload zsh/datetime"] {
        assert_eq!(judge(line, &Nothing).decision, Shell, "{line}");
    }
}

#[test]
fn a_question_word_that_is_a_command_begins_one_behind_a_separator() {
    all_go_to(Shell, &["ls; which less", "clear; cohab trace --output 1 | head -5; which less", "git pull; who; make"]);
}
