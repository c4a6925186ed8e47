//! Checks options and variables of the live shell that change the meaning of a plain line: patterns match hidden files, `cd` changes
//! to another folder.

use cohab_shell_state::state::{Item, OptionKind, Snapshot};
use cohab_shell_syntax::{SimpleCommand, Word};

use super::{caveat::Caveat, known_names};

/// Options with which a pattern matches hidden files, too, or leaves others out.
const OF_PATTERNS: &[(OptionKind, &str)] = &[(OptionKind::Shopt, "dotglob"), (OptionKind::Set, "globdots")];
/// The same of variables.
const VARIABLES_OF_PATTERNS: &[&str] = &["GLOBIGNORE"];
/// Options with which a pattern that matches nothing makes no word.
const OF_NULL_PATTERNS: &[(OptionKind, &str)] =
    &[(OptionKind::Shopt, "nullglob"), (OptionKind::Set, "nullglob"), (OptionKind::Set, "cshnullglob")];
/// Options with which a relative `cd` goes to the folder that a variable names.
const OF_CD: &[(OptionKind, &str)] = &[(OptionKind::Shopt, "cdable_vars"), (OptionKind::Set, "cdablevars")];
/// Options with which `..` leads to the place that a link came from.
const OF_PARENTS: &[(OptionKind, &str)] =
    &[(OptionKind::Set, "physical"), (OptionKind::Set, "chaselinks"), (OptionKind::Set, "chasedots")];

/// Reasons why `commands` mean something else in this shell than their text says.
pub(super) fn why_read_otherwise(commands: &[SimpleCommand], shell: &Snapshot) -> Vec<Caveat> {
    let mut words = commands.iter().flat_map(|command| &command.words);
    let of_patterns = words.any(|word| word.has_glob).then(|| why_patterns_match_more(shell)).flatten();
    let may_vanish = commands.iter().any(|command| {
        command.words.iter().any(|word| word.has_glob) && !known_names::may_lack_operands(&command.words[0].text)
    });
    let of_null = may_vanish.then(|| first_on(OF_NULL_PATTERNS, shell)).flatten();
    let of_null = of_null.map(Caveat::NullPattern);
    let targets = commands.iter().filter_map(cd_target);
    of_patterns
        .into_iter()
        .chain(of_null)
        .chain(targets.filter_map(|target| why_cd_leads_elsewhere(&target.text, shell)))
        .collect()
}

fn why_patterns_match_more(shell: &Snapshot) -> Option<Caveat> {
    let name = first_on(OF_PATTERNS, shell)
        .or_else(|| VARIABLES_OF_PATTERNS.iter().copied().find(|name| is_set(name, shell)))?;
    Some(Caveat::HiddenFiles(name))
}

fn cd_target(command: &SimpleCommand) -> Option<&Word> {
    let (name, words) = command.words.split_first()?;
    words.iter().find(|word| !word.text.starts_with('-')).filter(|_| name.text == "cd")
}

fn why_cd_leads_elsewhere(target: &str, shell: &Snapshot) -> Option<Caveat> {
    let mut parts = target.split('/');
    if parts.clone().any(|part| part == "..")
        && let Some(option) = first_on(OF_PARENTS, shell)
    {
        return Some(Caveat::CdToParent { option, target: target.to_owned() });
    }
    let is_searched = !matches!(parts.next(), Some("" | "." | ".." | "~"));
    let name = first_on(OF_CD, shell).or_else(|| is_set("CDPATH", shell).then_some("CDPATH"));
    let option = name.filter(|_| is_searched)?;
    Some(Caveat::CdToVariable { option, target: target.to_owned() })
}

fn first_on(options: &[(OptionKind, &'static str)], shell: &Snapshot) -> Option<&'static str> {
    let is_on = |(kind, name): &&(OptionKind, &str)| shell.contains_key(&Item::Option(*kind, (*name).to_owned()));
    options.iter().find(is_on).map(|(_, name)| *name)
}

fn is_set(name: &str, shell: &Snapshot) -> bool {
    shell.contains_key(&Item::Variable(name.to_owned()))
        || shell.get(&Item::Exported(name.to_owned())).is_some_and(|value| value.iter().any(|part| !part.is_empty()))
}

#[cfg(test)]
mod tests {
    use cohab_shell_syntax::parse_plain;

    use super::*;

    fn why(line: &str, item: Item, value: &str) -> Option<Caveat> {
        let shell = Snapshot::from([(item, vec![value.as_bytes().to_vec()])]);
        why_read_otherwise(&parse_plain(line).expect("plain"), &shell).pop()
    }

    #[test]
    fn patterns_and_folders_mean_more_with_some_options() {
        let option = |kind, name: &str| Item::Option(kind, name.to_owned());
        let variable = |name: &str| Item::Variable(name.to_owned());
        for (line, item) in [
            ("head *", option(OptionKind::Shopt, "dotglob")),
            ("ls; cat src/*.rs", option(OptionKind::Set, "globdots")),
            ("head *", variable("GLOBIGNORE")),
            ("cd src; grep -r x *.c", option(OptionKind::Shopt, "nullglob")),
            ("rg x *.c", option(OptionKind::Set, "cshnullglob")),
            ("cd gh && cat data.txt", variable("CDPATH")),
            ("cd gh/x", Item::Exported("CDPATH".to_owned())),
            ("cd -L gh", option(OptionKind::Shopt, "cdable_vars")),
            ("cd gh", option(OptionKind::Set, "cdablevars")),
            ("cd x/..", option(OptionKind::Set, "chaselinks")),
        ] {
            assert!(why(line, item.clone(), "/x").is_some(), "{line} {item:?}");
        }
        for (line, item) in [
            ("head a", option(OptionKind::Shopt, "dotglob")),
            ("ls -l *.c | grep -r x", option(OptionKind::Shopt, "nullglob")),
            ("grep -r '*' src", option(OptionKind::Set, "nullglob")),
            ("head '*'", option(OptionKind::Set, "globdots")),
            ("head *", variable("CDPATH")),
            ("cd ./gh && cat x", variable("CDPATH")),
            ("cd /gh; cd ~; cd ..; cd -; cd", variable("CDPATH")),
            ("ls gh", option(OptionKind::Shopt, "cdable_vars")),
            ("cd x", option(OptionKind::Set, "chaselinks")),
        ] {
            assert_eq!(why(line, item.clone(), "/x"), None, "{line} {item:?}");
        }
        assert_eq!(why("cd gh", Item::Exported("CDPATH".to_owned()), ""), None);
    }
}
