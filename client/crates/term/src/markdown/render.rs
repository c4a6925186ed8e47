//! Renders one block of markdown as lines. Built on a flat walk over the parser's events: nesting costs no stack.

use std::borrow::Cow;

use cohab_text::sanitize::sanitize;
use pulldown_cmark::{CodeBlockKind, CowStr, Event, HeadingLevel, Parser, Tag, TagEnd};
use ratatui::{
    style::{Modifier, Style},
    text::{Line, Span},
};

use super::{
    blocks::MarkdownBlock,
    code::{CodeLine, Page, Rendered, code_label, code_rows},
    copy::CodeBlock,
    dialect::options,
    math,
    references::References,
    table::Table,
    title::{CodeTitle, last_line},
};
use crate::wrap::{StyledRow, columns, push_text, row_width, wrap_words};
use crate::{link, output_style::OutputStyle, theme};

/// Lists and quotes deeper than this are not indented further.
const MAX_SHOWN_DEPTH: usize = 10;
/// A rule parts; it need not reach from edge to edge.
const MAX_RULE_COLUMNS: usize = 24;
const QUOTE_BAR: &str = "│ ";
const QUOTE_SIGN: &str = "> ";
const BULLETS: [&str; 3] = ["• ", "◦ ", "▪ "];
const DASH: &str = "- ";

/// The block's lines, none wider than `width` columns where `width` is 2 or more.
pub(super) fn render_block(block: &MarkdownBlock, page: Page, references: &References) -> Vec<Rendered> {
    let mut renderer = Renderer::new(block, page);
    let text = math::protect(&block.text);
    let mut resolve = |link: pulldown_cmark::BrokenLink<'_>| {
        let target = references.target(&link.reference)?;
        Some((CowStr::from(target.to_owned()), CowStr::from("")))
    };
    let parser = Parser::new_with_broken_link_callback(&text, options(), Some(&mut resolve));
    let mut definitions: Vec<_> = parser
        .reference_definitions()
        .iter()
        .map(|(label, definition)| {
            (definition.span.start, format!("[{label}]: "), definition.dest.clone().into_string())
        })
        .collect();
    definitions.sort_unstable();
    for (event, place) in parser.into_offset_iter() {
        if let Event::Start(Tag::CodeBlock(_)) = &event {
            last_line(&text[..place.start]).clone_into(&mut renderer.line_before);
        }
        renderer.event(event);
    }
    renderer.flush();
    for (_, label, target) in definitions {
        renderer.text(&harmless(&CowStr::from(label)), theme::DIM);
        renderer.target(&harmless(&CowStr::from(target)), theme::DIM);
        renderer.flush();
        renderer.needs_gap = true;
    }
    renderer.lines
}

/// Text without anything that a terminal obeys: an entity such as `&#27;` becomes a control only in the parser.
fn harmless<'a>(text: &'a CowStr<'a>) -> Cow<'a, str> {
    match text {
        CowStr::Borrowed(text) => Cow::Borrowed(text),
        decoded => Cow::Owned(sanitize(decoded).replace(|c: char| c.is_control() && c != '\n' && c != '\t', "")),
    }
}

enum Container {
    Quote,
    Item { marker: String, indent: usize, is_marker_shown: bool },
}

struct OpenLink {
    first_span: usize,
    target: String,
    is_image: bool,
}

struct Renderer {
    width: usize,
    output_style: OutputStyle,
    lines: Vec<Rendered>,
    containers: Vec<Container>,
    lists: Vec<Option<u64>>,
    inline: StyledRow,
    styles: Vec<Style>,
    links: Vec<OpenLink>,
    table: Option<Table>,
    code: Option<(CodeTitle, String)>,
    /// The line of the source before the code that begins.
    line_before: String,
    needs_gap: bool,
    is_resumed: bool,
    number: Option<u64>,
}

impl Renderer {
    fn new(block: &MarkdownBlock, page: Page) -> Self {
        Self {
            width: page.width.max(1),
            output_style: page.output_style,
            lines: Vec::new(),
            containers: Vec::new(),
            lists: Vec::new(),
            inline: StyledRow::new(),
            styles: Vec::new(),
            links: Vec::new(),
            table: None,
            code: None,
            line_before: String::new(),
            needs_gap: false,
            is_resumed: block.is_resumed,
            number: block.number,
        }
    }

    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text) => match &mut self.code {
                Some((_, code)) => code.push_str(&harmless(&text)),
                None => self.text(&harmless(&text), self.style()),
            },
            Event::Code(text) => {
                let style = self.style().patch(theme::INLINE_CODE);
                self.mark("`");
                self.text(&harmless(&text), style);
                self.mark("`");
            }
            Event::InlineHtml(tag) if is_line_break(&tag) => self.line_break(),
            Event::Html(text)
            | Event::InlineHtml(text)
            | Event::InlineMath(text)
            | Event::DisplayMath(text)
            | Event::FootnoteReference(text) => self.text(&harmless(&text), self.style()),
            Event::SoftBreak => self.text(" ", self.style()),
            Event::HardBreak => self.line_break(),
            Event::Rule => {
                self.flush();
                let columns = self.width - self.prefix(false).1;
                let rule =
                    self.output_style.choose("─".repeat(columns.min(MAX_RULE_COLUMNS)), "-".repeat(columns.min(3)));
                self.block(&[Span::styled(rule, theme::DIM)]);
            }
            Event::TaskListMarker(is_done) => self.task(is_done),
        }
    }

    fn start(&mut self, tag: Tag<'_>) {
        match tag {
            Tag::Heading { level, .. } => {
                self.styles.push(heading_style(level));
                self.mark(&("#".repeat(level as usize) + " "));
            }
            Tag::BlockQuote(_) => {
                self.flush();
                self.take_gap();
                self.containers.push(Container::Quote);
            }
            Tag::CodeBlock(kind) => {
                self.flush();
                let title = match &kind {
                    CodeBlockKind::Fenced(info) => CodeTitle::of_fence(&harmless(info)).below(&self.line_before),
                    CodeBlockKind::Indented => CodeTitle::default(),
                };
                self.code = Some((title, String::new()));
            }
            Tag::List(first) => {
                self.flush();
                let first = if self.lists.is_empty() { first.and(self.number).or(first) } else { first };
                self.lists.push(first);
            }
            Tag::Item => {
                self.flush();
                self.start_item();
            }
            Tag::Table(alignments) => self.table = Some(Table::new(alignments)),
            Tag::TableHead | Tag::TableRow => {
                if let Some(table) = &mut self.table {
                    table.begin_row();
                }
            }
            Tag::Emphasis => self.push_modifier(Modifier::ITALIC),
            Tag::Strong => self.push_modifier(Modifier::BOLD),
            Tag::Strikethrough => {
                self.push_modifier(Modifier::CROSSED_OUT);
                self.mark("~~");
            }
            Tag::Link { dest_url, .. } => self.start_link(&dest_url, false),
            Tag::Image { dest_url, .. } => self.start_link(&dest_url, true),
            _ => self.flush(),
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Heading(_) => {
                self.styles.pop();
                self.end_paragraph();
            }
            TagEnd::Paragraph | TagEnd::HtmlBlock => self.end_paragraph(),
            TagEnd::BlockQuote(_) => {
                self.flush();
                self.containers.pop();
            }
            TagEnd::CodeBlock => self.end_code(),
            TagEnd::List(_) => {
                self.flush();
                self.lists.pop();
                self.needs_gap |= self.lists.is_empty();
            }
            TagEnd::Item => self.end_item(),
            TagEnd::Table => self.end_table(),
            TagEnd::TableCell => {
                let cell = std::mem::take(&mut self.inline);
                if let Some(table) = &mut self.table {
                    table.push_cell(cell);
                }
            }
            TagEnd::Emphasis | TagEnd::Strong => {
                self.styles.pop();
            }
            TagEnd::Strikethrough => {
                self.mark("~~");
                self.styles.pop();
            }
            TagEnd::Link | TagEnd::Image => self.end_link(),
            _ => {}
        }
    }

    fn start_item(&mut self) {
        let depth = self.lists.len().saturating_sub(1);
        let marker = match self.lists.last_mut() {
            Some(Some(number)) => {
                let marker = format!("{number}. ");
                *number = number.saturating_add(1);
                marker
            }
            _ => self.output_style.choose(BULLETS[depth % BULLETS.len()], DASH).to_owned(),
        };
        let is_marker_shown = std::mem::take(&mut self.is_resumed);
        let indent = columns(&marker);
        self.containers.push(Container::Item { marker, indent, is_marker_shown });
    }

    /// A box in place of the bullet; behind a number, and in words, it stands before the text.
    fn task(&mut self, is_done: bool) {
        let (mark, word, style) =
            if is_done { ("✓ ", "done: ", theme::GOOD) } else { ("☐ ", "to do: ", theme::PLAIN) };
        let is_bulleted = self.output_style == OutputStyle::Rich && matches!(self.lists.last(), Some(None));
        match self.containers.last_mut() {
            Some(Container::Item { marker, is_marker_shown: false, .. }) if is_bulleted => mark.clone_into(marker),
            _ => self.text(self.output_style.choose(mark, word), style),
        }
    }

    /// A sign that stands for a style where styles are not to be relied on.
    fn mark(&mut self, sign: &str) {
        if self.output_style == OutputStyle::Accessible {
            self.text(sign, self.style());
        }
    }

    fn end_item(&mut self) {
        self.flush();
        if matches!(self.containers.last(), Some(Container::Item { is_marker_shown: false, .. })) {
            self.block(&[]);
            self.needs_gap = false;
        }
        self.containers.pop();
    }

    fn end_paragraph(&mut self) {
        self.flush();
        self.needs_gap = true;
    }

    fn end_code(&mut self) {
        let Some((title, code)) = self.code.take() else { return };
        let columns = self.width - self.prefix(false).1;
        let is_label_shown = !std::mem::take(&mut self.is_resumed);
        let label =
            code_label(&title, Page { width: columns, output_style: self.output_style }).filter(|_| is_label_shown);
        let language = title.language;
        self.lines.push(Rendered::Source(CodeBlock { language: language.clone(), text: code.clone() }));
        if language.is_empty() {
            self.rows(
                label.into_iter().chain(code.lines().flat_map(|line| code_rows(&[Span::raw(line)], columns))).collect(),
            );
        } else {
            self.rows(label.into_iter().collect());
            self.lines.push(Rendered::CodeStart { language });
            for line in code.lines() {
                let (prefix, _) = self.prefix(false);
                self.lines.push(Rendered::Code(CodeLine { prefix, text: line.to_owned() }));
            }
            self.lines.push(Rendered::CodeEnd);
        }
        self.needs_gap = true;
    }

    fn end_table(&mut self) {
        let Some(table) = self.table.take() else { return };
        let columns = self.width - self.prefix(false).1;
        self.rows(table.layout(columns, self.output_style));
        self.needs_gap = true;
    }

    fn start_link(&mut self, target: &CowStr<'_>, is_image: bool) {
        if is_image {
            self.text("[image: ", theme::DIM);
        }
        let target = harmless(target).replace(['\n', '\t'], " ");
        self.links.push(OpenLink { first_span: self.inline.len(), target, is_image });
        self.push_modifier(Modifier::UNDERLINED);
        // A span of its own, so that the link's text is distinct from what stands before it.
        self.inline.push(Span::styled("", self.style()));
    }

    fn end_link(&mut self) {
        self.styles.pop();
        let Some(link) = self.links.pop() else { return };
        let text: String = self.inline.iter().skip(link.first_span).map(|span| span.content.as_ref()).collect();
        self.text(if link.is_image { "]" } else { "" }, theme::DIM);
        if link.target.is_empty() || link.target.strip_prefix("mailto:") == Some(&text) {
            return;
        }
        if text == link.target && !link.is_image {
            self.inline.truncate(link.first_span);
            return self.target(&link.target, self.style().add_modifier(Modifier::UNDERLINED));
        }
        self.text(" (", theme::DIM);
        self.target(&link.target, theme::DIM);
        self.text(")", theme::DIM);
    }

    /// The target of a link in full, for the terminal to open if it may.
    fn target(&mut self, target: &str, style: Style) {
        // In a cell the parts of one target do not follow each other.
        if self.table.is_some() {
            return self.text(target, style);
        }
        let first = target.chars().next().map_or(0, char::len_utf8);
        self.text(&target[..first], style.add_modifier(link::FIRST));
        self.text(&target[first..], style.add_modifier(link::REST));
    }

    fn style(&self) -> Style {
        self.styles.last().copied().unwrap_or(theme::PLAIN)
    }

    fn push_modifier(&mut self, modifier: Modifier) {
        self.styles.push(self.style().add_modifier(modifier));
    }

    fn text(&mut self, text: &str, style: Style) {
        push_text(&mut self.inline, text, style);
    }

    fn line_break(&mut self) {
        let text = if self.table.is_some() { " " } else { "\n" };
        self.text(text, self.style());
    }

    /// Ends the text of a paragraph, or of an item without paragraphs.
    fn flush(&mut self) {
        if self.inline.is_empty() {
            return;
        }
        let mut spans = std::mem::take(&mut self.inline);
        if let Some(last) = spans.last_mut() {
            last.content = last.content.trim_end_matches('\n').to_owned().into();
        }
        self.block(&spans);
        self.needs_gap = false;
    }

    /// Wrapped text as a block of its own.
    fn block(&mut self, spans: &[Span<'_>]) {
        let columns = self.width - self.prefix(false).1;
        self.rows(wrap_words(spans, columns));
        self.needs_gap = true;
    }

    /// Ready rows as a block of its own.
    fn rows(&mut self, rows: Vec<StyledRow>) {
        self.take_gap();
        for row in rows {
            let (mut line, _) = self.prefix(true);
            line.extend(row.into_iter().filter(|span| !span.content.is_empty()));
            self.lines.push(Rendered::Line(Line::from(line)));
        }
        // A marker beyond the shown depth is not owed any more either.
        for container in &mut self.containers {
            if let Container::Item { is_marker_shown, .. } = container {
                *is_marker_shown = true;
            }
        }
    }

    /// The blank line between two blocks, once.
    fn take_gap(&mut self) {
        if !std::mem::take(&mut self.needs_gap) {
            return;
        }
        let (mut prefix, _) = self.prefix(false);
        while let Some(last) = prefix.last_mut() {
            last.content = last.content.trim_end().to_owned().into();
            if !last.content.is_empty() {
                break;
            }
            prefix.pop();
        }
        self.lines.push(Rendered::Line(Line::from(prefix)));
    }

    /// What stands left of the text, and its width, at most half of all columns. With `is_first_row` the markers that were not
    /// yet shown are shown now.
    fn prefix(&mut self, is_first_row: bool) -> (StyledRow, usize) {
        let (mut row, mut width) = (StyledRow::new(), 0);
        let bar = self.output_style.choose(QUOTE_BAR, QUOTE_SIGN);
        for container in self.containers.iter_mut().take(MAX_SHOWN_DEPTH) {
            let (text, style) = match container {
                Container::Quote => (Cow::Borrowed(bar), theme::DIM),
                Container::Item { marker, is_marker_shown, .. } if is_first_row && !*is_marker_shown => {
                    *is_marker_shown = true;
                    (Cow::Owned(marker.clone()), theme::ACCENT)
                }
                Container::Item { indent, .. } => (Cow::Owned(" ".repeat(*indent)), theme::PLAIN),
            };
            let text_columns = columns(&text);
            if width + text_columns > self.width / 2 {
                break;
            }
            width += text_columns;
            push_text(&mut row, &text, style);
        }
        debug_assert_eq!(width, row_width(&row));
        (row, width)
    }
}

fn heading_style(level: HeadingLevel) -> Style {
    match level {
        HeadingLevel::H1 => theme::TITLE,
        HeadingLevel::H2 => theme::HEADING,
        _ => theme::SUBHEADING,
    }
}

fn is_line_break(tag: &str) -> bool {
    matches!(tag, "<br>" | "<br/>" | "<br />")
}
