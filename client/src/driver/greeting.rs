//! The line above the first prompt of the first three starts: that cohab is on, which model answers, what to type. A file counts the
//! starts; it is written after the prompt stands, and the relay shows the line only in an integrated shell.

use std::{
    fs,
    io::{self, Read},
    os::unix::fs::DirBuilderExt,
    path::{Path, PathBuf},
};

use cohab_conversation::ui::status::one_line;
use cohab_daemon_link::config::{ChosenModel, Config};
use cohab_protocol::EnvSetting;
use cohab_term::{ansi::write_line, live_area::Abilities, output_style::OutputStyle, theme, wrap::columns};
use ratatui::text::Line;

/// Starts that show the line.
const SHOWN_TIMES: u8 = 3;
/// Name of the file that counts them, in the folder of states. Its content is one number.
const FILE_NAME: &str = "greetings";
/// Longer content is no number of ours.
const FILE_MAX_BYTES: u64 = 16;
/// Who answers where no model was chosen.
const OFFLINE: &str = "offline assistant";
/// Longest name of a model.
const MODEL_COLUMNS: usize = 30;

/// A greeting that is due at this start.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Greeting {
    file: PathBuf,
    shown: u8,
}

impl Greeting {
    /// None once it was shown three times, or if the file holds something else than a count.
    pub fn due(state_dir: &Path) -> Option<Self> {
        let file = state_dir.join(FILE_NAME);
        let shown = match fs::File::open(&file) {
            Ok(opened) if opened.metadata().is_ok_and(|metadata| metadata.is_file()) => {
                let mut text = String::new();
                opened.take(FILE_MAX_BYTES).read_to_string(&mut text).ok()?;
                text.trim().parse().ok()?
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => 0,
            Ok(_) | Err(_) => return None,
        };
        (shown < SHOWN_TIMES).then_some(Self { file, shown })
    }

    /// Counts this start. If that fails, the next start shows the line again.
    pub fn count(self) {
        let folder = self.file.parent().unwrap_or(Path::new("."));
        let made = fs::DirBuilder::new().recursive(true).mode(0o700).create(folder);
        let _ = made.and_then(|()| fs::write(&self.file, format!("{}\n", self.shown + 1)));
    }
}

/// The line with its end, for these settings and the variables that choose a model.
pub(super) fn line(config: &Config, variables: &[EnvSetting], columns: u16, abilities: Abilities) -> Vec<u8> {
    let width = usize::from(columns).saturating_sub(1);
    let answering = answering(&config.model, variables);
    let text = text(answering.as_deref(), &config.client.question_prefix, width, abilities.output_style);
    let mut bytes = Vec::new();
    write_line(&Line::styled(text, theme::DIM), abilities.colors, &mut bytes);
    bytes.extend_from_slice(b"\r\n");
    bytes
}

/// The name of the model as far as it is known before the daemon has answered; `None` if only the daemon can tell.
fn answering(model: &ChosenModel, variables: &[EnvSetting]) -> Option<String> {
    let variable = variables.iter().find(|one| one.name == "COHAB_MODEL").map(|one| one.value.as_str());
    match (variable, model) {
        (Some(name), _) => Some(one_line(name)),
        (None, _) if !variables.is_empty() => None,
        (None, ChosenModel::Named(name)) => Some(one_line(name)),
        (None, ChosenModel::Unnamed) => None,
        (None, ChosenModel::None) => Some(OFFLINE.to_owned()),
    }
}

/// Where it does not fit into `width`, the list of commands goes first, then who answers.
fn text(answering: Option<&str>, prefix: &str, width: usize, output_style: OutputStyle) -> String {
    let is_offline = answering == Some(OFFLINE);
    let ask = match prefix {
        "" => "type a question".to_owned(),
        prefix => format!("type {prefix} and a question"),
    };
    let name = answering.filter(|name| columns(name) <= MODEL_COLUMNS).unwrap_or_default();
    let help = if prefix.is_empty() { String::new() } else { format!("{prefix} /help") };
    let setup = if is_offline { "cohab setup for a model" } else { "" };
    let joined = |parts: [&str; 5]| {
        let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        parts.join(output_style.choose(" · ", ", "))
    };
    let all = [["cohab", name, &ask, &help, setup], ["cohab", name, &ask, "", setup], ["cohab", "", &ask, "", setup]];
    let fitting = all.into_iter().map(joined).find(|text| columns(text) <= width);
    fitting.unwrap_or_else(|| joined(["cohab", "", &ask, "", ""]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_starts_show_it_and_no_other_content_does() {
        let folder = tempfile::tempdir().unwrap();
        let state = folder.path().join("state");
        for start in 0..3 {
            let greeting = Greeting::due(&state).unwrap_or_else(|| panic!("start {start}"));
            assert_eq!(greeting.shown, start);
            greeting.count();
        }
        assert_eq!(Greeting::due(&state), None);
        for text in ["", "x", "-1", "99999999999999999999999"] {
            fs::write(state.join(FILE_NAME), text).unwrap();
            assert_eq!(Greeting::due(&state), None, "{text:?}");
        }
    }

    #[test]
    fn it_names_who_answers_and_fits_the_row() {
        let lines = [
            (Some(OFFLINE), "?", 100),
            (Some(OFFLINE), "?", 80),
            (Some(OFFLINE), "?", 60),
            (Some(OFFLINE), "?", 40),
            (Some("gpt-5"), "?", 80),
            (None, "?", 80),
            (Some("gpt-5"), "", 80),
        ];
        let lines = lines.map(|(answering, prefix, width)| text(answering, prefix, width, OutputStyle::Rich));
        insta::assert_snapshot!("greeting", lines.join("\n"));
    }

    #[test]
    fn the_variable_wins_over_the_file_and_a_key_alone_names_no_model() {
        let setting = |name: &str, value: &str| EnvSetting { name: name.into(), value: value.into() };
        let named = ChosenModel::Named("big".into());
        assert_eq!(answering(&ChosenModel::None, &[]).as_deref(), Some(OFFLINE));
        assert_eq!(answering(&named, &[]).as_deref(), Some("big"));
        assert_eq!(answering(&named, &[setting("COHAB_MODEL", "small\u{1b}[2J")]).as_deref(), Some("small"));
        assert_eq!(answering(&ChosenModel::None, &[setting("OPENAI_API_KEY", "x")]), None);
        assert_eq!(answering(&ChosenModel::Unnamed, &[]), None);
    }
}
