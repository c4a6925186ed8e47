//! Says whether this build can send spans.

/// Why spans go nowhere whatever the settings say, and what helps; `None` if this build can send them.
#[must_use]
pub fn missing() -> Option<&'static str> {
    const MISSING: &str = "`telemetry.otlp_endpoint` has no effect: this cohabd was built without OpenTelemetry \
                           export; build it with `cargo build --release -p cohabd --features otlp`";
    (!cfg!(feature = "otlp")).then_some(MISSING)
}
