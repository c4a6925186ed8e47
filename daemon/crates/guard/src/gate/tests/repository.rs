//! Tests of git in repositories with settings that name programs, without a client that checks them.

use super::*;
use crate::repository::testing::plant;

#[tokio::test]
async fn what_a_repository_would_start_is_asked_about_where_no_client_looks() {
    let folder = tempfile::tempdir().unwrap();
    plant(folder.path());
    let cwd = folder.path().to_str().unwrap();
    let variables = |name: &str| (name.to_owned(), std::env::var(name).unwrap_or_default());
    for (mode, answers, may_run) in [
        (ApprovalMode::Ask, vec![yes(true)], [true, true, true]),
        (ApprovalMode::Auto, vec![yes(false)], [true, true, true]),
        (ApprovalMode::Ask, vec![no()], [false, false, true]),
        (ApprovalMode::ReadOnly, vec![], [false, false, true]),
        (ApprovalMode::All, vec![], [true, true, true]),
    ] {
        let (user, consents) = (user(answers.clone()), Consents::default());
        let settings = RepositorySettings::new(Path::new("/nowhere"), &[variables("PATH")].into(), consents.clone());
        let asked = Arc::clone(&user) as Arc<dyn Approver>;
        let gate = Gate::new(standard_policy, Arc::new(move || mode), asked, consents, "/nowhere".into(), Shell::Bash)
            .with_repository_settings(Some(settings));
        for (command, may_run) in ["git status", "git status", "git --version"].into_iter().zip(may_run) {
            let judged = gate.before_tool(&mut planned(command, cwd)).await;
            assert_eq!(judged.is_ok(), may_run, "{mode} {command}: {judged:?}");
        }
        let questions = user.questions.lock().unwrap();
        assert_eq!(questions.len(), answers.len(), "{mode}");
        let is_whole = |question: &ApprovalQuestion| {
            question.is_each_time && question.reasons[0].contains("`core.fsmonitor` = `./evil`")
        };
        assert!(questions.iter().all(is_whole), "{questions:?}");
    }
}
