//! Every promise of the agent core names the tests that show it. The check fails if such a test is renamed or removed.

use std::{collections::BTreeSet, fs, path::Path};

use cohab_e2e::binaries;

/// The promises, and the names of tests that would fail without them.
const ROWS: [(&str, &[&str]); 28] = [
    (
        "storage: a contract, isolated histories, search, retention, owner only",
        &[
            "what_is_kept_is_there_in_the_next_life",
            "the_file_is_its_owners_alone_and_closed_while_nothing_happens",
            "two_writers_at_once_lose_nothing",
            "removing_gives_the_room_back_and_leaves_no_trace",
        ],
    ),
    (
        "steps: a tree with times and tokens, rules, the limit, a pause",
        &[
            "a_turn_is_told_as_a_tree",
            "json_has_the_state_the_steps_and_what_came_of_it",
            "rules_leave_a_tool_out_and_stop_a_turn",
            "a_tool_is_left_out_and_only_what_reads_is_repeated",
            "at_the_limit_the_model_learns_why_no_tool_runs_any_more_and_zero_is_no_limit",
            "a_turn_is_held_by_a_key_and_goes_on_by_a_word",
        ],
    ),
    (
        "checkpoint and recovery: killed anywhere, ended in order, another terminal",
        &[
            "killed_at_random_points_nothing_is_lost_and_nothing_runs_twice",
            "a_restart_in_the_middle_of_a_turn_costs_neither_the_turn_nor_the_command",
            "at_the_prompt_the_turn_goes_on_with_what_the_shell_ran_meanwhile",
            "another_terminal_goes_on_with_what_was_interrupted",
            "steps_before_an_interruption_count_towards_the_limit",
        ],
    ),
    (
        "context assembly: sections, identity, skills, tasks, tone, stable first",
        &[
            "the_whole_prompt_with_all_there_is",
            "the_system_prompt_has_the_same_bytes_whatever_is_asked_and_wherever",
            "the_files_are_joined_in_their_order_and_empty_ones_are_skipped",
            "skills_are_told_by_name_and_description_and_read_without_their_head",
            "tasks_are_told_shown_and_outlive_the_daemon",
            "parts_of_words_names_and_shouted_variables_have_no_tone",
            "sections_stand_with_their_tokens_and_what_is_skipped_is_named",
        ],
    ),
    (
        "window: analysis, strategies, calls of the turn stay, long outputs",
        &[
            "each_part_is_told_and_they_add_up",
            "whatever_is_left_out_the_rest_is_whole_in_order_fits_and_stays",
            "a_model_that_repeats_what_it_does_not_see_runs_each_command_once",
            "a_long_conversation_is_summed_up_on_its_way_and_what_happened_stays_on_record",
            "a_long_output_is_whole_in_a_file_that_the_model_may_read_and_goes_with_its_session",
        ],
    ),
    (
        "models: tiers, roles, temperature, fallback without repeated tools",
        &[
            "a_short_question_goes_to_the_low_tier_and_hard_work_to_the_main_model",
            "a_model_that_has_no_credit_gives_way_after_its_tools_have_run_once",
            "a_conversation_is_named_in_the_background_by_the_model_that_has_that_role",
            "a_temperature_is_sent_on_every_wire_and_dropped_where_it_is_refused",
            "one_that_gets_nowhere_gives_way_to_one_that_is_trusted_with_more",
        ],
    ),
    (
        "answers that are given again, and when not",
        &[
            "the_same_question_is_answered_again_without_the_model_until_something_changes",
            "only_the_same_question_about_the_same_things_hits_and_only_for_an_hour",
        ],
    ),
    (
        "self-correction",
        &[
            "a_model_that_repeats_itself_is_told_and_then_the_user_is_asked",
            "failures_of_the_turn_are_counted_and_told",
        ],
    ),
    (
        "reads at once, results in order",
        &[
            "reads_of_one_answer_run_at_once_and_answer_in_their_order",
            "three_slow_reads_take_as_long_as_one_and_answer_in_order",
            "nothing_runs_beside_a_call_that_may_change_something",
        ],
    ),
    (
        "budgets over all terminals",
        &[
            "the_budget_of_a_day_holds_over_all_terminals_and_says_what_to_do",
            "a_turn_is_cut_off_when_it_has_worked_long_enough",
        ],
    ),
    (
        "observability",
        &["counts_and_times_are_one_table_of_80_columns", "json_has_histograms_and_no_text_of_a_conversation"],
    ),
    (
        "a corrupt database",
        &[
            "a_broken_file_is_moved_aside_and_nothing_new_is_lost",
            "a_hole_that_only_reading_finds_costs_what_was_in_it",
        ],
    ),
    ("a truncated database", &["of_a_file_that_was_cut_off_what_is_left_is_taken_over"]),
    (
        "a database of another version or program",
        &["a_file_of_a_later_release_is_left_alone", "the_database_of_another_program_is_refused_and_left_alone"],
    ),
    ("a read-only database", &["a_file_that_must_not_be_written_says_what_helps"]),
    ("a full database", &["a_full_file_refuses_more_with_a_remedy_and_can_be_read"]),
    ("huge identity files", &["huge_files_are_bounded_together_and_named"]),
    (
        "binary identity files, links out and in circles",
        &["hostile_files_are_skipped_and_named_and_the_others_are_told"],
    ),
    (
        "skills that are none, lead out, are too many",
        &[
            "what_is_no_skill_is_skipped_and_named",
            "a_folder_of_skills_that_leads_out_of_the_project_is_not_looked_at",
            "too_many_skills_are_bounded_and_a_changed_one_is_read_anew",
        ],
    ),
    ("tasks that are too many or empty", &["too_many_and_empty_tasks_are_refused_and_change_nothing"]),
    (
        "what is skipped is named once to the user",
        &["the_users_words_are_rules_a_workspaces_are_data_and_what_is_skipped_is_named_once"],
    ),
    ("a model that never stops", &["an_endless_answer_ends", "each_way_not_to_end_has_its_outcome"]),
    ("a model that repeats itself", &["the_model_is_told_once_and_then_the_user_decides"]),
    ("a model that answers empty", &["each_way_not_to_end_has_its_outcome"]),
    (
        "a model that calls unknown tools",
        &["each_way_not_to_end_has_its_outcome", "a_model_that_makes_up_names_of_tools_takes_no_room"],
    ),
    (
        "a model that gives wrong types",
        &["each_way_not_to_end_has_its_outcome", "broken_arguments_are_known_again_by_their_text"],
    ),
    (
        "a command that was never started",
        &["what_an_ended_turn_of_here_never_began_is_known_and_of_another_turn_nothing_is"],
    ),
    ("a store that several open at once", &["a_new_file_that_several_open_at_once_is_everybodys"]),
];

/// Names of all functions in these folders.
fn functions(folder: &Path, names: &mut BTreeSet<String>) {
    for entry in fs::read_dir(folder).expect("a folder").flatten() {
        let path = entry.path();
        if path.is_dir() {
            functions(&path, names);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = fs::read_to_string(&path).expect("it can be read");
            let after = text.split("fn ").skip(1);
            names.extend(after.filter_map(|rest| rest.split_once('(')).map(|(name, _)| name.to_owned()));
        }
    }
}

#[test]
fn every_row_has_its_tests() {
    let root = binaries::workspace_root();
    let mut names = BTreeSet::new();
    for folder in ["client", "daemon", "protocol", "shell-relay", "tests"] {
        functions(&root.join(folder), &mut names);
    }
    let gone = |tests: &[&'static str]| tests.iter().copied().filter(|name| !names.contains(*name)).collect::<Vec<_>>();
    let gone: Vec<_> =
        ROWS.iter().map(|(row, tests)| (row, gone(tests))).filter(|(_, gone)| !gone.is_empty()).collect();
    assert!(gone.is_empty(), "{gone:#?}");
}
