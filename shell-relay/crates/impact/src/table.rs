//! Tables of programs and what they change. The notation is described at the top of each table.

use crate::{
    arguments::{Arguments, names_operand},
    words::PatternWord,
};

/// One row: what programs of these names change, under a condition.
#[derive(Debug)]
pub(crate) struct Row {
    names: Vec<&'static str>,
    condition: &'static str,
    values: Vec<&'static str>,
    /// What they change, in the words of the table.
    pub what: &'static str,
}

/// The rows of a table, in its order.
pub(crate) fn parse(text: &'static str) -> Vec<Row> {
    let row = |line: &'static str| {
        let mut fields = line.splitn(4, '|').map(str::trim);
        Some(Row {
            names: fields.next()?.split_whitespace().collect(),
            condition: fields.next()?,
            values: fields.next()?.split_whitespace().collect(),
            what: fields.next()?,
        })
    };
    text.lines().filter(|line| !line.starts_with('#')).filter_map(row).collect()
}

/// The first row for a program that is called with these words, and its arguments: without the operand that the row names.
pub(crate) fn find<'a>(rows: &'a [Row], name: &str, words: &[&PatternWord]) -> Option<(&'a Row, Arguments)> {
    rows.iter().filter(|row| row.names.contains(&name)).find_map(|row| {
        let mut arguments = Arguments::of(words, &row.values);
        if !arguments.meet(row.condition) {
            return None;
        }
        if names_operand(row.condition) && !arguments.operands.is_empty() {
            arguments.operands.remove(0);
        }
        Some((row, arguments))
    })
}
