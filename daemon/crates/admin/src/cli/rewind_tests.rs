use std::{fs, time::Instant};

use cohab_store::backups::CommandChanges;

use super::*;
use crate::cli::testing::{Home, now};

/// A home whose session `shell:1` has asked twice; the second turn wrote a file.
fn asked_twice() -> (Home, Vec<Moment>, Vec<TurnSummary>) {
    let home = Home::empty();
    let backups = Backups::at(&home.paths.state_dir);
    let file = home.paths.state_dir.join("made");
    let moment = |question: &str, questions, turns: &[&str]| Moment {
        question: question.to_owned(),
        at: super::super::testing::at(0),
        cwd: "/srv/shop".to_owned(),
        questions,
        turns: turns.iter().map(|turn| (*turn).to_owned()).collect(),
    };
    backups.keep("shell:1", "t2", "write it", &file).expect("kept");
    fs::write(&file, "new").expect("written");
    backups.changed("shell:1", "t2", &file).expect("noted");
    let changes = CommandChanges { uncovered: vec!["what `make` changes".to_owned()], ..CommandChanges::default() };
    backups.keep_for_command(("shell:1", "t2"), "write it", &changes, Instant::now()).expect("kept");
    let kept = backups.turns().expect("they can be read");
    (home, vec![moment("write it", 1, &["t2"]), moment("what is here", 2, &["t2", "t1"])], kept)
}

#[test]
fn a_preview_says_what_goes_back_and_what_does_not() {
    let (home, moments, kept) = asked_twice();
    let folder = home.paths.state_dir.display().to_string();
    let mut seen = String::new();
    for (number, moment) in moments.iter().enumerate() {
        let row = row(moment, &kept, &now());
        seen += &format!("{} | {}\n", row.name, row.remark);
        let lines = preview(&moments[..=number], &kept, &KnownTurns::read("t2*"), "/srv");
        seen.extend(lines.iter().map(|line| format!("    {}\n", line.replace(&folder, "/state"))));
    }
    insta::assert_snapshot!(seen);
}

#[test]
fn only_what_can_go_back_is_offered() {
    let (_home, moments, kept) = asked_twice();
    let known = |known: &str, kept: &[TurnSummary], here| -> Vec<String> {
        let part = KnownTurns::read(known).part(&moments[0], here);
        ways(&moments[0], kept, part).into_iter().map(|way| way.name(part)).collect()
    };
    let names = |kept: &[TurnSummary], here| known("t1*,t3*", kept, here);
    let all = ["chat, files, folder", "chat and files", "chat and folder", "files and folder"];
    let only = ["only the chat", "only the files", "only the folder"];
    assert_eq!(names(&kept, "/elsewhere"), [&all[..], &only].concat());
    assert_eq!(names(&kept, "/srv/shop"), ["chat and files", "only the chat", "only the files"]);
    assert_eq!(names(&[], "/srv/shop"), ["only the chat"]);
    let with_shell = ["chat and shell", "only the chat", "only the shell"];
    assert_eq!(known("t1,t2*", &[], "/srv/shop"), with_shell);
    assert_eq!(known("t2", &[], "/srv/shop"), ["only the chat"]);
}

#[test]
fn files_come_back_and_the_rest_is_reported_to_the_client() {
    let (home, moments, _) = asked_twice();
    let backups = Backups::at(&home.paths.state_dir);
    let file = home.paths.state_dir.join("made");
    let done = |way, part| {
        let mut output = Vec::new();
        carry_out(way, part, &moments[1], &backups, &home.paths, &mut output).expect("done");
        String::from_utf8(output).expect("text")
    };
    let chat = done(Way { chat: true, files: false, shell: true }, ShellPart::Folder);
    assert_eq!((chat.as_str(), file.exists()), ("❯ 2 questions back, to /srv/shop\n", true));
    let shell = done(Way { chat: false, files: false, shell: true }, ShellPart::State);
    assert_eq!(shell, "❯ 0 questions back, shell before t1, to /srv/shop\n");
    let files = done(Way { chat: false, files: true, shell: false }, ShellPart::State);
    assert!(files.starts_with("\"write it\":\n") && files.contains("/made: removed, the assistant had"), "{files}");
    assert!(files.ends_with("Not undone: what `make` changes.\n") && !file.exists(), "{files}");
    assert_eq!(
        done(Way { chat: false, files: true, shell: false }, ShellPart::State),
        "No file of these turns is kept.\n"
    );
}
