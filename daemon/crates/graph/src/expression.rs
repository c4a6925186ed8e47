//! Conditions over the state: a small language whose types are checked when it is read. Pure.
//!
//! ```text
//! status == 0 and not (report is_empty or report contains "panic")
//! ```
//!
//! Operands are keys, numbers, texts in double quotes, `true` and `false`. `==` and `!=` compare two texts, numbers or flags; `<`, `<=`,
//! `>`, `>=` two numbers. `contains` finds a text in a text, an item in a list, a name in a map. `is_empty` is for those three. `not`
//! binds more than `and`, `and` more than `or`.

mod lexer;

use crate::{
    state::{FlowState, KeyId},
    value::{StateValue, ValueType},
};
pub use lexer::ExpressionError;
use lexer::{ConditionToken, Lexeme};

/// Longest condition, in bytes.
pub const EXPRESSION_MAX_BYTES: usize = 4 * 1024;
/// Deepest nesting of parentheses and `not`.
const MAX_DEPTH: usize = 32;

/// A condition that holds or does not hold for each state.
#[derive(Clone, Debug, PartialEq)]
pub struct Condition(Term);

#[derive(Clone, Debug, PartialEq)]
enum Term {
    Literal(StateValue),
    Key(KeyId),
    Not(Box<Term>),
    /// All hold.
    And(Vec<Term>),
    /// One holds.
    Or(Vec<Term>),
    Compare(Box<Term>, Comparison, Box<Term>),
    Contains(Box<Term>, Box<Term>),
    IsEmpty(Box<Term>),
}

/// How two values are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

impl Comparison {
    fn of(token: &ConditionToken<'_>) -> Option<Self> {
        Some(match token {
            ConditionToken::Sign("==") => Self::Equal,
            ConditionToken::Sign("!=") => Self::NotEqual,
            ConditionToken::Sign("<") => Self::Less,
            ConditionToken::Sign("<=") => Self::LessOrEqual,
            ConditionToken::Sign(">") => Self::Greater,
            ConditionToken::Sign(">=") => Self::GreaterOrEqual,
            _ => return None,
        })
    }

    fn holds(self, left: &StateValue, right: &StateValue) -> bool {
        match (self, left, right) {
            (Self::Equal, _, _) => left == right,
            (Self::NotEqual, _, _) => left != right,
            (Self::Less, StateValue::Number(left), StateValue::Number(right)) => left < right,
            (Self::LessOrEqual, StateValue::Number(left), StateValue::Number(right)) => left <= right,
            (Self::Greater, StateValue::Number(left), StateValue::Number(right)) => left > right,
            (Self::GreaterOrEqual, StateValue::Number(left), StateValue::Number(right)) => left >= right,
            // Refused when the condition was read.
            (Self::Less | Self::LessOrEqual | Self::Greater | Self::GreaterOrEqual, _, _) => false,
        }
    }
}

impl Condition {
    /// Reads a condition. `key` gives the place and the type of a key.
    ///
    /// # Errors
    /// It is no condition, or compares what cannot be compared.
    pub fn read(text: &str, key: &dyn Fn(&str) -> Option<(KeyId, ValueType)>) -> Result<Self, ExpressionError> {
        if text.len() > EXPRESSION_MAX_BYTES {
            return Err(ExpressionError {
                at: 0,
                message: format!("the condition is longer than {EXPRESSION_MAX_BYTES} bytes"),
            });
        }
        let lexemes = lexer::lexemes(text)?;
        let mut parser = Parser { lexemes: &lexemes, end: text.len(), key, depth: 0 };
        let at = parser.at();
        let term = parser.any()?;
        if let Some(lexeme) = parser.lexemes.first() {
            return Err(error(
                lexeme.at,
                format!("{} does not belong here; join conditions with `and` or `or`", lexeme.token),
            ));
        }
        Ok(Self(flag(term, at)?))
    }

    /// Whether it holds.
    #[must_use]
    pub fn holds(&self, state: &FlowState) -> bool {
        self.0.holds(state)
    }
}

impl Term {
    fn value<'a>(&'a self, state: &'a FlowState) -> Option<&'a StateValue> {
        match self {
            Self::Literal(value) => Some(value),
            Self::Key(key) => Some(state.get(*key)),
            _ => None,
        }
    }

    fn holds(&self, state: &FlowState) -> bool {
        match self {
            Self::Literal(_) | Self::Key(_) => self.value(state) == Some(&StateValue::Flag(true)),
            Self::Not(term) => !term.holds(state),
            Self::And(terms) => terms.iter().all(|term| term.holds(state)),
            Self::Or(terms) => terms.iter().any(|term| term.holds(state)),
            Self::Compare(left, comparison, right) => match (left.value(state), right.value(state)) {
                (Some(left), Some(right)) => comparison.holds(left, right),
                _ => false,
            },
            Self::Contains(whole, part) => match (whole.value(state), part.value(state)) {
                (Some(StateValue::Text(whole)), Some(StateValue::Text(part))) => whole.contains(part.as_str()),
                (Some(StateValue::List(items)), Some(StateValue::Text(part))) => items.contains(part),
                (Some(StateValue::Map(entries)), Some(StateValue::Text(part))) => entries.contains_key(part),
                _ => false,
            },
            Self::IsEmpty(term) => term.value(state).is_some_and(StateValue::is_empty),
        }
    }
}

fn error(at: usize, message: impl Into<String>) -> ExpressionError {
    ExpressionError { at, message: message.into() }
}

/// A term with its type.
type Typed = (Term, ValueType);

fn flag((term, kind): Typed, at: usize) -> Result<Term, ExpressionError> {
    if kind == ValueType::Flag {
        return Ok(term);
    }
    Err(error(at, format!("this is a {}, which neither holds nor fails; compare it, as in `x == …`", kind.word())))
}

struct Parser<'a> {
    lexemes: &'a [Lexeme<'a>],
    end: usize,
    key: &'a dyn Fn(&str) -> Option<(KeyId, ValueType)>,
    depth: usize,
}

impl<'a> Parser<'a> {
    fn at(&self) -> usize {
        self.lexemes.first().map_or(self.end, |lexeme| lexeme.at)
    }

    fn next(&mut self) -> Option<&'a Lexeme<'a>> {
        let (first, rest) = self.lexemes.split_first()?;
        self.lexemes = rest;
        Some(first)
    }

    fn take(&mut self, token: &ConditionToken<'_>) -> bool {
        let is_next = self.lexemes.first().is_some_and(|lexeme| lexeme.token == *token);
        if is_next {
            self.next();
        }
        is_next
    }

    /// Terms with `or` between them.
    fn any(&mut self) -> Result<Typed, ExpressionError> {
        self.joined("or", Term::Or, Self::all)
    }

    /// Terms with `and` between them.
    fn all(&mut self) -> Result<Typed, ExpressionError> {
        self.joined("and", Term::And, Self::negated)
    }

    fn joined(
        &mut self,
        word: &'static str,
        join: fn(Vec<Term>) -> Term,
        one: fn(&mut Self) -> Result<Typed, ExpressionError>,
    ) -> Result<Typed, ExpressionError> {
        let at = self.at();
        let first = one(self)?;
        if !self.take(&ConditionToken::Word(word)) {
            return Ok(first);
        }
        let mut terms = vec![flag(first, at)?];
        loop {
            let at = self.at();
            terms.push(flag(one(self)?, at)?);
            if !self.take(&ConditionToken::Word(word)) {
                return Ok((join(terms), ValueType::Flag));
            }
        }
    }

    fn negated(&mut self) -> Result<Typed, ExpressionError> {
        if !self.take(&ConditionToken::Word("not")) {
            return self.compared();
        }
        let at = self.at();
        let term = self.deeper(Self::negated)?;
        Ok((Term::Not(Box::new(flag(term, at)?)), ValueType::Flag))
    }

    fn deeper(&mut self, inner: fn(&mut Self) -> Result<Typed, ExpressionError>) -> Result<Typed, ExpressionError> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(error(self.at(), format!("the condition is nested deeper than {MAX_DEPTH}")));
        }
        let term = inner(self);
        self.depth -= 1;
        term
    }

    /// An operand, and what is said about it.
    fn compared(&mut self) -> Result<Typed, ExpressionError> {
        let (left, kind) = self.operand()?;
        let at = self.at();
        let has_parts = matches!(kind, ValueType::Text | ValueType::List | ValueType::Map);
        if self.take(&ConditionToken::Word("is_empty")) {
            if !has_parts {
                return Err(error(at, format!("a {} is never empty", kind.word())));
            }
            return Ok((Term::IsEmpty(Box::new(left)), ValueType::Flag));
        }
        if self.take(&ConditionToken::Word("contains")) {
            let (right, part) = self.operand()?;
            if !has_parts || part != ValueType::Text {
                let message = format!("a {} does not contain a {}", kind.word(), part.word());
                return Err(error(at, message));
            }
            return Ok((Term::Contains(Box::new(left), Box::new(right)), ValueType::Flag));
        }
        let comparison = self.lexemes.first().and_then(|lexeme| Comparison::of(&lexeme.token));
        let Some(comparison) = comparison else { return Ok((left, kind)) };
        self.next();
        let (right, other) = self.operand()?;
        let is_order = !matches!(comparison, Comparison::Equal | Comparison::NotEqual);
        if kind != other || matches!(kind, ValueType::List | ValueType::Map) {
            return Err(error(at, format!("a {} cannot be compared with a {}", kind.word(), other.word())));
        }
        if is_order && kind != ValueType::Number {
            return Err(error(at, format!("only numbers have an order, and this is a {}", kind.word())));
        }
        // Terms that hold or fail have no value of their own to compare.
        if [&left, &right].into_iter().any(|term| !matches!(term, Term::Literal(_) | Term::Key(_))) {
            return Err(error(at, "join conditions with `and` or `or` instead of comparing them"));
        }
        Ok((Term::Compare(Box::new(left), comparison, Box::new(right)), ValueType::Flag))
    }

    fn operand(&mut self) -> Result<Typed, ExpressionError> {
        let at = self.at();
        match self.next().map(|lexeme| &lexeme.token) {
            Some(ConditionToken::Sign("(")) => {
                let term = self.deeper(Self::any)?;
                let at = self.at();
                if self.take(&ConditionToken::Sign(")")) { Ok(term) } else { Err(error(at, "a `)` is missing")) }
            }
            Some(ConditionToken::Number(number)) => Ok((Term::Literal(StateValue::Number(*number)), ValueType::Number)),
            Some(ConditionToken::Text(text)) => Ok((Term::Literal(StateValue::Text(text.clone())), ValueType::Text)),
            Some(ConditionToken::Word(word @ ("true" | "false"))) => {
                Ok((Term::Literal(StateValue::Flag(*word == "true")), ValueType::Flag))
            }
            Some(ConditionToken::Word(word)) => match (self.key)(word) {
                Some((key, kind)) => Ok((Term::Key(key), kind)),
                None => Err(error(at, format!("`{word}` is no key of the state"))),
            },
            Some(token @ ConditionToken::Sign(_)) => {
                Err(error(at, format!("{token} stands where a key, a number or a \"text\" must be")))
            }
            None => Err(error(at, "a key, a number or a \"text\" is missing at the end")),
        }
    }
}

#[cfg(test)]
mod tests;
