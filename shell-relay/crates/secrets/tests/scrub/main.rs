//! What the scrubber finds, what it leaves alone, and that it does not matter how its input is cut.

mod bars;
mod cases;
mod chunks;
mod ordinary;
mod published;
mod samples;
