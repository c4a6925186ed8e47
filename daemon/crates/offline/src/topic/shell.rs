//! Intents that change the shell or the folder tree: moving around, variables, making, deleting, moving.

use super::{
    super::{
        answer::{code, list},
        context::Dialect,
        intent::{Intent, Topic},
        references::{pointed_file, pointed_files_now},
        run::{Output, Reply, Run, Step},
        shell_line::{is_variable_name, path, paths, word},
        slots::Slots,
    },
    disk::biggest_subfolder,
    split_first,
};

pub(super) const INTENTS: &[Intent] = &[
    Intent {
        name: "shell.go-biggest",
        topic: Topic::Shell,
        example: "go to the biggest folder and set FOO=1",
        patterns: &["go big folder ?<place> ?it", "go big ?<place>"],
        plan: go_biggest,
    },
    Intent {
        name: "shell.go-newest",
        topic: Topic::Shell,
        example: "go to the newest folder",
        patterns: &["go newest folder ?<place> ?changed"],
        plan: go_newest,
    },
    Intent {
        name: "shell.go-home",
        topic: Topic::Shell,
        example: "go home",
        patterns: &["go home ?folder ?to", "cd", "go", "go home ?folder", "go ~"],
        plan: |_, run| go(run, "cd", "home"),
    },
    Intent {
        name: "shell.go-up",
        topic: Topic::Shell,
        example: "go up one folder",
        patterns: &["goup ?go ?folder", "go up ?folder ?<num>", "goup one"],
        plan: |_, run| go(run, "cd ..", "one folder up"),
    },
    Intent {
        name: "shell.go-back",
        topic: Topic::Shell,
        example: "go back to the previous folder",
        patterns: &["goback ?go ?folder"],
        plan: |_, run| go(run, "cd -", "back"),
    },
    Intent {
        name: "shell.go",
        topic: Topic::Shell,
        example: "cd into src",
        patterns: &[
            "cd|chdir|enter|jump|navigate|switch|gehe|wechsle <target> ?folder -big -newest -branch -git -home",
            "go to|into|in|nach|zu <target> ?folder -big -newest -branch -git -home -tree",
            "go <place> ?folder -big -newest -branch -git -home",
            "go it ?folder",
            "change folder <target>",
            "open folder <target>",
            "go folder <target>",
        ],
        plan: |slots, run| {
            let target = pointed_file(slots, run)?;
            go(run, &format!("cd {}", path(&target)), &code(&target))
        },
    },
    Intent {
        name: "shell.where",
        topic: Topic::Shell,
        example: "where am i?",
        patterns: &[
            "pwd ?folder -path",
            "what|where folder -find -name ?<place> -path",
            "path folder ?show ?<place> -path",
            "pwd ?show ?it ?what ?folder ?where -path",
        ],
        plan: |_, run| {
            let output = run.shell("pwd")?;
            Ok(Reply::new(format!("You are in {}.", code(output.first().unwrap_or_default()))))
        },
    },
    Intent {
        name: "shell.set",
        topic: Topic::Shell,
        example: "set FOO=1",
        patterns: &[
            "set <assign> ?variable ?env",
            "<assign> ?env ?variable",
            "set <var2> ?variable ?env",
            "set|make variable|env <name2> ?env",
        ],
        plan: set,
    },
    Intent {
        name: "shell.unset",
        topic: Topic::Shell,
        example: "unset FOO",
        patterns: &["unset <name> ?variable ?env", "delete variable <name> ?env"],
        plan: unset,
    },
    Intent {
        name: "shell.make-folder",
        topic: Topic::Shell,
        example: "make a folder named notes",
        patterns: &["make folder <target> ?name", "mkdir <target>"],
        plan: make_folder,
    },
    Intent {
        name: "shell.make-file",
        topic: Topic::Shell,
        example: "create an empty file notes.txt",
        patterns: &[
            "make file <target> ?name ?empty -folder -archive -executable",
            "make <path> ?empty ?it -folder -executable -archive -branch",
            "touch <name> ?file",
        ],
        plan: make_file,
    },
    Intent {
        name: "shell.write",
        topic: Topic::Shell,
        example: "write 'hello' into notes.txt",
        patterns: &[
            "write|add <quote> <place> ?text ?file ?word ?line",
            "write|add <quote> ?text ?file ?word ?line",
            "move <quote> <place> ?line ?text ?file",
        ],
        plan: write,
    },
    Intent {
        name: "shell.delete",
        topic: Topic::Shell,
        example: "delete old.txt",
        patterns: &[
            "delete <names> ?file ?folder ?all -branch -package -variable -line -text -commit -user -tag -stash",
            "delete it|ordinal|first|last ?it ?file ?folder ?all ?result -line -commit -branch",
        ],
        plan: delete,
    },
    Intent {
        name: "shell.rename",
        topic: Topic::Shell,
        example: "rename a.txt to b.txt",
        patterns: &[
            "rename|mv <name2> ?file ?folder ?it",
            "move|rename <path2> ?file ?folder",
            "move file|folder <name2>",
            "move|rename it|ordinal|first|last <target> ?it ?all ?file ?folder",
            "rename <name2> ?file",
        ],
        plan: |slots, run| transfer(slots, run, "mv -n -v", "is now"),
    },
    Intent {
        name: "shell.copy",
        topic: Topic::Shell,
        example: "copy a.txt to backup/",
        patterns: &[
            "cp <name2> ?file ?folder",
            "copy|duplicate <path2> ?file ?folder",
            "copy file|folder <name2>",
            "copy it|ordinal|first|last <target> ?it ?all ?file ?folder",
        ],
        plan: |slots, run| transfer(slots, run, "cp -n -R -v", "was copied to"),
    },
    Intent {
        name: "shell.backup",
        topic: Topic::Shell,
        example: "make a backup of notes.txt",
        patterns: &[
            "backup <target> ?make ?file ?folder ?project -find -show -delete -extract -restore -into -to",
            "copy <name> ?make ?file ?folder -to -into -as -called -it -all",
            "copy <place> folder ?make -to -into -as -called -it -all",
        ],
        plan: backup,
    },
    Intent {
        name: "shell.link",
        topic: Topic::Shell,
        example: "make a symlink from a.txt to b.txt",
        patterns: &[
            "make symlink|link <name2>",
            "symlink <path2>",
            "link <path2> ?file",
            "ln <name2>",
            "link <name2> ?file ?name",
            "link from <name2>",
        ],
        plan: |slots, run| transfer(slots, run, "ln -s -v", "can be reached as"),
    },
];

/// Makes a copy next to the original; nothing is replaced.
fn backup(slots: &Slots, run: &mut Run<'_>) -> Step {
    let named = slots.target();
    let source = match named {
        "." => run.shell("pwd")?.first().unwrap_or_default().to_owned(),
        named => named.trim_end_matches('/').to_owned(),
    };
    let copy = format!("{source}.bak");
    if named != "." && run.attempt(&format!("ls -d {}", path(&source)))?.failed {
        return Ok(Reply::new(format!("There is no {} here; nothing was copied.", code(&source))));
    }
    if !run.attempt(&format!("ls -d {} 2> /dev/null", path(&copy)))?.failed {
        return Ok(Reply::new(format!("{} is already there; I did not replace it.", code(&copy))));
    }
    run.shell(&format!("cp -n -R -p {} {}", path(&source), path(&copy)))?;
    Ok(Reply::about(&copy, format!("{} was copied to {}.", code(&source), code(&copy))))
}

/// The outcome, unless the command ran in a separate shell, where nothing of it lasts.
fn stuck(output: &Output, outcome: String) -> String {
    if output.sticks {
        outcome
    } else {
        format!("{} ran in a separate shell, so your shell is unchanged.", code(&output.command))
    }
}

fn go(run: &mut Run<'_>, line: &str, place: &str) -> Step {
    let output = run.shell(line)?;
    Ok(Reply::new(stuck(&output, format!("Your shell is now in {place}."))))
}

fn go_biggest(slots: &Slots, run: &mut Run<'_>) -> Step {
    let (size, folder) = biggest_subfolder(slots.folder(), run)?;
    let output = run.shell(&format!("cd {}", path(&folder)))?;
    let text = format!("The biggest folder is {} with {size}. Your shell is now there.", code(&folder));
    Ok(Reply::about(".", stuck(&output, text)))
}

fn go_newest(slots: &Slots, run: &mut Run<'_>) -> Step {
    let folder = slots.folder();
    let line = format!(
        "find {} -mindepth 1 -maxdepth 1 -type d -not -name '.*' -printf '%T@ %p\\n' | sort -rn | head -n 1",
        path(folder)
    );
    let output = run.shell(&line)?;
    let Some((_, newest)) = output.first().and_then(split_first) else {
        return Ok(Reply::new(format!("There is no folder in {}.", code(folder))));
    };
    let moved = run.shell(&format!("cd {}", path(newest)))?;
    let text = format!("The folder changed last is {}. Your shell is now there.", code(newest));
    Ok(Reply::about(".", stuck(&moved, text)))
}

fn set(slots: &Slots, run: &mut Run<'_>) -> Step {
    let (name, value) = match (&slots.assignment, slots.names.as_slice()) {
        (Some(pair), _) => pair.clone(),
        (None, [name, value]) => (name.clone(), value.clone()),
        _ => return Ok(Reply::new("Please say it like `set FOO=1`.")),
    };
    if !is_variable_name(&name) {
        return Ok(Reply::new(format!("{} cannot be the name of a variable.", code(&name))));
    }
    let line = format!("export {name}={}", word(&value));
    let output = run.shell(&line)?;
    let text =
        format!("{} is set to {} in your shell, and programs started from it see it.", code(&name), code(&value));
    Ok(Reply::new(stuck(&output, text)))
}

fn unset(slots: &Slots, run: &mut Run<'_>) -> Step {
    let name = slots.name();
    if !is_variable_name(name) {
        return Ok(Reply::new(format!("{} cannot be the name of a variable.", code(name))));
    }
    let verb = if run.question.dialect == Dialect::Fish { "set -e" } else { "unset" };
    let output = run.shell(&format!("{verb} {name}"))?;
    Ok(Reply::new(stuck(&output, format!("{} is no longer set.", code(name)))))
}

fn make_folder(slots: &Slots, run: &mut Run<'_>) -> Step {
    let name = below_place(slots);
    run.shell(&format!("mkdir -p {}", path(&name)))?;
    Ok(Reply::about(&name, format!("The folder {} is there.", code(&name))))
}

fn make_file(slots: &Slots, run: &mut Run<'_>) -> Step {
    let name = below_place(slots);
    run.shell(&format!("touch {}", path(&name)))?;
    Ok(Reply::about(&name, format!("The file {} is there.", code(&name))))
}

/// The path of a name at a place: "make a folder x in y" means `y/x`.
fn below_place(slots: &Slots) -> String {
    match (slots.names.first(), slots.place.as_deref()) {
        (Some(name), Some(place)) if place != "." => format!("{}/{name}", place.trim_end_matches('/')),
        _ => slots.target().to_owned(),
    }
}

fn write(slots: &Slots, run: &mut Run<'_>) -> Step {
    let Some(name) = slots.names.first().or(slots.place.as_ref()) else {
        return Ok(Reply::new("Please say into which file: `write 'hello' into notes.txt`."));
    };
    let text = slots.text.as_deref().unwrap_or_default();
    let exists = !run.attempt(&format!("ls -d {} 2> /dev/null", path(name)))?.failed;
    if exists {
        run.shell(&format!("printf '%s\\n' {} >> {}", word(text), path(name)))?;
        return Ok(Reply::about(name, format!("I added the line to {}.", code(name))));
    }
    run.write(name, &format!("{text}\n"))?;
    Ok(Reply::about(name, format!("I wrote {}.", code(name))))
}

/// Looks first, so that the question for consent names existing files, and a folder is not taken for a file.
fn delete(slots: &Slots, run: &mut Run<'_>) -> Step {
    let names = match (slots.names.is_empty(), &slots.place) {
        // "Delete the first one in src" has both; the files shown before count.
        (true, Some(_)) => pointed_files_now(&Slots { place: None, ..slots.clone() }, run)?,
        _ => pointed_files_now(slots, run)?,
    };
    let names: Vec<String> = match slots.place.as_deref() {
        Some(place) if place != "." && names.len() == 1 && !names[0].contains('/') => {
            vec![format!("{}/{}", place.trim_end_matches('/'), names[0])]
        }
        _ => names,
    };
    let spelled = names.iter().map(|name| code(name)).collect::<Vec<_>>().join(", ");
    if names.iter().any(|name| is_precious(name)) {
        return Ok(Reply::new(format!("I do not delete {spelled}.")));
    }
    let looked = run.attempt(&format!("ls -l -d {}", paths(&names)))?;
    if looked.failed {
        return Ok(Reply::new(format!("Nothing was deleted. {}", looked.failure())));
    }
    let has_folder = looked.lines().iter().any(|line| line.starts_with('d'));
    run.shell(&format!("rm {}{}", if has_folder { "-r " } else { "" }, paths(&names)))?;
    Ok(Reply::new(format!("{spelled} is gone.")))
}

/// Whole trees, which no name of a file means.
fn is_precious(name: &str) -> bool {
    let bare = name.trim_end_matches(['/', '*']);
    ["", ".", "..", "~"].contains(&bare) || bare.split('/').all(|part| ["", ".", ".."].contains(&part))
}

fn transfer(slots: &Slots, run: &mut Run<'_>, verb: &str, outcome: &str) -> Step {
    let [from, to] = slots.names.as_slice() else { return transfer_pointed(slots, run, verb, outcome) };
    let output = run.shell(&format!("{verb} {} {}", path(from), path(to)))?;
    // These verbs report each action; silence means that the name is already taken.
    if output.lines().is_empty() {
        return Ok(Reply::new(format!("Nothing was done: {} is already there.", code(to))));
    }
    Ok(Reply::about(to, format!("{} {outcome} {}.", code(from), code(to))))
}

/// "Move them into archive": moves the files shown before to the place or the one name.
fn transfer_pointed(slots: &Slots, run: &mut Run<'_>, verb: &str, outcome: &str) -> Step {
    let Some(to) = slots.names.first().or(slots.place.as_ref()).cloned() else {
        return Ok(Reply::new("Please name both: from what, to what."));
    };
    let pointed = Slots { names: Vec::new(), place: None, ..slots.clone() };
    let names = pointed_files_now(&pointed, run)?;
    // Several files need a folder, and the slash ensures that the target is one.
    let target = if names.len() > 1 { format!("{}/", path(to.trim_end_matches('/'))) } else { path(&to) };
    let output = run.shell(&format!("{verb} {} {target}", paths(&names)))?;
    if output.lines().is_empty() {
        return Ok(Reply::new(format!("Nothing was done: {} is already there.", code(&to))));
    }
    Ok(Reply::about(&to, format!("This {outcome} {}:\n\n{}", code(&to), list(&names))))
}
