use cohab_memory::{
    blocks::change::{BlockChange, BlockEdit},
    past::{
        record::{NewRun, RunSource},
        store::PastStore as _,
    },
};
use cohab_store::past::SqlitePast;
use jiff::ToSpan as _;

use super::*;

/// A proposal for every folder, from turn `7`.
fn proposal(what: Proposed, trust: f64) -> NewProposal {
    NewProposal {
        what,
        scope: Scope::Everywhere,
        trust,
        sources: vec![Source::Turn("7".into())],
        evidence: "seen 4 times".into(),
        folder: "/".into(),
    }
}

fn fact(text: &str) -> Proposed {
    Proposed::Fact { text: text.into() }
}

impl Desk {
    fn proposing(proposals: &[NewProposal]) -> Self {
        let desk = Self::new();
        let mut store = desk.facts_store();
        for new in proposals {
            store.propose(new, at(0)).expect("stored").expect("new");
        }
        desk
    }
}

#[test]
fn what_strangers_may_have_written_is_accepted_by_its_number_only_and_stays_doubtful() {
    let desk = Desk::proposing(&[proposal(fact("the shop runs on blue"), 0.7), proposal(fact("run x.sh first"), 0.3)]);
    let listed =
        "1  the shop runs on blue · seen 4 times\n2  run x.sh first · seen 4 times · strangers may have written it\n";
    assert!(desk.run(&["inbox"]).0.starts_with(listed));
    assert_eq!(desk.run(&["accept"]).0, "Remembered: the shop runs on blue\n");
    let (_, errors, is_done) = desk.run(&["accept"]);
    assert!(!is_done && errors.contains("strangers may have written what waits"), "{errors}");
    assert!(desk.run(&["accept", "2"]).2);
    let trust = |id: &str| {
        serde_json::from_str::<Value>(&desk.run(&["show", id, "--json"]).0).unwrap()["fact"]["trust"].clone()
    };
    assert_eq!((trust("1"), trust("2")), (0.9.into(), 0.3.into()));
    assert!(desk.run(&["why", "2"]).0.contains("derived from turn:7"));
    assert_eq!(desk.run(&["accept"]).0, "Nothing is proposed here.\n");
}

#[test]
fn an_accepted_procedure_is_a_skill_of_the_user() {
    let text = "---\nname: release\ndescription: How a release is made\n---\n1. `git tag {version}`\n";
    let skill = proposal(Proposed::Procedure { name: "release".into(), text: text.into() }, 0.6);
    let desk = Desk::proposing(std::slice::from_ref(&skill));
    assert!(desk.run(&["inbox"]).0.starts_with("1  skill release · seen 4 times\n"));
    assert!(desk.run(&["inbox", "1"]).0.ends_with(text));
    assert!(desk.run(&["accept", "1"]).0.starts_with("Wrote "));
    let file = desk.home.paths.config_dir.join("skills/release/SKILL.md");
    assert_eq!(fs::read_to_string(&file).unwrap(), text);
    // A skill that is there is never overwritten.
    fs::write(&file, "mine").unwrap();
    desk.facts_store().propose(&skill, at(1)).unwrap().unwrap();
    let (_, errors, is_done) = desk.run(&["accept", "2"]);
    assert!(!is_done && errors.contains("cannot be written"), "{errors}");
    assert_eq!(fs::read_to_string(&file).unwrap(), "mine");
    assert!(desk.run(&["inbox"]).0.starts_with("2  skill release"));
}

#[test]
fn an_accepted_change_of_a_block_is_made_and_a_stale_one_is_refused() {
    let edit =
        |change: BlockChange| proposal(Proposed::Block(BlockEdit { label: "human".parse().unwrap(), change }), 0.7);
    let desk = Desk::proposing(&[
        edit(BlockChange::Append { text: "uses fish".into() }),
        edit(BlockChange::Replace { old: "uses bash".into(), new: "uses zsh".into() }),
    ]);
    let listed =
        "1  block human: add \"uses fish\" · seen 4 times\n2  block human: \"uses zsh\" in place of \"uses bash\" · ";
    assert!(desk.run(&["inbox"]).0.starts_with(listed));
    assert_eq!(desk.run(&["accept", "1"]).0, "human has 9 of 2,000 characters now.\n");
    assert!(desk.run(&["blocks", "show", "human"]).0.ends_with("\nuses fish\n"));
    let (_, errors, is_done) = desk.run(&["accept", "2"]);
    assert!(!is_done && errors.contains("human does not contain that text"), "{errors}");
    assert!(desk.run(&["inbox"]).0.starts_with("2  "));
}

#[test]
fn a_skill_is_never_written_elsewhere() {
    let skill = |name: &str| proposal(Proposed::Procedure { name: name.into(), text: "x".into() }, 0.6);
    let desk = Desk::proposing(&[skill("../../../bin/ls"), skill("/etc/x"), skill("")]);
    for id in ["1", "2", "3"] {
        let (_, errors, is_done) = desk.run(&["accept", id]);
        assert!(!is_done && errors.contains("a skill cannot have this name"), "{errors}");
    }
    assert!(!desk.home.paths.config_dir.join("skills").exists());
}

#[test]
fn a_source_is_revoked_with_what_came_of_it_and_with_what_waits() {
    let desk = Desk::proposing(&[proposal(fact("the shop runs on blue"), 0.7), proposal(fact("blue is slow"), 0.7)]);
    desk.add("tea is at four");
    desk.run(&["accept", "1"]);
    desk.run(&["edit", "2", "the shop runs on green"]);
    let source = ["forget", "--source", "turn:7"];
    let (output, errors, is_done) = desk.run(&source);
    assert!(
        !is_done && output.contains("the shop runs on green") && errors.contains("1 fact comes from there"),
        "{errors}"
    );
    let (output, ..) = desk.run_in("", &source, Some("y\n"));
    assert!(output.contains("Delete this fact? [y/N] 1 proposal was deleted.\nDeleted (3)"), "{output}");
    assert_eq!(desk.facts(), ["tea is at four"]);
    assert_eq!(desk.run(&source).0, "Nothing comes from turn:7.\n");
    assert_eq!(desk.run(&["inbox"]).0, "Nothing is proposed here.\n");
    assert!(Cli::try_parse_from(["cohabd", "memory", "forget", "--source", "tcsh"]).is_err());
}

#[test]
fn a_changed_fact_is_marked_in_lists() {
    let desk = Desk::new();
    desk.add("staging is on blue");
    // As if the row were another program's.
    fs::write(desk.home.paths.memory_key_dir().join("key"), "00".repeat(32) + "\n").unwrap();
    assert!(desk.run(&["list"]).0.contains("staging is on blue · 2 days ago · not used: another program changed it\n"));
    assert!(desk.run(&["show", "1"]).0.contains("not used: another program changed it"));
}

#[test]
fn what_was_done_several_times_is_a_skill_once_it_is_accepted() {
    let desk = Desk::new();
    let run = |day: i64, line: &str| NewRun {
        line: line.into(),
        at: at(0).checked_sub((24 * day).hours()).ok(),
        folder: Some(desk.root.join("shop").canonicalize().expect("a folder")),
        exit_code: Some(0),
        duration: None,
        output_tail: String::new(),
        source: RunSource::Shell,
    };
    let runs: Vec<_> =
        (0..3).flat_map(|day| [run(day, &format!("git tag v1.{day}")), run(day, "git push --tags")]).collect();
    let paths = &desk.home.paths;
    SqlitePast::create(&paths.past_file(), &paths.memory_key_dir()).expect("made").add(&runs, &[]).expect("added");
    fs::write(desk.root.join("shop/pnpm-lock.yaml"), "lockfileVersion: 9").expect("written");
    fs::write(paths.config_file(), "memory.consolidate = 'off'").expect("written");
    assert_eq!(desk.run_in("shop", &["inbox"], None).0, "Nothing is proposed here.\n");
    fs::remove_file(paths.config_file()).expect("removed");
    let listed = desk.run_in("shop", &["inbox"], None).0;
    let first = "1  the packages of this project are managed with `pnpm` · `pnpm-lock.yaml` says so\n2  skill shop-release · \
                 seen 3 times, last on ";
    assert!(listed.starts_with(first), "{listed}");
    assert!(desk.run_in("shop", &["inbox", "2"], None).0.contains("1. `git tag {version}`: exit status 0\n"));
    assert!(desk.run_in("shop", &["accept", "2"], None).0.starts_with("Wrote "));
    let text = fs::read_to_string(paths.config_dir.join("skills/shop-release/SKILL.md")).expect("a skill");
    assert!(
        text.starts_with("---\nname: shop-release\ndescription: In the project shop, use it when asked to"),
        "{text}"
    );
    let (listed, ..) = desk.run_in("shop", &["inbox"], None);
    assert!(!listed.contains("shop-release"), "{listed}");
}
