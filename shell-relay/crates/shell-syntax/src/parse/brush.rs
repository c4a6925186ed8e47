//! Parses a line by `brush-parser`: the first reading.

use brush_parser::{
    ParserOptions,
    ast::{
        self, AndOr, Command, CommandPrefixOrSuffixItem as Item, IoFileRedirectKind, IoFileRedirectTarget, IoRedirect,
        SeparatorOperator,
    },
    parse_tokens, uncached_tokenize_str,
};

use super::{
    super::command::{Join, Redirect, RedirectKind, SimpleCommand, Word},
    unquote::unquote,
};

const NOT_UNDERSTOOD: &str = "is not understood by the shell parser";
/// Reserved words never get here ([`super::super::bytes`]).
const NOT_SIMPLE: &str = "is more than simple commands";

pub(super) fn parse(line: &str) -> Result<Vec<SimpleCommand>, &'static str> {
    let options = ParserOptions::default();
    let tokens = uncached_tokenize_str(line, &options.tokenizer_options()).map_err(|_| NOT_UNDERSTOOD)?;
    let program = parse_tokens(&tokens, &options).map_err(|_| NOT_UNDERSTOOD)?;
    let mut commands = Vec::new();
    for list in &program.complete_commands {
        for ast::CompoundListItem(and_or, separator) in &list.0 {
            if matches!(separator, SeparatorOperator::Async) {
                return Err("runs a command in the background");
            }
            add_pipeline(&and_or.first, Join::Then, &mut commands)?;
            for next in &and_or.additional {
                match next {
                    AndOr::And(pipeline) => add_pipeline(pipeline, Join::And, &mut commands)?,
                    AndOr::Or(pipeline) => add_pipeline(pipeline, Join::Or, &mut commands)?,
                }
            }
        }
    }
    if commands.is_empty() {
        return Err("contains no command");
    }
    Ok(commands)
}

fn add_pipeline(pipeline: &ast::Pipeline, join: Join, commands: &mut Vec<SimpleCommand>) -> Result<(), &'static str> {
    if pipeline.bang || pipeline.timed.is_some() {
        return Err(NOT_SIMPLE);
    }
    for (place, command) in pipeline.seq.iter().enumerate() {
        let join = if place == 0 { join } else { Join::Pipe };
        match command {
            Command::Simple(simple) => commands.push(simple_command(simple, join)?),
            Command::Function(_) | Command::Compound(..) | Command::ExtendedTest(..) => return Err(NOT_SIMPLE),
        }
    }
    Ok(())
}

fn simple_command(simple: &ast::SimpleCommand, join: Join) -> Result<SimpleCommand, &'static str> {
    if simple.prefix.is_some() {
        return Err("begins with an assignment or a redirection");
    }
    let name = simple.word_or_name.as_ref().ok_or("contains no command")?;
    let mut command = SimpleCommand { join, words: vec![word(name)?], redirects: Vec::new() };
    for item in simple.suffix.iter().flat_map(|suffix| &suffix.0) {
        match item {
            Item::Word(operand) | Item::AssignmentWord(_, operand) => command.words.push(word(operand)?),
            Item::IoRedirect(redirect) => command.redirects.push(self::redirect(redirect)?),
            Item::ProcessSubstitution(..) => return Err("uses process substitution"),
        }
    }
    Ok(command)
}

fn word(raw: &ast::Word) -> Result<Word, &'static str> {
    unquote(&raw.value).ok_or("contains a word that expands")
}

fn redirect(redirect: &IoRedirect) -> Result<Redirect, &'static str> {
    let (fd, kind, target) = match redirect {
        IoRedirect::File(fd, kind, target) => (*fd, redirect_kind(kind)?, redirect_target(target)?),
        IoRedirect::OutputAndError(target, false) => (None, RedirectKind::WriteAll, word(target)?),
        IoRedirect::OutputAndError(_, true) => return Err("redirects output"),
        IoRedirect::HereDocument(..) => return Err("uses a here-document"),
        IoRedirect::HereString(..) => return Err("uses a here-string"),
    };
    let fd = fd.map(u32::try_from).transpose().map_err(|_| "redirects output")?;
    Ok(Redirect { fd, kind, target })
}

fn redirect_kind(kind: &IoFileRedirectKind) -> Result<RedirectKind, &'static str> {
    match kind {
        IoFileRedirectKind::Read => Ok(RedirectKind::Read),
        IoFileRedirectKind::Write => Ok(RedirectKind::Write),
        IoFileRedirectKind::Append => Ok(RedirectKind::Append),
        IoFileRedirectKind::DuplicateOutput => Ok(RedirectKind::Duplicate),
        IoFileRedirectKind::ReadAndWrite | IoFileRedirectKind::Clobber | IoFileRedirectKind::DuplicateInput => {
            Err("redirects in an unusual way")
        }
    }
}

fn redirect_target(target: &IoFileRedirectTarget) -> Result<Word, &'static str> {
    match target {
        IoFileRedirectTarget::Filename(target) | IoFileRedirectTarget::Duplicate(target) => word(target),
        IoFileRedirectTarget::Fd(fd) => Ok(Word { text: fd.to_string(), is_bare: true, ..Word::default() }),
        IoFileRedirectTarget::ProcessSubstitution(..) => Err("uses process substitution"),
    }
}
