use jiff::civil::date;
use proptest::prelude::*;

use super::*;

const ROOT: &str = "/srv/shop";

fn deed(line: &str, at: Timestamp) -> Deed {
    let (session, source) = (None, Source::Commands);
    Deed { line: line.to_owned(), at, folder: ROOT.into(), exit_code: Some(0), session, source, trust: 0.9 }
}

/// The deed of a row of the table.
fn deed_of(row: &str) -> Deed {
    let mut cells = row.splitn(3, ' ');
    let mut next = || cells.next().expect("day, time and command");
    let day: i8 = next().parse().expect("a day");
    let (hour, minute) = next().split_once(':').expect("a time");
    let at = date(2026, 11, day).at(hour.parse().expect("an hour"), minute.parse().expect("a minute"), 0, 0);
    let mut words: Vec<&str> = next().split(' ').collect();
    let is_mark = |word: &str| word == "?" || word.starts_with('!') || (word.len() == 2 && word.starts_with('@'));
    let mut deed = deed("", at.to_zoned(TimeZone::UTC).expect("a time").timestamp());
    while let Some(mark) = words.pop_if(|word| is_mark(word)) {
        match mark.split_at(1) {
            ("?", _) => deed.trust = 0.3,
            ("!", code) => deed.exit_code = Some(code.parse().expect("a status")),
            (_, session) => deed.session = Some(session.to_owned()),
        }
    }
    deed.line = words.join(" ");
    deed
}

fn found(deeds: &[Deed]) -> Vec<Draft> {
    drafts(deeds, Path::new(ROOT), &TimeZone::UTC, &|line| !line.contains("SECRET"))
}

fn steps(draft: &Draft) -> String {
    draft.steps.iter().map(|step| step.command.as_str()).collect::<Vec<_>>().join(" ;; ")
}

#[test]
fn the_histories_of_the_table_give_their_drafts() {
    let mut wrong = Vec::new();
    let mut cases = 0;
    for case in include_str!("histories.table").split("\n## ").skip(1) {
        let (title, rows) = case.split_once('\n').expect("rows");
        let (expected, rows): (Vec<&str>, Vec<&str>) =
            rows.lines().filter(|row| !row.is_empty()).partition(|row| row.starts_with("> "));
        let deeds: Vec<Deed> = rows.into_iter().map(deed_of).collect();
        let drafts: Vec<String> = found(&deeds).iter().map(|draft| format!("> {}", steps(draft))).collect();
        if drafts != expected {
            wrong.push(format!("{title}:\n  found {drafts:#?}\n  expected {expected:#?}"));
        }
        cases += 1;
    }
    assert!(wrong.is_empty(), "{} of {cases}:\n{}", wrong.len(), wrong.join("\n"));
}

/// A release, done this often, a day apart.
fn release(times: i8) -> Vec<Deed> {
    let day = |day: i8| {
        let lines = ["cargo test".to_owned(), format!("git tag v1.{day}.0"), "git push --tags".to_owned()];
        lines.map(|line| deed_of(&format!("{} 10:00 {line}", day + 1)))
    };
    (0..times).flat_map(day).collect()
}

#[test]
fn a_draft_says_when_it_is_to_be_used_and_where_it_comes_from() {
    let mut deeds = release(4);
    for deed in &mut deeds[9..] {
        (deed.trust, deed.source) = (0.7, Source::Turn("9".into()));
    }
    let [draft] = found(&deeds).try_into().unwrap();
    assert_eq!((draft.name.as_str(), draft.trigger.as_str()), ("shop-release", "make a release, publish a version"));
    assert_eq!((draft.seen, draft.trust), (4, 0.7));
    assert_eq!(draft.sources, [Source::Turn("9".into()), Source::Commands]);
    assert_eq!(draft.last, deeds[11].at);
    assert_eq!(
        draft.parameters,
        [Parameter { name: "version".into(), examples: ["v1.3.0", "v1.2.0", "v1.1.0"].map(Into::into).into() }]
    );
    let expected = [
        "---",
        "name: shop-release",
        "description: In the project shop, use it when asked to make a release, publish a version. Its steps are `cargo test`, `git tag \
         {version}`, `git push --tags`",
        "---",
        "",
        "# shop-release",
        "",
        "Use this only in `/srv/shop`, and only when the user asks to make a release, publish a version. It was seen 4 times, last on 4 Nov \
         2026. Run the steps one after the other, and stop at the first one that does not end as expected.",
        "",
        "Replace what is between braces:",
        "",
        "- `{version}`: was `v1.3.0`, `v1.2.0`, `v1.1.0`",
        "",
        "1. `cargo test`: exit status 0",
        "2. `git tag {version}`: exit status 0",
        "3. `git push --tags`: exit status 0",
    ];
    assert_eq!(draft.skill().lines().collect::<Vec<_>>(), expected);
}

#[test]
fn a_step_below_the_root_names_its_folder() {
    let mut deeds = release(3);
    deeds.iter_mut().step_by(3).for_each(|deed| deed.folder = "/srv/shop/web".into());
    let folders: Vec<_> = found(&deeds)[0].steps.iter().map(|step| step.folder.clone()).collect();
    assert_eq!(folders, [Some("web".into()), None, None]);
}

#[test]
fn two_drafts_of_one_purpose_have_two_names() {
    let lines = |day: u8| {
        [
            format!("{day} 10:00 make assets"),
            format!("{day} 10:01 make deploy"),
            format!("{day} 15:00 terraform plan -out p"),
            format!("{day} 15:01 terraform apply p"),
        ]
    };
    let deeds: Vec<Deed> = (1..4).flat_map(lines).map(|row| deed_of(&row)).collect();
    let names: Vec<String> = found(&deeds).into_iter().map(|draft| draft.name).collect();
    assert_eq!(names, ["shop-deploy", "shop-deploy-2"]);
}

#[test]
fn a_long_history_is_bounded_work() {
    let line = |n: usize| ["make a", "make b", "make c", "git push", "make d", "cargo test"][n * 7919 % 6];
    let deeds: Vec<Deed> =
        (0..3 * MAX_DEEDS).map(|n| deed(line(n / 3), Timestamp::from_second(n as i64 * 400).unwrap())).collect();
    assert!(found(&deeds).len() <= 10);
}

/// Whether a command is one that the template stands for.
fn fits(template: &str, command: &str) -> bool {
    let mut rest = command;
    let mut parts = template.split_inclusive('}').flat_map(|part| match part.rsplit_once('{') {
        Some((before, name)) if name.ends_with('}') => vec![(before, true)],
        _ => vec![(part, false)],
    });
    let mut is_open = false;
    parts.all(|(text, is_parameter)| {
        let at = if is_open && text.is_empty() { Some(rest.len()) } else { rest.find(text) };
        let Some(at) = at.filter(|at| is_open || *at == 0) else { return false };
        rest = rest.get(at + text.len()..).unwrap_or_default();
        is_open = is_parameter;
        true
    }) && (is_open || rest.is_empty())
}

proptest! {
    /// Whatever was done: every step was run, successfully, as often as the draft says.
    #[test]
    fn every_step_was_really_run(
        rows in prop::collection::vec((0_usize..14, 0_i64..8, 0_i32..9, 0_u8..30), 0..12),
        times in 1_usize..8,
        odd in "(?s)[ \\t\\n'\"&|;{}=a-zé\\x00-]{0,30}",
    ) {
        let lines = [
            "git tag v1.0", "git tag v1.1", "git tag 'é x'", "git push --tags", "make a && make b", "make a", "scp a/b c:d",
            "scp é c:e", "vim x", "echo x > y", "x=1 ./run --level=3", "x=1 ./run --level=12", "ls", &odd,
        ];
        let mut second = 0;
        let deeds: Vec<Deed> = rows.repeat(times).iter().map(|(line, hours, exit_code, trust)| {
            second += 60 + hours / 7 * 90_000;
            let at = Timestamp::from_second(second).expect("a time");
            let exit_code = Some(exit_code / 8);
            Deed { exit_code, trust: f64::from((*trust).max(3)) / 10.0, ..deed(lines[*line], at) }
        }).collect();
        let drafts = found(&deeds);
        prop_assert!(drafts.len() <= 10);
        for draft in drafts {
            prop_assert!((2..=8).contains(&draft.steps.len()) && draft.seen >= 3 && draft.trust >= LEAST_TRUST);
            for step in &draft.steps {
                let ran = deeds.iter().filter(|deed| deed.exit_code == Some(0) && deed.trust >= LEAST_TRUST);
                let times = ran.filter(|deed| line::commands(&deed.line).iter().any(|command| fits(&step.command, &command.text())));
                prop_assert!(times.count() >= draft.seen, "{}", step.command);
            }
        }
    }
}
