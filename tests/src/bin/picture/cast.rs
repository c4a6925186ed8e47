//! Reads and writes an asciicast v2: a header, then one event per line.

use serde_json::{Value, json};

/// A recording.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Cast {
    pub(crate) columns: u16,
    pub(crate) rows: u16,
    pub(crate) events: Vec<Event>,
}

/// An event, and its time in milliseconds since the start.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Event {
    pub(crate) at_ms: u64,
    pub(crate) kind: Kind,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Kind {
    /// The terminal got this.
    Output(String),
    /// A place in the recording.
    Marker(String),
}

impl Cast {
    /// Reads a recording. Unknown kinds of events are skipped.
    pub(crate) fn read(text: &str) -> Result<Self, String> {
        let mut lines = text.lines();
        let header: Value =
            serde_json::from_str(lines.next().unwrap_or_default()).map_err(|error| error.to_string())?;
        let size =
            |name: &str| header[name].as_u64().and_then(|size| u16::try_from(size).ok()).filter(|size| *size > 0);
        let (Some(columns), Some(rows), Some(2)) = (size("width"), size("height"), header["version"].as_u64()) else {
            return Err("this is no asciicast v2".into());
        };
        let events = lines.filter(|line| !line.is_empty()).map(event).collect::<Result<Vec<_>, _>>()?;
        Ok(Self { columns, rows, events: events.into_iter().flatten().collect() })
    }

    /// The text of the file.
    pub(crate) fn text(&self, title: &str) -> String {
        let header = json!({"version": 2, "width": self.columns, "height": self.rows, "title": title,
            "env": {"TERM": "xterm-256color"}});
        let mut text = format!("{header}\n");
        for event in &self.events {
            let (kind, data) = match &event.kind {
                Kind::Output(data) => ("o", data),
                Kind::Marker(label) => ("m", label),
            };
            // The time as a number of seconds with three places.
            let seconds = format!("{}.{:03}", event.at_ms / 1000, event.at_ms % 1000);
            text.push_str(&format!("[{seconds}, \"{kind}\", {}]\n", json!(data)));
        }
        text
    }
}

fn event(line: &str) -> Result<Option<Event>, String> {
    let value: Value = serde_json::from_str(line).map_err(|error| format!("{error} in `{line}`"))?;
    let (Some(seconds), Some(kind), Some(data)) = (value[0].as_f64(), value[1].as_str(), value[2].as_str()) else {
        return Err(format!("this is no event: `{line}`"));
    };
    let kind = match kind {
        "o" => Kind::Output(data.to_owned()),
        "m" => Kind::Marker(data.to_owned()),
        _ => return Ok(None),
    };
    Ok(Some(Event { at_ms: (seconds * 1000.0).round() as u64, kind }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_again() {
        let event = |at_ms, kind| Event { at_ms, kind };
        let events =
            vec![event(5, Kind::Output("a\u{1b}[1m\"ü\r\n".into())), event(61_050, Kind::Marker("here".into()))];
        let cast = Cast { columns: 80, rows: 24, events };
        assert_eq!(Cast::read(&cast.text("t")), Ok(cast));
    }

    #[test]
    fn other_files_are_refused_and_other_events_passed_over() {
        for text in
            ["", "{}", "{\"version\": 1, \"width\": 1, \"height\": 1}", "{\"version\": 2, \"width\": 0, \"height\": 1}"]
        {
            assert!(Cast::read(text).is_err(), "{text}");
        }
        let text = "{\"version\": 2, \"width\": 1, \"height\": 1}\n[0.1, \"i\", \"x\"]\n";
        assert_eq!(Cast::read(text).map(|cast| cast.events.len()), Ok(0));
        assert!(Cast::read(&format!("{text}[1]\n")).is_err());
    }
}
