//! Whether the terminal has the focus, as far as the terminal reports it.

/// What is known of the focus.
#[derive(Debug, Default)]
pub struct Attention {
    pub has_left: bool,
}

impl Attention {
    /// The terminal says so, or a key does.
    pub fn has_focus(&mut self, has_focus: bool) {
        self.has_left = !has_focus;
    }
}
