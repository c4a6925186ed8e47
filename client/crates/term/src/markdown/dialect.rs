//! The dialect of markdown that is read.

use pulldown_cmark::Options;

/// Tables, task lists and strike-through. Footnotes stay as they are written: their text may come long after the mark is final.
pub(super) fn options() -> Options {
    Options::ENABLE_TABLES | Options::ENABLE_TASKLISTS | Options::ENABLE_STRIKETHROUGH
}
