use cohab_protocol::{ContextRoom, ContextSection};
use cohab_term::describe::plain as text_of;

use super::*;

/// All lines fit, at both widths and in both looks. What they look like is in `app/tests/screens/commands.rs`.
fn fits_everywhere(lines: impl Fn(usize, OutputStyle) -> Vec<Line<'static>>) {
    for (width, output_style) in
        [(79, OutputStyle::Rich), (39, OutputStyle::Rich), (79, OutputStyle::Accessible), (39, OutputStyle::Accessible)]
    {
        let lines = lines(width, output_style);
        assert!(lines.iter().all(|line| line.width() <= width), "{}", text_of(&lines));
    }
}

fn identity(model: &str, is_offline: bool) -> ModelIdentity {
    let provider = if is_offline { "offline" } else { "openai-chat" };
    ModelIdentity { provider: provider.into(), model: model.into(), origin: "OPENAI_API_KEY".into(), is_offline }
}

fn room(max: u64, total: u64) -> ContextRoom {
    let (available, percent) = (max.saturating_sub(total), total.saturating_mul(100) / max.max(1));
    let (system, messages) = (0, total);
    ContextRoom { max, system, messages, response_reserve: 0, total, available, percent, fits: total <= max }
}

fn report(window_tokens: Option<u64>) -> ContextReport {
    let sections = [("system prompt", 912), ("answers", 0), ("shell history", 67_600)];
    let section = |(name, tokens): (&str, u64)| ContextSection { name: name.into(), tokens };
    let room = window_tokens.map(|max| room(max, 68_512));
    ContextReport { sections: sections.into_iter().map(section).collect(), room }
}

#[test]
fn the_help_lists_all_commands_and_fits_a_small_screen() {
    fits_everywhere(|width, output_style| help("?", width, output_style));
    assert!(help("?", 79, OutputStyle::Rich).len() <= 23);
}

#[test]
fn the_context_is_a_table_with_bars() {
    fits_everywhere(|width, output_style| context(&report(Some(128_000)), width, output_style));
    let without = text_of(&context(&report(None), 79, OutputStyle::Rich));
    assert!(without.ends_with("about 68k tokens; there is no model to take them\n"), "{without}");
    let too_much = text_of(&context(&report(Some(8_192)), 200, OutputStyle::Rich));
    let told = "about 68k of 8.1k tokens (836 %)\nsystem 0, messages 68k, kept for the answer 0: that does not fit, the oldest is \
                left out. If the model takes more: `cohab config set model.context_window_tokens NUMBER`\n";
    assert!(too_much.ends_with(told), "{too_much}");
}

#[test]
fn extreme_reports_neither_break_nor_flood() {
    let sections = vec![ContextSection { name: "x\u{1b}[2J\n".repeat(100), tokens: u64::MAX }; 2];
    for (width, window_tokens) in [(1, Some(0)), (80, Some(1)), (500, None)] {
        let room = window_tokens.map(|max| room(max, u64::MAX));
        let lines = context(&ContextReport { sections: sections.clone(), room }, width, OutputStyle::Rich);
        let text = text_of(&lines);
        assert!(!text.contains('\u{1b}') && text.len() < 1_000, "{text:?}");
    }
}

#[test]
fn the_cost_is_told_as_far_as_it_is_known() {
    let usage = Usage {
        input_tokens: Some(1_200),
        output_tokens: Some(345),
        cache_read_tokens: Some(40_000),
        cost_microusd: Some(12_345),
        is_cost_partial: true,
        ..Usage::default()
    };
    let unpriced = Usage { cost_microusd: None, ..usage };
    fits_everywhere(|width, output_style| {
        [&usage, &unpriced, &Usage::default()].into_iter().flat_map(|usage| cost(usage, width, output_style)).collect()
    });
}

#[test]
fn who_answers_is_told_with_where_that_comes_from() {
    fits_everywhere(|width, _| {
        let named = ModelWish::Named("gpt-5".into());
        [
            model(&identity("gpt-5", false), "?", width),
            model(&identity("builtin", true), "?", width),
            model_changed(&identity("gpt-5", false), &named, width),
            model_changed(&identity("gpt-4", false), &named, width),
            model_changed(&identity("builtin", true), &named, width),
            model_changed(&identity("gpt-4", false), &ModelWish::Profile("work".into()), width),
            model_changed(&identity("builtin", true), &ModelWish::Initial, width),
        ]
        .concat()
    });
    let hostile = identity("\u{1b}]0;x\u{7}m\n", false);
    assert!(!text_of(&model(&hostile, "?", 79)).contains(['\u{1b}', '\u{7}']));
}

#[test]
fn modes_and_mistakes_are_told_in_a_sentence() {
    fits_everywhere(|width, output_style| {
        let [help, model] = [&COMMANDS[0], &COMMANDS[1]];
        let mut lines: Vec<Line<'static>> = [ApprovalMode::Ask, ApprovalMode::ReadOnly, ApprovalMode::All]
            .into_iter()
            .flat_map(|mode| [approval_modes(mode, width, output_style), approval(mode, width)].concat())
            .collect();
        for text in [
            unknown("?", "modle", &[model.name]),
            unknown("?", "frobnicate", &[]),
            misused("?", help),
            misused("?", model),
            compacted(60_000, 21_000),
            compacted(900, 900),
            compacted(0, 0),
            copied(1, 1, 1),
            copied(2, 3, 12),
        ] {
            lines.extend(plain(&text, width));
        }
        lines
    });
}

#[test]
fn the_modes_are_listed_with_a_mark_at_the_one_that_is_on() {
    let listed = |output_style| -> Vec<String> {
        approval_modes(ApprovalMode::Auto, 200, output_style).iter().map(ToString::to_string).collect()
    };
    let starts =
        |lines: &[String]| -> Vec<String> { lines.iter().map(|line| line.chars().take(16).collect()).collect() };
    assert_eq!(
        starts(&listed(OutputStyle::Rich)),
        ["  read-only  com", "  ask        com", "▸ auto       you", "  all        eve"]
    );
    assert_eq!(listed(OutputStyle::Accessible)[2].split(':').next(), Some("auto, now on"));
}
