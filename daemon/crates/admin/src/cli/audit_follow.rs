//! `cohab audit tail --follow` prints records as they are written, until Ctrl-C.

use std::{
    io::{self, Write},
    thread,
    time::Duration,
};

use cohab_store::audit::{
    follow::{Follower, News},
    record::Record,
};
use cohab_text::sanitize::{escaped_json, one_line};
use serde_json::json;

/// Pause between two looks. A person reads the output.
const PAUSE: Duration = Duration::from_millis(500);

/// How records are printed.
pub(super) struct RecordFormat<'a> {
    /// Whether faults are JSON, too.
    pub is_json: bool,
    /// The text of some records.
    pub render: &'a dyn Fn(&[Record]) -> String,
}

/// Prints the records of `follower` behind record `after`, until the output is closed or `goes_on` returns false.
///
/// # Errors
/// The system's error when a record cannot be read, or its text not be written.
pub(super) fn follow(
    mut follower: Follower,
    after: u64,
    format: &RecordFormat<'_>,
    output: &mut dyn Write,
    goes_on: &mut dyn FnMut() -> bool,
) -> io::Result<()> {
    while goes_on() {
        let (mut records, mut text): (Vec<Record>, String) = (Vec::new(), String::new());
        for news in follower.news()? {
            match news {
                News::Record(record) => records.extend(Some(*record).filter(|record| record.n > after)),
                News::Unsound(what) if format.is_json => {
                    text += &(escaped_json(&json!({"fault": what}).to_string()) + "\n");
                }
                News::Unsound(what) => text += &format!("! {}\n", one_line(&what, usize::MAX)),
            }
        }
        if !records.is_empty() {
            text += &(format.render)(&records);
        }
        if !text.is_empty() {
            output.write_all(text.as_bytes())?;
            output.flush()?;
        }
    }
    Ok(())
}

/// Pauses, for as long as the program lives.
pub(super) fn pause() -> bool {
    thread::sleep(PAUSE);
    true
}
