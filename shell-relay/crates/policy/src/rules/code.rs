//! Judges small programs in the words of a line. They run unasked only behind the lock, which keeps them from harm whatever they do.

use cohab_shell_syntax::Word;

use super::{
    super::{
        Context,
        inline_code::{Invocation, Language, texts},
        paths,
    },
    Refusal, ask, check_path, check_path_text,
};

/// Judges a program in the words of an interpreter; `None` if there is none that is known, or nothing would confine it.
pub(super) fn assess(name: &str, words: &[Word], context: Context<'_>) -> Option<Result<(), Refusal>> {
    let language = Language::of(name).filter(|_| context.confines(name))?;
    let texts_of_words: Vec<&str> = words.iter().map(|word| word.text.as_str()).collect();
    let call = language.call(&texts_of_words)?;
    Some(assess_call(language, &call, words, context))
}

fn assess_call(
    language: &Language,
    call: &Invocation<'_>,
    words: &[Word],
    context: Context<'_>,
) -> Result<(), Refusal> {
    for library in &call.libraries {
        if !language.has_library(library) {
            return ask(format!("the code for `{}` loads `{library}`", language.name));
        }
    }
    for at in &call.programs {
        let program = &words[*at];
        if program.has_glob {
            return ask("a pattern of file names in a program");
        }
        if let Some(reason) = language.why_it_may_act(&program.text) {
            return ask(reason);
        }
        texts(&program.text).try_for_each(|text| check_path_text(text, false, context, paths::read_risk))?;
    }
    words[call.operands..].iter().try_for_each(|word| {
        // Perl and Ruby run what such a name says.
        if word.text.contains(['|', '<', '>']) {
            return ask("an operand that may be a command");
        }
        check_path(word, context, paths::read_risk)
    })
}

/// Whether the word number `at` behind the interpreter `name` is a program.
pub(super) fn is_program(name: &str, words: &[Word], at: usize) -> bool {
    Language::of(name).is_some_and(|language| {
        let texts: Vec<&str> = words.iter().map(|word| word.text.as_str()).collect();
        language.call(&texts).is_some_and(|call| call.programs.contains(&at))
    })
}
