//! Pictures of figures: tables with bars for a terminal, and the same as SVG.
//!
//! A [`Chart`] says what is drawn. [`text`] draws it with block characters, [`svg`] as a file. Neither uses colour alone to tell parts
//! apart. Pure.

mod chart;
pub mod scale;
pub mod svg;
pub mod text;

pub use chart::{Bar, Chart, Column, Kind, Row, Span};
