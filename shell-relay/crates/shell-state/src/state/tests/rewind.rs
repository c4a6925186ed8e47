//! A rewind over several turns of random deeds, in real shells.

use super::*;

/// What the assistant and the user do to a shell of this kind.
fn deeds(shell: Shell) -> &'static [&'static str] {
    match shell {
        Shell::Fish => &[
            "set -gx A 1",
            "set -gx A 1 2",
            "set -e A",
            "set -gx B 'x y'",
            "set -gu B",
            "umask 077",
            "umask 022",
            "cd /usr",
            "cd /",
            "abbr -a -- k ls",
            "abbr -e -- k",
        ],
        _ => &[
            "export A=1",
            "export A=$'\\n2'",
            "unset A",
            "export B='x y'",
            "alias k=ls",
            "alias k='ls -l'",
            "unalias k 2>/dev/null",
            "umask 077",
            "umask 022",
            "cd /usr",
            "cd /",
            "set -o noclobber",
            "set +o noclobber",
            "pushd /usr >/dev/null",
        ],
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, max_shrink_iters: 40, failure_persistence: None, ..ProptestConfig::default() })]
    /// After a rewind the shell is as it was at that moment, or the user has changed it since, or it is named.
    #[test]
    fn a_rewind_over_turns_restores_the_shell_or_names_the_rest(
        shell in prop_oneof![4 => Just(Shell::Bash), 1 => Just(Shell::Zsh), 1 => Just(Shell::Fish)],
        deeds_done in prop::collection::vec((prop::bool::weighted(0.3), any::<prop::sample::Index>()), 1..7),
    ) {
        let mut steps = vec!["export HOME=/"];
        steps.extend(deeds_done.iter().map(|(_, deed)| *deed.get(deeds(shell))));
        let Some(seen) = listings(shell, &[], &steps) else { return Ok(()) };
        let seen: Vec<Snapshot> = seen.iter().map(|listing| listing.snapshot().unwrap()).collect();
        let (mut agent, mut user) = (StateChange::default(), StateChange::default());
        for ((is_user, _), two) in deeds_done.iter().zip(seen.windows(2)) {
            let change = StateChange::between(&two[0], &two[1]);
            if *is_user { user.steps.extend(change.steps) } else { agent.then(change) }
        }
        let undo = Undo::of(&agent, &seen[steps.len() - 1], shell);
        steps.push(undo.script());
        let found = listings(shell, &[], &steps).unwrap().pop().unwrap().snapshot().unwrap();
        let (_, failed) = undo.outcome(&found);
        let is_named = |item: &Item| {
            let named = undo.changed_since.iter().chain(&undo.lasting).chain(failed.iter().copied());
            named.clone().any(|one| one == item) || user.steps.contains_key(item)
        };
        for item in seen[0].keys().chain(found.keys()).filter(|item| !item.is_only_seen()) {
            let (wanted, found) = (seen[0].get(item), found.get(item));
            prop_assert!(wanted == found || is_named(item), "{item:?} was {wanted:?}, is {found:?} after {steps:?}");
        }
        prop_assert!(failed.is_empty(), "{failed:?} after {steps:?}");
    }
}
