use super::*;

fn change(steps: &[(Item, Option<&str>, Option<&str>)]) -> StateChange {
    let value = |text: Option<&str>| text.map(|text| vec![text.as_bytes().to_vec()]);
    let step = |(item, before, after): &(Item, Option<&str>, Option<&str>)| {
        (item.clone(), Step { before: value(*before), after: value(*after) })
    };
    StateChange { steps: steps.iter().map(step).collect() }
}

fn text(change: &StateChange, width: usize, output_style: OutputStyle) -> String {
    summary(change, Path::new("/home/ann"), width, output_style).map(|line| line.to_string()).unwrap_or_default()
}

fn everything() -> StateChange {
    let name = str::to_owned;
    change(&[
        (Item::Folder, Some("/"), Some("/home/ann/src")),
        (Item::Exported(name("BAR")), Some("x"), None),
        (Item::Exported(name("FOO_TOKEN")), None, Some("hush")),
        (Item::Exported(name("PATH")), Some("/bin"), Some("/usr/bin")),
        (Item::Alias(AliasKind::Command, name("ll")), None, Some("ls -l")),
        (Item::Alias(AliasKind::Global, name("G")), Some("x"), None),
        (Item::Function(name("f")), None, Some("")),
        (Item::Abbreviation(name("gco")), None, Some("")),
        (Item::Variable(name("x")), None, Some("")),
        (Item::Option(OptionKind::Set, name("noclobber")), None, Some("")),
        (Item::Option(OptionKind::Shopt, name("dotglob")), Some(""), None),
        (Item::Trap(name("DEBUG")), None, Some("")),
        (Item::Hashed(name("ls")), Some(""), None),
        (Item::Keys, Some(""), Some("x")),
        (Item::Umask, Some("0022"), Some("0077")),
        (Item::DirectoryStack, None, Some("/")),
        (Item::Job(name("17")), None, Some("")),
    ])
}

#[test]
fn every_kind_of_change_is_named_and_no_value_is_shown() {
    assert_eq!(
        text(&everything(), 500, OutputStyle::Rich),
        "  ↳ cd ~/src · -BAR +FOO_TOKEN ~PATH · alias ll, unalias -g G · function f · abbr gco · variable x · set -o noclobber, \
         shopt -u dotglob · trap DEBUG, -hash ls, key bindings · umask 0077 · directory stack · 1 job"
    );
    assert_eq!(
        text(&everything(), 500, OutputStyle::Accessible),
        "In the shell: now in ~/src, unset BAR, set FOO_TOKEN, changed PATH, alias ll, unalias -g G, function f, abbr gco, variable x, \
         set -o noclobber, shopt -u dotglob, trap DEBUG, -hash ls, key bindings, umask 0077, directory stack, 1 job."
    );
}

#[test]
fn a_receipt_is_one_line_however_narrow_the_terminal() {
    for width in 1..120 {
        let line = summary(&everything(), Path::new("/"), width, OutputStyle::Rich).unwrap();
        assert!(line.width() <= width, "{width}: {line}");
    }
}

#[test]
fn many_names_are_counted_and_nothing_is_no_line() {
    let many: Vec<_> = (0..20).map(|n| (Item::Exported(format!("V{n:02}")), None, Some("1"))).collect();
    assert!(text(&change(&many), 500, OutputStyle::Rich).ends_with("+V07 12 more"));
    assert_eq!(named(change(&many).steps.keys()).split(", ").last(), Some("12 more"));
    assert_eq!(text(&StateChange::default(), 80, OutputStyle::Rich), "");
}

#[test]
fn names_that_would_draw_do_not() {
    let item = Item::Function("a\u{1b}[2J\nb".into());
    let shown = text(&change(&[(item.clone(), None, Some(""))]), 80, OutputStyle::Rich) + &named([&item]);
    assert!(!shown.contains(char::is_control), "{shown:?}");
}
