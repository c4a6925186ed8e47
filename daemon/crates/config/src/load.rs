//! Loads the settings and the table of models from their files.

use cohab_protocol::Paths;

use crate::{ConfigError, ConfigFile, Position, Settings, model_table::ModelTable};

/// Reads the settings. A missing file means defaults.
///
/// # Errors
/// The first error in the file.
pub fn load(paths: &Paths) -> Result<Settings, ConfigError> {
    let file = ConfigFile::read(&paths.config_file())?;
    if let Some(problem) = file.problems().into_iter().next() {
        return Err(problem);
    }
    toml::from_str(file.text()).map_err(|error| fault(&file, &error))
}

/// Reads the user's table of models. A missing file means an empty one.
///
/// # Errors
/// The first error in the file.
pub fn models(paths: &Paths) -> Result<ModelTable, ConfigError> {
    let file = ConfigFile::read(&paths.models_file())?;
    ModelTable::parse(file.text()).map_err(|error| fault(&file, &error))
}

fn fault(file: &ConfigFile, error: &toml::de::Error) -> ConfigError {
    let offset = error.span().map_or(0, |span| span.start);
    ConfigError::new(file.path(), error.message()).at(Position::of(file.text().as_bytes(), offset))
}
