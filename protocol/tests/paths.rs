//! Tests for the folders and files of cohab in every kind of environment.

use std::path::{Path, PathBuf};

use cohab_protocol::{PROTOCOL_VERSION, Paths};

const UID: u32 = 4242;

fn paths(environment: &[(&str, &str)]) -> Paths {
    Paths::new(|name| environment.iter().find(|(known, _)| *known == name).map(|(_, value)| PathBuf::from(value)), UID)
}

#[test]
fn cohab_home_holds_everything() {
    let paths = paths(&[("COHAB_HOME", "/h"), ("HOME", "/u"), ("XDG_RUNTIME_DIR", "/r"), ("XDG_CONFIG_HOME", "/c")]);
    for folder in [&paths.config_dir, &paths.state_dir, &paths.cache_dir, &paths.runtime_dir] {
        assert!(folder.starts_with("/h"), "{}", folder.display());
    }
    assert_eq!(paths.config_file(), Path::new("/h/config/config.toml"));
    assert_eq!(paths.log_dir(), Path::new("/h/state/log"));
    assert_eq!(paths.lock_file(), PathBuf::from(format!("/h/run/d{PROTOCOL_VERSION}.lock")));
    assert_eq!(paths.socket(), PathBuf::from(format!("/h/run/d{PROTOCOL_VERSION}.sock")));
}

#[test]
fn xdg_folders_are_used_where_they_are_set() {
    let paths = paths(&[
        ("HOME", "/u"),
        ("XDG_CONFIG_HOME", "/c"),
        ("XDG_STATE_HOME", "/s"),
        ("XDG_CACHE_HOME", "/k"),
        ("XDG_RUNTIME_DIR", "/r"),
    ]);
    assert_eq!(paths.config_dir, Path::new("/c/cohab"));
    assert_eq!(paths.state_dir, Path::new("/s/cohab"));
    assert_eq!(paths.cache_dir, Path::new("/k/cohab"));
    assert_eq!(paths.runtime_dir.parent(), Some(Path::new("/r")));
    assert!(paths.runtime_dir.to_string_lossy().starts_with("/r/cohab-"), "{}", paths.runtime_dir.display());
}

#[test]
fn the_defaults_of_xdg_are_below_home() {
    let paths = paths(&[("HOME", "/u")]);
    assert_eq!(paths.config_dir, Path::new("/u/.config/cohab"));
    assert_eq!(paths.state_dir, Path::new("/u/.local/state/cohab"));
    assert_eq!(paths.cache_dir, Path::new("/u/.cache/cohab"));
    let name = paths.runtime_dir.file_name().expect("it has a name").to_string_lossy().into_owned();
    assert!(name.starts_with(&format!("cohab-{UID}-")), "{name}");
}

#[test]
fn two_homes_of_one_user_have_two_daemons() {
    let (one, other) = (paths(&[("HOME", "/u")]), paths(&[("HOME", "/v")]));
    assert_ne!(one.runtime_dir, other.runtime_dir);
    assert_eq!(one, paths(&[("HOME", "/u")]));
    let at_runtime = |home| paths(&[("HOME", home), ("XDG_RUNTIME_DIR", "/r")]).runtime_dir;
    assert_ne!(at_runtime("/u"), at_runtime("/v"));
}

#[test]
fn empty_and_relative_values_count_as_absent() {
    let odd = paths(&[
        ("COHAB_HOME", "relative"),
        ("HOME", "/u"),
        ("XDG_CONFIG_HOME", ""),
        ("XDG_STATE_HOME", "./s"),
        ("XDG_RUNTIME_DIR", "r"),
    ]);
    assert_eq!(odd, paths(&[("HOME", "/u")]));
}

#[test]
fn without_a_home_everything_is_in_a_folder_named_after_the_user() {
    let paths = paths(&[]);
    for folder in [&paths.config_dir, &paths.state_dir, &paths.cache_dir, &paths.runtime_dir] {
        assert!(folder.to_string_lossy().contains(&format!("cohab-{UID}")), "{}", folder.display());
        assert!(folder.is_absolute());
    }
}
