//! Measures the cost of confining a program.

use std::{
    fs,
    process::{Command, Stdio},
    time::Instant,
};

use cohab_e2e::binaries;

use crate::{
    process,
    report::{Report, Samples},
};

const MEASURE: &str = "confine";
const STARTS: usize = 100;
const ADDED_MS: f64 = 1.0;
const ADDED_KIB: f64 = 1024.0;
/// Twenty places of secrets, as a home of some years has them.
const SECRETS: [&str; 20] = [
    ".ssh/id_ed25519",
    ".gnupg/key",
    ".aws/credentials",
    ".kube/config",
    ".docker/config.json",
    ".config/gh/hosts.yml",
    ".config/gcloud/token",
    ".local/share/keyrings/login",
    ".mozilla/cookies",
    ".password-store/mail",
    ".netrc",
    ".npmrc",
    ".pypirc",
    ".pgpass",
    ".git-credentials",
    ".bash_history",
    ".zsh_history",
    ".python_history",
    ".cargo/credentials.toml",
    "work/app/.env",
];
/// Further folders next to them.
const OTHERS: [&str; 6] = [".", ".config", ".local/share", ".local", "work", "work/app"];
const OTHERS_EACH: usize = 10;

pub(crate) fn measure(report: &mut Report, rounds: usize) {
    if !cohab_sandbox::profile::present().can_launch() {
        return report.unmeasured(MEASURE, "a confined program", "this kernel cannot confine");
    }
    // Not in the shared temporary folder: the neighbours of a home with secrets count.
    let Ok(home) = tempfile::tempdir_in("/var/tmp") else {
        return report.unmeasured(MEASURE, "a confined program", "/var/tmp cannot be written");
    };
    let others =
        OTHERS.iter().flat_map(|folder| (0..OTHERS_EACH).map(move |number| format!("{folder}/plain-{number}/x")));
    for name in SECRETS.iter().map(|name| (*name).to_owned()).chain(others) {
        let path = home.path().join(name);
        let made = path.parent().map(fs::create_dir_all);
        if made.is_none_or(|made| made.is_err()) || fs::write(&path, "").is_err() {
            return report.unmeasured(MEASURE, "a confined program", "its home cannot be made");
        }
    }
    let launcher = binaries::program("cohab-confine");
    let command = |is_confined: bool, words: &[&str]| {
        let mut command = Command::new(if is_confined { launcher.as_os_str() } else { words[0].as_ref() });
        if is_confined {
            command.arg("--").arg(words[0]);
        }
        command.args(&words[1..]).current_dir(home.path().join("work/app")).env("HOME", home.path());
        command.stdin(Stdio::piped()).stdout(Stdio::null());
        command
    };
    let mut times = [Samples::default(), Samples::default()];
    for _ in 0..rounds * STARTS {
        for (is_confined, samples) in [false, true].into_iter().zip(&mut times) {
            let start = Instant::now();
            if command(is_confined, &["/bin/true"]).status().is_ok_and(|status| status.success()) {
                samples.push(start.elapsed());
            }
        }
    }
    let [plain, confined] = times;
    report.samples(MEASURE, "a program", "ms", &plain);
    report.samples(MEASURE, "the same, confined", "ms", &confined);
    report.at_most(MEASURE, "added, p50", confined.p50() - plain.p50(), ADDED_MS, "ms");
    let memory = [false, true].map(|is_confined| {
        let Ok(mut child) = command(is_confined, &["/bin/cat"]).stdout(Stdio::piped()).spawn() else { return 0.0 };
        echo_once(&mut child);
        let memory = process::own_memory_kib(child.id());
        drop(child.stdin.take());
        let _ = child.wait();
        memory
    });
    report.at_most(MEASURE, "added memory of a program that runs", memory[1] - memory[0], ADDED_KIB, "KiB");
}

/// After that the program itself runs.
fn echo_once(child: &mut std::process::Child) {
    use std::io::{Read, Write};
    let written = child.stdin.as_mut().map(|input| input.write_all(b"x"));
    if written.is_some_and(|written| written.is_ok()) {
        let _ = child.stdout.as_mut().map(|output| output.read_exact(&mut [0]));
    }
}
