//! The reference parser of server-sent events, for tests and fuzz targets of the adaptor.

/// Applies the WHATWG algorithm to the whole text at once, with the one deviation that a clean end closes the last event.
pub(crate) fn reference(bytes: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(bytes).into_owned();
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    let (mut events, mut data) = (Vec::new(), Vec::<String>::new());
    for line in text.split('\n').chain(std::iter::once("")) {
        let (field, value) = line.split_once(':').map_or((line, ""), |(f, v)| (f, v.strip_prefix(' ').unwrap_or(v)));
        if line.is_empty() {
            if !data.is_empty() {
                events.push(std::mem::take(&mut data).join("\n"));
            }
        } else if field == "data" {
            data.push(value.to_owned());
        }
    }
    events
}
