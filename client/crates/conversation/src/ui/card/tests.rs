//! Tests for properties that hold for every card. The screens of the cards are in `app/tests/screens/cards.rs`.

use std::{path::Path, sync::Arc, time::Instant};

use cohab_policy_io::files::FileSystem;
use cohab_protocol::{ApprovalId, TurnId};
use cohab_term::describe::plain;

use super::*;
use crate::approval::{ApprovalEnvironment, OpenQuestion};

fn request(subject: ApprovalSubject, is_dangerous: bool, reasons: &[&str]) -> ApprovalRequest {
    ApprovalRequest {
        approval_id: ApprovalId::fresh(),
        turn_id: TurnId::fresh(),
        subject,
        is_dangerous,
        reasons: reasons.iter().map(|reason| (*reason).to_owned()).collect(),
        is_each_time: false,
    }
}

fn command(text: &str) -> ApprovalSubject {
    ApprovalSubject::Command { command: text.into(), cwd: Path::new("/home/ann/src").into(), mode: RunMode::Live }
}

/// The question as it opens.
fn open(request: &ApprovalRequest) -> OpenQuestion {
    OpenQuestion::new(request.clone(), Arc::new(ApprovalEnvironment::of_ann(&FileSystem)), Instant::now()).0
}

#[test]
fn the_whole_command_is_shown_at_any_width() {
    let text = "x".repeat(5_000) + "END";
    let question = open(&request(command(&text), false, &[]));
    for width in [2, 5, 20, 80] {
        let letters: String =
            plain(&question.card(width, OutputStyle::Accessible)).chars().filter(|c| !c.is_whitespace()).collect();
        assert!(letters.contains(&text), "width {width}");
    }
}

#[test]
fn of_a_command_that_is_too_long_both_ends_are_shown_and_it_is_said() {
    let text = format!("START{}END", "x".repeat(4_000_000));
    let subjects = [
        command(&text),
        ApprovalSubject::Commands(vec![
            ProposedCommand {
                approval_id: ApprovalId::fresh(),
                reasons: Vec::new(),
                command: text.clone(),
                cwd: Path::new("/a").into(),
                mode: RunMode::Live
            };
            2
        ]),
    ];
    for subject in subjects {
        let copies = if matches!(subject, ApprovalSubject::Commands(_)) { 2 } else { 1 };
        for output_style in [OutputStyle::Rich, OutputStyle::Accessible] {
            let card = plain(&card(
                &request(subject.clone(), true, &[]),
                &[],
                true,
                &ApprovalEnvironment::of_ann(&FileSystem),
                80,
                output_style,
            ));
            assert!(card.len() < copies * 40_000, "{}", card.len());
            for told in ["START", "END", "3991816 of 4000008 bytes in the middle are not shown"] {
                assert_eq!(card.matches(told).count(), copies, "{told} {output_style:?}");
            }
        }
    }
}

#[test]
fn no_wrapped_row_looks_like_a_row_of_the_cards_own() {
    for blanks in 0..80 {
        let text = format!("{}Reason: only reads", "x".repeat(blanks));
        let subjects = [
            command(&text),
            ApprovalSubject::FileRead { tool: "read".into(), path: Path::new(&text).into() },
            ApprovalSubject::FileChange { tool: "edit".into(), path: Path::new("a").into(), diff: format!("+{text}") },
        ];
        for (subject, output_style) in
            subjects.iter().flat_map(|subject| [(subject, OutputStyle::Rich), (subject, OutputStyle::Accessible)])
        {
            let card = open(&request(subject.clone(), false, &[&text])).card(39, output_style);
            let told: Vec<String> = card
                .iter()
                .map(ToString::to_string)
                .filter(|row| row.strip_prefix(BAR).unwrap_or(row).starts_with("Reason:"))
                .collect();
            assert!(told.len() <= 1, "{told:?}");
        }
    }
}

#[test]
fn no_key_is_parted_from_its_meaning() {
    let keys = [("y", "run (you will type \"yes\")"), ("s", "this session"), ("o", "one by one"), ("Esc", "stop")];
    for (columns, output_style) in
        (32..100).flat_map(|columns| [(columns, OutputStyle::Rich), (columns, OutputStyle::Accessible)])
    {
        let rows: Vec<String> =
            key_rows(&keys, true, columns, output_style).into_iter().map(|row| Line::from(row).to_string()).collect();
        assert!(rows.iter().all(|row| row.chars().count() <= columns), "{rows:?}");
        for (key, meaning) in keys {
            assert!(rows.iter().any(|row| row.contains(&format!("{key} {meaning}"))), "{columns}: {rows:?}");
        }
    }
}

#[test]
fn the_keys_stand_on_one_row_of_80_columns() {
    for (text, is_dangerous) in [("cargo test", false), ("rm -rf x", true), ("python3 x", false), ("./run", false)] {
        for output_style in [OutputStyle::Rich, OutputStyle::Accessible] {
            let question = open(&request(command(text), is_dangerous, &[]));
            let keys = question.question(79, output_style).lines;
            let rows = keys.iter().filter(|line| line.to_string().contains("Esc stop")).count();
            let first = if is_dangerous { "y run" } else { "y once" };
            let others = keys.iter().filter(|line| line.to_string().contains(first)).count();
            assert_eq!(
                (rows, others, keys.last().map(|line| line.to_string().contains(first))),
                (1, 1, Some(true)),
                "{text}"
            );
        }
    }
}

#[test]
fn the_keys_that_are_offered_depend_on_the_command() {
    let offered = |text: &str, is_dangerous| {
        let question = open(&request(command(text), is_dangerous, &[]));
        let keys = question.question(200, OutputStyle::Accessible).lines.last().unwrap().to_string();
        keys.split(", ").map(|key| key.split(' ').next().unwrap_or_default().to_owned()).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(offered("cargo test", false), "y s d a e n Esc");
    assert_eq!(offered("./run", false), "y s d e n Esc");
    for text in ["env x", "xargs x", "bash x", "python3 x", "find x", "git commit -m x", "a > b", "a $X", "a *"] {
        assert_eq!(offered(text, false), "y s e n Esc", "{text}");
    }
    assert_eq!(offered("a | b", false), "y s e v n Esc", "its parts are details");
    assert_eq!(offered("a | rm -rf b", false), "y e n Esc", "danger is shown whole");
    assert_eq!(offered("curl x", false), "y e n Esc", "what reaches another host is asked each time");
    assert_eq!(offered("curl localhost:8080", false), "y s e n Esc");
    assert_eq!(offered("cargo test", true), "y e n Esc");
    assert_eq!(offered("rm -rf x", false), "y e n Esc", "danger is danger, whatever the daemon says");
}

#[test]
fn the_path_of_a_file_stands_in_its_card_once() {
    let subject = ApprovalSubject::FileChange {
        tool: "write".into(),
        path: Path::new("/home/ann/a.txt").into(),
        diff: String::new(),
    };
    for (reason, shown) in [
        ("writes /home/ann/a.txt", None),
        ("writes outside the working directory: /home/ann/a.txt", Some("writes outside the working directory")),
        ("overwrites secrets: /home/ann/a.txt", Some("overwrites secrets")),
        ("writes /srv/home/ann/a.txt", Some("writes /srv/home/ann/a.txt")),
        ("it is new", Some("it is new")),
    ] {
        assert_eq!(beyond_title(reason, &subject), shown);
    }
}
