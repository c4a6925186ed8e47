//! The parts of the driver's state that several files work with. None of these files names the driver.

pub mod background;
pub mod command_status;
pub mod focus;
pub mod link;
pub mod notices;
pub mod prompt_line;
