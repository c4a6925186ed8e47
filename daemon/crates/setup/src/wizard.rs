//! Sets up a service by asking the user.

use cohab_config::{model_settings::KeyStore, profile};
use cohab_model_api::ProviderErrorKind;
use cohab_models::{detect, http};
use cohab_wires::{
    vendor,
    wire::{Model, Vendor},
};
use reqwest::Url;

use super::{
    Prompt, Row, Saved, Setup, SetupError, Tone, check,
    draft::{Draft, DraftKey, check_key, check_value},
    offer::{self, Target},
};

/// Asks for all facts that the command line lacks, tries them out and saves them.
///
/// # Errors
/// The user left, the settings file is wrong, or something cannot be written. Then nothing was written.
pub async fn run(setup: &Setup, prompt: &mut dyn Prompt) -> Result<Saved, SetupError> {
    setup.sound_file()?;
    let title = setup.given.profile.as_ref().map_or_else(String::new, |name| format!(" · profile {name}"));
    prompt.say(Tone::Title, &format!("cohab setup{title}"))?;
    prompt.say(Tone::Plain, "")?;
    let mut wizard = Wizard {
        setup,
        prompt,
        draft: Draft::of(&setup.given),
        name: String::new(),
        usual_key: None,
        found_models: Vec::new(),
    };
    let models = wizard.service_and_models().await?;
    if wizard.draft.provider != "offline" {
        wizard.model_and_test(models).await?;
    }
    let draft = wizard.draft;
    let saved = setup.save(&draft).await?;
    tell(setup, prompt, &saved)?;
    Ok(saved)
}

struct Wizard<'a> {
    setup: &'a Setup,
    prompt: &'a mut dyn Prompt,
    draft: Draft,
    /// The service for people.
    name: String,
    /// The vendor, if its key is required.
    usual_key: Option<&'static Vendor>,
    /// The models that a found server reported.
    found_models: Vec<Model>,
}

/// The next step after a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    Again,
    OtherKey,
    OtherModel,
    OtherAddress,
    Keep,
    Leave,
}

impl Wizard<'_> {
    /// Chooses service, address and key; returns the models of the service, none if it does not list them.
    async fn service_and_models(&mut self) -> Result<Vec<Model>, SetupError> {
        self.choose_service().await?;
        if self.draft.provider == "offline" {
            return Ok(Vec::new());
        }
        if !self.found_models.is_empty() {
            return Ok(std::mem::take(&mut self.found_models));
        }
        self.ask_key_if_needed()?;
        loop {
            self.prompt.wait(&format!("asking {} for its models", self.name))?;
            let Some(service) = self.setup.service(&self.draft).await? else { return Ok(Vec::new()) };
            let error = match self.setup.models(&service).await {
                Ok(models) => return Ok(models),
                Err(error @ (SetupError::Service(_) | SetupError::Key(_))) => error,
                Err(error) => return Err(error),
            };
            // Many services have no list; the test of the model shows whether the rest is right.
            if matches!(&error, SetupError::Service(error) if matches!(error.kind, ProviderErrorKind::ModelNotFound | ProviderErrorKind::InvalidRequest | ProviderErrorKind::Protocol))
            {
                self.prompt.say(Tone::Aside, &format!("  {} does not list its models.", self.name))?;
                return Ok(Vec::new());
            }
            if is_about_key(&error) && matches!(self.draft.key, DraftKey::None) {
                self.prompt.say(Tone::Aside, &format!("  {} needs a key.", self.name))?;
                self.ask_key()?;
                continue;
            }
            match self.after_failure(&error, false)? {
                Way::OtherKey => self.ask_key()?,
                Way::OtherAddress => self.ask_address()?,
                Way::Keep => return Ok(Vec::new()),
                Way::Leave => return Err(SetupError::Cancelled),
                Way::Again | Way::OtherModel => {}
            }
        }
    }

    async fn model_and_test(&mut self, models: Vec<Model>) -> Result<(), SetupError> {
        let mut is_asked = self.draft.model.is_none();
        if let Some(model) = self.draft.model.clone() {
            self.done("Model", &Row::new(&model, "").name)?;
        }
        loop {
            if is_asked {
                self.ask_model(&models).await?;
            }
            if self.setup.given.is_untested {
                return Ok(());
            }
            let model = self.draft.model.clone().unwrap_or_default();
            self.prompt.wait(&format!("asking {model} a question"))?;
            let error = match self.setup.hello(&self.draft, &model).await {
                Ok(hello) => {
                    let said = if hello.text.is_empty() { String::new() } else { format!(": {}", hello.text) };
                    let text = format!("Test     answered in {:.1} s{said}", hello.took.as_secs_f64());
                    return Ok(self.prompt.say(Tone::Done, &text)?);
                }
                Err(error @ (SetupError::Service(_) | SetupError::Key(_))) => error,
                Err(error) => return Err(error),
            };
            is_asked = false;
            match self.after_failure(&error, true)? {
                Way::OtherKey => self.ask_key()?,
                Way::OtherAddress => self.ask_address()?,
                Way::OtherModel => is_asked = true,
                Way::Keep => return Ok(()),
                Way::Leave => return Err(SetupError::Cancelled),
                Way::Again => {}
            }
        }
    }

    async fn choose_service(&mut self) -> Result<(), SetupError> {
        if self.draft.provider.is_empty() && self.draft.base_url.is_some() {
            "openai-chat".clone_into(&mut self.draft.provider);
        }
        if !self.draft.provider.is_empty() {
            let spoken = vendor::named(&self.draft.provider);
            let vendor = spoken.and_then(|spoken| spoken.vendor.or_else(|| spoken.wire.vendors().first()));
            return self.take_vendor(vendor);
        }
        self.prompt.wait("looking for servers on this machine")?;
        let hosts = detect::usual_hosts(self.setup.variable("OLLAMA_HOST").as_deref());
        let found = detect::find_all(&hosts).await;
        let targets = offer::targets(&found, |name| self.setup.variable(name).is_some());
        let rows: Vec<Row> = targets.iter().map(|(_, row)| row.clone()).collect();
        let chosen = self.prompt.choose("Which service should answer?", &rows, 0)?;
        match targets.into_iter().nth(chosen).map(|(target, _)| target) {
            Some(Target::Local(server)) => {
                self.done("Service", &format!("{} at {}", server.server, server.url))?;
                self.name = server.server;
                server.wire.clone_into(&mut self.draft.provider);
                self.draft.base_url = Some(server.url);
                self.found_models = server.models;
                Ok(())
            }
            Some(Target::Vendor(vendor)) => {
                vendor.id.clone_into(&mut self.draft.provider);
                self.take_vendor(Some(vendor))
            }
            Some(Target::Other) => {
                "openai-chat".clone_into(&mut self.draft.provider);
                self.ask_address()
            }
            Some(Target::Offline) | None => {
                "offline".clone_into(&mut self.draft.provider);
                self.done("Service", "the built-in assistant")
            }
        }
    }

    fn take_vendor(&mut self, vendor: Option<&'static Vendor>) -> Result<(), SetupError> {
        self.name = vendor.map_or_else(|| self.draft.provider.clone(), |vendor| vendor.name.to_owned());
        self.usual_key = vendor.filter(|vendor| !vendor.key_variables.is_empty() && !vendor.is_local());
        let has_address = self.draft.base_url.is_some() || vendor.is_none_or(|vendor| !vendor.base_url.is_empty());
        if let Some(url) = &self.draft.base_url {
            // The user's own server may need no key, in any wire.
            self.usual_key = None;
            self.name = host_in(url);
        }
        self.done("Service", &self.draft.base_url.clone().unwrap_or_else(|| self.name.clone()))?;
        if has_address { Ok(()) } else { self.ask_address() }
    }

    fn ask_address(&mut self) -> Result<(), SetupError> {
        let check = |text: &str| match text {
            text if text.starts_with('/') => Err("that is a path, not a URL".to_owned()),
            text => check_value("base_url", &with_scheme(text))
                .map_err(|_| "write a URL such as https://host/v1".to_owned()),
        };
        let hint = "such as http://127.0.0.1:8080/v1 or https://llm.example.com/v1";
        let url = with_scheme(&self.prompt.line("At which URL?", hint, &check)?);
        self.done("Address", &url)?;
        if self.name.is_empty() {
            self.name = host_in(&url);
        }
        self.draft.base_url = Some(url);
        Ok(())
    }

    /// Asks for a vendor's key; another server reports whether it requires one.
    fn ask_key_if_needed(&mut self) -> Result<(), SetupError> {
        if !matches!(self.draft.key, DraftKey::None) {
            return self.key_done();
        }
        if self.usual_key.is_some() { self.ask_key() } else { Ok(()) }
    }

    fn ask_key(&mut self) -> Result<(), SetupError> {
        let variables = self.usual_key.map_or(&[][..], |vendor| vendor.key_variables);
        let set = variables.iter().find(|name| self.setup.variable(name).is_some());
        let mut rows = Vec::new();
        rows.extend(set.map(|name| Row::new(format!("Take it from ${name}"), "read at every use; set in this shell")));
        let store = self.setup.stores.best();
        let place = match store {
            KeyStore::Keyring => "kept in the system's keyring".to_owned(),
            KeyStore::File => {
                let file = std::path::PathBuf::from(self.setup.stores.name(store));
                format!("readable only by you, in {}", self.setup.shown_path(&file))
            }
        };
        rows.push(Row::new("Paste it now", &place));
        rows.push(Row::new("A command prints it", "a password manager: pass, op, gpg"));
        let chosen = self.prompt.choose(&format!("Where is the key of {}?", self.name), &rows, 0)?;
        self.draft.key = match (set, chosen) {
            (Some(name), 0) => DraftKey::Variable((*name).to_owned()),
            (Some(_), 1) | (None, 0) => {
                let hint = format!("not shown; {place}");
                DraftKey::Secret(self.prompt.secret(&format!("Key of {}", self.name), &hint, &check_key)?)
            }
            _ => DraftKey::Command(self.prompt.line(
                "Which command prints the key?",
                "such as `pass show openai`; its first line is the key",
                &|text| check_value("key_command", text),
            )?),
        };
        self.key_done()
    }

    fn key_done(&mut self) -> Result<(), SetupError> {
        let text = match &self.draft.key {
            DraftKey::None => return Ok(()),
            DraftKey::Variable(name) => format!("from ${name}"),
            DraftKey::Command(line) => format!("printed by `{line}`"),
            DraftKey::Secret(_) => "pasted".to_owned(),
        };
        self.done("Key", &text)
    }

    async fn ask_model(&mut self, models: &[Model]) -> Result<(), SetupError> {
        let service = self.setup.service(&self.draft).await?;
        let usual = service.as_ref().and_then(|service| service.likely_model());
        let model = if models.is_empty() {
            let hint = usual.map_or_else(|| "as the service calls it".to_owned(), |usual| format!("such as {usual}"));
            self.prompt.line("Which model?", &hint, &|text| check_value("name", text))?
        } else {
            let rows: Vec<Row> = models.iter().map(|model| Row::new(&model.id, check::remark(model))).collect();
            let used = self.used_model();
            let best = check::best_model(models, used.as_deref(), usual);
            let chosen = self.prompt.choose("Which model?", &rows, best)?;
            models[chosen].id.clone()
        };
        let listed = models.iter().find(|known| known.id == model);
        let is_known_service = vendor::named(&self.draft.provider).is_some_and(|spoken| spoken.vendor.is_some());
        self.draft.context_window_tokens =
            listed.and_then(|listed| listed.context_window_tokens).filter(|_| !is_known_service);
        let known = listed.map(check::remark).unwrap_or_default();
        let known = if known.is_empty() { known } else { format!(" ({known})") };
        self.done("Model", &format!("{}{known}", Row::new(&model, "").name))?;
        self.draft.model = Some(model);
        Ok(())
    }

    /// The model in the file now.
    fn used_model(&self) -> Option<String> {
        let (value, _) = self.setup.sound_file().ok()?.value(&self.draft.key_named("name")?)?;
        value.as_str().map(str::to_owned)
    }

    fn after_failure(&mut self, error: &SetupError, has_model: bool) -> Result<Way, SetupError> {
        let what = if has_model { "Test" } else { "Models" };
        self.prompt.say(Tone::Failed, &format!("{what:<8} {error}"))?;
        if let Some(hint) = error.hint().filter(|_| !is_about_key(error)) {
            self.prompt.say(Tone::Aside, &format!("           {hint}"))?;
        }
        let mut ways = Vec::new();
        let key = (Way::OtherKey, Row::new("Give another key", ""));
        let again = (Way::Again, Row::new("Try again", ""));
        if is_about_key(error) {
            ways.extend([key, again]);
        } else {
            ways.extend([again, key]);
        }
        if has_model {
            ways.push((Way::OtherModel, Row::new("Choose another model", "")));
        }
        if self.draft.base_url.is_some() {
            ways.push((Way::OtherAddress, Row::new("Change the URL", "")));
        }
        let keep = if has_model { "save the settings untested" } else { "name the model yourself" };
        ways.push((Way::Keep, Row::new("Continue anyway", keep)));
        ways.push((Way::Leave, Row::new("Leave", "change nothing")));
        let rows: Vec<Row> = ways.iter().map(|(_, row)| row.clone()).collect();
        let chosen = self.prompt.choose("What now?", &rows, 0)?;
        Ok(ways.get(chosen).map_or(Way::Leave, |(way, _)| *way))
    }

    fn done(&mut self, what: &str, text: &str) -> Result<(), SetupError> {
        Ok(self.prompt.say(Tone::Done, &format!("{what:<8} {text}"))?)
    }
}

/// The host of a URL, for people.
fn host_in(url: &str) -> String {
    Url::parse(url).map_or_else(|_| url.to_owned(), |url| http::host_of(&url))
}

fn is_about_key(error: &SetupError) -> bool {
    match error {
        SetupError::Service(error) => error.kind == ProviderErrorKind::Auth,
        SetupError::Key(_) => true,
        _ => false,
    }
}

/// Reports the saved settings and the next steps.
fn tell(setup: &Setup, prompt: &mut dyn Prompt, saved: &Saved) -> Result<(), SetupError> {
    let mut say = |tone: Tone, text: &str| prompt.say(tone, text);
    if let Some(notice) = &saved.notice {
        say(Tone::Failed, &format!("Keyring  {notice}"))?;
    }
    if let Some((_, place)) = &saved.key {
        say(Tone::Done, &format!("Key      stored in {place}"))?;
    }
    say(Tone::Done, &format!("Written  {}", setup.shown_path(&saved.file)))?;
    say(Tone::Plain, "")?;
    say(Tone::Aside, &format!("    [{}]", saved.table))?;
    for (name, value) in &saved.settings {
        say(Tone::Aside, &format!("    {name} = {value}"))?;
    }
    say(Tone::Plain, "")?;
    let stronger = setup.stronger_variables();
    if !stronger.is_empty() {
        let verb = if stronger.len() == 1 { "is" } else { "are" };
        say(Tone::Failed, &format!("{} {verb} set in this shell and override the file", stronger.join(", ")))?;
    }
    let name = saved.table.strip_prefix("profiles.");
    say(Tone::Plain, &try_it(setup.is_inside_cohab(), name))?;
    say(Tone::Plain, "  ? what is in this folder")?;
    if let Some(name) = name.filter(|name| *name != profile::DEFAULT) {
        say(Tone::Aside, &format!("  `cohab config set profile {name}` makes it the default."))?;
    }
    Ok(())
}

/// The next step. A shell that cohab opened reads the settings again at its next question.
fn try_it(is_inside_cohab: bool, profile: Option<&str>) -> String {
    match (is_inside_cohab, profile) {
        (true, None) => "Try it at this prompt:".to_owned(),
        (true, Some(name)) => format!("Try it at this prompt, with `? /model profile:{name}`, then"),
        (false, None) => "Try it: run `cohab`, and at its prompt".to_owned(),
        (false, Some(name)) => format!("Try it: run `cohab --profile {name}`, and at its prompt"),
    }
}

/// The URL that an address without a scheme means: plain HTTP on this machine, HTTPS elsewhere. Other text stays as it is.
fn with_scheme(text: &str) -> String {
    let authority = text.split('/').next().unwrap_or_default();
    let (host, has_port) = match authority.rsplit_once(':') {
        Some((host, port)) if !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit()) => (host, true),
        _ => (authority, false),
    };
    let is_loopback = host == "localhost" || host == "[::1]" || host.starts_with("127.");
    if text.contains("://") || text.starts_with('/') || !(is_loopback || has_port || host.contains('.')) {
        return text.to_owned();
    }
    format!("{}://{text}", if is_loopback { "http" } else { "https" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_is_sent_from_cohab_into_cohab() {
        for profile in [None, Some("work")] {
            assert!(!try_it(true, profile).contains("run `cohab"), "{}", try_it(true, profile));
            assert!(try_it(false, profile).contains("run `cohab"), "{}", try_it(false, profile));
        }
    }

    #[test]
    fn an_address_without_a_scheme_gets_the_usual_one() {
        for (text, url) in [
            ("localhost:18951", "http://localhost:18951"),
            ("127.0.0.1:8080/v1", "http://127.0.0.1:8080/v1"),
            ("[::1]:8080", "http://[::1]:8080"),
            ("llm.example.com/v1", "https://llm.example.com/v1"),
            ("box:8080", "https://box:8080"),
            ("http://box/v1", "http://box/v1"),
            ("nonsense", "nonsense"),
            ("/tmp/script.json", "/tmp/script.json"),
        ] {
            assert_eq!(with_scheme(text), url);
        }
    }
}
