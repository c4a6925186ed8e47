//! Learns the weights of the tables of intents: `train_intents FILE`.

use std::{env, fs, io};

fn main() -> io::Result<()> {
    let file = env::args_os().nth(1).ok_or(io::ErrorKind::InvalidInput)?;
    fs::write(file, cohab_offline::weights())
}
