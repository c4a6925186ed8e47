//! Computes the environment of commands in a separate shell from the user's. Pure.

use cohab_protocol::{EnvDelta, EnvSetting, MAX_ENVIRONMENT_BYTES};
use cohab_types::environment::Variables;

/// The client's environment at its start, with the later changes by relayed commands in the live shell. The user's own exports there
/// are unknown.
#[derive(Clone, Debug, Default)]
pub(super) struct KnownEnvironment {
    variables: Variables,
    /// Total bytes of names and values.
    bytes: usize,
}

impl KnownEnvironment {
    /// The environment that a client reported.
    pub fn new(settings: Vec<EnvSetting>) -> Self {
        let mut known = Self::default();
        for setting in settings {
            known.set(setting.name, setting.value);
        }
        known
    }

    /// Applies the changes by a command in the live shell. A masked value is unknown: its variable is removed, as the old value is
    /// wrong. Does nothing if no environment is known.
    pub fn change(&mut self, delta: &EnvDelta) {
        if self.variables.is_empty() {
            return;
        }
        for name in &delta.unset {
            self.remove(name);
        }
        for change in &delta.set {
            self.remove(&change.name);
            if let Some(value) = &change.value {
                self.set(change.name.clone(), value.clone());
            }
        }
    }

    /// All known variables; empty if none are.
    pub fn variables(&self) -> &Variables {
        &self.variables
    }

    /// A variable that exceeds the limit is dropped.
    fn set(&mut self, name: String, value: String) {
        self.remove(&name);
        let bytes = self.bytes + name.len() + value.len();
        let is_possible = !name.is_empty() && !name.contains(['=', '\0']) && !value.contains('\0');
        if is_possible && bytes <= MAX_ENVIRONMENT_BYTES {
            self.bytes = bytes;
            self.variables.insert(name, value);
        }
    }

    fn remove(&mut self, name: &str) {
        if let Some((name, value)) = self.variables.remove_entry(name) {
            self.bytes -= name.len() + value.len();
        }
    }
}

#[cfg(test)]
mod tests {
    use cohab_protocol::EnvChange;

    use super::*;

    fn setting(name: &str, value: &str) -> EnvSetting {
        EnvSetting { name: name.into(), value: value.into() }
    }

    fn known(environment: &KnownEnvironment) -> String {
        environment.variables().iter().map(|(name, value)| format!("{name}={value} ")).collect()
    }

    #[test]
    fn commands_of_the_live_shell_change_it() {
        let mut environment = KnownEnvironment::new(vec![setting("A", "1"), setting("B", "2"), setting("C", "3")]);
        let set = |name: &str, value: Option<&str>| EnvChange { name: name.into(), value: value.map(Into::into) };
        let set = vec![set("A", Some("new")), set("B", None), set("D", Some("4"))];
        environment.change(&EnvDelta { set, unset: vec!["C".into()] });
        assert_eq!(known(&environment), "A=new D=4 ");
    }

    #[test]
    fn what_no_process_can_have_or_is_too_large_is_left_out() {
        let huge = "x".repeat(MAX_ENVIRONMENT_BYTES);
        let given = [("A=B", "1"), ("", "1"), ("C", "a\0b"), ("D", huge.as_str()), ("E", "5")];
        let mut environment = KnownEnvironment::new(given.map(|(name, value)| setting(name, value)).into());
        assert_eq!(known(&environment), "E=5 ");
        for number in 0..10_000 {
            let set = vec![EnvChange { name: format!("V{number}"), value: Some("v".repeat(1000)) }];
            environment.change(&EnvDelta { set, unset: Vec::new() });
        }
        assert!(known(&environment).len() < MAX_ENVIRONMENT_BYTES + 10_000);
    }

    #[test]
    fn an_unknown_environment_stays_unknown() {
        let mut environment = KnownEnvironment::default();
        let set = vec![EnvChange { name: "A".into(), value: Some("1".into()) }];
        environment.change(&EnvDelta { set, unset: Vec::new() });
        assert!(environment.variables().is_empty(), "one variable would stand for all of them");
    }
}
