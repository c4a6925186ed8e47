//! Runs the line classifier on a separate thread: it looks at the disk, which may not answer, and no disk may hold up the terminal.
//! The caller waits for [`ENTER_LIMIT`] at most and then continues without a judgement; a thread that hangs is not asked again.

use std::{
    fmt,
    sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel},
    thread,
    time::{Duration, Instant},
};

use cohab_conversation::line_question::{ENTER_LIMIT, LineQuestion, QuestionId};
use cohab_line_classifier::{self, Decision};
use tokio::sync::mpsc;

use super::{corrections_store::CorrectionsStore, names::ShellNames, world::World};

/// What may wait for the thread. More waits only where the disk hangs, and is not asked then.
const QUEUE_MAX: usize = 16;
/// After so long without a question the thread ends.
const IDLE_BEFORE_EXIT: Duration = Duration::from_secs(30);
/// The classifier needs little.
const STACK_BYTES: usize = 512 * 1024;

/// A decision about a [`LineQuestion`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LineVerdict {
    /// Of the question.
    pub id: QuestionId,
    /// Who gets the line.
    pub decision: Decision,
}

enum Job {
    Judge(LineQuestion),
    /// The user has decided about this line.
    Learn(LineQuestion, Decision),
}

/// The handle to the thread, which exists from the first question on.
pub struct ClassifierThread {
    world: World,
    worker: Option<SyncSender<Job>>,
    /// Questions without a verdict, and since when there was none.
    open: usize,
    silent_since: Instant,
    verdicts: mpsc::Receiver<LineVerdict>,
    results: mpsc::Sender<LineVerdict>,
}

impl fmt::Debug for ClassifierThread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ClassifierThread")
    }
}

impl ClassifierThread {
    /// Without a thread yet.
    #[must_use]
    pub fn new(world: World) -> Self {
        let (results, verdicts) = mpsc::channel(QUEUE_MAX);
        Self { world, worker: None, open: 0, silent_since: Instant::now(), verdicts, results }
    }

    /// Asks. False if no verdict will come.
    pub fn ask(&mut self, question: LineQuestion) -> bool {
        let now = Instant::now();
        if self.open == 0 {
            self.silent_since = now;
        }
        let hangs = now.duration_since(self.silent_since) > ENTER_LIMIT;
        let is_sent = !hangs && self.send(Job::Judge(question));
        self.open += usize::from(is_sent);
        is_sent
    }

    /// Remembers what the user decided about the line of this question, unless the classifier says the same.
    pub fn learn(&mut self, question: LineQuestion, decision: Decision) {
        self.send(Job::Learn(question, decision));
    }

    /// The next verdict; waits for ever without one. Cancel-safe.
    pub async fn next(&mut self) -> LineVerdict {
        match self.verdicts.recv().await {
            Some(verdict) => {
                self.open = self.open.saturating_sub(1);
                self.silent_since = Instant::now();
                verdict
            }
            None => std::future::pending().await,
        }
    }

    /// To the thread, or to a new one if it is not running (any more).
    fn send(&mut self, job: Job) -> bool {
        let job = match &self.worker {
            None => job,
            Some(worker) => match worker.try_send(job) {
                Ok(()) => return true,
                Err(TrySendError::Full(_)) => return false,
                Err(TrySendError::Disconnected(job)) => job,
            },
        };
        let (jobs, queue) = sync_channel(QUEUE_MAX);
        let (world, results) = (self.world.clone(), self.results.clone());
        let thread = thread::Builder::new().name("gate".into()).stack_size(STACK_BYTES);
        if jobs.try_send(job).is_err() || thread.spawn(move || work(&world, &queue, &results)).is_err() {
            return false;
        }
        self.worker = Some(jobs);
        self.open = 0;
        true
    }
}

fn work(world: &World, queue: &Receiver<Job>, results: &mpsc::Sender<LineVerdict>) {
    let mut memory = CorrectionsStore::new(world.corrections.clone());
    loop {
        match queue.recv_timeout(IDLE_BEFORE_EXIT) {
            Ok(Job::Judge(question)) => {
                let decision = decide(world, &mut memory, &question);
                // There is room: no more questions are open than fit.
                let _ = results.try_send(LineVerdict { id: question.id, decision });
            }
            Ok(Job::Learn(question, decision)) => {
                let is_new = decide(world, &mut memory, &question) != decision;
                if is_new && !is_against_a_rule(world, &question, decision) {
                    // Without a file it holds until the thread ends.
                    let _ = memory.learn(&question.line, decision);
                }
            }
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => return,
        }
    }
}

fn decide(world: &World, memory: &mut CorrectionsStore, question: &LineQuestion) -> Decision {
    let remembered = memory.lookup(&question.line);
    let believed = remembered.filter(|decision| !is_against_a_rule(world, question, *decision));
    believed.unwrap_or_else(|| judge(world, question).decision)
}

/// Whether a rule, and not the weights, says that the line is a command, although it was asked once: by a slip of the keys.
fn is_against_a_rule(world: &World, question: &LineQuestion, decision: Decision) -> bool {
    decision == Decision::Assistant && {
        let verdict = judge(world, question);
        verdict.is_by_rule && verdict.decision == Decision::Shell
    }
}

fn judge(world: &World, question: &LineQuestion) -> cohab_line_classifier::Judgement {
    cohab_line_classifier::judge(&question.line, &ShellNames::new(question, world))
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use super::*;

    fn question(id: u64, line: &str, is_command: Option<bool>) -> LineQuestion {
        LineQuestion { id: QuestionId::Enter(id), line: line.into(), cwd: "/".into(), is_command }
    }

    fn judge_in(dir: &tempfile::TempDir) -> ClassifierThread {
        let corrections = dir.path().join("corrections");
        ClassifierThread::new(World {
            path: OsString::new(),
            home: "/".into(),
            corrections,
            names: None,
            subcommands: &[],
        })
    }

    async fn decided(judge: &mut ClassifierThread, question: LineQuestion) -> Decision {
        let id = question.id;
        assert!(judge.ask(question));
        let verdict = tokio::time::timeout(Duration::from_secs(10), judge.next()).await.expect("a verdict");
        assert_eq!(verdict.id, id);
        verdict.decision
    }

    #[tokio::test]
    async fn a_sentence_is_the_assistants_and_a_command_the_shells() {
        let dir = tempfile::tempdir().unwrap();
        let mut judge = judge_in(&dir);
        let sentence = question(1, "what is using all my disk space?", Some(false));
        assert_eq!(decided(&mut judge, sentence).await, Decision::Assistant);
        assert_eq!(decided(&mut judge, question(2, "ls -l", Some(true))).await, Decision::Shell);
    }

    #[tokio::test]
    async fn a_correction_wins_over_the_gate_and_outlives_the_thread() {
        let dir = tempfile::tempdir().unwrap();
        let line = "what is using all my disk space?";
        let mut judge = judge_in(&dir);
        judge.learn(question(1, line, Some(false)), Decision::Shell);
        assert_eq!(decided(&mut judge, question(2, line, Some(false))).await, Decision::Shell);
        let mut next = judge_in(&dir);
        assert_eq!(decided(&mut next, question(3, line, Some(false))).await, Decision::Shell);
        next.learn(question(4, line, Some(false)), Decision::Assistant);
        assert_eq!(decided(&mut next, question(5, line, Some(false))).await, Decision::Assistant);
    }

    #[tokio::test]
    async fn a_thread_that_hangs_is_not_asked_until_it_answers() {
        let dir = tempfile::tempdir().unwrap();
        let mut judge = judge_in(&dir);
        assert!(judge.ask(question(1, "ls -l", Some(true))));
        judge.silent_since -= ENTER_LIMIT * 2;
        assert!(!judge.ask(question(2, "ls -l", Some(true))), "no verdict came for long");
        tokio::time::timeout(Duration::from_secs(10), judge.next()).await.expect("a verdict");
        assert_eq!(decided(&mut judge, question(3, "ls -l", Some(true))).await, Decision::Shell);
    }

    #[tokio::test]
    async fn a_command_by_rule_that_was_asked_by_a_slip_stays_a_command() {
        let dir = tempfile::tempdir().unwrap();
        let mut judge = judge_in(&dir);
        judge.learn(question(1, "echo abc", Some(true)), Decision::Assistant);
        assert_eq!(decided(&mut judge, question(2, "echo abc", Some(true))).await, Decision::Shell);
        assert!(!dir.path().join("corrections").exists());
    }

    #[tokio::test]
    async fn what_the_gate_says_anyway_is_not_kept() {
        let dir = tempfile::tempdir().unwrap();
        let mut judge = judge_in(&dir);
        judge.learn(question(1, "ls -l", Some(true)), Decision::Shell);
        assert_eq!(decided(&mut judge, question(2, "ls -l", Some(true))).await, Decision::Shell);
        assert!(!dir.path().join("corrections").exists());
    }
}
