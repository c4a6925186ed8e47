//! A history of commands and questions that is the same in each run.

use std::time::Duration;

use cohab_memory::past::record::{NewRun, NewTurn, RunSource, TurnCommand};
use jiff::Timestamp;

/// Programs with what follows them; `{w}` is a word, `{n}` a number.
const LINES: [&str; 24] = [
    "git commit -m 'Fix {w} of {w}'",
    "git push origin {w}",
    "git status",
    "git checkout -b {w}-{w}",
    "git rebase -i HEAD~{n}",
    "cargo test -p {w} --test {w}{n}",
    "cargo build --release",
    "ls -la {w}/",
    "cd {w}/src/{w}",
    "ffmpeg -i {w}{n}.mov -c:v libx264 out/{w}.mp4",
    "docker run --rm -it -v $PWD:/{w} {w}:{n}",
    "kubectl get pods -n {w}",
    "kubectl logs {w}-{n} --tail 100 -f",
    "ssh {w}@host{n}.example.net",
    "rsync -av {w}/ backup:{w}/{n}/",
    "grep -rn '{w}' src/{w}",
    "find . -name '*{w}*' -mtime -{n}",
    "psql -h {w} -c 'select * from {w} where id = {n}'",
    "curl -s https://{w}.example.org/api/{w}/{n} | jq .{w}",
    "vim {w}/{w}.rs",
    "make {w}",
    "tar czf {w}-{n}.tar.gz {w}/",
    "chmod 600 ~/.ssh/{w}",
    "python3 scripts/{w}.py --{w} {n}",
];
/// Questions about them.
const QUESTIONS: [&str; 20] = [
    "what was the ffmpeg line I used for the {w} last month",
    "which command fixed the permissions of the {w} folder",
    "what did I do about {w} last week",
    "how did I convert the {w} video",
    "git push",
    "which test of {w} failed in march",
    "how did I copy {w} to the backup in {w}",
    "the archive of {w} from three weeks ago",
    "what did I run yesterday",
    "which container of {w} worked",
    "how did I log in to host{n}",
    "the query for {w} with id {n}",
    "what did I search for in {w} and {w}",
    "how did I rebase the last {n} commits",
    "the request to the api of {w} that failed",
    "which files of {w} changed in the last {n} days",
    "what did I build in the {w} project in autumn of last year",
    "show me the logs of {w} I looked at in july",
    "the scriptt for {w} with the option {w}",
    "something about unheardof and {w}",
];
/// 1 November 2026, and three years, in milliseconds.
pub(super) const NOW_MS: i64 = 1_793_491_200_000;
const YEARS_MS: i64 = 3 * 365 * 86_400_000;

/// A generator of numbers, and of what is made of them.
pub(super) struct Dice(pub(super) u64);

impl Dice {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % limit
    }

    /// Small numbers are much more frequent.
    fn skewed(&mut self, limit: u64) -> u64 {
        let part = self.below(limit) + 1;
        self.below(part)
    }

    pub(super) fn word(&mut self) -> String {
        const PARTS: [&str; 16] = [
            "up", "load", "er", "shop", "mail", "data", "base", "core", "net", "view", "log", "sync", "img", "auth",
            "web", "job",
        ];
        let number = self.skewed(4_096) as usize;
        let [one, two, three] = [number % 16, number / 16 % 16, number / 256].map(|part| PARTS[part]);
        if number < 256 { format!("{one}{two}") } else { format!("{one}{two}{three}") }
    }

    fn filled(&mut self, form: &str) -> String {
        let mut text = String::new();
        let mut left = form;
        while let Some((before, after)) = left.split_once('{') {
            text.push_str(before);
            match after.split_at_checked(2) {
                Some(("w}", rest)) => (text, left) = (text + &self.word(), rest),
                Some((_, rest)) => (text, left) = (text + &self.below(1_000).to_string(), rest),
                None => break,
            }
        }
        text + left
    }

    pub(super) fn line(&mut self) -> String {
        let form = LINES[self.skewed(LINES.len() as u64) as usize];
        self.filled(form)
    }

    pub(super) fn question(&mut self) -> String {
        let form = QUESTIONS[self.below(QUESTIONS.len() as u64) as usize];
        self.filled(form)
    }

    /// The run of this number of so many, which are spread over three years.
    pub(super) fn run(&mut self, number: usize, total: usize) -> NewRun {
        NewRun {
            line: self.line(),
            at: Some(moment(number, total)),
            folder: Some(format!("/home/ann/src/{}", self.word()).into()),
            exit_code: Some(i32::from(self.below(10) == 0)),
            duration: Some(Duration::from_millis(self.below(20_000))),
            output_tail: String::new(),
            source: RunSource::Shell,
        }
    }

    pub(super) fn turn(&mut self, number: usize, total: usize) -> NewTurn {
        let words: Vec<String> = (0..60).map(|_| self.word()).collect();
        NewTurn {
            turn: format!("turn{number}"),
            session: format!("session{}", number / 8),
            at: moment(number, total),
            folder: format!("/home/ann/src/{}", self.word()).into(),
            question: self.question(),
            answer: words.join(" "),
            commands: vec![TurnCommand { line: self.line(), exit_code: Some(0) }],
            trust: 0.7,
        }
    }
}

fn moment(number: usize, total: usize) -> Timestamp {
    let (number, total) = (number as i64, total.max(1) as i64);
    Timestamp::from_millisecond(NOW_MS - (total - number) * (YEARS_MS / total)).unwrap_or_default()
}
