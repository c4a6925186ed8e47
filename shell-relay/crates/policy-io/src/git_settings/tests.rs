use cohab_policy::{Context, Level, assess_line, typed_form};

use super::*;

/// A folder with a home and a repository in it, and the real git.
struct Place {
    _folder: tempfile::TempDir,
    root: PathBuf,
    repository: PathBuf,
}

fn place() -> Place {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    fs::create_dir(root.join("home")).unwrap();
    fs::write(
        root.join("home/.gitconfig"),
        "[user]\nname=Ann\nemail=ann@example.org\n[protocol \"file\"]\nallow=always\n",
    )
    .unwrap();
    let place = Place { repository: root.join("app"), root, _folder: folder };
    place.make("app");
    place
}

impl Place {
    /// A repository with two commits and a change that is not committed.
    fn make(&self, name: &str) {
        let at = self.root.join(name);
        fs::create_dir(&at).unwrap();
        self.git(&at, &["init", "-q", "-b", "main"]);
        for text in ["one\n", "two\n"] {
            fs::write(at.join("a.txt"), text).unwrap();
            self.git(&at, &["add", "."]);
            self.git(&at, &["commit", "-q", "-m", text.trim_end()]);
        }
        fs::write(at.join("a.txt"), "three\n").unwrap();
    }

    fn environment(&self) -> GitEnvironment {
        GitEnvironment::of_variables(|name| match name {
            "PATH" => std::env::var_os("PATH"),
            "HOME" => Some(self.root.join("home").into()),
            _ => None,
        })
    }

    fn command(&self, program: &str, at: &Path) -> Command {
        let mut command = Command::new(program);
        command.env_clear().envs(self.environment().variables).current_dir(at);
        // Times and ids are the same in every run.
        command.env("GIT_AUTHOR_DATE", "2026-01-01T00:00:00Z").env("GIT_COMMITTER_DATE", "2026-01-01T00:00:00Z");
        command
    }

    fn git(&self, at: &Path, args: &[&str]) {
        let output = self.command("git", at).args(args).output().unwrap();
        assert!(output.status.success(), "{args:?}: {output:?}");
    }

    /// The output of a line, and its status.
    fn run(&self, line: &str) -> (String, Option<i32>) {
        let output = self.command("sh", &self.repository).args(["-c", line]).output().unwrap();
        let text = [output.stdout, output.stderr].concat();
        (String::from_utf8_lossy(&text).into_owned(), output.status.code())
    }

    fn set(&self, key: &str, value: &str) {
        self.git(&self.repository, &["config", key, value]);
    }

    fn why(&self, folder: &Path) -> Option<String> {
        let caveat =
            why_not_unasked(&[folder.to_owned()], &self.environment(), Instant::now() + Duration::from_secs(20));
        caveat.map(|caveat| caveat.to_string())
    }

    /// A program that leaves a trace when it runs.
    fn plant(&self, path: &Path) -> PathBuf {
        use std::os::unix::fs::PermissionsExt;
        let trace = self.root.join("trace");
        fs::write(path, format!("#!/bin/sh\necho \"$0 $*\" >>{}\ncat\n", trace.display())).unwrap();
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
        path.to_owned()
    }

    /// The planted programs that have run; the record is cleared then.
    fn trace(&self) -> Option<String> {
        let trace = fs::read_to_string(self.root.join("trace")).ok();
        let _ = fs::remove_file(self.root.join("trace"));
        trace
    }
}

/// Lines that read only, with git.
const READING: &[&str] = &[
    "git status",
    "git status -sb",
    "git diff",
    "git diff --stat HEAD~1",
    "git diff --cached",
    "git log",
    "git log -p -2 -- a.txt",
    "git log --oneline --graph | head -5",
    "git show",
    "git show --stat HEAD~1",
    "git show HEAD:a.txt",
    "git blame --date=format:then a.txt",
    "git grep -n o",
    "git branch -vv 2>/dev/null",
    "git branch -a",
    "git tag -l 'v*'",
    "git reflog",
    "git reflog show HEAD",
    "git reflog -1",
    "git stash list",
    "git stash show",
    "git stash show -p",
    "git shortlog -sn HEAD",
    "git describe --always --dirty",
    "git rev-parse --abbrev-ref HEAD",
    "git rev-list --count HEAD",
    "git ls-files -m",
    "git ls-tree -r HEAD",
    "git config --list --local",
    "git config --get user.name",
    "git config --get core.pager",
    "git remote -v",
    "git whatchanged --oneline",
    "git diff-tree -p HEAD",
    "git cat-file -p HEAD",
    "git for-each-ref",
    "git --no-pager diff /dev/null a.txt",
    "git -C . status; git diff --name-only",
    "git --version && git log -1 --format='%h %s'",
];

#[test]
fn the_words_that_keep_git_read_only_change_nothing_of_what_it_tells() {
    let place = place();
    place.git(&place.repository, &["stash"]);
    fs::write(place.repository.join("a.txt"), "four\n").unwrap();
    for line in READING {
        let typed = typed_form(line).expect(line);
        assert_eq!(place.run(&typed), place.run(line), "{line}\n{typed}");
    }
}

#[test]
fn no_hook_of_the_repository_runs_on_lines_as_they_are_typed() {
    let place = place();
    place.git(&place.repository, &["stash"]);
    fs::write(place.repository.join("a.txt"), "four\n").unwrap();
    place.plant(&place.repository.join(".git/hooks/post-index-change"));
    let mut hooked = 0;
    for line in READING {
        // A file that only looks changed makes git write its index.
        let touch =
            || fs::File::open(place.repository.join("a.txt")).unwrap().set_modified(std::time::SystemTime::now());
        touch().unwrap();
        place.run(line);
        hooked += usize::from(place.trace().is_some());
        touch().unwrap();
        let typed = typed_form(line).expect(line);
        place.run(&typed);
        assert_eq!(place.trace(), None, "{typed}");
    }
    assert!(hooked > 0, "the hook works where git is typed plainly");
}

#[test]
fn no_program_of_a_repository_within_runs_on_lines_as_they_are_typed() {
    let place = place();
    place.make("inner");
    let super_ = &place.repository;
    place.git(super_, &["submodule", "--quiet", "add", "../inner", "sub"]);
    place.git(super_, &["commit", "-q", "-m", "sub"]);
    place.git(&super_.join("sub"), &["checkout", "-q", "HEAD~1"]);
    place.git(super_, &["commit", "-qam", "back"]);
    let program = place.plant(&place.root.join("evil"));
    let within = super_.join(".git/modules/sub");
    for key in ["core.fsmonitor", "diff.x.textconv", "diff.x.command", "diff.external", "filter.x.clean"] {
        place.git(&super_.join("sub"), &["config", key, &program.to_string_lossy()]);
    }
    fs::create_dir_all(within.join("info")).unwrap();
    fs::write(within.join("info/attributes"), "*.txt diff=x filter=x\n").unwrap();
    fs::write(super_.join("sub/a.txt"), "changed\n").unwrap();
    // The settings of the outer repository name no program, so git runs there unasked.
    place.set("diff.submodule", "diff");
    place.set("status.submoduleSummary", "true");
    place.set("submodule.recurse", "true");
    assert_eq!(place.why(super_), None);
    let mut ran = 0;
    for line in READING {
        place.run(line);
        ran += usize::from(place.trace().is_some());
        let typed = typed_form(line).expect(line);
        place.run(&typed);
        assert_eq!(place.trace(), None, "{typed}");
    }
    assert!(ran >= 4, "{ran}: the programs run where git is typed plainly");
}

#[test]
fn settings_of_a_repository_that_name_programs_are_told_with_their_values() {
    let place = place();
    assert_eq!(place.why(&place.repository), None);
    for (key, value) in [
        ("core.fsmonitor", "./evil"),
        ("core.pager", "evil"),
        ("core.hooksPath", ".husky"),
        ("core.attributesFile", "x"),
        ("core.worktree", "/"),
        ("alias.st", "!evil"),
        ("diff.external", "evil"),
        ("diff.A.b.textconv", "evil"),
        ("diff.a.command", "evil"),
        ("filter.Lfs.clean", "evil"),
        ("filter.lfs.process", "evil"),
        ("merge.a.driver", "evil"),
        ("gpg.program", "evil"),
        ("gpg.ssh.program", "evil"),
        ("log.showSignature", "true"),
        ("credential.helper", "!evil"),
        ("credential.https://x.org.helper", "!evil"),
        ("include.path", "../more"),
        ("includeIf.gitdir:/nowhere/.path", "../more"),
        ("interactive.diffFilter", "evil"),
        ("trailer.a.command", "evil"),
        ("remote.origin.uploadpack", "evil"),
        ("remote.origin.promisor", "true"),
        ("extensions.partialClone", "origin"),
        ("protocol.ext.allow", "always"),
        ("url.ext::sh.insteadOf", "https://"),
        ("pager.log", "evil"),
        ("lfs.extension.a.clean", "evil"),
        ("format.pretty", "%GG"),
    ] {
        place.set(key, value);
        let why = place.why(&place.repository).unwrap_or_else(|| panic!("{key} is not seen"));
        let key_start = key.split('.').next().unwrap().to_lowercase();
        assert!(why.contains(&format!("`{key_start}.")) && why.contains(&format!("= `{value}`")), "{why}");
        assert!(why.contains("/app"), "{why}");
        place.git(&place.repository, &["config", "--unset", key]);
        assert_eq!(place.why(&place.repository), None, "{key}");
    }
}

#[test]
fn what_a_repository_includes_counts_as_its_own() {
    let place = place();
    fs::write(place.repository.join(".git/more"), "[core]\nfsmonitor = ./evil\n").unwrap();
    place.set("include.path", "more");
    let why = place.why(&place.repository).expect("it is asked");
    assert!(why.contains("`include.path` = `more`") && why.contains("`core.fsmonitor` = `./evil`"), "{why}");
}

#[test]
fn the_users_own_settings_and_plain_ones_of_a_repository_are_not_asked_about() {
    let place = place();
    place.set("core.fsmonitor", "true");
    place.set("remote.origin.url", "https://example.org/x.git");
    place.set("remote.origin.fetch", "+refs/heads/*:refs/remotes/origin/*");
    place.set("branch.main.merge", "refs/heads/main");
    place.set("diff.renames", "copies");
    place.set("user.signingKey", "x");
    fs::write(place.repository.join(".gitattributes"), "*.bin filter=lfs diff=lfs merge=lfs -text\n").unwrap();
    let own = "[filter \"lfs\"]\nprocess = git-lfs filter-process\n[core]\npager = less\n[alias]\nst = status\n\
               [include]\npath = more\n";
    fs::write(place.root.join("home/.gitconfig"), own).unwrap();
    fs::write(place.root.join("home/more"), "[diff]\nexternal = difft\n").unwrap();
    assert_eq!(place.why(&place.repository), None);
}

#[test]
fn linked_worktrees_and_repositories_behind_a_link_tell_their_settings_too() {
    let place = place();
    let tree = place.root.join("tree");
    place.git(&place.repository, &["worktree", "add", "-q", "../tree"]);
    assert_eq!(place.why(&tree), None);
    place.set("extensions.worktreeConfig", "true");
    place.git(&tree, &["config", "--worktree", "core.fsmonitor", "./evil"]);
    assert!(place.why(&tree).expect("it is asked").contains("core.fsmonitor"));
    assert_eq!(place.why(&place.repository), None);
    place.set("diff.external", "evil");
    assert!(place.why(&place.repository).is_some());

    let separate = place.root.join("separate");
    place.git(&place.root, &["init", "-q", "--separate-git-dir=kept", "separate"]);
    assert_eq!(place.why(&separate), None);
    place.git(&separate, &["config", "core.pager", "evil"]);
    fs::create_dir(separate.join("deep")).unwrap();
    let why = place.why(&separate.join("deep")).expect("it is asked");
    assert!(why.ends_with("/separate"), "{why}");
}

#[test]
fn in_a_submodule_the_place_of_its_files_is_no_news_and_any_other_is() {
    let place = place();
    place.make("inner");
    place.git(&place.repository, &["submodule", "--quiet", "add", "../inner", "sub"]);
    let sub = place.repository.join("sub");
    assert_eq!(place.why(&sub), None);
    place.git(&sub, &["config", "core.worktree", "../../../../.."]);
    assert!(place.why(&sub).expect("it is asked").contains("core.worktree"));
}

#[test]
fn a_bare_repository_is_looked_at() {
    let place = place();
    place.git(&place.root, &["init", "-q", "--bare", "bare"]);
    let bare = place.root.join("bare");
    assert_eq!(place.why(&bare), None);
    place.git(&bare, &["config", "gpg.program", "evil"]);
    assert!(place.why(&bare).is_some());
}

#[test]
fn without_a_repository_or_a_folder_nothing_is_asked() {
    let place = place();
    assert_eq!(place.why(&place.root), None);
    assert_eq!(place.why(&place.root.join("missing")), None);
}

#[test]
fn a_repository_of_somebody_else_is_none_to_git_but_where_sudo_makes_it_ours() {
    use std::os::unix::fs::chown;
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let place = place();
    place.set("core.fsmonitor", "./evil");
    chown(&place.repository, Some(1234), None).unwrap();
    chown(place.repository.join(".git"), Some(1234), None).unwrap();
    assert_eq!(place.why(&place.repository), None);
    let (text, status) = place.run("git status");
    assert!(text.contains("dubious ownership") && status == Some(128), "git refuses it, too: {text}");
    let mut environment = place.environment();
    environment.variables.push(("SUDO_UID", "1234".into()));
    let folders = [place.repository.clone()];
    let why = why_not_unasked(&folders, &environment, Instant::now() + Duration::from_secs(20));
    assert!(why.expect("it is asked").to_string().contains("core.fsmonitor"));
}

#[test]
fn settings_that_git_cannot_read_are_asked_about() {
    let place = place();
    fs::write(place.repository.join(".git/config"), "[core\n").unwrap();
    let why = place.why(&place.repository).expect("it is asked");
    assert!(why.contains("are not known: git cannot read them"), "{why}");
}

#[test]
fn a_git_that_is_missing_floods_or_hangs_is_asked_about() {
    use std::os::unix::fs::PermissionsExt;
    let place = place();
    let tools = place.root.join("tools");
    fs::create_dir(&tools).unwrap();
    let environment = GitEnvironment { variables: vec![("PATH", tools.clone().into())] };
    let soon = || Instant::now() + Duration::from_millis(200);
    let why = |deadline| why_not_unasked(std::slice::from_ref(&place.repository), &environment, deadline);
    assert!(why(soon()).expect("it is asked").to_string().contains("cannot be started"));
    for (script, said) in [
        ("exec /bin/cat /dev/zero", "too many"),
        ("exec /bin/sleep 1000", "not tell them in time"),
        ("echo surprise", "another way"),
        ("printf 'local\\0core.x'", "another way"),
    ] {
        fs::write(tools.join("git"), format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(tools.join("git"), fs::Permissions::from_mode(0o755)).unwrap();
        let deadline = if said == "not tell them in time" { soon() } else { Instant::now() + Duration::from_secs(20) };
        let why = why(deadline).expect("it is asked").to_string();
        assert!(why.contains(said), "{script}: {why}");
    }
}

#[test]
fn the_folders_of_a_line_are_all_looked_at() {
    let place = place();
    place.make("app/inner");
    place.git(&place.repository.join("inner"), &["config", "core.fsmonitor", "./evil"]);
    let folders = [place.repository.clone(), place.repository.join("inner")];
    let why = why_not_unasked(&folders, &place.environment(), Instant::now() + Duration::from_secs(20));
    assert!(why.expect("it is asked").to_string().contains("inner"));
}

#[test]
fn every_line_of_these_tests_is_one_that_runs_unasked() {
    let place = place();
    let context = Context::new(&place.repository, &place.root);
    for line in READING {
        let verdict = assess_line(line, context);
        assert_eq!(verdict.level, Level::Allow, "{line}: {verdict:?}");
    }
}
