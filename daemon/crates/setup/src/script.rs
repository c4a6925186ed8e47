//! Sets up a service from the command line, without questions.

use cohab_config::keys;
use cohab_model_api::ProviderErrorKind;
use cohab_models::{http, resolved_endpoint::ResolvedEndpoint};
use cohab_wires::vendor;

use super::{
    Saved, Setup, SetupError,
    check::Hello,
    draft::{Draft, DraftKey, check_value},
};

/// The result.
pub struct Done {
    /// The saved settings.
    pub saved: Saved,
    /// Duration of the test's answer in milliseconds, and its beginning; `None` without a test.
    pub test: Option<(u128, String)>,
}

/// Sets up the service of the command line.
///
/// # Errors
/// Flags are missing or wrong, the test failed, or something cannot be written. Then nothing was written.
pub async fn run(setup: &Setup) -> Result<Done, SetupError> {
    setup.sound_file()?;
    let mut draft = setup.checked_draft()?;
    if draft.provider == "offline" {
        return Ok(Done { saved: setup.save(&draft).await?, test: None });
    }
    let service = setup.service(&draft).await?;
    if draft.model.is_none() {
        let Some(service) = &service else { return Err(SetupError::Missing(vec!["--model"])) };
        draft.model = Some(known_model(service).await?);
    }
    let model = draft.model.clone().unwrap_or_default();
    let test = match setup.given.is_untested {
        true => None,
        false => {
            let Hello { took, text } = setup.hello(&draft, &model).await.map_err(with_way_out)?;
            Some((took.as_millis(), text))
        }
    };
    Ok(Done { saved: setup.save(&draft).await?, test })
}

/// The model that goes without saying, if there is one.
async fn known_model(service: &ResolvedEndpoint) -> Result<String, SetupError> {
    if service.likely_model().is_none() && !http::is_loopback(&service.base) {
        return Err(SetupError::Missing(vec!["--model"]));
    }
    Ok(service.model().await?)
}

fn with_way_out(error: SetupError) -> SetupError {
    let SetupError::Service(mut error) = error else { return error };
    let is_ours = matches!(error.kind, ProviderErrorKind::Auth | ProviderErrorKind::ModelNotFound);
    let hint = error.hint.take().filter(|_| !is_ours);
    let way_out = "nothing was written; `--no-test` writes without a test";
    error.hint = Some(hint.map_or_else(|| way_out.to_owned(), |hint| format!("{hint}; {way_out}")));
    SetupError::Service(error)
}

impl Setup {
    /// The draft of the command line, if that is complete and valid.
    fn checked_draft(&self) -> Result<Draft, SetupError> {
        let mut draft = Draft::of(&self.given);
        let usage = |what: String, hint: &str| SetupError::Usage(what, hint.to_owned());
        if draft.provider.is_empty() && draft.base_url.is_some() {
            "openai-chat".clone_into(&mut draft.provider);
        }
        let mut missing = Vec::new();
        if draft.provider.is_empty() {
            missing.push("--provider");
        } else if !keys::provider_names().contains(&draft.provider.as_str()) || draft.provider == "scripted" {
            let names: Vec<_> = keys::provider_names().into_iter().filter(|name| *name != "scripted").collect();
            let hint = format!("known: {}", names.join(", "));
            return Err(SetupError::Usage(format!("there is no provider {:?}", draft.provider), hint));
        }
        if let Some(url) = &draft.base_url {
            let is_path = url.starts_with('/');
            check_value("base_url", url).ok().filter(|()| !is_path).ok_or_else(|| {
                usage(
                    format!("--base-url {url:?} is not a URL"),
                    "write it as http://127.0.0.1:8080/v1 or https://host/v1",
                )
            })?;
        }
        if let DraftKey::Variable(name) = &draft.key {
            check_value("api_key_env", name)
                .map_err(|what| usage(format!("--api-key-env: {what}"), "to give the key itself, use --key-stdin"))?;
        }
        missing.extend(self.what_key_is_missing(&mut draft));
        if missing.is_empty() { Ok(draft) } else { Err(SetupError::Missing(missing)) }
    }

    /// A vendor with its key in its own variable needs no flag for it.
    fn what_key_is_missing(&self, draft: &mut Draft) -> Option<&'static str> {
        let spoken = vendor::named(&draft.provider)?;
        let vendor = spoken.vendor.or_else(|| spoken.wire.vendors().first())?;
        let is_elsewhere = draft.base_url.is_some();
        if is_elsewhere || vendor.is_local() || !matches!(draft.key, DraftKey::None) {
            return None;
        }
        let usual = vendor.key_variables.first()?;
        let set = vendor.key_variables.iter().find(|name| self.variable(name).is_some());
        draft.key = DraftKey::Variable((*set.unwrap_or(usual)).to_owned());
        set.is_none().then_some("one of --api-key-env, --key-stdin, --key-command")
    }
}
