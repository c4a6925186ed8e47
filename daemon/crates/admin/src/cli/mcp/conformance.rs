//! Uses a server of the official conformance suite as cohab uses any other: starts it, lists its tools, calls them, and signs in where it
//! wants that.

use std::{io, sync::Arc};

use async_trait::async_trait;
use cohab_agent::port::{ApprovalAnswer, ApprovalQuestion, Approver, Lasts};
use cohab_config::mcp::{McpServer, OauthSettings};
use cohab_mcp::{
    keys::NoKeys,
    pool::{ServerPool, Surroundings},
    server::{Author, Server},
    sign_in::{Browser, SignIns},
    trial::{self, TrialCall},
};
use serde::Deserialize;

use crate::cli::Failure;

/// The description of the suite's client.
const CLIENT_ADDRESS: &str = "https://conformance-test.local/client-metadata.json";
/// Where the suite leads back to.
const REDIRECT: &str = "http://127.0.0.1:3000/callback";
/// JSON with what a scenario gives its client.
const CONTEXT: &str = "MCP_CONFORMANCE_CONTEXT";

pub(super) fn run(address: &str) -> Result<String, Failure> {
    let folder = tempfile::tempdir()?;
    let mut settings = McpServer::at(address.to_owned());
    let Scenario { client_id, client_secret, calls } = scenario();
    let client_id = client_id.unwrap_or_else(|| CLIENT_ADDRESS.to_owned());
    settings.oauth = Some(OauthSettings { client_id, client_secret });
    let server = Server { name: "conformance".into(), author: Author::User, settings, files: Vec::new() };
    let sign_ins = SignIns::at(folder.path().join("sign-ins.json"), Arc::default());
    let pool = ServerPool::new(Box::new(NoKeys), sign_ins, folder.path().join("logs"));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let tried = runtime.block_on(async {
        let tried =
            trial::use_all(&pool, &server, &Surroundings::default(), &calls, &Agreeing, &(Arc::new(Agreeing) as _))
                .await;
        pool.stop().await;
        tried
    });
    tried.map_err(|reason| Failure::Other(reason, None))
}

/// What a scenario gives its client.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Scenario {
    client_id: Option<String>,
    client_secret: Option<String>,
    #[serde(rename = "toolCalls")]
    calls: Vec<TrialCall>,
}

fn scenario() -> Scenario {
    let text = std::env::var(CONTEXT).unwrap_or_default();
    serde_json::from_str(&text).unwrap_or_default()
}

/// Agrees without a person: the services of the suite ask nobody.
struct Agreeing;

#[async_trait]
impl Approver for Agreeing {
    async fn ask(&self, _: ApprovalQuestion) -> ApprovalAnswer {
        ApprovalAnswer::Approved { approval: None, lasts: Lasts::Once }
    }
}

#[async_trait]
impl Browser for Agreeing {
    fn redirect(&self) -> String {
        REDIRECT.to_owned()
    }

    async fn agree(&self, address: &str) -> Result<String, String> {
        let client = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none()).no_proxy().build();
        let answer = client.map_err(io::Error::other).map_err(|error| error.to_string())?.get(address).send().await;
        let answer = answer.map_err(|error| error.to_string())?;
        let place = answer.headers().get(reqwest::header::LOCATION).and_then(|place| place.to_str().ok());
        place.map(str::to_owned).ok_or_else(|| format!("status {} without a place to go", answer.status()))
    }
}
