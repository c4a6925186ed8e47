//! The fake server as a server of the settings.

use std::{
    collections::VecDeque,
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
};

use async_trait::async_trait;
use cohab_agent::port::{ApprovalAnswer, ApprovalQuestion, Approver};
use cohab_config::mcp::McpServer;

use crate::{
    keys::NoKeys,
    pool::{ServerPool, Surroundings},
    server::{Author, Server},
    sign_in::SignIns,
};

/// A user who answers so, and what was asked.
pub(crate) struct Person {
    pub answers: Mutex<VecDeque<ApprovalAnswer>>,
    pub asked: Mutex<Vec<ApprovalQuestion>>,
}

impl Person {
    /// The user, with these answers in order.
    pub(crate) fn answering(answers: &[ApprovalAnswer]) -> Arc<Self> {
        Arc::new(Self { answers: Mutex::new(answers.to_vec().into()), asked: Mutex::default() })
    }
}

#[async_trait]
impl Approver for Person {
    async fn ask(&self, question: ApprovalQuestion) -> ApprovalAnswer {
        self.asked.lock().unwrap().push(question);
        self.answers.lock().unwrap().pop_front().expect("an answer")
    }
}

/// The program, which is built with the tests.
pub(crate) fn program() -> PathBuf {
    let tests = std::env::current_exe().unwrap();
    tests.parent().unwrap().parent().unwrap().join("examples/fake_mcp_server")
}

/// The fake server in this manner.
pub(crate) fn fake(manner: &str) -> Server {
    let settings = McpServer::program(program().display().to_string(), vec![manner.to_owned()]);
    Server { name: "fake".into(), author: Author::User, settings, files: Vec::new() }
}

/// The fake server in this manner, which has to do with a file.
pub(crate) fn fake_with(manner: &str, file: &Path) -> Server {
    let mut server = fake(manner);
    server.settings.args.push(file.display().to_string());
    server
}

/// An empty pool, whose logs are in the folder.
pub(crate) fn pool() -> (tempfile::TempDir, ServerPool) {
    let folder = tempfile::tempdir().unwrap();
    let sign_ins = SignIns::at(folder.path().join("sign-ins.json"), Arc::default());
    let pool = ServerPool::new(Box::new(NoKeys), sign_ins, folder.path().join("logs"));
    (folder, pool)
}

/// A shell with a harmless variable and a secret.
pub(crate) fn surroundings() -> Surroundings {
    let variables = [("HOME", "/"), ("PATH", "/usr/bin:/bin"), ("GITHUB_TOKEN", "secret")];
    let variables = variables.map(|(name, value)| (name.to_owned(), value.to_owned()));
    Surroundings { variables: variables.into_iter().collect(), folder: "/".into() }
}
