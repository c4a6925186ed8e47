use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use cohab_model_api::{ModelEvent, ModelInfo, ModelRequest};
use cohab_models::resolution::ChoiceError;
use cohab_policy::Verdict;
use cohab_session::Assembler as _;
use cohab_types::command::RelayError;
use futures::{
    StreamExt,
    stream::{self, BoxStream},
};

use super::*;

struct Named {
    model: String,
    is_offline: bool,
}

impl ModelProvider for Named {
    fn info(&self) -> ModelInfo {
        let (model, is_offline) = (self.model.clone(), self.is_offline);
        ModelInfo { wire: "named".into(), model, origin: "test".into(), is_offline }
    }

    fn stream(&self, _: ModelRequest) -> BoxStream<'static, ModelEvent> {
        stream::empty().boxed()
    }
}

/// Chooses the model in `COHAB_MODEL`, else that of the settings; counts its calls.
#[derive(Default)]
struct Counting(AtomicUsize);

#[async_trait]
impl ProviderChooser for Counting {
    async fn choose(&self, settings: &ModelSettings, variables: &Variables) -> Result<Choice, ChoiceError> {
        self.0.fetch_add(1, Ordering::Relaxed);
        let model = variables.get("COHAB_MODEL").or(settings.name.as_ref()).cloned().unwrap_or_default();
        let is_offline = model == "offline";
        Ok(Choice::Ready(Arc::new(Named { model, is_offline })))
    }
}

struct NoShell;

#[async_trait]
impl CommandRunner for NoShell {
    async fn run(
        &self,
        _: cohab_types::command::CommandRequest,
        _: &tokio_util::sync::CancellationToken,
    ) -> Result<cohab_types::command::CommandOutcome, RelayError> {
        Err(RelayError::NoClient)
    }

    fn cwd(&self) -> PathBuf {
        "/".into()
    }
}

/// An assembly whose settings file holds nothing but the model's name.
fn assembly(folder: &Path) -> (Assembly, Arc<Counting>, PathBuf) {
    let paths = paths(folder);
    let chooser = Arc::new(Counting::default());
    let file = paths.config_file();
    let parts = parts(Arc::clone(&chooser) as _, Store::in_memory());
    (Assembly::new(paths, parts), chooser, file)
}

/// Places in this folder.
pub(super) fn paths(folder: &Path) -> Paths {
    let paths = Paths::new(|name| (name == "COHAB_HOME").then(|| folder.to_owned()), 0);
    fs::create_dir_all(&paths.config_dir).unwrap();
    paths
}

/// The parts of an assembly; the model's name is the text of the settings file.
pub(super) fn parts(chooser: Arc<dyn ProviderChooser>, store: Store) -> Parts {
    Parts {
        load_settings: Box::new(|paths, _| {
            let name = fs::read_to_string(paths.config_file()).ok();
            Ok(TurnSettings {
                output_max_bytes: 65_536,
                mcp: Arc::default(),
                context: ContextSettings::default(),
                model: ModelSettings { name, ..ModelSettings::default() },
                models: Arc::default(),
                approval: ApprovalMode::Ask,
                limits: TurnLimits { model_calls: 1 },
                tools: Vec::new(),
                kept: None,
                audit_days: None,
                sandbox: Profile::Full,
                guards: Guards::default(),
                is_cache_on: false,
                jobs: Jobs::default(),
            })
        }),
        chooser,
        isolated_shell: Arc::new(|_, _, _| Arc::new(NoShell)),
        policy: |_, _| Verdict::new(cohab_policy::Level::Ask, Vec::new()),
        home: "/".into(),
        store: Arc::new(store),
        secrets: Arc::default(),
    }
}

fn variables(model: &str) -> Variables {
    [("COHAB_MODEL".to_owned(), model.to_owned())].into()
}

async fn model(assembly: &Assembly, variables: &Variables) -> String {
    assembly.introduce(variables).await.unwrap().model.model
}

#[tokio::test]
async fn a_changed_settings_file_or_environment_chooses_anew_and_nothing_else_does() {
    let folder = tempfile::tempdir().unwrap();
    let (assembly, chooser, file) = assembly(folder.path());
    fs::write(&file, "first").unwrap();
    let none = Variables::new();
    assert_eq!((model(&assembly, &none).await, model(&assembly, &none).await), ("first".into(), "first".into()));
    assert_eq!(chooser.0.load(Ordering::Relaxed), 1);
    assert_eq!(model(&assembly, &variables("mine")).await, "mine");
    assert_eq!(model(&assembly, &none).await, "first");
    assert_eq!(chooser.0.load(Ordering::Relaxed), 2);
    fs::write(&file, "second one").unwrap();
    assert_eq!(model(&assembly, &none).await, "second one");
    assert_eq!(chooser.0.load(Ordering::Relaxed), 3);
}

#[tokio::test]
async fn without_a_model_it_is_looked_for_anew_each_time() {
    let folder = tempfile::tempdir().unwrap();
    let (assembly, chooser, _) = assembly(folder.path());
    for _ in 0..2 {
        model(&assembly, &variables("offline")).await;
    }
    assert_eq!(chooser.0.load(Ordering::Relaxed), 2);
}

#[tokio::test]
async fn what_is_kept_is_bounded() {
    let folder = tempfile::tempdir().unwrap();
    let (assembly, ..) = assembly(folder.path());
    for n in 0..MAX_KEPT_CHOICES * 2 {
        model(&assembly, &variables(&n.to_string())).await;
    }
    assert_eq!(assembly.kept.lock().unwrap().len(), MAX_KEPT_CHOICES);
}
