//! A row on the screen, and the bytes that turn it into another one.

use std::rc::Rc;

use ratatui::{style::Style, text::Line};

use crate::{
    ansi::{ColorSupport, harmless, write_style_change},
    link,
    wrap::{columns, letters},
};

/// A row of the screen: text in runs that differ in style or target from their neighbours.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct DrawnRow {
    runs: Vec<Run>,
    pub(super) columns: usize,
    pub(super) is_ascii: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Run {
    text: String,
    style: Style,
    target: Option<Rc<str>>,
}

/// The start that two rows share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SharedStart {
    run: usize,
    byte: usize,
    pub(super) columns: usize,
    /// Then it takes as many columns on every terminal.
    pub(super) is_ascii: bool,
}

impl SharedStart {
    pub(super) const NOTHING: Self = Self { run: 0, byte: 0, columns: 0, is_ascii: true };
}

/// The lines as rows of at most `limit` columns; what is too much is left out on the right.
pub(super) fn rows(lines: &[Line<'_>], limit: usize, has_links: bool) -> Vec<DrawnRow> {
    let mut targets = if has_links { link::targets(lines) } else { Vec::new() }.into_iter();
    let row = |line| DrawnRow::new(line, &targets.next().unwrap_or_default(), limit);
    lines.iter().map(row).collect()
}

impl DrawnRow {
    fn new(line: &Line<'_>, targets: &[Option<Rc<str>>], limit: usize) -> Self {
        let mut row = Self { is_ascii: true, ..Self::default() };
        for (index, span) in line.spans.iter().enumerate() {
            let mut style = line.style.patch(span.style);
            style.add_modifier.remove(link::FIRST.union(link::REST));
            let text = harmless(&span.content);
            let width = columns(&text);
            let target = targets.get(index).cloned().flatten();
            if row.columns + width <= limit {
                row.push(&text, width, style, target);
                continue;
            }
            for letter in letters(&text) {
                let width = columns(letter);
                if row.columns + width > limit {
                    return row;
                }
                row.push(letter, width, style, target.clone());
            }
        }
        row
    }

    fn push(&mut self, text: &str, width: usize, style: Style, target: Option<Rc<str>>) {
        if text.is_empty() {
            return;
        }
        self.columns += width;
        self.is_ascii &= text.is_ascii();
        match self.runs.last_mut() {
            Some(last) if last.style == style && last.target == target => last.text.push_str(text),
            _ => self.runs.push(Run { text: text.to_owned(), style, target }),
        }
    }

    /// How much of `self` can stay when it becomes `new`: whole letters.
    pub(super) fn shared_with(&self, new: &Self) -> SharedStart {
        let mut shared = SharedStart::NOTHING;
        for (index, (old, new)) in self.runs.iter().zip(&new.runs).enumerate() {
            if old.style != new.style || old.target != new.target {
                return self.unless_it_goes_on(shared, new.text.chars().next());
            }
            let bytes = shared_bytes(&old.text, &new.text);
            let text = &new.text[..bytes];
            shared.columns += columns(text);
            shared.is_ascii &= text.is_ascii();
            if bytes < old.text.len() || bytes < new.text.len() {
                (shared.run, shared.byte) = (index, bytes);
                let next = [&old.text, &new.text].into_iter().filter_map(|text| text[bytes..].chars().next());
                return next.fold(shared, |shared, next| self.unless_it_goes_on(shared, Some(next)));
            }
            (shared.run, shared.byte) = (index + 1, 0);
        }
        let next = self.runs.get(shared.run).or(new.runs.get(shared.run)).and_then(|run| run.text.chars().next());
        self.unless_it_goes_on(shared, next)
    }

    /// A mark without a width of its own belongs to the letter before: then all is written again.
    fn unless_it_goes_on(&self, shared: SharedStart, next: Option<char>) -> SharedStart {
        let goes_on = next.is_some_and(|next| columns(next.encode_utf8(&mut [0; 4])) == 0);
        if goes_on { SharedStart::NOTHING } else { shared }
    }

    /// Writes what stands behind `from`. Styles are off again afterwards.
    pub(super) fn write_from(&self, from: SharedStart, colors: ColorSupport, out: &mut Vec<u8>) {
        let (mut style, mut target) = (Style::new(), None);
        for (index, run) in self.runs.iter().enumerate().skip(from.run) {
            let text = if index == from.run { &run.text[from.byte..] } else { &run.text };
            if text.is_empty() {
                continue;
            }
            if target != run.target.as_ref() {
                write_target(run.target.as_deref(), out);
                target = run.target.as_ref();
            }
            let shown = colors.shown(run.style);
            write_style_change(style, shown, out);
            style = shown;
            out.extend_from_slice(text.as_bytes());
        }
        if target.is_some() {
            write_target(None, out);
        }
        write_style_change(style, Style::new(), out);
    }
}

/// From here on text leads to `target`, or nowhere. The terminal knows the parts of one link by its name.
fn write_target(target: Option<&str>, out: &mut Vec<u8>) {
    out.extend_from_slice(b"\x1b]8;");
    if let Some(target) = target {
        out.extend_from_slice(format!("id={:x};{target}", name(target)).as_bytes());
    } else {
        out.push(b';');
    }
    out.extend_from_slice(b"\x1b\\");
}

/// FNV-1a of the target, folded.
fn name(target: &str) -> u32 {
    target.bytes().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

fn shared_bytes(a: &str, b: &str) -> usize {
    let bytes = a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count();
    (0..=bytes).rev().find(|&at| a.is_char_boundary(at) && b.is_char_boundary(at)).unwrap_or(0)
}
