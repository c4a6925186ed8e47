//! Inspects missing programs and modules: finds similar names, and packages that have them.

use super::{
    super::super::{
        answer::{code, human_list},
        context::PastCommand,
        run::{Halt, Run},
        shell_line::{is_plain_name, word},
    },
    nearest::{corrected, nearest_commands},
    read,
    seen::{Remedy, Seen, glance},
};

/// Python modules whose package has another name.
const PYTHON_PACKAGES: [(&str, &str); 8] = [
    ("yaml", "pyyaml"),
    ("cv2", "opencv-python"),
    ("PIL", "pillow"),
    ("sklearn", "scikit-learn"),
    ("bs4", "beautifulsoup4"),
    ("dotenv", "python-dotenv"),
    ("dateutil", "python-dateutil"),
    ("Crypto", "pycryptodome"),
];

/// Programs that find the package of a command: their name, and the line to run, `{}` for the command.
const FINDERS: [(&str, &str); 5] = [
    ("apt-file", "apt-file search -x -l 'bin/{}$'"),
    ("pkgfile", "pkgfile {}"),
    ("dnf", "dnf -C -q provides '*/bin/{}'"),
    ("brew", "brew which-formula {}"),
    ("apt-cache", "apt-cache policy {}"),
];

pub(super) fn command(line: &str, failed: &PastCommand, run: &mut Run<'_>) -> Result<Seen, Halt> {
    let Some(name) = read::missing_program(line) else { return Ok(Seen::default()) };
    let near = nearest_commands(name, run)?;
    let package = match told_package(failed) {
        Some(package) => Some(package),
        None if near.is_empty() => find_package(name, run)?,
        None => None,
    };
    let mut seen = Seen::default();
    if let [only] = near.as_slice()
        && let Some(line) = corrected(&failed.line, name, only)
    {
        seen.text = format!(" Did you mean {}?", code(&line));
        seen.remedy = Some(Remedy { done: format!("I ran {}.", code(&line)), line });
    } else if !near.is_empty() {
        seen.text = format!(" Nearest are {}.", human_list(&near, "and"));
    }
    match package {
        Some(package) => seen.text.push_str(&format!(
            " The package {} has a program of that name: `install {package}` asks to install it.",
            code(&package)
        )),
        None if near.is_empty() => seen.text.push_str(" Check the spelling; I know of no package that has it."),
        None => {}
    }
    Ok(seen)
}

/// The package that the shell's own handler names: `sudo apt install htop`.
fn told_package(failed: &PastCommand) -> Option<String> {
    failed.output.iter().find_map(|line| {
        let (_, rest) = line.split_once("install ").filter(|(before, _)| {
            ["apt", "apt-get", "dnf", "snap", "brew"].iter().any(|manager| before.trim_end().ends_with(manager))
        })?;
        let name = rest.split_whitespace().find(|word| !word.starts_with('-'))?;
        is_plain_name(name).then(|| name.to_owned())
    })
}

/// Asks the first finder that is installed. Without a finder the answer names no package.
fn find_package(name: &str, run: &mut Run<'_>) -> Result<Option<String>, Halt> {
    let finders: Vec<&str> = FINDERS.iter().map(|(program, _)| *program).collect();
    let Some(there) = glance(run, &format!("command -v {}", finders.join(" ")))? else { return Ok(None) };
    let is_there = |program: &str| there.lines().iter().any(|line| line.trim().rsplit('/').next() == Some(program));
    let Some((program, line)) = FINDERS.iter().find(|(program, _)| is_there(program)) else { return Ok(None) };
    let Some(output) = glance(run, &line.replace("{}", name))?.filter(|output| !output.failed) else { return Ok(None) };
    let found = match *program {
        // `htop:`, then in a later line `Candidate: 3.2.2-2`; an unknown name prints nothing.
        "apt-cache" => output
            .text
            .lines()
            .any(|line| line.trim().strip_prefix("Candidate: ").is_some_and(|version| version != "(none)"))
            .then(|| name.to_owned()),
        // `htop-3.2.2-1.fc39.x86_64 : Interactive process viewer`
        "dnf" => output.first().and_then(|line| line.split(" : ").next()).and_then(|nevra| {
            let mut parts = nevra.rsplitn(3, '-');
            parts.nth(2).map(str::to_owned)
        }),
        _ => output.first().map(|line| line.rsplit('/').next().unwrap_or(line).to_owned()),
    };
    Ok(found.filter(|package| is_plain_name(package)))
}

pub(super) fn module(line: &str, run: &mut Run<'_>) -> Result<Seen, Halt> {
    let Some(name) = read::module(line) else { return Ok(Seen::default()) };
    let lower = line.to_lowercase();
    if lower.contains("no module named") {
        python(name, run)
    } else if lower.contains("cannot load such file") {
        Ok(Seen::text(format!(" `gem install {name}` gets it, or name it in the `Gemfile` and run `bundle install`.")))
    } else if lower.contains("in @inc") {
        let debian = name.to_lowercase().replace("::", "-");
        Ok(Seen::text(format!(" `cpan {name}` gets it, or the package `lib{debian}-perl` of Debian and Ubuntu.")))
    } else {
        node(name, run)
    }
}

fn python(name: &str, run: &mut Run<'_>) -> Result<Seen, Halt> {
    let top = name.split('.').next().unwrap_or(name);
    let package = PYTHON_PACKAGES.iter().find(|(module, _)| *module == top).map_or(top, |(_, package)| *package);
    let there = glance(run, "ls -d .venv venv requirements.txt pyproject.toml 2> /dev/null")?;
    let has = |file: &str| there.as_ref().is_some_and(|output| output.lines().iter().any(|line| line.trim() == file));
    let environment = [".venv", "venv"].into_iter().find(|folder| has(folder));
    let python = environment.map_or("python3".to_owned(), |folder| format!("{folder}/bin/python"));
    let mut text = format!(" It is {}: `{python} -m pip install {package}`", code(name));
    if has("requirements.txt") {
        text.push_str(&format!(", or all that the project needs: `{python} -m pip install -r requirements.txt`"));
    }
    text.push('.');
    if let Some(folder) = environment {
        text.push_str(&format!(
            " This folder has a virtual environment, {0}; `source {folder}/bin/activate` makes the shell use it.",
            code(folder)
        ));
    }
    Ok(Seen::text(text))
}

fn node(name: &str, run: &mut Run<'_>) -> Result<Seen, Halt> {
    if name.starts_with(['.', '/']) {
        return Ok(Seen::text(format!(" It is a file, {}: check its name and the folder you are in.", code(name))));
    }
    let line = "ls -d package.json node_modules pnpm-lock.yaml yarn.lock 2> /dev/null";
    let there = glance(run, line)?;
    let has = |file: &str| there.as_ref().is_some_and(|output| output.lines().iter().any(|line| line.trim() == file));
    let (all, one) = if has("pnpm-lock.yaml") {
        ("pnpm install", "pnpm add")
    } else if has("yarn.lock") {
        ("yarn install", "yarn add")
    } else {
        ("npm install", "npm install")
    };
    // `lodash/fp` and `@a/b/c` are parts of the packages `lodash` and `@a/b`.
    let parts = if name.starts_with('@') { 2 } else { 1 };
    let package: Vec<&str> = name.split('/').take(parts).collect();
    let package = package.join("/");
    Ok(Seen::text(if has("package.json") && !has("node_modules") {
        format!(" It is {}, and nothing of the project is installed yet: `{all}`.", code(name))
    } else {
        format!(" It is {}: `{one} {}` adds it.", code(name), word(&package))
    }))
}
