//! Inspects the files, ports and disks that a message names. All of its command lines only read.

use super::{
    super::{
        super::{
            answer::{code, human_list, list, table},
            context::PastCommand,
            run::{Halt, Run, Subject},
            shell_line::{is_plain_name, path, word},
        },
        git_changes::is_conflict,
        permissions::details,
        ports::{Listener, listeners},
    },
    messages::Look,
    nearest::{corrected, nearest, nearest_commands},
    read,
    seen::{Remedy, Seen, glance},
};

/// Inspects the cause of a failure; `line` is the message.
pub(super) fn look(what: Look, line: &str, failed: &PastCommand, run: &mut Run<'_>) -> Result<Seen, Halt> {
    match what {
        Look::Nothing => Ok(Seen::default()),
        Look::Command => super::package::command(line, failed, run),
        Look::Denied => denied(line, failed, run),
        Look::Missing => missing(line, failed, run),
        Look::Port => port(line, failed, run),
        Look::Space => space(run),
        Look::Conflict => conflict(run),
        Look::Module => super::package::module(line, run),
        Look::Interpreter => interpreter(line, failed, run),
        Look::Library => library(line, run),
        Look::Network => network(run),
        Look::Refused => refused(line, failed, run),
        Look::Code => Ok(first_error(failed)),
        Look::Remedy(marker) => Ok(told_remedy(marker, failed)),
    }
}

/// The path of the message's file, relative to the shell's current folder.
fn located(name: &str, failed: &PastCommand, run: &Run<'_>) -> String {
    let moved = failed.cwd.as_deref().filter(|cwd| run.question.cwd.as_deref().is_some_and(|now| now != *cwd));
    match moved {
        Some(cwd) if !name.starts_with(['/', '~']) => format!("{}/{name}", cwd.trim_end_matches('/')),
        _ => name.to_owned(),
    }
}

fn parent(name: &str) -> &str {
    match name.trim_end_matches('/').rsplit_once('/') {
        Some(("", _)) => "/",
        Some((folder, _)) => folder,
        None => ".",
    }
}

fn denied(line: &str, failed: &PastCommand, run: &mut Run<'_>) -> Result<Seen, Halt> {
    let Some(name) = read::file(line) else { return Ok(Seen::default()) };
    let place = located(name, failed, run);
    let Some(me) = glance(run, "id -u -n")? else { return Ok(Seen::default()) };
    let me = me.first().unwrap_or("?").to_owned();
    for place in [place.as_str(), parent(&place)] {
        let Some(output) = glance(run, &format!("ls -l -d {}", path(place)))? else { continue };
        let Some((mode, owner, group)) = output.first().and_then(details).filter(|_| !output.failed) else { continue };
        let kind = if mode.starts_with('d') { "folder" } else { "file" };
        let mut text = format!(
            " The {kind} {} belongs to **{owner}**, group **{group}** (mode {}); you are **{me}**.",
            code(place),
            code(mode)
        );
        let is_started = shlex::split(&failed.line).is_some_and(|words| words.first().is_some_and(|word| word == name));
        if kind == "file" && is_started && owner == me && !mode.contains('x') {
            text.push_str(" It is yours, but it is not executable.");
            let remedy = Remedy {
                line: format!("chmod u+x {}", path(place)),
                done: format!("I made {} executable; run the line again.", code(place)),
            };
            return Ok(Seen { text, remedy: Some(remedy), ..Seen::default() });
        }
        if owner == "root" && me != "root" {
            text.push_str(" Only `sudo` in front of the command would help, if you want to do this at all.");
        }
        return Ok(Seen::text(text));
    }
    Ok(Seen::default())
}

fn missing(line: &str, failed: &PastCommand, run: &mut Run<'_>) -> Result<Seen, Halt> {
    let Some(name) = read::file(line) else { return Ok(Seen::text(" Check the spelling and the folder you are in.")) };
    let place = located(name, failed, run);
    let folder = parent(&place).to_owned();
    let last = place.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
    let listing = format!("find {} -mindepth 1 -maxdepth 1 -printf '%f\\n' 2> /dev/null | head -n 1000", path(&folder));
    let Some(output) = glance(run, &listing)? else { return Ok(Seen::default()) };
    let names = output.lines();
    if names.is_empty() {
        return Ok(Seen::text(format!(" The folder {} is empty or does not exist either.", code(&folder))));
    }
    let near = nearest(last, names.iter().copied());
    Ok(match near.as_slice() {
        [] => Seen::text(format!(" Nothing in {} has a similar name; check the folder you are in.", code(&folder))),
        near => Seen::text(format!(" Did you mean {}?", human_list(near, "or"))),
    })
}

fn holders(port: u64, run: &mut Run<'_>) -> Result<Option<Vec<Listener>>, Halt> {
    let Some(output) = glance(run, "ss -l -t -u -n -p")?.filter(|output| !output.failed) else { return Ok(None) };
    Ok(Some(listeners(&output.text).into_iter().filter(|found| found.port == port).collect()))
}

fn port(line: &str, failed: &PastCommand, run: &mut Run<'_>) -> Result<Seen, Halt> {
    let nearby =
        || failed.output.iter().filter(|line| line.to_lowercase().contains("port")).find_map(|line| read::port(line));
    let Some(port) = read::port(line).or_else(nearby).or_else(|| read::port(&failed.line)) else {
        return Ok(Seen::text(" It does not say which port; `show all open ports` lists the program on each port."));
    };
    let Some(found) = holders(port, run)? else { return Ok(Seen::text(format!(" It is port {port}."))) };
    let pids: Vec<u64> = found.iter().filter_map(|listener| listener.pid).collect();
    let text = match found.first() {
        None => format!(" It is port {port}, which is free now: run the line again."),
        Some(Listener { pid: None, .. }) => format!(" It is port {port}, held by a process of another user."),
        Some(Listener { pid: Some(pid), program, .. }) => format!(
            " It is port {port}, held by {} (process {pid}). `kill what is using port {port}` ends that, or choose another port.",
            code(program)
        ),
    };
    Ok(Seen {
        text,
        subject: if pids.is_empty() { Subject::Nothing } else { Subject::Processes(pids) },
        ..Seen::default()
    })
}

/// File systems that are nearly full, by space or else by number of files.
fn space(run: &mut Run<'_>) -> Result<Seen, Halt> {
    for (line, what) in [("df -h", "space"), ("df -i -h", "inodes (room for more files)")] {
        let Some(output) = glance(run, line)? else { return Ok(Seen::default()) };
        let full: Vec<Vec<String>> = output.text.lines().filter_map(full_row).collect();
        if !full.is_empty() {
            return Ok(Seen::text(format!(
                " These file systems are out of {what}:\n\n\
                 {}\n\n\
                 `what is big in FOLDER?` shows what uses it.",
                table(&["Used", "Left", "File system"], &full)
            )));
        }
    }
    Ok(Seen::text(" No file system is full now, or the limit is for your user only."))
}

/// `Filesystem Size Used Avail Use% Mounted on`.
fn full_row(line: &str) -> Option<Vec<String>> {
    const FULL_PERCENT: u32 = 95;
    let words: Vec<&str> = line.split_whitespace().collect();
    let share = words.get(4)?;
    let is_full = share.trim_end_matches('%').parse::<u32>().is_ok_and(|percent| percent >= FULL_PERCENT);
    // Images of read-only packages are always full.
    let is_image = words[0].starts_with("/dev/loop") || words.get(5).is_some_and(|mount| mount.starts_with("/snap"));
    (is_full && !is_image).then(|| vec![(*share).to_owned(), words[3].to_owned(), words[5..].join(" ")])
}

fn conflict(run: &mut Run<'_>) -> Result<Seen, Halt> {
    let Some(output) = glance(run, "git status --short")?.filter(|output| !output.failed) else {
        return Ok(Seen::default());
    };
    let names: Vec<&str> =
        output.text.lines().filter(|line| is_conflict(line)).filter_map(|line| line.get(3..)).collect();
    if names.is_empty() {
        return Ok(Seen::text(" No file is in conflict any more."));
    }
    let text = format!(
        "\n\n\
         These files are in conflict:\n\n\
         {}\n\n\
         In each, look for `<<<<<<<`, `=======` and `>>>>>>>`. `git merge --abort` undoes the merge.",
        list(&names)
    );
    let names = names.into_iter().map(str::to_owned).collect();
    Ok(Seen { text, subject: Subject::Files { names, again: None }, ..Seen::default() })
}

fn interpreter(line: &str, failed: &PastCommand, run: &mut Run<'_>) -> Result<Seen, Halt> {
    let Some(script) = read::script(line, &failed.line) else { return Ok(Seen::default()) };
    let place = located(&script, failed, run);
    let Some(output) = glance(run, &format!("head -n 1 {} | od -A n -c", path(&place)))? else {
        return Ok(Seen::default());
    };
    // `#   !   /   b   i   n   /   s   h  \r  \n`: the letters one by one, without spaces.
    let letters: String = output.text.split_whitespace().collect();
    if letters.contains("\\r") {
        let remedy = Remedy {
            line: format!("sed -i -e 's/\\r$//' {}", path(&place)),
            done: format!("{} has Unix line ends now; run it again.", code(&place)),
        };
        let text =
            format!(" {} has Windows line ends, and the carriage return is read as part of the name.", code(&place));
        return Ok(Seen { text, remedy: Some(remedy), ..Seen::default() });
    }
    let Some(named) = letters.strip_prefix("#!").and_then(|rest| rest.split("\\n").next()) else {
        return Ok(Seen::text(format!(" {} does not begin with `#!`.", code(&place))));
    };
    let program = named.trim_start_matches("/usr/bin/env").rsplit('/').next().unwrap_or_default();
    let near = nearest_commands(program, run)?;
    let hint = if near.is_empty() { String::new() } else { format!(" There is {}.", human_list(&near, "or")) };
    Ok(Seen::text(format!(" It names {}.{hint}", code(named))))
}

fn library(line: &str, run: &mut Run<'_>) -> Result<Seen, Halt> {
    let Some(name) = read::library(line) else { return Ok(Seen::default()) };
    let stem = name.split(".so").next().unwrap_or(name);
    let search =
        format!("find /usr/lib /usr/local/lib -name {} 2> /dev/null | head -n 5", word(&format!("{stem}.so*")));
    let Some(output) = glance(run, &search)? else { return Ok(Seen::default()) };
    let found = output.lines();
    Ok(Seen::text(if found.is_empty() {
        format!(" No version of {} is on this machine: `search for a package named {stem}` may find it.", code(name))
    } else {
        format!(
            " It is {}. These are here, of another version or in a folder that is not searched:\n\n{}",
            code(name),
            list(&found)
        )
    }))
}

fn network(run: &mut Run<'_>) -> Result<Seen, Halt> {
    let Some(output) = glance(run, "ip route")?.filter(|output| !output.failed) else { return Ok(Seen::default()) };
    let has_default = output.text.lines().any(|line| line.starts_with("default"));
    Ok(Seen::text(if has_default {
        " This machine has a network, so look at the spelling first, then at the name servers (`which dns servers do i use?`)."
    } else {
        " This machine has no route to the outside now: it is offline."
    }))
}

fn refused(line: &str, failed: &PastCommand, run: &mut Run<'_>) -> Result<Seen, Halt> {
    let is_local = |text: &str| ["localhost", "127.0.0.1", "::1", "0.0.0.0"].iter().any(|name| text.contains(name));
    let Some(port) = read::port(line).or_else(|| read::port(&failed.line)) else { return Ok(Seen::default()) };
    if !is_local(line) && !is_local(&failed.line) {
        return Ok(Seen::text(format!(" The service on port {port} is down there, or a firewall blocks it.")));
    }
    let Some(found) = holders(port, run)? else { return Ok(Seen::default()) };
    Ok(Seen::text(match found.first() {
        None => format!(" Nothing listens on port {port} of this machine: start the server first."),
        Some(listener) => format!(" Something listens on port {port} now, at {}.", code(&listener.address)),
    }))
}

fn first_error(failed: &PastCommand) -> Seen {
    let Some((line, place)) = read::first_error(&failed.output) else { return Seen::default() };
    let place = place.map(|place| format!(", at {}", code(&place))).unwrap_or_default();
    Seen::text(format!(" Begin with the first error: {}{place}.", code(&line)))
}

/// Some programs name the remedy themselves, in the line of the marker or in the next one.
fn told_remedy(marker: &str, failed: &PastCommand) -> Seen {
    let Some(at) = failed.output.iter().position(|line| line.contains(marker)) else { return Seen::default() };
    let line = failed.output[at].trim();
    let ends_there = line.ends_with("is") || line.ends_with(':') || line.ends_with("are");
    let told = if ends_there { failed.output.get(at + 1).map_or(line, |next| next.trim()) } else { line };
    let told = told.trim_end_matches('.');
    let similar = (marker == "most similar command").then(|| failed.line.split_whitespace().nth(1)).flatten();
    // Output of a program becomes part of a line only if it is a plain word.
    match similar.filter(|_| is_plain_name(told)).and_then(|typed| corrected(&failed.line, typed, told)) {
        Some(line) => Seen {
            text: format!(" It suggests {}.", code(told)),
            remedy: Some(Remedy { done: format!("I ran {}.", code(&line)), line }),
            ..Seen::default()
        },
        None => Seen::text(format!(" It suggests: {}.", code(told))),
    }
}
