//! A question at the prompt is sent, answered on the screen, and ended.

use std::time::Duration;

use cohab_e2e::{Answer, Home, ModelServer, Wire, deadline, home::API_KEY, keys, terminal::View};

/// From Ctrl-C to the closed connection.
const CANCEL_LIMIT: Duration = Duration::from_millis(200);

#[test]
fn a_question_is_answered_and_the_prompt_comes_back() {
    for wire in Wire::ALL {
        let server = ModelServer::start(wire, [Answer::text("Because it **holds** much.")]);
        let home = Home::with_model(&server);
        let shell = home.cohab();
        let raw = shell.ask("why is this folder so big", "Because it holds much.");
        assert!(!raw.contains("command not found") && !raw.contains("**"), "{raw}");
        let request = &server.wait_for_calls(1)[0];
        assert!(request.conversation().contains("why is this folder so big"));
        assert_eq!((request.model(), request.key()), (Some("scripted-model"), Some(API_KEY)));
        assert!(shell.run("echo after-$((1+1))").contains("after-2"));
    }
}

#[test]
fn a_two_line_prompt_comes_back_whole() {
    let server = ModelServer::start(Wire::OpenAiChat, [Answer::text("It is so.")]);
    let home = Home::with_model(&server).prompt("top \\W\\nlow> ", "low> ");
    let shell = home.cohab();
    shell.ask("is it so", "It is so.");
    let rows = shell.look(View::rows);
    let (row, _) = shell.look(View::cursor);
    assert!(rows[row - 1].starts_with("top "), "{}", shell.dump());
    assert_eq!(rows.iter().filter(|row| row.starts_with("top ")).count(), 2, "{}", shell.dump());
    assert!(shell.run("echo fine").contains("fine"));
}

#[test]
fn alt_enter_asks_a_line_without_a_question_mark() {
    let server = ModelServer::start(Wire::Anthropic, [Answer::text("By design.")]);
    let home = Home::with_model(&server);
    let shell = home.cohab();
    shell.type_line("echo is a verb here");
    let mark = shell.mark();
    shell.send(keys::ALT_ENTER);
    let raw = shell.wait_answer(mark, "By design.");
    assert!(server.wait_for_calls(1)[0].conversation().contains("echo is a verb here"));
    assert!(!raw.contains("\nis a verb here"), "bash ran it: {raw}");
}

#[test]
fn the_question_stays_on_the_screen_above_its_answer() {
    let server = ModelServer::start(Wire::OpenAiChat, [Answer::text("Below.")]);
    let home = Home::with_model(&server);
    let shell = home.cohab();
    shell.ask("where is the answer", "Below.");
    let (question, answer) = shell.look(|view| (view.row_of("where is the answer"), view.row_of("Below.")));
    assert!(question.is_some() && question < answer, "{}", shell.dump());
}

#[test]
fn markdown_is_rendered() {
    let markdown = "# Title here\n\nA **bold** word, `code` and a [link](https://example.org/page).\n\n- first item\n- \
                    second item\n\n> a quote\n\n| Name | Size |\n|---|---|\n| src | 12 |\n\n```rust\nfn main() {}\n```\n\nLast \
                    words.";
    let server = ModelServer::start(Wire::OpenAiChat, [Answer::text(markdown)]);
    let home = Home::with_model(&server);
    let shell = home.cohab();
    shell.ask("show all", "Last words.");
    let text = shell.look(View::history);
    for shown in
        ["Title here", "A bold word, code and a ", "first item", "second item", "a quote", "src", "fn main() {}"]
    {
        assert!(text.contains(shown), "`{shown}` is missing\n{}", shell.dump());
    }
    for source in ["**", "```", "|---|", "# Title", "](http"] {
        assert!(!text.contains(source), "`{source}` is shown as typed\n{}", shell.dump());
    }
    let is_bold = |view: &View| {
        let row = view.row_of("A bold word")?;
        let column = view.rows()[row].find("bold")?;
        let cell = view.screen().cell(u16::try_from(row).ok()?, u16::try_from(column).ok()?)?;
        Some(cell.bold())
    };
    assert_eq!(shell.look(is_bold), Some(true), "{}", shell.dump());
}

#[test]
fn code_is_highlighted() {
    let server =
        ModelServer::start(Wire::OpenAiChat, [Answer::text("```rust\nfn main() { let x = \"s\"; }\n```\n\nEnd.")]);
    let home = Home::with_model(&server);
    let shell = home.cohab();
    shell.ask("show code", "End.");
    let colours = shell.look(|view| {
        let row = u16::try_from(view.row_of("fn main()").expect("the code is shown")).expect("a row");
        let cells = (0..80).filter_map(|column| view.screen().cell(row, column));
        cells
            .filter(|cell| !cell.contents().trim().is_empty())
            .map(|cell| format!("{:?}", cell.fgcolor()))
            .collect::<std::collections::BTreeSet<_>>()
    });
    assert!(colours.len() > 1, "one colour only: {colours:?}\n{}", shell.dump());
}

#[test]
fn a_long_answer_scrolls_by_once_and_in_order() {
    let lines: Vec<String> = (1..=120).map(|number| format!("- item {number}.\n")).collect();
    let server = ModelServer::start(Wire::Anthropic, [Answer::pieces(lines)]);
    let home = Home::with_model(&server);
    let shell = home.cohab();
    shell.run("echo first-line");
    shell.ask("list them", "item 120.");
    let history = shell.look(View::history);
    let mut last = 0;
    for number in 1..=120 {
        let found: Vec<_> = history.match_indices(&format!("item {number}.")).collect();
        assert_eq!(found.len(), 1, "item {number}\n{}", shell.dump());
        assert!(found[0].0 > last, "item {number} is out of order");
        last = found[0].0;
    }
    assert!(history.contains("first-line"), "something before the answer was lost");
}

#[test]
fn text_is_shown_while_it_streams_and_ctrl_c_keeps_it() {
    for wire in Wire::ALL {
        let answers = [Answer::text("The first words. And more").stall_after(6), Answer::text("Fresh.")];
        let server = ModelServer::start(wire, answers);
        let home = Home::with_model(&server);
        let shell = home.cohab();
        let mark = shell.submit("? tell me slowly");
        shell.wait_text("The first");
        server.wait_until_streaming();
        shell.send(keys::CTRL_C);
        let closed_after = server.wait_until_quiet();
        shell.wait_next_prompt(mark);
        assert!(shell.look(|view| view.history().contains("The first")), "{}", shell.dump());
        assert!(closed_after <= deadline::limit(CANCEL_LIMIT), "closed after {closed_after:?}");
        assert!(shell.run("echo still-$((2+2))").contains("still-4"));
        shell.ask("and now", "Fresh.");
        assert_eq!(server.wait_for_calls(2).len(), 2);
    }
}

#[test]
fn ctrl_c_before_the_first_word_ends_the_request() {
    let server = ModelServer::start(Wire::OpenAiChat, [Answer::text("never").stall_after(0)]);
    let home = Home::with_model(&server);
    let shell = home.cohab();
    let mark = shell.submit("? think for ever");
    server.wait_until_streaming();
    shell.send(keys::CTRL_C);
    assert!(server.wait_until_quiet() <= deadline::limit(CANCEL_LIMIT));
    shell.wait_next_prompt(mark);
}

#[test]
fn nothing_is_sent_before_enter() {
    let server = ModelServer::start(Wire::OpenAiChat, [Answer::text("Yes.")]);
    let home = Home::with_model(&server);
    let shell = home.cohab();
    shell.run("echo private-output");
    shell.type_line("? a secret plan");
    shell.send(keys::CTRL_U);
    shell.wait_prompt();
    shell.run("true");
    assert!(server.requests().is_empty(), "{:?}", server.requests());
    assert_eq!(server.open_connections(), 0);
    shell.ask("is it", "Yes.");
    assert!(!server.wait_for_calls(1)[0].conversation().contains("a secret plan"));
}

#[test]
fn hostile_text_is_harmless_on_the_screen() {
    let hostile = [
        "start ",
        "\u{1b}]52;c;ZXZpbA==\u{7}",
        "\u{1b}]0;owned\u{7}",
        "\u{1b}[2J",
        "\u{1b}[H",
        "\u{9b}2J",
        "\u{9d}0;c1\u{9c}",
        "\u{1b}[6n",
        "\u{1b}[?1049h",
        "\u{1b}Pq#0\u{1b}\\",
        "\u{1b}[8mhidden\u{1b}[0m ",
        "a\u{202e}b\u{2066}c ",
        "z\u{200b}w\u{feff} ",
        "\u{8}\u{8}\r",
        "\u{1b}]133;D;0\u{7}",
        "\u{1b}]8;;file:///etc/passwd\u{7}link\u{1b}]8;;\u{7} ",
        "finish",
    ];
    let server = ModelServer::start(Wire::OpenAiChat, [Answer::pieces(hostile.map(str::to_owned).into())]);
    let home = Home::with_model(&server);
    let shell = home.cohab();
    shell.run("echo keep-this");
    let raw = shell.ask("be evil", "finish");
    for harm in [
        "]52;",
        "]0;owned",
        "0;c1",
        "\u{1b}[6n",
        "\u{1b}[?1049h",
        "\u{1b}Pq",
        "\u{1b}[2J",
        "\u{9b}",
        "\u{9d}",
        "\u{202e}",
        "\u{2066}",
        "\u{200b}",
        "\u{feff}",
        "]133;D",
        "file:///etc/passwd\u{7}",
        "\u{1b}[8m",
    ] {
        assert!(!raw.contains(harm), "{harm:?} reached the terminal: {raw:?}");
    }
    assert!(shell.look(|view| view.shows("keep-this") && view.shows("start")), "{}", shell.dump());
}

#[test]
fn the_last_commands_are_known_to_the_model() {
    let server = ModelServer::start(Wire::OpenAiChat, [Answer::text("Fixed."), Answer::text("Again.")]);
    let home = Home::with_model(&server);
    let shell = home.cohab();
    shell.run("mkdir -p project && cd project");
    shell.run("sh -c 'echo boom-in-the-output; exit 42'");
    shell.ask("fix it", "Fixed.");
    let conversation = server.wait_for_calls(1)[0].conversation();
    let cwd = home.path("project").display().to_string();
    for known in ["echo boom-in-the-output; exit 42", "boom-in-the-output", "42", cwd.as_str(), "fix it"] {
        assert!(conversation.contains(known), "`{known}` is missing in\n{conversation}");
    }
    shell.ask("and then", "Again.");
    let second = server.wait_for_calls(2)[1].conversation();
    assert!(second.contains("Fixed.") && second.contains("fix it"), "the conversation goes on:\n{second}");
}

#[test]
fn a_failing_model_is_one_line_and_the_prompt() {
    let server = ModelServer::start(Wire::OpenAiChat, [Answer::status(401, "bad key")]);
    let home = Home::with_model(&server);
    let shell = home.cohab();
    let mark = shell.submit("? anything");
    let raw = shell.wait_next_prompt(mark);
    assert!(raw.contains("COHAB_API_KEY") || raw.to_lowercase().contains("key"), "{raw}");
    assert!(!raw.contains(API_KEY), "the key is shown");
    assert!(shell.run("echo usable").contains("usable"));
}
