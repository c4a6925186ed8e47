//! Tools of the user: executables that describe themselves by `--agent-guide` and are called with JSON on standard input.
//!
//! They act as other programs do: the gate asks about each call, unless a rule of the user's lets the tool run unasked.

use std::{
    collections::HashMap,
    ffi::OsString,
    fs,
    os::unix::fs::{MetadataExt, PermissionsExt},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, SystemTime},
};

use async_trait::async_trait;
use cohab_agent::port::{Agreed, Effect, Intent, Tool, ToolContext, ToolOutput};
use cohab_context::trust::TrustedFolders;
use cohab_model_api::{JsonObject, ToolSpec};
use cohab_system::{files, private_file::PrivateFileError};
use cohab_text::sanitize::{one_line, sanitize};
use futures::{StreamExt as _, stream};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::{task::spawn_blocking, time::timeout};

use crate::{
    consent::{AllowedFiles, Fingerprint},
    output::{Captured, HookEnd},
    places::{Consent, Scope},
    process::{HookRun, run},
    program_prints::ProgramPrints,
};

/// Folder of the user's tools, in the folder of the settings.
pub const OWN_FOLDER: &str = "tools";
/// Folder of a project's tools.
pub const PROJECT_FOLDER: &str = ".cohab/tools";
/// Stands before the name of each, so that none can pass for a tool of cohab's.
pub const PREFIX: &str = "own_";
/// Most tools of a folder. Further ones are left out, in the order of their names.
const MAX_TOOLS: usize = 32;
/// Largest program, in bytes.
const MAX_PROGRAM_BYTES: u64 = 16 * 1024 * 1024;
/// Longest name that a tool gives itself.
const MAX_NAME: usize = 40;
/// Longest description, in bytes.
const MAX_DESCRIPTION: usize = 2_048;
/// Time for a tool to describe itself.
const GUIDE_LIMIT: Duration = Duration::from_secs(2);
/// Programs that describe themselves at the same time.
const GUIDES_AT_ONCE: usize = 4;
/// Descriptions that are kept.
const MAX_KEPT: usize = 256;
/// Columns of a path in a card.
const PATH_COLUMNS: usize = 200;
/// The reason why a tool does not run whose program is not the one that was offered.
const CHANGED: &str = "its program changed since the question; it can be used from the next one on";
/// Columns of arguments in a title.
const TITLE_COLUMNS: usize = 80;
/// Write permission that others must not have.
const OTHERS_WRITE: u32 = 0o022;
/// Execute permission of any user.
const MAY_RUN: u32 = 0o111;

/// A program in a folder of tools.
#[derive(Clone, Debug)]
pub struct FoundTool {
    /// Its path, links resolved.
    pub path: PathBuf,
    /// Whose it is.
    pub scope: Scope,
    /// Whether the user agreed to its use.
    pub consent: Consent,
    /// Whether the user agreed to its running unasked.
    pub is_unasked: bool,
    /// Its content, or why it cannot be used, a phrase.
    pub fingerprint: Result<Fingerprint, String>,
}

/// Where tools are looked for.
#[derive(Clone, Debug)]
pub struct ToolPlaces {
    /// Folder of the settings.
    pub settings: PathBuf,
    /// The folders that the user trusts.
    pub trust: TrustedFolders,
    /// The programs of projects that the user allowed.
    pub allowed: AllowedFiles,
    /// The programs that may run unasked.
    pub unasked: AllowedFiles,
    /// The programs that were read before.
    pub prints: Arc<ProgramPrints>,
}

impl ToolPlaces {
    /// All programs in the folders of tools, the user's first. Blocks.
    ///
    /// # Errors
    /// A list of consents cannot be read.
    pub fn find(&self, root: Option<&Path>) -> Result<Vec<FoundTool>, PrivateFileError> {
        let own = self.settings.join(OWN_FOLDER);
        let folders = [(own, Scope::User, None)].into_iter();
        let folders = folders.chain(root.map(|root| (root.join(PROJECT_FOLDER), Scope::Project, Some(root))));
        let mut found = Vec::new();
        for (folder, scope, root) in folders {
            let programs = programs(&folder);
            if programs.is_empty() {
                continue;
            }
            let (allowed, unasked) = (self.allowed.all()?, self.unasked.all()?);
            let is_trusted = root.is_none_or(|root| self.trust.covers(root));
            let fault = (scope == Scope::User).then(|| fault_of(&folder)).flatten();
            for path in programs {
                let fingerprint = match &fault {
                    Some(fault) => Err(fault.clone()),
                    None => self.fingerprint(&path, scope),
                };
                let is_same = |known: Option<&Fingerprint>| known.is_some() && known == fingerprint.as_ref().ok();
                let consent = match (scope, allowed.get(&path)) {
                    (Scope::User, _) => Consent::Given,
                    (Scope::Project, _) if !is_trusted => Consent::NoTrust,
                    (Scope::Project, None) => Consent::Missing,
                    (Scope::Project, known) if is_same(known) => Consent::Given,
                    (Scope::Project, Some(_)) => Consent::Changed,
                };
                let is_unasked = is_same(unasked.get(&path));
                found.push(FoundTool { path, scope, consent, is_unasked, fingerprint });
            }
        }
        Ok(found)
    }

    /// The fingerprint of a program; one that is as it was is not read again.
    fn fingerprint(&self, path: &Path, scope: Scope) -> Result<Fingerprint, String> {
        check_rights(path, scope)?;
        if let Some(known) = self.prints.known(path) {
            return Ok(known);
        }
        let (fingerprint, metadata) = read_program(path)?;
        self.prints.remember(&metadata, &fingerprint, SystemTime::now());
        Ok(fingerprint)
    }
}

impl FoundTool {
    /// Compares the program with the one that was found. Blocks.
    fn check(&self) -> Result<(), String> {
        check_rights(&self.path, self.scope)?;
        let (now, _) = read_program(&self.path)?;
        if self.fingerprint.as_ref() == Ok(&now) { Ok(()) } else { Err(CHANGED.to_owned()) }
    }
}

/// The files of a folder in the order of their names, links resolved.
fn programs(folder: &Path) -> Vec<PathBuf> {
    let files = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let is_hidden = |path: &PathBuf| path.file_name().is_none_or(|name| name.as_encoded_bytes().starts_with(b"."));
    let mut files: Vec<PathBuf> = files.filter(|path| !is_hidden(path)).collect();
    files.sort();
    files.truncate(MAX_TOOLS);
    files.iter().filter_map(|path| path.canonicalize().ok()).filter(|path| !path.is_dir()).collect()
}

/// Why others could change what is there.
fn fault_of(path: &Path) -> Option<String> {
    let metadata = fs::metadata(path).ok()?;
    let is_own = [0, rustix::process::geteuid().as_raw()].contains(&metadata.uid());
    let shown = path.display();
    match is_own && metadata.mode() & OTHERS_WRITE == 0 {
        true => None,
        false => Some(format!("other users can write {shown}; run `chmod go-w` on it")),
    }
}

fn check_rights(path: &Path, scope: Scope) -> Result<(), String> {
    fault_of(path).filter(|_| scope == Scope::User).map_or(Ok(()), Err)
}

/// The fingerprint of a program, and its state before it was read.
fn read_program(path: &Path) -> Result<(Fingerprint, fs::Metadata), String> {
    let (content, metadata) = files::read_regular(path, MAX_PROGRAM_BYTES).map_err(|error| error.to_string())?;
    match metadata.permissions().mode() & MAY_RUN {
        0 => Err("it is not executable; run `chmod +x` on it".to_owned()),
        _ => Ok((Fingerprint::of([content.as_slice()]), metadata)),
    }
}

/// What a tool says of itself.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Guide {
    /// Its name: small letters, digits and `_`.
    pub name: String,
    /// Its purpose, for the model.
    pub description: String,
    /// JSON schema of its arguments, an object.
    #[serde(default = "no_parameters")]
    pub parameters: Value,
    /// Whether it says that it changes nothing. A hint that nothing depends on.
    #[serde(default)]
    pub only_reads: bool,
}

fn no_parameters() -> Value {
    json!({"type": "object", "properties": {}})
}

/// Reads what a tool printed for `--agent-guide`.
///
/// # Errors
/// It cannot be used; a phrase.
pub fn read_guide(end: &HookEnd) -> Result<Guide, String> {
    let output = match end {
        HookEnd::Exited { status: 0, output: Captured { bytes, is_cut: false }, .. } => bytes,
        HookEnd::Exited { status: 0, .. } => return Err("its `--agent-guide` prints too much".to_owned()),
        HookEnd::Exited { status, .. } => return Err(format!("its `--agent-guide` ends with status {status}")),
        HookEnd::Late(_) => return Err(format!("its `--agent-guide` takes longer than {} s", GUIDE_LIMIT.as_secs())),
        HookEnd::NotRun(reason) => return Err(one_line(reason, 200)),
    };
    let guide: Guide = serde_json::from_slice(output)
        .map_err(|error| format!("its `--agent-guide` prints no description: {}", one_line(&error.to_string(), 200)))?;
    let is_word = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    let starts_well = guide.name.starts_with(|c: char| c.is_ascii_lowercase());
    match () {
        () if !starts_well || guide.name.len() > MAX_NAME || !guide.name.chars().all(is_word) => {
            Err(format!("its name is not a word of small letters, digits and `_`, at most {MAX_NAME}"))
        }
        () if guide.description.trim().is_empty() || guide.description.len() > MAX_DESCRIPTION => {
            Err(format!("its description is empty or longer than {MAX_DESCRIPTION} bytes"))
        }
        () if guide.parameters["type"] != "object" => {
            Err("its `parameters` are no JSON schema of an object".to_owned())
        }
        () => Ok(Guide { description: sanitize(&guide.description), ..guide }),
    }
}

/// The descriptions of tools, each read once for a content. A tool that failed to describe itself is asked again.
#[derive(Debug, Default)]
pub struct Guides(Mutex<HashMap<Fingerprint, Result<Guide, String>>>);

/// What all tools of a turn have in common.
#[derive(Clone, Debug)]
pub struct ToolSetting {
    /// Their whole environment, without secrets.
    pub environment: Vec<(OsString, OsString)>,
    /// A call is stopped after this time.
    pub limit: Duration,
}

impl Guides {
    /// The tools that can be used, and the faults of others as sentences. A name counts for the first that has it.
    pub async fn tools(&self, found: Vec<FoundTool>, setting: &ToolSetting) -> (Vec<Arc<dyn Tool>>, Vec<String>) {
        let usable = found.into_iter().filter(|tool| tool.consent == Consent::Given);
        let described = usable.map(|tool| async move {
            let guide = self.of(&tool, setting).await;
            (tool, guide)
        });
        let described: Vec<_> = stream::iter(described).buffered(GUIDES_AT_ONCE).collect().await;
        let (mut tools, mut faults) = (Vec::<Arc<dyn Tool>>::new(), Vec::new());
        for (found, guide) in described {
            let shown = one_line(&found.path.to_string_lossy(), 200);
            match guide {
                Err(fault) => faults.push(format!("The tool {shown} is not used: {fault}.")),
                Ok(guide) => {
                    let tool = OwnTool { found, guide, setting: setting.clone() };
                    match tools.iter().any(|other| other.spec().name == tool.spec().name) {
                        true => faults.push(format!("The tool {shown} is not used: another one has its name.")),
                        false => tools.push(Arc::new(tool)),
                    }
                }
            }
        }
        (tools, faults)
    }

    /// What a tool says of itself.
    ///
    /// # Errors
    /// It cannot be used; a phrase.
    pub async fn of(&self, tool: &FoundTool, setting: &ToolSetting) -> Result<Guide, String> {
        let fingerprint = tool.fingerprint.clone()?;
        let kept = |this: &Self| this.0.lock().unwrap_or_else(PoisonError::into_inner).get(&fingerprint).cloned();
        if let Some(guide) = kept(self) {
            return guide;
        }
        let end = start(tool, "--agent-guide", Path::new("/"), b"", &setting.environment, GUIDE_LIMIT).await;
        let guide = read_guide(&end);
        if !matches!(end, HookEnd::Exited { status: 0, .. }) {
            return guide;
        }
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if all.len() >= MAX_KEPT {
            all.clear();
        }
        all.insert(fingerprint, guide.clone());
        guide
    }
}

/// Starts a tool, unless its program is not the one that was found.
async fn start(
    tool: &FoundTool,
    argument: &str,
    cwd: &Path,
    input: &[u8],
    environment: &[(OsString, OsString)],
    limit: Duration,
) -> HookEnd {
    let mut environment = environment.to_vec();
    environment.push(("COHAB_TOOL".into(), tool.path.as_os_str().to_owned()));
    let command = format!("exec \"$COHAB_TOOL\" {argument}");
    let tool = tool.clone();
    let checked = timeout(limit, spawn_blocking(move || tool.check())).await;
    let checked = checked.map_err(|_| "it could not be read in time".to_owned());
    if let Err(reason) = checked.and_then(|checked| checked.unwrap_or_else(|error| Err(error.to_string()))) {
        return HookEnd::NotRun(reason);
    }
    run(HookRun { command: &command, cwd, environment: &environment, input, limit }).await
}

/// A tool of the user's.
struct OwnTool {
    found: FoundTool,
    guide: Guide,
    setting: ToolSetting,
}

#[async_trait]
impl Tool for OwnTool {
    fn spec(&self) -> ToolSpec {
        let Guide { name, description, parameters, .. } = self.guide.clone();
        ToolSpec { name: format!("{PREFIX}{name}"), description, parameters }
    }

    fn intent(&self, args: &JsonObject, _cwd: &Path) -> Result<Intent, String> {
        self.found.check()?;
        let path = one_line(&self.found.path.to_string_lossy(), PATH_COLUMNS);
        let by = match self.found.scope {
            Scope::User => format!("a tool of yours, {path}"),
            Scope::Project => format!("a tool of this project, {path}"),
        };
        let details = serde_json::to_string_pretty(args).unwrap_or_default();
        // Consent for the session holds for what these two name: this program with this content.
        let content = self.found.fingerprint.as_ref().map_err(Clone::clone)?.short();
        let effect = Effect::Foreign {
            by,
            action: format!("{} ({content})", self.guide.name),
            details: details.into(),
            agreed: if self.found.is_unasked { Agreed::ByRule } else { Agreed::No },
        };
        let line = Value::Object(args.clone()).to_string();
        Ok(Intent { title: one_line(&line, TITLE_COLUMNS), effect })
    }

    async fn call(&self, args: &JsonObject, context: &ToolContext<'_>) -> Result<ToolOutput, String> {
        let input = serde_json::to_vec(args).map_err(|error| error.to_string())?;
        let cwd = context.runner.cwd();
        let ToolSetting { environment, limit } = &self.setting;
        let end = tokio::select! {
            biased;
            () = context.cancel.cancelled() => return Err("cancelled".to_owned()),
            end = start(&self.found, "", &cwd, &input, environment, *limit) => end,
        };
        match end {
            HookEnd::Exited { status, output, errors } => Ok(shown(status, &output, &errors)),
            HookEnd::Late(seconds) => Err(format!("it did not end within {seconds} s and was stopped")),
            HookEnd::NotRun(reason) => Err(reason),
        }
    }
}

fn shown(status: i32, output: &Captured, errors: &Captured) -> ToolOutput {
    let text = |captured: &Captured| {
        let cut = if captured.is_cut { "\n[the rest is left out]" } else { "" };
        String::from_utf8_lossy(&captured.bytes).into_owned() + cut
    };
    let mut content = text(output);
    if status != 0 {
        content = format!("{content}\n{}\n[exit {status}]", text(errors));
    }
    let summary = match (status, content.lines().count()) {
        (0, 1) => "1 line".to_owned(),
        (0, lines) => format!("{lines} lines"),
        (status, _) => format!("exit {status}"),
    };
    ToolOutput { is_failure: status != 0, ..ToolOutput::text(content, summary) }
}

#[cfg(test)]
#[path = "own_tools_tests.rs"]
mod tests;
