//! Learns the weights of the tables of intents: `train_intents FILE`, or `train_intents --trial` to see how well it works.

use std::{
    env, fs,
    io::{self, Write as _},
};

fn main() -> io::Result<()> {
    let argument = env::args_os().nth(1).ok_or(io::ErrorKind::InvalidInput)?;
    if argument == "--trial" {
        return writeln!(io::stdout(), "{}", cohab_offline::trial());
    }
    fs::write(argument, cohab_offline::weights())
}
