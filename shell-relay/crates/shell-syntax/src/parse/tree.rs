//! Parses a line by `tree-sitter-bash`: the second reading. Its grammar and its quirks are independent of the first parser's.

use std::cell::RefCell;

use tree_sitter::{Node, Parser, Tree};

use super::super::command::{Join, Redirect, RedirectKind, SimpleCommand, Word};

thread_local! {
    /// Making a parser costs more than parsing a line. One that failed on a line is not kept.
    static PARSER: RefCell<Option<Parser>> = const { RefCell::new(None) };
}

fn new_parser() -> Option<Parser> {
    let mut parser = Parser::new();
    parser.set_language(&tree_sitter_bash::LANGUAGE.into()).ok()?;
    Some(parser)
}

/// Deeper expressions are not followed: the reader goes down on the stack.
const MAX_DEPTH: usize = 16;

fn tree(line: &str) -> Option<Tree> {
    let mut parser = PARSER.take().or_else(new_parser)?;
    let tree = parser.parse(line, None)?;
    PARSER.set(Some(parser));
    (!tree.root_node().has_error()).then_some(tree)
}

/// The commands of a plain line; `None` if the line is broken or not plain.
pub(super) fn parse(line: &str) -> Option<Vec<SimpleCommand>> {
    let tree = tree(line)?;
    let root = tree.root_node();
    let mut reader = TreeReader { line, commands: Vec::new() };
    for child in children(root) {
        match child.kind() {
            ";" | "\n" => {}
            _ => reader.add_statement(child, Join::Then)?,
        }
    }
    Some(reader.commands)
}

struct TreeReader<'a> {
    line: &'a str,
    commands: Vec<SimpleCommand>,
}

impl<'a> TreeReader<'a> {
    fn text(&self, node: Node<'_>) -> &'a str {
        &self.line[node.byte_range()]
    }

    fn add_statement(&mut self, node: Node<'_>, join: Join) -> Option<()> {
        match node.kind() {
            "command" => self.add_command(node, join),
            "declaration_command" => self.add_declaration(node, join),
            "test_command" => self.add_test(node, join),
            "list" | "pipeline" => self.add_joined(node, join),
            "redirected_statement" => {
                let mut parts = children(node).into_iter();
                self.add_statement(parts.next().filter(|body| !body.kind().ends_with("redirect"))?, join)?;
                parts.try_for_each(|part| self.add_redirect(part))
            }
            _ => None,
        }
    }

    fn add_joined(&mut self, node: Node<'_>, first: Join) -> Option<()> {
        let mut join = first;
        for child in children(node) {
            match child.kind() {
                "&&" => join = Join::And,
                "||" => join = Join::Or,
                "|" => join = Join::Pipe,
                _ => self.add_statement(child, join)?,
            }
        }
        Some(())
    }

    fn add_command(&mut self, node: Node<'_>, join: Join) -> Option<()> {
        let mut words = Vec::new();
        for child in children(node) {
            words.push(self.word(child)?);
        }
        self.commands.push(SimpleCommand { join, words, redirects: Vec::new() });
        Some(())
    }

    /// `typeset -f x`: a separate kind in this grammar.
    fn add_declaration(&mut self, node: Node<'_>, join: Join) -> Option<()> {
        let read = |child: Node<'_>| match child.kind() {
            "variable_name" => self.bare(child),
            "variable_assignment" => None,
            _ if !child.is_named() => self.bare(child),
            _ => self.word(child),
        };
        let words = children(node).into_iter().map(read).collect::<Option<_>>()?;
        self.commands.push(SimpleCommand { join, words, redirects: Vec::new() });
        Some(())
    }

    /// `[ ... ]` comes as an expression; its words are the leaves in the order of the text.
    fn add_test(&mut self, node: Node<'_>, join: Join) -> Option<()> {
        let mut words = Vec::new();
        self.collect_leaves(node, 0, &mut words)?;
        if words.first()?.text != "[" {
            return None;
        }
        self.commands.push(SimpleCommand { join, words, redirects: Vec::new() });
        Some(())
    }

    fn collect_leaves(&self, node: Node<'_>, depth: usize, words: &mut Vec<Word>) -> Option<()> {
        if depth > MAX_DEPTH {
            return None;
        }
        for child in children(node) {
            match child.kind() {
                // In this grammar `~` is the complement of its operand.
                "unary_expression" if child.child(0).is_some_and(|sign| sign.kind() == "~") => {
                    words.push(self.bare(child)?);
                }
                "unary_expression" | "binary_expression" => self.collect_leaves(child, depth + 1, words)?,
                "test_operator" | "regex" | "extglob_pattern" => words.push(self.bare(child)?),
                kind if !child.is_named() && !kind.contains(['(', ')']) => words.push(self.bare(child)?),
                _ => words.push(self.word(child)?),
            }
        }
        Some(())
    }

    /// Adds a redirection to the last command. This grammar takes words behind the target for targets too; they are operands.
    fn add_redirect(&mut self, node: Node<'_>) -> Option<()> {
        if node.kind() != "file_redirect" {
            return None;
        }
        let mut fd = None;
        let mut kind = None;
        let mut target = None;
        let mut operands = Vec::new();
        for child in children(node) {
            match child.kind() {
                "file_descriptor" => fd = Some(self.text(child).parse().ok()?),
                "<" => kind = Some(RedirectKind::Read),
                ">" => kind = Some(RedirectKind::Write),
                ">>" => kind = Some(RedirectKind::Append),
                "&>" => kind = Some(RedirectKind::WriteAll),
                ">&" => kind = Some(RedirectKind::Duplicate),
                _ if target.is_none() => target = Some(self.word(child)?),
                _ => operands.push(self.word(child)?),
            }
        }
        let command = self.commands.last_mut()?;
        command.words.extend(operands);
        command.redirects.push(Redirect { fd, kind: kind?, target: target? });
        Some(())
    }

    fn word(&self, node: Node<'_>) -> Option<Word> {
        let mut word = Word::empty();
        self.add_to_word(node, &mut word)?;
        Some(word)
    }

    fn bare(&self, node: Node<'_>) -> Option<Word> {
        let mut word = Word::empty();
        word.add_bare(self.text(node))?;
        Some(word)
    }

    fn add_to_word(&self, node: Node<'_>, word: &mut Word) -> Option<()> {
        let text = self.text(node);
        // In this grammar a pair of braces is two words in one.
        if matches!(text, "{}" | "-I{}") {
            return word.add_bare(text);
        }
        match node.kind() {
            "command_name" => self.add_to_word(node.child(0)?, word),
            "word" | "number" | "test_operator" => word.add_bare(text),
            "raw_string" => {
                word.add_single_quoted(text.strip_prefix('\'')?.strip_suffix('\'')?);
                Some(())
            }
            "string" => {
                if children(node).iter().any(|child| child.is_named() && child.kind() != "string_content") {
                    return None;
                }
                word.add_double_quoted(text.strip_prefix('"')?.strip_suffix('"')?)
            }
            // In this grammar the braces of a revision are separate words.
            "concatenation" if text.contains('{') && !text.contains(['\'', '"']) => word.add_bare(text),
            "concatenation" => {
                let mut end = node.start_byte();
                for part in children(node) {
                    if part.start_byte() != end {
                        return None;
                    }
                    end = part.end_byte();
                    self.add_to_word(part, word)?;
                }
                Some(())
            }
            _ => None,
        }
    }
}

fn children(node: Node<'_>) -> Vec<Node<'_>> {
    let mut cursor = node.walk();
    node.children(&mut cursor).collect()
}
