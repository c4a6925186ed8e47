use proptest::prelude::*;

use super::*;
use crate::{
    ansi::ColorSupport,
    describe::{plain as text_of, styled},
    theme,
};

mod bombs;
mod screen;

/// Every line in the end, with `text` cut at the given bytes.
fn stream(text: &str, width: u16, cuts: &[usize]) -> Vec<Line<'static>> {
    let mut stream = MarkdownStream::new(width, None);
    let mut lines = Vec::new();
    let mut from = 0;
    for &cut in cuts {
        let cut = crate::wrap::char_boundary(text, cut).max(from);
        stream.push(&text[from..cut]);
        lines.extend(stream.take_closed());
        assert!(stream.tail().len() <= MAX_TAIL_ROWS);
        from = cut;
    }
    stream.push(&text[from..]);
    lines.extend(stream.finish());
    lines
}

fn whole(text: &str, width: u16) -> Vec<Line<'static>> {
    stream(text, width, &[])
}

/// The same with one parse of the whole text.
fn at_once(text: &str, width: u16) -> Vec<Line<'static>> {
    let block = MarkdownBlock { text: text.to_owned(), ..MarkdownBlock::default() };
    let page = Page { width: usize::from(width), output_style: OutputStyle::Rich };
    plain_lines(render_block(&block, page, &References::default()), page.width)
}

fn snapshot(name: &str, text: &str) {
    let both = format!("{}\n======== 40 columns\n{}", styled(&whole(text, 80)), styled(&whole(text, 40)));
    insta::assert_snapshot!(name, both);
}

const PARAGRAPHS: &str = "# Disk usage\n\nThe folder is big because of **build output** and *old* logs; see `du -sh *` \
for ~~all~~ the rest of it.  \nA hard break.\n\nSecond title\n---\n\n### Deeper\nText right below it with 日本語のテキスト and é and 👍.\n\n***\nEnd\n";
const LISTS: &str = "Steps:\n\n- one\n- two is a longer item that has to wrap at forty columns at the latest, hanging\n  - nested *item*\n    - third level\n- three\n\n1. first\n2. second\n\n   with a second paragraph\n3. third\n   ```sh\n   cargo test\n   ```\n\n- [x] done\n- [ ] not yet\n";
const QUOTES: &str = "> A quote that goes on and on until it has to wrap around somewhere near here.\n> > nested\n>\n> - list in it\n\nAfter.\n";
const LINKS: &str = "See [the docs](https://docs.rs) or <https://docs.rs>, [https://a.b](https://a.b), \
![a plot](plot.png), [ref][r], <me@x.org>.\n\n[r]: https://example.com/ref\n\nAgain [ref][r] and [missing][m].\n";
const TABLE: &str = "| Name | Size | What it is |\n|:-----|-----:|:----------:|\n| `target` | 4.2 GB | build output of the project, safe to delete |\n| src | 1 MB | **code** |\n| empty | | |\n";
const WIDE_TABLE: &str = "| a | b | c | d | e | f | g |\n|--|--|--|--|--|--|--|\n| alpha beta | gamma delta | epsilon | zeta eta | theta | iota kappa | lambda |\n| 1 | 2 | 3 | 4 | 5 | 6 | 7 |\n";
const CODE: &str = "Run:\n\n```rust\nfn main() {\n\tprintln!(\"a line that is certainly longer than forty columns\");\n\n}\n```\n\nor\n\n    indented code\n\n    more\n\nend\n";
const TITLES: &str = "In the fence:\n\n```rust src/main.rs\nfn main() {}\n```\n\n**config/app.toml**\n\n```toml\na = 1\n```\n\nChange `client/src/app/state/very/deep/folder/of/modules/and/then/some/more/agent_command.rs`:\n```rust\nlet a;\n```\n\n1. Then `web/app.js`:\n   ```js\n   a();\n   ```\n2. Create `run.py` and start it:\n   ```sh\n   python3 run.py\n   ```\n\n> `notes.md`:\n> ```md\n> # Notes\n> ```\n\nWithout a name:\n\n```\nplain\n```\n";
const HTML: &str = "<details>\n<summary>More</summary>\n\nText with <b>tags</b><br>and a break.\n\n</details>\n\nEntities: &lt;tag&gt; &amp; &#27;[2J\n\nA footnote[^1].\n\n[^1]: The note.\n";

#[test]
fn paragraphs_and_headings() {
    snapshot("paragraphs", PARAGRAPHS);
}

#[test]
fn lists() {
    snapshot("lists", LISTS);
}

#[test]
fn quotes() {
    snapshot("quotes", QUOTES);
}

#[test]
fn links_and_images() {
    snapshot("links", LINKS);
}

#[test]
fn tables() {
    snapshot("tables", &format!("{TABLE}\n{WIDE_TABLE}"));
}

#[test]
fn code() {
    snapshot("code", CODE);
}

#[test]
fn titles_of_code_name_the_language_and_the_file() {
    let seen = [100, 80, 60].map(|width| {
        let mut accessible = MarkdownStream::new(width, None).with_output_style(OutputStyle::Accessible);
        accessible.push(TITLES);
        let accessible = styled(&accessible.finish());
        format!("======== {width} columns\n{}\n==== in sentences\n{accessible}", styled(&whole(TITLES, width)))
    });
    insta::assert_snapshot!("titles", seen.join("\n"));
}

#[test]
fn a_title_looks_like_no_head_of_a_table() {
    let lines = whole(&format!("# Size\n\n{TABLE}\n{WIDE_TABLE}"), 60);
    let style = |word: &str| {
        let spans = lines.iter().flat_map(|line| &line.spans);
        spans.filter(|span| span.content.contains(word)).map(|span| span.style).collect::<Vec<_>>()
    };
    assert_eq!(style("Size"), [theme::TITLE, theme::STRONG]);
    for colors in [ColorSupport::Ansi16, ColorSupport::OnLight, ColorSupport::Monochrome] {
        assert_ne!(colors.shown(theme::TITLE), colors.shown(theme::STRONG), "{colors:?}");
    }
}

#[test]
fn html_entities_and_footnotes() {
    snapshot("html", HTML);
}

#[test]
fn joiners_of_words_and_emoji_stay_and_hidden_ones_go() {
    let text = "می\u{200c}خواهم 👩\u{200d}👧 ⚠\u{fe0f} r\u{200d}m";
    assert_eq!(text_of(&stream(text, 80, &[4, 7])), "می\u{200c}خواهم 👩\u{200d}👧 ⚠\u{fe0f} rm\n");
}

#[test]
fn the_stream_gives_what_one_parse_of_everything_gives() {
    // Whether a list stands loose is decided item by item in the stream, so a list here is all tight or all loose.
    let tight = LISTS.replace("\n\n   with a second paragraph", "");
    let loose = "1. a\n\n2. b\n\n   more of b\n\n3. c\n";
    for text in [PARAGRAPHS, &tight, loose, QUOTES, TABLE, WIDE_TABLE, CODE] {
        for width in [80, 40, 17] {
            assert_eq!(text_of(&whole(text, width)), text_of(&at_once(text, width)), "{text}");
        }
    }
}

#[test]
fn every_cut_of_every_sample_gives_the_same_lines() {
    for text in [PARAGRAPHS, LISTS, QUOTES, LINKS, TABLE, CODE, TITLES, HTML] {
        let expected = whole(text, 40);
        for cut in 0..text.len() {
            assert_eq!(stream(text, 40, &[cut]), expected, "cut at {cut} in {text}");
        }
        let every_byte: Vec<usize> = (0..text.len()).collect();
        assert_eq!(stream(text, 40, &every_byte), expected);
    }
}

#[test]
fn a_closed_block_leaves_at_once_and_the_rest_is_tail() {
    let mut stream = MarkdownStream::new(40, None);
    stream.push("one\n\ntw");
    assert_eq!(text_of(&stream.take_closed()), "one\n");
    assert_eq!(text_of(stream.tail()), "\ntw\n");
    assert!(stream.take_closed().is_empty());
    stream.push("o\n");
    assert!(stream.take_closed().is_empty());
    assert_eq!(text_of(&stream.finish()), "\ntwo\n");
}

#[test]
fn code_lines_are_final_as_soon_as_they_are_complete() {
    let mut stream = MarkdownStream::new(40, None);
    stream.push("```sh\n");
    assert_eq!(text_of(&stream.take_closed()), "  sh\n");
    for line in 0..10_000 {
        stream.push(&format!("echo {line}\nech"));
        assert_eq!(
            text_of(&stream.take_closed()).lines().next(),
            Some(format!("  {}echo {line}", if line == 0 { "" } else { "ech" }).as_str())
        );
        assert_eq!(text_of(stream.tail()), "  ech\n");
    }
}

#[test]
fn a_new_width_counts_for_what_is_open() {
    let mut stream = MarkdownStream::new(40, None);
    stream.push("one two three");
    stream.set_width(8);
    assert_eq!(text_of(stream.tail()), "one two\nthree\n");
}

#[test]
fn numbers_go_on_and_a_definition_from_above_resolves() {
    assert_eq!(text_of(&whole("1. a\n1. b\n", 40)), "1. a\n2. b\n");
    let lines = text_of(&whole("[r]: https://x.y\n\nsee [r]\n", 40));
    assert_eq!(lines, "[r]: https://x.y\n\nsee r (https://x.y)\n");
}

#[tokio::test]
async fn colours_come_from_the_other_thread_and_never_block() {
    let highlighter = Highlighter::new();
    let mut stream = MarkdownStream::new(40, Some(highlighter.clone()));
    stream.push("```rust\nlet a = 1;\n```\n\nafter\n\n");
    let mut lines = stream.take_closed();
    while !stream.is_settled() {
        highlighter.changed().await;
        lines.extend(stream.take_closed());
    }
    lines.extend(stream.finish());
    assert_eq!(text_of(&lines), "  rust\n  let a = 1;\n\nafter\n");
    assert!(styled(&lines).contains("‹magenta›let‹›"), "{}", styled(&lines));
}

#[tokio::test]
async fn code_inside_a_list_item_gets_colours_too() {
    let highlighter = Highlighter::new();
    let mut stream = MarkdownStream::new(40, Some(highlighter.clone()));
    stream.push("1. See\n   ```rust\n   let a = 1;\n   ```\n\nafter\n\n");
    let mut lines = stream.take_closed();
    while !stream.is_settled() {
        highlighter.changed().await;
        lines.extend(stream.take_closed());
    }
    assert_eq!(text_of(&lines), "1. See\n     rust\n     let a = 1;\n\nafter\n");
    assert!(styled(&lines).contains("‹magenta›let‹›"), "{}", styled(&lines));
}

#[test]
fn without_time_for_colours_the_code_is_plain_but_whole() {
    let mut stream = MarkdownStream::new(40, Some(Highlighter::new()));
    let code: String = (0..5_000).map(|line| format!("let a{line} = 1;\n")).collect();
    stream.push(&format!("```rust\n{code}```\nend"));
    let text = text_of(&stream.finish());
    assert_eq!(text.lines().filter(|line| line.starts_with("  let a")).count(), 5_000);
    assert!(text.ends_with("\nend\n"));
}

fn markdown() -> impl Strategy<Value = String> {
    const PARTS: &[&str] = &[
        " ",
        "\n",
        "\n\n",
        "# ",
        "- ",
        "  - ",
        "1. ",
        "> ",
        "```",
        "```sh\n",
        "    ",
        "---\n",
        "===\n",
        "| a | b |\n|---|---|\n",
        "|",
        "**",
        "*",
        "`",
        "[x](y)",
        "[r]",
        "[r]: z\n",
        "<b>",
        "&amp;",
        "&#27;",
        "\t",
        "日本",
        "~~~\n",
        "***\n",
        "~~",
        "$$",
        "$$\n",
        "\\[\n",
        "\\]",
        "\\(x_1\\)",
        "$a_1$",
        "<https://a.b/c>",
        "- [x] ",
        "`a/b.rs`:\n",
        "```rust c.rs\n",
        "👍🏽",
        "e\u{301}",
    ];
    let part = prop_oneof![1 => "[a-z]{1,6}", 2 => prop::sample::select(PARTS).prop_map(str::to_owned)];
    prop::collection::vec(part, 0..60).prop_map(|parts| parts.concat())
}

fn document() -> impl Strategy<Value = String> {
    const BLOCKS: &[&str] = &[
        "plain *words* and `code`\nover two lines",
        "# Heading",
        "Title\n===",
        "- a\n- b\n  - c\n\nafter the list",
        "1. a\n2. b\n   c\n\nafter the numbers",
        "* a\n\n* b\n\n  c\n\nafter the loose list",
        "- [x] a\n- b\n  ```sh\n  - not an item\n\n  x\n  ```\n\nafter the code",
        "> a\n> - b\n> ```\n> # c\n> ```",
        "```sh\n# a\n\n\n- b\n```",
        "~~~\n```\n~~~",
        "See `a/b.rs`:\n```rust\nx\n```",
        "**c.toml**\n\n```toml title=d.toml\nx\n```",
        "    indented\n\n      code\n\nnot code",
        "| a | b |\n|--:|---|\n| 1 | `2` |",
        "***",
        "<div>\ntext\n</div>",
        "line\n# interrupted\nby a heading\n> and a quote",
    ];
    prop::collection::vec(prop::sample::select(BLOCKS), 0..8).prop_map(|blocks| blocks.join("\n\n"))
}

proptest! {
    #[test]
    fn a_stream_of_any_document_gives_what_one_parse_gives(text in document(), width in 10u16..80) {
        prop_assert_eq!(text_of(&whole(&text, width)), text_of(&at_once(&text, width)), "{}", text);
    }

    #[test]
    fn any_split_gives_the_lines_of_the_whole(text in markdown(), cuts in prop::collection::vec(0usize..300, 0..8), width in 2u16..60) {
        let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(text.len())).collect();
        cuts.sort_unstable();
        prop_assert_eq!(stream(&text, width, &cuts), whole(&text, width));
    }

    #[test]
    fn no_line_is_too_wide_and_none_holds_a_control(text in markdown(), width in 2u16..60) {
        for line in whole(&text, width) {
            prop_assert!(line.width() <= usize::from(width), "{:?}", line);
            let has_control = line.to_string().chars().any(char::is_control);
            prop_assert!(!has_control, "{:?}", line);
        }
    }
}
