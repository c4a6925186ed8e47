//! Tests for the finds of the scrubber, for texts it must not change, and for cuts of its input.

mod bars;
mod cases;
mod chosen;
mod chunks;
mod ordinary;
mod published;
mod samples;
