//! Makes command lines from rows: each option alone, in front of and behind operands, in pairs, joined, abbreviated, and mixed at
//! random. The caller leaves out lines that the policy does not allow.

use std::collections::BTreeMap;

use crate::tables::{Opt, Row, Value};

/// Values for options that want a text: a number, a file, a name that is free, and texts that some programs run.
const TEXTS: &[&str] = &[
    "1",
    "new",
    "text.txt",
    "'|touch new'",
    "a",
    "json",
    "'touch new'",
    "all",
    "/dev/null",
    "folder",
    "name",
    "'%n'",
    "'e'",
    "'$(touch new)'",
    "./script.sh",
    "w",
];
const NUMBERS: &[&str] = &["1", "0", "3"];
const PATHS: &[&str] = &["text.txt", "new", "folder", "./script.sh"];
/// A prime larger than any count here, so that the first values differ from option to option.
const STEP: usize = 7919;

/// The number of lines to make.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// All lines of a [`Group`] are tried, not the first that is allowed.
    pub is_full: bool,
    /// Number of values that are tried for an option.
    pub values: usize,
    /// Number of random mixtures of each row's words.
    pub mixtures: usize,
    /// Largest number of lines of one program, and of one that starts slowly.
    pub lines: usize,
    pub lines_of_slow: usize,
    pub seed: u64,
}

/// Lines that test the same: one option, or one operand.
#[derive(Debug)]
pub struct Group {
    pub lines: Vec<String>,
    /// The number of the row's option.
    pub option: Option<usize>,
}

/// Numbers that look random and are the same for the same seed (xorshift).
#[derive(Debug)]
pub struct Dice(u64);

impl Dice {
    pub fn new(seed: u64) -> Self {
        Self(seed | 1)
    }

    pub fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 11).unwrap_or_default() % end.max(1)
    }

    fn pick<'a, T: ?Sized>(&mut self, from: &[&'a T]) -> &'a T {
        from[self.below(from.len())]
    }
}

/// The lines of one row.
pub fn of_row(row: &Row, operands: &BTreeMap<&str, Vec<&str>>, effort: Effort) -> Vec<Group> {
    let head = row.words.join(" ");
    let (fitting, general) = operands_of(row, operands);
    let alone = |line: String| Group { lines: vec![line], option: None };
    let mut groups = vec![alone(head.clone())];
    groups.extend(fitting.iter().map(|operand| alone(format!("{head} {operand}"))));
    let with_general = general.iter().map(|operand| format!("{head} {operand}")).collect();
    groups.push(Group { lines: with_general, option: None });
    let all = [fitting, general.to_vec()].concat();
    for (at, option) in row.options.iter().enumerate() {
        for (turn, form) in forms(option, at, effort.values).into_iter().enumerate() {
            groups.push(Group { lines: places(&head, &form, &all, at + turn, effort), option: Some(at) });
        }
        groups.extend(abbreviations(option).map(|short| alone(format!("{head} {short}"))));
    }
    let mut dice =
        Dice::new(head.bytes().fold(effort.seed, |sum, byte| sum.wrapping_mul(31).wrapping_add(byte.into())));
    let count = effort.mixtures * (4 + row.options.len().min(60) + all.len());
    groups.extend((0..count).map(|_| alone(mixture(&head, row, &all, &mut dice))));
    groups
}

/// An option alone, in front of operands and behind them; each `turn` begins with another of these.
fn places(head: &str, form: &str, operands: &[&str], turn: usize, effort: Effort) -> Vec<String> {
    let mut lines = vec![format!("{head} {form}")];
    let count = if effort.is_full { operands.len().min(3) } else { operands.len() };
    for operand in &operands[..count] {
        lines.extend([format!("{head} {form} {operand}"), format!("{head} {operand} {form}")]);
    }
    let length = lines.len().min(3);
    lines[..length].rotate_left(turn % length);
    lines
}

/// Operands for a row: those that fit it, and those of its kind.
fn operands_of<'a>(row: &Row, table: &BTreeMap<&str, Vec<&'a str>>) -> (Vec<&'a str>, &'static [&'static str]) {
    let of_words = |count: usize| table.get(row.words[..count.min(row.words.len())].join(" ").as_str());
    let fitting = [3, 2, 1].into_iter().find_map(of_words).cloned().unwrap_or_default();
    let general: &[&str] = match row.operands {
        "@*" => &["text.txt", "*", "folder", "text.txt other.txt", "text.txt new", "-- text.txt"],
        "@?" => &["text.txt", "text.txt new", "new", "-- text.txt new"],
        "@:*" => &["text.txt", "text.txt name", "new"],
        ":*" => &["name", "text.txt", "1", "name new", "'|touch new'"],
        ":?" => &["name", "text.txt", "name new", "new"],
        "#*" => &["1", "1 2", "text.txt"],
        "" => &[],
        "0" => &["name", "new", "1"],
        _ => &["text.txt", "name", "1", "1 1", "new", "name text.txt", "."],
    };
    (fitting, general)
}

/// The forms of an option, with values of its kind.
fn forms(option: &Opt, at: usize, values: usize) -> Vec<String> {
    let Opt { name, value } = option;
    let chosen = |all: &[&'static str]| {
        (0..values.min(all.len())).map(|turn| all[(turn + at * (STEP % all.len())) % all.len()]).collect::<Vec<_>>()
    };
    let is_long = name.starts_with("--");
    let joined = |value: &str| if is_long { format!("{name}={value}") } else { format!("{name}{value}") };
    let apart = |value: &str| format!("{name} {value}");
    let both = |values: Vec<&str>| {
        let form =
            |(turn, value): (usize, &&str)| if (turn + at).is_multiple_of(2) { apart(value) } else { joined(value) };
        values.iter().enumerate().map(form).collect::<Vec<_>>()
    };
    match value {
        Value::Nothing => vec![name.clone()],
        Value::Number => both(chosen(NUMBERS)),
        Value::Path => both(chosen(PATHS)),
        // A free name is always tried: a program that writes there is found.
        Value::Text => both([&["new"], &*chosen(TEXTS)].concat()),
        Value::OptionalText => {
            let with_value = chosen(TEXTS).into_iter().map(joined);
            std::iter::once(name.clone()).chain(with_value).collect()
        }
    }
}

/// Beginnings of a long option, which many programs take for it, and their values for the option's own.
fn abbreviations(option: &Opt) -> impl Iterator<Item = String> {
    let name = option.name.as_str();
    let is_long = name.starts_with("--") && name.len() > 5 && name.is_ascii();
    let lengths = is_long.then(|| [name.len() / 2 + 1, name.len() - 1]).into_iter().flatten();
    lengths.map(|length| name[..length].to_owned())
}

/// A few options and operands of a row in any order, some of them joined.
fn mixture(head: &str, row: &Row, operands: &[&str], dice: &mut Dice) -> String {
    let mut words = vec![head.to_owned()];
    for _ in 0..1 + dice.below(4) {
        let with_option = !row.options.is_empty() && (operands.is_empty() || dice.below(3) > 0);
        if with_option {
            let at = dice.below(row.options.len());
            let forms = forms(&row.options[at], dice.below(50), 2);
            let form = &forms[dice.below(forms.len())];
            match (words.last_mut(), form.strip_prefix('-')) {
                // `-a` and `-b` as `-ab`.
                (Some(last), Some(flag))
                    if dice.below(3) == 0
                        && last.starts_with('-')
                        && !last.starts_with("--")
                        && !flag.starts_with('-') =>
                {
                    last.push_str(flag);
                }
                _ => words.push(form.clone()),
            }
        } else if !operands.is_empty() {
            words.push(dice.pick(operands).to_owned());
        }
    }
    words.join(" ")
}
