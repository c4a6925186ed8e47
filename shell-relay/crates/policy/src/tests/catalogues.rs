//! Tests with tables that were written before the rules they judge; the rules are not tuned to them. See
//! `docs/decisions/0007-policy.md`.

use super::*;

const HARM: &str = include_str!("catalogue_harm.txt");
const READING: &str = include_str!("daily_reading.txt");
const DESTRUCTIVE: &str = include_str!("destructive.txt");
const ADVISORIES_HARM: &str = include_str!("advisories_harm.txt");
const ADVISORIES_READING: &str = include_str!("advisories_reading.txt");
const ADVISORIES_DESTRUCTIVE: &str = include_str!("advisories_destructive.txt");
const UNSEEN_HARM: &str = include_str!("unseen_harm.txt");
const UNSEEN_READING: &str = include_str!("unseen_reading.txt");
const UNSEEN_DESTRUCTIVE: &str = include_str!("unseen_destructive.txt");
const SECOND_UNSEEN_HARM: &str = include_str!("second_unseen_harm.txt");
const SECOND_UNSEEN_READING: &str = include_str!("second_unseen_reading.txt");
const SECOND_UNSEEN_DESTRUCTIVE: &str = include_str!("second_unseen_destructive.txt");
const THIRD_UNSEEN_HARM: &str = include_str!("third_unseen_harm.txt");
const THIRD_UNSEEN_READING: &str = include_str!("third_unseen_reading.txt");
const FOURTH_UNSEEN_HARM: &str = include_str!("fourth_unseen_harm.txt");
const FOURTH_UNSEEN_READING: &str = include_str!("fourth_unseen_reading.txt");
const FOURTH_UNSEEN_DESTRUCTIVE: &str = include_str!("fourth_unseen_destructive.txt");

const FIFTH_UNSEEN_HARM: &str = include_str!("fifth_unseen_harm.tsv");
const FIFTH_UNSEEN_READING: &str = include_str!("fifth_unseen_reading.tsv");

const CONTROL_UNSEEN_HARM: &str = include_str!("control_unseen_harm.tsv");
const CONTROL_ATTACKS: &str = include_str!("control_attacks.tsv");
const SIXTH_UNSEEN_HARM: &str = include_str!("sixth_unseen_harm.tsv");
const SIXTH_UNSEEN_READING: &str = include_str!("sixth_unseen_reading.tsv");
const SIXTH_UNSEEN_CHANGING: &str = include_str!("sixth_unseen_changing.tsv");
const SEVENTH_UNSEEN_HARM: &str = include_str!("seventh_unseen_harm.tsv");
const SEVENTH_UNSEEN_READING: &str = include_str!("seventh_unseen_reading.tsv");
const SEVENTH_UNSEEN_CHANGING: &str = include_str!("seventh_unseen_changing.tsv");
const EIGHTH_UNSEEN_READING: &str = include_str!("eighth_unseen_reading.tsv");
const EIGHTH_UNSEEN_CHANGING: &str = include_str!("eighth_unseen_changing.tsv");
const NINTH_UNSEEN_READING: &str = include_str!("ninth_unseen_reading.tsv");
const NINTH_UNSEEN_CHANGING: &str = include_str!("ninth_unseen_changing.tsv");
const TENTH_UNSEEN_READING: &str = include_str!("tenth_unseen_reading.tsv");
const TENTH_UNSEEN_CHANGING: &str = include_str!("tenth_unseen_changing.tsv");
const WIDER_ATTACKS: &str = include_str!("wider_attacks.tsv");
const CONTROL_UNSEEN_READING: &str = include_str!("control_unseen_reading.tsv");

/// The allowed ones of rows of `shell, class, line`, and the number of all rows.
fn allowed_in_its_shell(table: &'static str, context: Context<'_>) -> (Vec<&'static str>, usize) {
    let rows = table.lines().filter(|row| !row.starts_with("## "));
    let allowed = rows.clone().filter(|row| {
        let (shell, rest) = row.split_once('\t').expect("a shell");
        let (_, line) = rest.split_once('\t').expect("a class");
        let is_known = context.lock.is_some() && is_known_as_confined(line);
        !is_known && assess_line(line, context.in_shell(Shell::of(Path::new(shell)))).level == Level::Allow
    });
    (allowed.collect(), rows.count())
}

/// Rows that the user's own shell runs unasked, and the number of all rows.
fn allowed_in_this_shell(table: &'static str, context: Context<'_>) -> (Vec<&'static str>, usize) {
    let (allowed, all) = allowed_in_its_shell(table, context);
    let runs_here = |row: &&str| {
        let mut parts = row.splitn(3, '\t');
        let (shell, line) = (Shell::of(Path::new(parts.next().unwrap())), parts.nth(1).unwrap());
        is_allowed_in_this_shell(line, context.in_shell(shell))
    };
    (allowed.into_iter().filter(runs_here).collect(), all)
}

/// All lines that result from `{{a|b}}` in `line`.
fn alternatives(line: &str) -> Vec<String> {
    let Some((before, rest)) = line.split_once("{{") else { return vec![line.to_owned()] };
    let (choices, after) = rest.split_once("}}").expect("closed");
    choices.split('|').flat_map(|choice| alternatives(&format!("{before}{choice}{after}"))).collect()
}

#[test]
fn none_of_two_thousand_lines_of_the_catalogues_is_allowed() {
    let all = none_is_allowed(lines(HARM).flat_map(|line| alternatives(&line)));
    assert!(all >= 2_000, "{all}");
}

#[test]
fn what_is_read_every_day_is_allowed_but_for_one_in_twenty() {
    are_at_most(5, refused(READING));
}

#[test]
fn what_destroys_or_leaks_is_flagged_but_for_one_in_twenty() {
    are_at_most(5, missed(DESTRUCTIVE));
}

#[test]
fn no_line_of_the_advisories_is_allowed() {
    let all = none_is_allowed(lines(ADVISORIES_HARM));
    assert!(all >= 4_000, "{all}");
}

#[test]
fn what_assistants_read_is_allowed_but_for_one_in_twenty() {
    are_at_most(5, refused(ADVISORIES_READING));
}

#[test]
fn what_the_advisories_destroy_or_leak_is_flagged_but_for_one_in_twenty() {
    are_at_most(5, missed(ADVISORIES_DESTRUCTIVE));
}

#[test]
fn no_line_of_a_sample_written_without_sight_of_the_rules_is_allowed() {
    assert_eq!(none_is_allowed(lines(UNSEEN_HARM)), 600);
}

#[test]
fn eighty_six_of_a_hundred_unseen_reading_lines_are_allowed() {
    assert_eq!(are_at_most(14, refused(UNSEEN_READING)), 400);
}

#[test]
fn what_the_unseen_sample_destroys_or_leaks_is_flagged_but_for_one_in_twenty() {
    assert_eq!(are_at_most(5, missed(UNSEEN_DESTRUCTIVE)), 300);
}

#[test]
fn none_of_fourteen_hundred_later_unseen_lines_is_allowed() {
    assert_eq!(none_is_allowed(lines(SECOND_UNSEEN_HARM)), 600);
    assert_eq!(none_is_allowed(lines(THIRD_UNSEEN_HARM)), 400);
    assert_eq!(none_is_allowed(lines(FOURTH_UNSEEN_HARM)), 450);
}

#[test]
fn later_unseen_reading_lines_are_allowed_as_they_were_at_first_sight() {
    assert_eq!(are_at_most(7, refused(SECOND_UNSEEN_READING)), 400);
    assert_eq!(are_at_most(5, refused(THIRD_UNSEEN_READING)), 400);
    assert_eq!(are_at_most(8, refused(FOURTH_UNSEEN_READING)), 450);
}

#[test]
fn what_the_later_unseen_sample_destroys_or_leaks_is_flagged_but_for_one_in_twenty() {
    assert_eq!(are_at_most(5, missed(SECOND_UNSEEN_DESTRUCTIVE)), 300);
    assert_eq!(are_at_most(5, missed(FOURTH_UNSEEN_DESTRUCTIVE)), 250);
}

#[test]
fn of_three_thousand_unseen_lines_in_three_shells_only_questions_to_a_daemon_or_to_this_machine_are_allowed() {
    let questions = [
        "ping -c1 127.0.0.1",
        "ping -c1 -W1 127.0.0.1",
        "docker ps",
        "loginctl show-session self",
        "tmux ls",
        "redis-cli -p 9 info",
    ];
    for context in [context(), locked()] {
        let (allowed, all) = allowed_in_this_shell(FIFTH_UNSEEN_HARM, context);
        let is_question = |row: &&str| questions.iter().any(|line| row.ends_with(&format!("\t{line}")));
        let others: Vec<_> = allowed.into_iter().filter(|row| !is_question(row)).collect();
        assert!(others.is_empty(), "{others:#?}");
        assert_eq!(all, 3_000);
    }
}

#[test]
fn the_users_shell_runs_no_line_unasked_that_does_harm_by_loops_conditions_and_substitutions() {
    for context in [context(), locked()] {
        assert_eq!(allowed_in_this_shell(CONTROL_UNSEEN_HARM, context), (Vec::new(), 500));
        assert_eq!(allowed_in_this_shell(CONTROL_ATTACKS, context).0, Vec::<&str>::new());
    }
    for table in [CONTROL_UNSEEN_HARM, CONTROL_ATTACKS] {
        assert_eq!(allowed_in_its_shell(table, context()).0, Vec::<&str>::new());
    }
}

/// The number of allowed lines of an unseen table, in bash, zsh and fish.
fn allowed_of_each_shell(table: &'static str, context: Context<'_>) -> [usize; 3] {
    let (allowed, _) = allowed_in_its_shell(table, context);
    ["bash\t", "zsh\t", "fish\t"].map(|shell| allowed.iter().filter(|row| row.starts_with(shell)).count())
}

#[test]
fn unseen_reading_lines_in_three_shells_are_allowed_but_for_loops_and_variables() {
    let (allowed, all) = allowed_in_its_shell(FIFTH_UNSEEN_READING, context());
    assert!(allowed.len() >= 640, "{} of {all}", allowed.len());
    assert_eq!(all, 1_000);
    // Without loops, conditions and substitutions there are 188 lines of fish and 187 of zsh.
    for (shell, at_least) in [("fish\t", 158), ("zsh\t", 150)] {
        let plain = allowed.iter().filter(|row| row.starts_with(shell) && !row.contains("\tcontrol\t")).count();
        assert!(plain >= at_least, "{shell}{plain}");
    }
}

#[test]
fn unseen_reading_lines_with_loops_and_substitutions_are_allowed_more_often_where_programs_cannot_write() {
    for (table, context, at_least) in [
        (CONTROL_UNSEEN_READING, locked(), [169, 87, 78]),
        (FIFTH_UNSEEN_READING, locked(), [463, 219, 218]),
        (SIXTH_UNSEEN_READING, locked(), [543, 158, 178]),
        (SIXTH_UNSEEN_READING, context(), [410, 115, 120]),
        (SEVENTH_UNSEEN_READING, locked(), [503, 174, 167]),
        (SEVENTH_UNSEEN_READING, context(), [377, 131, 128]),
        (EIGHTH_UNSEEN_READING, locked(), [380, 0, 0]),
        (EIGHTH_UNSEEN_READING, context(), [322, 0, 0]),
        (NINTH_UNSEEN_READING, locked(), [1_070, 0, 0]),
        (NINTH_UNSEEN_READING, context(), [775, 0, 0]),
        (TENTH_UNSEEN_READING, locked(), [287, 96, 96]),
        (TENTH_UNSEEN_READING, context(), [217, 67, 73]),
    ] {
        let found = allowed_of_each_shell(table, context);
        assert!(found.iter().zip(at_least).all(|(found, least)| *found >= least), "{found:?}, {at_least:?} wanted");
    }
}

#[test]
fn of_the_eighth_list_only_what_is_confined_or_asks_a_cluster_is_allowed() {
    // Each of the first three could make a file, by options that nobody sees in the line; behind the lock no program can.
    let confined = [
        "git log --oneline $(cat opts.txt)",
        "cd /tmp/incoming && sort *",
        "args=(-o sorted.txt); sort \"${args[@]}\" in.txt",
    ];
    for (context, known) in [(context(), &[][..]), (locked(), &confined[..])] {
        let (allowed, all) = allowed_in_its_shell(EIGHTH_UNSEEN_CHANGING, context);
        let line = |row: &&&str| row.split('\t').nth(2).unwrap_or_default().to_owned();
        let others: Vec<_> =
            allowed.iter().filter(|row| !known.contains(&line(row).as_str()) && !asks_a_service(&line(row))).collect();
        assert_eq!((others, all), (Vec::new(), 400));
    }
}

#[test]
fn no_changing_line_of_the_ninth_list_is_allowed() {
    for context in [context(), locked()] {
        assert_eq!(allowed_in_its_shell(NINTH_UNSEEN_CHANGING, context), (Vec::new(), 500));
    }
}

#[test]
fn no_changing_line_of_the_tenth_list_is_allowed() {
    for context in [context(), locked()] {
        assert_eq!(allowed_in_its_shell(TENTH_UNSEEN_CHANGING, context), (Vec::new(), 250));
    }
}

#[test]
fn nothing_of_what_was_allowed_later_can_be_misused() {
    for context in [context(), locked()] {
        assert_eq!(allowed_in_its_shell(WIDER_ATTACKS, context).0, Vec::<&str>::new());
    }
}

#[test]
fn what_is_known_as_confined_is_asked_without_the_lock() {
    for (_, line) in CONFINED.lines().filter_map(|row| row.split_once("\tconfined\t")) {
        assert_eq!(assess_line(line, locked()).level, Level::Allow, "{line}");
        assert_ne!(assess_line(line, context()).level, Level::Allow, "{line}");
    }
}

#[test]
fn a_pattern_may_match_an_option_where_a_program_cannot_write() {
    for line in ["sort *", "file *", "jq length *.json", "sed -n 1p *.txt"] {
        assert_eq!(assess_line(line, context()).level, Level::Ask, "{line}");
        assert_eq!(assess_line(line, locked()).level, Level::Allow, "{line}");
    }
}

#[test]
fn of_seven_thousand_more_unseen_lines_the_users_shell_runs_a_handful_unasked() {
    // The clipboard's sequences do not reach the terminal, an apparent option is not one, and the rest reports the contents of a service
    // or the disk.
    let doubtful = [
        "sort -t, -k2,2no sorted.csv data.csv",
        "grep -n password config/database.yml",
        "git -C ./vendor/evil status",
        "git config -l --show-origin | grep -i token",
        "git var -l | grep -i extraheader",
        "printf '\\e]52;c;cm0gLXJmIH4=\\a'",
        "printf '\\e]52;c;eA==\\a'",
    ];
    for context in [context(), locked()] {
        let (allowed, all) = allowed_in_this_shell(SIXTH_UNSEEN_HARM, context);
        let is_doubtful = |row: &&str| doubtful.iter().any(|line| row.ends_with(&format!("\t{line}")));
        let asks_a_service = |row: &&str| row.split('\t').nth(2).is_some_and(asks_a_service);
        let others: Vec<_> = allowed.into_iter().filter(|row| !is_doubtful(row) && !asks_a_service(row)).collect();
        assert_eq!((others, all), (Vec::new(), 7_221));
        assert_eq!(allowed_in_its_shell(SIXTH_UNSEEN_CHANGING, context), (Vec::new(), 500));
    }
}

#[test]
fn of_the_seventh_list_only_changes_of_the_folder_and_looks_at_this_machine_are_allowed() {
    // Both are typed with words that keep them from asking for names; the sequence is kept from the terminal.
    let looks = ["hostname --fqdn", "lsof -i tcp", "netstat -a", "echo -e '\\e]52;c;aGk=\\a'"];
    for context in [context(), locked()] {
        let (allowed, all) = allowed_in_this_shell(SEVENTH_UNSEEN_HARM, context);
        let line = |row: &&&str| row.split('\t').nth(2).unwrap_or_default().to_owned();
        let others: Vec<_> = allowed
            .iter()
            .filter(|row| !looks.contains(&line(row).as_str()) && !line(row).starts_with("cd "))
            .collect();
        assert_eq!((others, all), (Vec::new(), 2_420));
        assert_eq!(allowed_in_its_shell(SEVENTH_UNSEEN_CHANGING, context), (Vec::new(), 500));
    }
}

/// The output of these programs comes from a service or from another host, by the user's own settings.
fn asks_a_service(line: &str) -> bool {
    let name = line.split(' ').next().unwrap_or_default();
    ["aws", "docker", "doctl", "dnf", "gcloud", "gh", "hcloud", "helm", "kubectl", "lxc", "yum", "zypper"]
        .contains(&name)
}
