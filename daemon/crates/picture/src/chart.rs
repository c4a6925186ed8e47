//! The chart: rows with a label, a bar and figures.

/// What a part of a bar stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// An amount, or the time of a model.
    Main,
    /// The time of a tool.
    Tool,
    /// The time that cohab waited for the user.
    Waiting,
}

/// A part of a bar. Both ends are fractions of the scale, from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Span {
    /// Where it begins.
    pub from: f64,
    /// Where it ends.
    pub to: f64,
    /// What it stands for.
    pub kind: Kind,
}

/// The picture of a row.
#[derive(Clone, Debug, PartialEq)]
pub enum Bar {
    /// Parts of a horizontal bar; a later one covers an earlier one.
    Spans(Vec<Span>),
    /// A histogram: a column for each count.
    Columns(Vec<u64>),
}

impl Bar {
    /// A bar from zero to `amount` on a scale that ends at `whole`.
    #[must_use]
    pub fn of(amount: u64, whole: u64) -> Self {
        let to = amount as f64 / whole.max(1) as f64;
        Self::Spans(if amount == 0 { Vec::new() } else { vec![Span { from: 0.0, to, kind: Kind::Main }] })
    }
}

/// A column of figures, or that of the labels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column {
    /// Its head.
    pub head: &'static str,
    /// Whether its cells begin at the left; labels do anyway.
    pub is_left: bool,
    /// A narrow terminal leaves out the columns with the highest number first, and never one with 0.
    pub leave_out: u8,
}

impl Column {
    /// A column that is always shown, with its cells at the right.
    #[must_use]
    pub const fn new(head: &'static str) -> Self {
        Self { head, is_left: false, leave_out: 0 }
    }

    /// The same column with this rank for leaving it out.
    #[must_use]
    pub const fn or_without(self, leave_out: u8) -> Self {
        Self { leave_out, ..self }
    }
}

/// A row. Without cells it is a remark between rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// What the row is about.
    pub label: String,
    /// Its bar.
    pub bar: Bar,
    /// A figure for each column.
    pub cells: Vec<String>,
}

/// Rows under common heads.
#[derive(Clone, Debug, PartialEq)]
pub struct Chart {
    /// Head of the labels.
    pub head: String,
    /// Marks on the scale of the bars: a fraction of it, and a word.
    pub axis: Vec<(f64, String)>,
    /// The columns of figures.
    pub columns: Vec<Column>,
    /// The rows.
    pub rows: Vec<Row>,
    /// What the parts of the bars stand for, if that needs saying.
    pub legend: Vec<(Kind, String)>,
}
