use std::os::unix::fs::symlink;

use super::*;

struct Bench {
    dir: tempfile::TempDir,
    stores: KeyStores,
}

/// Stores in a separate folder, with a `secret-tool` if there is a script for it.
fn bench(secret_tool: Option<&str>) -> Bench {
    let dir = tempfile::tempdir().unwrap();
    let programs = dir.path().join("bin");
    fs::create_dir(&programs).unwrap();
    if let Some(script) = secret_tool {
        let program = programs.join("secret-tool");
        fs::write(&program, format!("#!/bin/sh\nd={}\n{script}\n", dir.path().display())).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    }
    let stores = KeyStores::with_programs(&dir.path().join("config"), programs.into_os_string());
    Bench { dir, stores }
}

impl Bench {
    async fn load(&self, store: KeyStore, account: &str) -> Result<Option<String>, KeyError> {
        Ok(self.stores.load(store, account).await?.map(|secret| secret.expose_secret().to_owned()))
    }

    async fn save(&self, store: KeyStore, account: &str, key: &str) -> Result<(), KeyError> {
        self.stores.save(store, account, &key.to_owned().into()).await
    }

    fn file(&self) -> PathBuf {
        self.dir.path().join("config/keys.toml")
    }
}

#[tokio::test]
async fn the_file_keeps_keys_for_its_owner_only() {
    let bench = bench(None);
    assert_eq!(bench.stores.best(), KeyStore::File);
    assert_eq!(bench.load(KeyStore::File, "openai").await.unwrap(), None);
    bench.save(KeyStore::File, "openai", "sk-1").await.unwrap();
    bench.save(KeyStore::File, "127.0.0.1:8080/work", "sk-\"2").await.unwrap();
    bench.save(KeyStore::File, "openai", "sk-3").await.unwrap();
    assert_eq!(bench.load(KeyStore::File, "openai").await.unwrap().as_deref(), Some("sk-3"));
    assert_eq!(bench.load(KeyStore::File, "127.0.0.1:8080/work").await.unwrap().as_deref(), Some("sk-\"2"));
    assert_eq!(fs::metadata(bench.file()).unwrap().mode() & 0o777, 0o600);
    assert_eq!(fs::metadata(bench.file().parent().unwrap()).unwrap().mode() & 0o777, 0o700);
    assert!(fs::read_to_string(bench.file()).unwrap().starts_with("# Keys of model services"));
}

#[tokio::test]
async fn a_file_that_others_may_read_or_that_is_broken_is_refused_and_never_quoted() {
    let bench = bench(None);
    bench.save(KeyStore::File, "openai", "sk-secret").await.unwrap();
    fs::set_permissions(bench.file(), fs::Permissions::from_mode(0o644)).unwrap();
    let error = bench.load(KeyStore::File, "openai").await.unwrap_err();
    assert!(error.message.contains("mode 0644") && error.hint.starts_with("chmod 600"), "{error:?}");
    fs::write(bench.file(), "openai = sk-secret\n").unwrap();
    fs::set_permissions(bench.file(), fs::Permissions::from_mode(0o600)).unwrap();
    let error = bench.load(KeyStore::File, "openai").await.unwrap_err();
    assert!(!format!("{error:?}").contains("sk-secret"), "{error:?}");
    fs::remove_file(bench.file()).unwrap();
    symlink("/dev/zero", bench.file()).unwrap();
    assert!(bench.load(KeyStore::File, "openai").await.is_err());
}

/// Keeps what it is given, and what it was called with.
const HONEST: &str = "echo \"$@\" >> $d/calls\nshift_to() { eval echo \\$$#; }\nf=$d/$(shift_to \"$@\")\n\
    case $1 in store) cat > $f;; lookup) [ -e $f ] && cat $f;; esac";

#[tokio::test]
async fn the_keyring_gets_a_key_by_its_input_and_never_as_an_argument() {
    let bench = bench(Some(HONEST));
    assert_eq!(bench.load(KeyStore::Keyring, "openai").await.unwrap(), None);
    bench.save(KeyStore::Keyring, "openai", "sk-kept").await.unwrap();
    assert_eq!(bench.load(KeyStore::Keyring, "openai").await.unwrap().as_deref(), Some("sk-kept"));
    let calls = fs::read_to_string(bench.dir.path().join("calls")).unwrap();
    assert!(calls.contains("service cohab account openai") && !calls.contains("sk-kept"), "{calls}");
}

#[tokio::test]
async fn a_keyring_that_fails_or_is_not_there_says_why() {
    let locked = bench(Some("echo 'Cannot get secret of a locked object' >&2; exit 1"));
    for error in [
        locked.load(KeyStore::Keyring, "a").await.unwrap_err(),
        locked.save(KeyStore::Keyring, "a", "k").await.unwrap_err(),
    ] {
        assert!(error.message.ends_with("Cannot get secret of a locked object"), "{error}");
    }
    let none = bench(None).load(KeyStore::Keyring, "a").await.unwrap_err();
    assert!(none.message.contains("secret-tool"), "{none}");
}
