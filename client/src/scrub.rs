//! `cohab scrub`: removes secrets from standard input.

use std::{
    env,
    io::{self, Read, Write},
    process::ExitCode,
    sync::Arc,
};

use clap::{Args, builder::PossibleValuesParser};
use cohab_secrets::{ExactValues, PersonalData, Scrubber, Settings, Stream};
use cohab_text::terminal_safe_writer::HarmlessWriter;

/// `cohab scrub`.
#[derive(Debug, Args)]
#[command(after_help = "Keys, tokens and passwords become <secret:KIND#N>, equal ones with equal N. It\n\
    knows the formats of many services, private keys, assignments to names that\n\
    sound secret, and what the variables of this environment hold whose names do.\n\
    About 4 KB are held back, since a secret may come in two pieces.\n\
    Exit status: 0 done, 1 cannot read or write, 2 wrong usage, 3 broken pipe.")]
pub struct ScrubArgs {
    /// List kinds and counts on standard error at the end
    #[arg(long)]
    pub report: bool,
    /// Take out personal data, too
    #[arg(long, value_name = "KIND", value_delimiter = ',', value_parser = PossibleValuesParser::new(PersonalData::NAMES))]
    pub personal: Vec<String>,
    /// Name of the file that the input is the content of
    #[arg(long, value_name = "NAME", default_value = "", hide_default_value = true)]
    pub file: String,
}

/// The reader of our output is gone.
const BROKEN_PIPE: u8 = 3;
/// Bytes of input that are read at once.
const BUFFER_BYTES: usize = 64 * 1024;

/// Runs it.
#[must_use]
pub fn run(args: &ScrubArgs) -> ExitCode {
    let outcome = match scrubber(args) {
        Ok(scrubber) => filter(scrubber, &args.file, io::stdin().lock(), io::stdout().lock()),
        Err(error) => Err(io::Error::other(error)),
    };
    let reported = outcome.and_then(|scrubber| match args.report {
        true => write!(io::stderr(), "{}", scrubber.report()),
        false => Ok(()),
    });
    match reported {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::from(BROKEN_PIPE),
        Err(error) => {
            // With standard error gone, the exit status is all that is left.
            let _ = writeln!(HarmlessWriter::new(io::stderr()), "cohab: cannot take the secrets out: {error}");
            ExitCode::FAILURE
        }
    }
}

fn scrubber(args: &ScrubArgs) -> Result<Scrubber, String> {
    let exact = Arc::new(ExactValues::of_environment(env::vars_os()));
    let personal = args.personal.iter().try_fold(PersonalData::default(), |data, name| data.with(name))?;
    Ok(Scrubber::new(Settings { exact, personal, ..Settings::default() }))
}

/// Writes what is certain after every read, without waiting for the end.
fn filter(mut scrubber: Scrubber, file: &str, mut input: impl Read, mut output: impl Write) -> io::Result<Scrubber> {
    let mut stream = Stream::of_file(file);
    let (mut bytes, mut clean) = (vec![0; BUFFER_BYTES], Vec::new());
    loop {
        let count = match input.read(&mut bytes) {
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        if count == 0 {
            break;
        }
        stream.push(&mut scrubber, &bytes[..count], &mut clean);
        output.write_all(&clean)?;
        output.flush()?;
        clean.clear();
    }
    stream.finish(&mut scrubber, &mut clean);
    output.write_all(&clean)?;
    output.flush()?;
    Ok(scrubber)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filtered(input: &[u8], file: &str) -> (String, String) {
        let mut output = Vec::new();
        let scrubber = filter(Scrubber::default(), file, input, &mut output).expect("memory takes all");
        (String::from_utf8(output).expect("text"), scrubber.report().to_string())
    }

    #[test]
    fn secrets_go_and_are_counted() {
        let token = ["glpat", "-aB3dE5fG7hJ9kL1mN2pQ"].concat();
        let (clean, report) = filtered(format!("a {token}\nb\n{token}").as_bytes(), "");
        assert_eq!(clean, "a <secret:gitlab-token#1>\nb\n<secret:gitlab-token#1>");
        assert_eq!(report, "       2  gitlab-token\n");
        assert_eq!(filtered(b"", ""), (String::new(), String::new()));
    }

    #[test]
    fn the_name_of_a_file_says_what_is_in_it() {
        assert_eq!(filtered(b"host:1:db:me:easy\n", ".pgpass").0, "host:1:db:me:<secret:postgresql-password#1>\n");
    }
}
