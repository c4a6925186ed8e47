//! stub
pub mod markdown;
pub mod ui;
