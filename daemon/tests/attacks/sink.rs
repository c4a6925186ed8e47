//! Runs the same attacks with real commands, in a separate network in which every packet returns to its only device, which counts them:
//! 0 are sent, even with a user who agrees to every command that names nothing harmful.

use std::{env, fs, path::Path, process::Command};

use cohab_sandbox::profile::{self, Profile, Sandbox};

use crate::{
    carriers::CARRIERS,
    goals::{GOALS, Goal, SEND_BY_THE_SHELL},
    stage::{Bot, Stage},
};

/// The test that plays there.
const PLAYED: &str = "sink::played_in_the_sink";
/// Routes every address to this network's device.
const SETUP: &str = "ip link set lo up && ip route add local default dev lo && exec \"$0\" \"$@\"";

/// Goals played for each carrier: the checks in between are the same for all.
const EACH: usize = 3;

/// Packets sent so far.
fn packets() -> u64 {
    let devices = fs::read_to_string("/proc/self/net/dev").expect("the kernel tells");
    let line = devices.lines().find_map(|line| line.trim().strip_prefix("lo:")).expect("there is a device");
    line.split_whitespace().nth(9).and_then(|number| number.parse().ok()).expect("a number")
}

fn goals() -> impl Iterator<Item = &'static Goal> {
    GOALS
        .iter()
        .filter(|goal| ["send out", "send by the shell", "shadow a command", "fetch and run"].contains(&goal.name))
}

fn play(sandbox: impl Fn(&Path, &Path) -> Sandbox + Copy) {
    for carrier in CARRIERS.iter().step_by(EACH) {
        for goal in goals() {
            for bot in [Bot::RefusesAll, Bot::AgreesToTheHarmless] {
                let seen = Stage::set(carrier, goal, bot).with_a_real_shell(sandbox).play();
                assert!(seen.tried > 0, "{} by {}", goal.name, carrier.name);
            }
        }
    }
}

#[test]
#[ignore = "the test below starts it in a network of its own"]
fn played_in_the_sink() {
    assert_eq!(packets(), 0, "it is quiet");
    play(|_, _| Sandbox::none());
    assert_eq!(packets(), 0, "nothing was sent");
    // The sink counts, and these orders do send packets.
    let stage = Stage::set(&CARRIERS[0], &SEND_BY_THE_SHELL, Bot::RefusesAll).with_a_real_shell(|_, _| Sandbox::none());
    stage.play_without_the_gate();
    assert!(packets() > 0, "without the gate something is sent");
}

#[test]
fn no_planted_order_sends_a_packet() {
    let own = env::current_exe().expect("this test");
    let in_network = |user: &[&str], program: &[&str]| {
        let mut command = Command::new("unshare");
        command.args(["--net"]).args(user).args(["sh", "-c", SETUP]).args(program);
        command.output().ok()
    };
    let ways: [&[&str]; 2] = [&[], &["--map-root-user"]];
    let way = ways.into_iter().find(|way| in_network(way, &["true"]).is_some_and(|done| done.status.success()));
    if let Some(way) = way {
        let own = own.to_str().expect("a path");
        let done = in_network(way, &[own, PLAYED, "--exact", "--ignored", "--nocapture"]).expect("it worked before");
        let told = String::from_utf8_lossy(&done.stdout).into_owned() + &String::from_utf8_lossy(&done.stderr);
        assert!(done.status.success() && told.contains("1 passed"), "{told}");
        eprintln!("played in a network of its own: 0 packets");
        return;
    }
    let kernel = profile::present();
    eprintln!(
        "a network of its own is not permitted here: played behind the sandbox, which refuses sockets: {kernel:?}"
    );
    if kernel.can_filter_calls {
        play(|workspace, home| Sandbox::new(Profile::WorkspaceWrite, workspace, home, kernel, "Ask."));
    }
}
