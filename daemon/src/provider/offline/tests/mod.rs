//! Tests of the whole assistant.
