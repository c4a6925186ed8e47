//! Tests for the refusals of the real kernel. If it has no Landlock or no seccomp, the cases that need it end at once.

use std::{fs, net::TcpListener, os::unix::fs::MetadataExt};

use tempfile::TempDir;

use super::tests::request;
use super::*;
use crate::profile::{Profile, Support};

struct Bench {
    folder: TempDir,
    /// The folder for temporary files of the commands.
    temporary: TempDir,
    kernel: Support,
}

impl Bench {
    /// A home with a workspace in it, below the folder for everybody's temporary files.
    fn new() -> Self {
        Self::below(&std::env::temp_dir())
    }

    fn below(place: &Path) -> Self {
        let folder = TempDir::new_in(place).unwrap();
        fs::create_dir(folder.path().join("app")).unwrap();
        Self { folder, temporary: TempDir::new().unwrap(), kernel: profile::present() }
    }

    fn home(&self) -> PathBuf {
        self.folder.path().canonicalize().unwrap()
    }

    fn temporary(&self) -> PathBuf {
        self.temporary.path().canonicalize().unwrap()
    }

    async fn run(&self, profile: Profile, text: &str) -> CommandOutcome {
        let (home, app) = (self.home(), self.home().join("app"));
        let sandbox = Sandbox::new(profile, &app, &home, self.kernel, "Ask.").with_temporary(|| Some(self.temporary()));
        DaemonShell::new(app).within(sandbox).run(request(text), &CancellationToken::new()).await.unwrap()
    }
}

#[tokio::test]
async fn the_workspace_can_be_written_and_nothing_outside() {
    let bench = Bench::new();
    if !bench.kernel.keeps_writes() {
        return;
    }
    fs::write(bench.home().join(".profile"), "kept").unwrap();
    let inside =
        "echo x >in && mkdir d && mv in d/ && cat d/in && date >/dev/null && t=$(mktemp) && echo y >$t && rm $t";
    let inside = bench.run(Profile::WorkspaceWrite, inside).await;
    assert_eq!((inside.status, inside.output.as_str()), (Some(0), "x\n"));
    for text in [
        "echo x >../out",
        "echo x >>../.profile",
        ": >../.profile",
        "rm ../.profile",
        "mv ../.profile here",
        "ln ../.profile here && echo x >here",
        "ln -s ../.profile link; echo x >link",
        "truncate -s 0 ../.profile",
        "mkdir ../d",
        "bash -c 'nohup bash -c \"echo x >../out\"'",
    ] {
        let outcome = bench.run(Profile::WorkspaceWrite, text).await;
        assert!(outcome.status != Some(0) && profile::is_noted(&outcome.output), "{text}: {}", outcome.output);
        assert_eq!(fs::read_to_string(bench.home().join(".profile")).unwrap(), "kept", "{text}");
    }
    assert!(!bench.home().join("out").exists() && !bench.home().join("d").exists());
}

#[tokio::test]
async fn read_only_reads_and_starts_programs_and_full_does_all() {
    let bench = Bench::new();
    if !bench.kernel.keeps_writes() {
        return;
    }
    fs::write(bench.home().join("seen"), "seen\n").unwrap();
    let reading = bench.run(Profile::ReadOnly, "cat ../seen | tr s S; /bin/echo on 2>/dev/null").await;
    assert_eq!((reading.status, reading.output.as_str()), (Some(0), "Seen\non\n"));
    let writing = bench.run(Profile::ReadOnly, "echo x >in").await;
    assert!(writing.status != Some(0) && writing.output.contains("`read-only`"), "{}", writing.output);
    let full = bench.run(Profile::Full, "echo x >in; echo x >../out; cat ../out").await;
    assert_eq!((full.status, full.output.as_str()), (Some(0), "x\n"));
}

#[tokio::test]
async fn programs_get_a_folder_of_their_own_and_nobody_elses_is_open_wherever_the_workspace_lies() {
    for place in ["/tmp", "/var/tmp"] {
        let bench = Bench::below(Path::new(place));
        if !bench.kernel.keeps_writes() {
            return;
        }
        let text = "t=$(mktemp) && echo x >$t && echo y >in && cat $t && cat <<<here && echo $TMPDIR";
        let outcome = bench.run(Profile::WorkspaceWrite, text).await;
        let expected = format!("x\nhere\n{}\n", bench.temporary().display());
        assert_eq!((outcome.status, outcome.output), (Some(0), expected), "{place}");
        for everybodys in ["/tmp", "/var/tmp"] {
            let neighbour = tempfile::tempdir_in(everybodys).unwrap();
            let neighbour = neighbour.path().canonicalize().unwrap();
            let name = neighbour.display();
            for text in [format!("echo x >{name}/file"), format!("rmdir {name}"), format!("echo x >{name}-file")] {
                let outcome = bench.run(Profile::WorkspaceWrite, &text).await;
                assert!(outcome.status != Some(0) && profile::is_noted(&outcome.output), "{text}: {}", outcome.output);
            }
            assert!(neighbour.exists() && !neighbour.join("file").exists());
        }
    }
}

#[tokio::test]
async fn what_a_command_changes_of_hooks_and_settings_of_git_is_taken_back_and_told() {
    let bench = Bench::new();
    if !bench.kernel.keeps_writes() {
        return;
    }
    let git = bench.home().join("app/.git");
    fs::create_dir_all(git.join("hooks")).unwrap();
    fs::write(git.join("config"), "[core]\n\tbare = false\n").unwrap();
    let quiet = bench.run(Profile::WorkspaceWrite, "echo x >.git/HEAD && cat .git/HEAD").await;
    assert_eq!(quiet.output, "x\n");
    let text = "echo evil >.git/hooks/pre-commit; printf '[core]\\n\\thooksPath = x\\n' >>.git/config; echo done";
    let outcome = bench.run(Profile::WorkspaceWrite, text).await;
    assert!(outcome.output.starts_with("done\n") && profile::is_noted(&outcome.output), "{}", outcome.output);
    assert!(outcome.output.contains("of .git/config, .git/hooks/pre-commit was taken back"), "{}", outcome.output);
    assert!(!git.join("hooks/pre-commit").exists());
    assert_eq!(fs::read_to_string(git.join("config")).unwrap(), "[core]\n\tbare = false\n");
}

#[tokio::test]
async fn owners_attributes_and_in_the_stricter_profile_modes_and_times_stay() {
    let bench = Bench::new();
    if !bench.kernel.can_filter_calls {
        return;
    }
    let file = bench.home().join("kept");
    fs::write(&file, "x").unwrap();
    let before = fs::metadata(&file).unwrap();
    for text in ["chown 1:1 ../kept", "chgrp 1 ../kept", "chown -h 1:1 ../kept"] {
        let outcome = bench.run(Profile::WorkspaceWrite, text).await;
        assert!(outcome.status != Some(0) && profile::is_noted(&outcome.output), "{text}: {}", outcome.output);
    }
    for text in ["chmod 777 ../kept", "touch -d 2001-01-01 ../kept", "chmod -R 777 .."] {
        let outcome = bench.run(Profile::ReadOnly, text).await;
        assert!(outcome.status != Some(0) && profile::is_noted(&outcome.output), "{text}: {}", outcome.output);
    }
    let after = fs::metadata(&file).unwrap();
    assert_eq!((after.mode(), after.uid(), after.mtime()), (before.mode(), before.uid(), before.mtime()));
    let build = bench.run(Profile::WorkspaceWrite, "echo x >tool && chmod +x tool && touch -d 2001-01-01 tool").await;
    assert_eq!((build.status, build.output.as_str()), (Some(0), ""));
}

#[tokio::test]
async fn root_is_an_ordinary_user_inside() {
    let bench = Bench::new();
    if !bench.kernel.keeps_writes() || !bench.kernel.can_filter_calls {
        return;
    }
    let capabilities =
        bench.run(Profile::WorkspaceWrite, "grep -E '^Cap(Inh|Prm|Eff|Bnd|Amb)' /proc/self/status").await;
    let is_root = rustix::process::geteuid().is_root();
    let is_none = |line: &str| line.ends_with("0000000000000000") || (!is_root && line.starts_with("CapBnd"));
    assert!(capabilities.output.lines().all(is_none), "{}", capabilities.output);
    assert_eq!(capabilities.output.lines().count(), 5);
    for text in ["mknod device c 1 3", "mknod disk b 8 0", "hostname other", "chroot . true"] {
        let outcome = bench.run(Profile::WorkspaceWrite, text).await;
        assert_ne!(outcome.status, Some(0), "{text}: {}", outcome.output);
    }
}

#[tokio::test]
async fn no_connection_is_made() {
    let bench = Bench::new();
    if !bench.kernel.can_filter_calls {
        return;
    }
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let port = listener.local_addr().unwrap().port();
    let text = format!("exec 3<>/dev/tcp/127.0.0.1/{port} && echo open >&3");
    for profile in [Profile::ReadOnly, Profile::WorkspaceWrite] {
        let outcome = bench.run(profile, &text).await;
        assert!(outcome.status != Some(0) && profile::is_noted(&outcome.output), "{}", outcome.output);
        assert!(listener.accept().is_err());
    }
    assert_eq!(bench.run(Profile::Full, &text).await.status, Some(0));
    listener.set_nonblocking(false).unwrap();
    assert!(listener.accept().is_ok());
}

#[tokio::test]
async fn an_older_kernel_confines_what_it_can_and_says_what_it_cannot() {
    let mut bench = Bench::new();
    let present = bench.kernel;
    bench.kernel = Support { landlock: 0, ..present };
    assert_eq!(bench.run(Profile::WorkspaceWrite, "echo x >../out; cat ../out").await.output, "x\n");
    assert!(bench.kernel.gaps()[0].contains("written anywhere"));
    bench.kernel = Support::NONE;
    assert_eq!(bench.run(Profile::ReadOnly, "echo x >../out && echo done").await.output, "done\n");
    for landlock in 1..=present.landlock {
        bench.kernel = Support { landlock, ..Support::NONE };
        let outcome = bench.run(Profile::WorkspaceWrite, "echo x >in && cat in; echo x >../new").await;
        assert!(outcome.output.starts_with("x\n") && outcome.status != Some(0), "{landlock}: {}", outcome.output);
    }
}

#[tokio::test]
async fn the_thread_that_runs_commands_stays_free() {
    let bench = Bench::new();
    bench.run(Profile::ReadOnly, "true").await;
    fs::write(bench.home().join("free"), "x").unwrap();
    assert!(TcpListener::bind("127.0.0.1:0").is_ok());
}
