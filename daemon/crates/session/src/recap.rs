//! The end of an older conversation in a few lines, for the user who returns to it. Pure.

use cohab_agent::tasks::Task;
use cohab_protocol::Recap;
use cohab_store::sessions::event::{Call, CallResult, Event};
use cohab_text::sanitize::one_line;

/// Longest line.
const LINE_MAX_CHARS: usize = 200;
/// Lines of the answer.
const ANSWER_LINES: usize = 2;
/// Most tasks, and most files.
const MAX_NAMES: usize = 20;
/// The tools whose argument is the file that they change.
const CHANGING_TOOLS: [&str; 2] = ["write", "edit"];

/// Of these events of the last turn and these tasks; none without a question.
pub fn recap(turn: &[Event], tasks: &[Task]) -> Option<Recap> {
    let question = turn.iter().find_map(|event| match event {
        Event::Question { text, .. } => Some(one_line(text, LINE_MAX_CHARS)),
        _ => None,
    })?;
    let answer = turn.iter().rev().find_map(|event| match event {
        Event::Answer { text } if !text.trim().is_empty() => Some(text),
        _ => None,
    });
    let lines: Vec<&str> =
        answer.into_iter().flat_map(|text| text.lines()).filter(|line| !line.trim().is_empty()).collect();
    let answer_end = lines[lines.len().saturating_sub(ANSWER_LINES)..].iter();
    let mut changed_files: Vec<String> = Vec::new();
    for pair in turn.windows(2) {
        if let [Event::Call(Call { tool, title, .. }), Event::Result(CallResult { is_error: false, .. })] = pair
            && CHANGING_TOOLS.contains(&tool.as_str())
            && !changed_files.contains(title)
        {
            changed_files.push(one_line(title, LINE_MAX_CHARS));
        }
    }
    changed_files.truncate(MAX_NAMES);
    let open = tasks.iter().filter(|task| task.status.is_active()).take(MAX_NAMES);
    Some(Recap {
        question,
        answer_end: answer_end.map(|line| one_line(line, LINE_MAX_CHARS)).collect(),
        open_tasks: open.map(|task| one_line(&task.text, LINE_MAX_CHARS)).collect(),
        changed_files,
    })
}

#[cfg(test)]
mod tests {
    use cohab_agent::tasks::Status;
    use cohab_store::sessions::event::Approval;

    use super::*;

    fn question(text: &str) -> Event {
        Event::Question { text: text.into(), cwd: "/".into(), shell: None, piped_bytes: 0 }
    }

    fn changed(tool: &str, title: &str, is_error: bool) -> [Event; 2] {
        let call = Call {
            tool: tool.into(),
            title: title.into(),
            command: None,
            proposed: None,
            cwd: "/".into(),
            approval: Approval::Once,
        };
        [Event::Call(call), Event::Result(CallResult { is_error, ..CallResult::default() })]
    }

    #[test]
    fn it_has_the_question_the_end_of_the_answer_open_tasks_and_files() {
        let answer = |text: &str| Event::Answer { text: text.into() };
        let mut turn = vec![question("why is\x1b[2J it big"), answer("I look.")];
        turn.extend(changed("write", "a.txt", false));
        turn.extend(changed("edit", "a.txt", false));
        turn.extend(changed("edit", "b.txt", true));
        turn.extend(changed("read", "c.txt", false));
        turn.push(answer("One.\n\nTwo.\n\nThree.\n"));
        let task = |text: &str, status| Task { text: text.into(), status };
        let tasks = [task("test", Status::Pending), task("done", Status::Completed)];
        let recap = recap(&turn, &tasks).unwrap();
        assert!(!recap.question.chars().any(char::is_control), "{recap:?}");
        assert_eq!(recap.answer_end, ["Two.", "Three."]);
        assert_eq!((recap.open_tasks, recap.changed_files), (vec!["test".to_owned()], vec!["a.txt".to_owned()]));
    }

    #[test]
    fn without_a_question_there_is_none() {
        assert_eq!(recap(&[], &[]), None);
        let only = recap(&[question("why")], &[]).unwrap();
        assert_eq!(only, Recap { question: "why".into(), ..Recap::default() });
    }
}
