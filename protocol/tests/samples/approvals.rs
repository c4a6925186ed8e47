//! Samples of what is asked about.

use cohab_protocol::{ApprovalSubject, ProposedChange, ProposedCommand, RunMode};

use super::{APPROVAL, path};

pub fn subjects() -> Vec<ApprovalSubject> {
    vec![
        ApprovalSubject::Command { command: "ls".into(), cwd: path("/"), mode: RunMode::Isolated },
        ApprovalSubject::FileChange { tool: "edit".into(), path: path("/f"), diff: "-a\n+b\n".into() },
        ApprovalSubject::FileRead { tool: "read".into(), path: path("/.env") },
        ApprovalSubject::LocalServer {
            url: "http://127.0.0.1:11434".into(),
            server: "Ollama".into(),
            model: "m".into(),
        },
        ApprovalSubject::Commands(vec![ProposedCommand {
            approval_id: APPROVAL,
            command: "make".into(),
            cwd: path("/src"),
            mode: RunMode::Live,
            reasons: vec!["runs the project's own code".into()],
        }]),
        ApprovalSubject::GoOn { what: "the same call came 5 times".into() },
        ApprovalSubject::Input {
            by: "MCP server notes".into(),
            message: "Which project?".into(),
            label: "Project".into(),
            value: Some("shop".into()),
        },
        ApprovalSubject::Search { tool: "grep".into(), path: path("/home/ann"), pattern: "price".into() },
        ApprovalSubject::FileChanges(vec![ProposedChange {
            approval_id: APPROVAL,
            tool: "edit".into(),
            path: path("/f"),
            diff: "-a\n+b\n".into(),
            reasons: vec!["writes /f".into()],
        }]),
        ApprovalSubject::Foreign {
            by: "MCP server time".into(),
            action: "get_current_time".into(),
            details: "{\"timezone\":\"Europe/Rome\"}".into(),
        },
    ]
}
