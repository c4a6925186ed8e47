use super::*;

const CASES: &str = include_str!("cases.table");
const MODES: [ApprovalMode; 4] = [ApprovalMode::ReadOnly, ApprovalMode::Ask, ApprovalMode::Auto, ApprovalMode::All];

/// A row: the situations that it fits, and a decision for each mode.
struct Row {
    line: &'static str,
    situation: Vec<&'static str>,
    decisions: Vec<&'static str>,
}

fn rows() -> Vec<Row> {
    let row = |line: &'static str| {
        let (situation, decisions) = line.split_once('|').expect("a row has decisions");
        let cells = |text: &'static str| text.split_whitespace().collect::<Vec<_>>();
        let row = Row { line, situation: cells(situation), decisions: cells(decisions) };
        assert_eq!((row.situation.len(), row.decisions.len()), (10, 4), "{line}");
        row
    };
    CASES.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).map(row).collect()
}

fn words(situation: &Situation) -> [&'static str; 10] {
    let Situation { level, is_firm, hazards, is_tainted, grants, .. } = situation;
    let word = |is: bool| if is { "yes" } else { "no" };
    let answer = match grants.answer {
        RunConsent::None => "none",
        RunConsent::Weak => "weak",
        RunConsent::Full => "full",
    };
    [
        level.word(),
        word(*is_firm),
        word(hazards.fills_secret),
        word(hazards.reaches_out),
        word(hazards.leaves_sandbox),
        word(*is_tainted),
        answer,
        word(grants.has_rule),
        word(grants.has_session),
        word(grants.was_refused),
    ]
}

fn word(decision: Decision) -> &'static str {
    match decision {
        Decision::Run(Ground::Policy) => "policy",
        Decision::Run(Ground::AllMode) => "all",
        Decision::Run(Ground::AutoMode) => "auto",
        Decision::Run(Ground::Rule) => "rule",
        Decision::Run(Ground::Session) => "session",
        Decision::Run(Ground::Answer) => "answer",
        Decision::Run(Ground::WeakAnswer) => "weak",
        Decision::Ask => "ask",
        Decision::Refuse(WhyNot::Never) => "never",
        Decision::Refuse(WhyNot::ReadOnly) => "read-only",
        Decision::Refuse(WhyNot::RefusedBefore) => "before",
    }
}

/// All situations of all modes, but for the mode.
fn situations() -> Vec<Situation> {
    let mut situations = Vec::new();
    for side in [Side::Daemon, Side::Client] {
        for level in [Level::Allow, Level::Ask, Level::Danger, Level::Deny] {
            for answer in [RunConsent::None, RunConsent::Weak, RunConsent::Full] {
                for bits in 0..1_u32 << 8 {
                    let is = |bit: u32| bits & 1 << bit != 0;
                    let hazards = Hazards {
                        fills_secret: is(0),
                        reaches_out: is(1),
                        leaves_sandbox: is(2),
                        is_objected_to: false,
                    };
                    let grants = Grants { answer, has_rule: is(3), has_session: is(4), was_refused: is(5) };
                    let (is_firm, is_tainted, mode) = (is(6), is(7), ApprovalMode::ReadOnly);
                    situations.push(Situation { side, mode, level, is_firm, hazards, is_tainted, grants });
                }
            }
        }
    }
    situations
}

#[test]
fn each_situation_is_decided_as_the_table_says() {
    let rows = rows();
    let mut used = vec![false; rows.len()];
    for situation in situations() {
        let words = words(&situation);
        let fits = |row: &Row| row.situation.iter().zip(words).all(|(cell, word)| *cell == "." || *cell == word);
        let at = rows.iter().position(fits).unwrap_or_else(|| panic!("no row for {situation:?}"));
        used[at] = true;
        for (mode, expected) in MODES.into_iter().zip(&rows[at].decisions) {
            let situation = Situation { mode, ..situation };
            let (daemon, client) = expected.split_once('/').unwrap_or((expected, expected));
            let expected = if situation.side == Side::Daemon { daemon } else { client };
            assert_eq!(word(decide(&situation)), expected, "{situation:?}\n{}", rows[at].line);
        }
    }
    let unused: Vec<&str> = rows.iter().zip(used).filter(|(_, used)| !used).map(|(row, _)| row.line).collect();
    assert!(unused.is_empty(), "no situation needs these rows: {unused:#?}");
}

#[test]
fn a_line_says_what_counts_for_one_run_only() {
    let lasts = |line: &str| Hazards::of(line).lets_consent_last();
    assert!(lasts("touch a"));
    assert!(!lasts("git push"), "data for another host");
    assert!(!lasts("echo <secret:jwt#2-abcdefgh>"), "a secret");
    assert!(!Hazards { leaves_sandbox: true, ..Hazards::of("touch a") }.lets_consent_last());
    assert!(!Hazards::of("git push").is_asked_each_time());
}

#[test]
fn what_a_hook_objects_to_runs_by_the_answer_alone() {
    for situation in situations() {
        for mode in MODES {
            let hazards = Hazards { is_objected_to: true, ..situation.hazards };
            let decision = decide(&Situation { mode, hazards, ..situation });
            let is_answered = situation.grants.answer == RunConsent::Full;
            match decision {
                Decision::Run(ground) => assert_eq!((ground, is_answered), (Ground::Answer, true), "{situation:?}"),
                Decision::Ask => {
                    assert!(!is_answered && mode != ApprovalMode::ReadOnly || situation.side == Side::Client);
                }
                Decision::Refuse(_) => assert!(!is_answered || situation.level == Level::Deny, "{situation:?}"),
            }
        }
    }
}
