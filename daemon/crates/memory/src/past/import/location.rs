//! Finds out where each program keeps its history. Pure: looks at no file.

use std::path::{Path, PathBuf};

use crate::past::record::RunSource;

/// The environment variables that name a history file. An empty value counts as missing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HistoryEnvironment {
    /// `HOME`.
    pub home: Option<PathBuf>,
    /// `HISTFILE` of bash and zsh. The shells do not export it by themselves.
    pub histfile: Option<PathBuf>,
    /// `ZDOTDIR`.
    pub zdotdir: Option<PathBuf>,
    /// `XDG_DATA_HOME`.
    pub xdg_data_home: Option<PathBuf>,
    /// `fish_history`, the name of the history in use.
    pub fish_history: Option<String>,
}

impl HistoryEnvironment {
    /// The paths at which the history of a source may be, the likeliest first; the first one that exists is to be read. Empty for
    /// [`RunSource::Shell`], and for fish if the name of its history is empty, by which a user says that there is to be none.
    ///
    /// Relative paths are left out: they are relative to the folder of a shell.
    ///
    /// ```
    /// use cohab_memory::past::{import::HistoryEnvironment, record::RunSource};
    ///
    /// let environment = HistoryEnvironment { home: Some("/home/a".into()), ..Default::default() };
    /// assert_eq!(environment.paths(RunSource::Bash), [std::path::Path::new("/home/a/.bash_history")]);
    /// ```
    #[must_use]
    pub fn paths(&self, source: RunSource) -> Vec<PathBuf> {
        let home = absolute(self.home.as_deref());
        let in_home = |name: &str| home.map(|home| home.join(name));
        let data = absolute(self.xdg_data_home.as_deref()).map(Path::to_owned).or_else(|| in_home(".local/share"));
        let paths = match source {
            RunSource::Shell => Vec::new(),
            RunSource::Bash => vec![self.histfile("zsh"), in_home(".bash_history")],
            RunSource::Zsh => {
                let in_zdotdir = absolute(self.zdotdir.as_deref()).map(|folder| folder.join(".zsh_history"));
                // The last two are the names that the set-up of zsh and its distributors suggest.
                let names = [".zsh_history", ".histfile", ".zhistory"].map(in_home);
                [self.histfile("bash"), in_zdotdir].into_iter().chain(names).collect()
            }
            RunSource::Fish => {
                let name = self.fish_name();
                vec![data.zip(name).map(|(data, name)| data.join("fish").join(format!("{name}_history")))]
            }
            RunSource::Atuin => vec![data.map(|data| data.join("atuin/history.db"))],
        };
        let mut distinct: Vec<PathBuf> = Vec::new();
        for path in paths.into_iter().flatten() {
            if !distinct.contains(&path) {
                distinct.push(path);
            }
        }
        distinct
    }

    /// `HISTFILE`, unless its name says that it belongs to the other shell: both use the variable, and it is inherited if it is exported.
    fn histfile(&self, other_shell: &str) -> Option<PathBuf> {
        let path = absolute(self.histfile.as_deref())?;
        let is_of_other = path.file_name()?.to_string_lossy().contains(other_shell);
        (!is_of_other).then(|| path.to_owned())
    }

    /// The name of the history of fish. Fish takes its usual name instead of one that is no name of a variable.
    fn fish_name(&self) -> Option<&str> {
        const USUAL: &str = "fish";
        match self.fish_history.as_deref() {
            None | Some("default") => Some(USUAL),
            Some("") => None,
            Some(name) if name.chars().all(|c| c.is_alphanumeric() || c == '_') => Some(name),
            Some(_) => Some(USUAL),
        }
    }
}

fn absolute(path: Option<&Path>) -> Option<&Path> {
    path.filter(|path| path.is_absolute())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(environment: &HistoryEnvironment, source: RunSource) -> Vec<String> {
        environment.paths(source).iter().map(|path| path.display().to_string()).collect()
    }

    fn home() -> HistoryEnvironment {
        HistoryEnvironment { home: Some("/h".into()), ..Default::default() }
    }

    #[test]
    fn a_home_folder_is_enough() {
        let home = home();
        assert_eq!(paths(&home, RunSource::Shell), [""; 0]);
        assert_eq!(paths(&home, RunSource::Bash), ["/h/.bash_history"]);
        assert_eq!(paths(&home, RunSource::Zsh), ["/h/.zsh_history", "/h/.histfile", "/h/.zhistory"]);
        assert_eq!(paths(&home, RunSource::Fish), ["/h/.local/share/fish/fish_history"]);
        assert_eq!(paths(&home, RunSource::Atuin), ["/h/.local/share/atuin/history.db"]);
    }

    #[test]
    fn without_an_environment_there_is_no_path() {
        for (source, _) in RunSource::WORDS {
            assert_eq!(paths(&HistoryEnvironment::default(), source), [""; 0]);
            let relative = HistoryEnvironment {
                home: Some("h".into()),
                histfile: Some("".into()),
                zdotdir: Some("z".into()),
                xdg_data_home: Some("../d".into()),
                fish_history: None,
            };
            assert_eq!(paths(&relative, source), [""; 0]);
        }
    }

    #[test]
    fn variables_come_first() {
        let environment = HistoryEnvironment {
            histfile: Some("/x/history".into()),
            zdotdir: Some("/z".into()),
            xdg_data_home: Some("/d".into()),
            fish_history: Some("work_2".into()),
            ..home()
        };
        assert_eq!(paths(&environment, RunSource::Bash), ["/x/history", "/h/.bash_history"]);
        assert_eq!(paths(&environment, RunSource::Zsh)[..3], ["/x/history", "/z/.zsh_history", "/h/.zsh_history"]);
        assert_eq!(paths(&environment, RunSource::Fish), ["/d/fish/work_2_history"]);
        assert_eq!(paths(&environment, RunSource::Atuin), ["/d/atuin/history.db"]);
    }

    #[test]
    fn a_history_of_the_other_shell_is_left_out() {
        let zsh = HistoryEnvironment { histfile: Some("/h/.zsh_history".into()), zdotdir: Some("/h".into()), ..home() };
        assert_eq!(paths(&zsh, RunSource::Bash), ["/h/.bash_history"]);
        assert_eq!(paths(&zsh, RunSource::Zsh), ["/h/.zsh_history", "/h/.histfile", "/h/.zhistory"]);
        let bash = HistoryEnvironment { histfile: Some("/x/.bash_history".into()), ..home() };
        assert_eq!(paths(&bash, RunSource::Zsh)[0], "/h/.zsh_history");
    }

    #[test]
    fn a_name_of_fish_leads_nowhere_else() {
        let named = |name: &str| HistoryEnvironment { fish_history: Some(name.to_owned()), ..home() };
        assert_eq!(paths(&named(""), RunSource::Fish), [""; 0]);
        for name in ["default", "../../etc/x", "a b", "a/b"] {
            assert_eq!(paths(&named(name), RunSource::Fish), ["/h/.local/share/fish/fish_history"], "{name}");
        }
    }
}
