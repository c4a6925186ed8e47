//! `cohab-confine -- PROGRAM ARGS` confines itself and becomes PROGRAM, which may then only read. `cohab-confine --line SHELL LINE` does
//! the same with a shell that runs one line.
//!
//! The program starts without the runtime of Rust: the runtime would change the handling of SIGPIPE, and leaving it out saves half of
//! the remaining start time.
#![no_main]

use std::{
    ffi::{CStr, CString, OsStr, OsString, c_char, c_int},
    io::{self, Write},
    os::unix::ffi::OsStrExt,
    ptr,
};

use cohab_confine::{
    launch::{self, Failure, Inheritance, Ready, Request},
    secrets::Places,
};
use cohab_policy_data::{RUNNING_CODE, VARIABLES, sensitive_paths as places};

const PLACES: Places<'_> = Places {
    in_homes: places::SECRET_PLACES,
    from_root: &[places::SECRET_IN_ETC, places::SECRET_ABSOLUTE, places::SECRET_FILES],
    names: &[places::SECRET_NAMES, places::SECRET_EXACT_NAMES],
    plain_names: places::PLAIN_NAMES,
};

const INHERITANCE: Inheritance<'_> = Inheritance { variables: VARIABLES, running_code: RUNNING_CODE };

/// The C runtime calls this.
#[expect(unsafe_code, reason = "the name that the C runtime calls")]
#[unsafe(no_mangle)]
extern "C" fn main(count: c_int, words: *const *const c_char) -> c_int {
    let count = usize::try_from(count).unwrap_or_default();
    #[expect(unsafe_code, reason = "the C runtime passes so many strings")]
    let words = (1..count).map(|index| unsafe { CStr::from_ptr(*words.add(index)) });
    let words = words.map(|word| OsStr::from_bytes(word.to_bytes()).to_owned());
    c_int::from(run(words))
}

fn run(words: impl Iterator<Item = OsString>) -> u8 {
    let Some(request) = Request::parse(words) else {
        complain(launch::USAGE);
        return launch::NOT_CONFINED;
    };
    let failure = match launch::prepare(&request, PLACES, INHERITANCE, cohab_confine::claimed()) {
        Ok(ready) => {
            let error = become_program(&ready);
            let name = request.words[0].to_string_lossy().into_owned();
            Failure { status: launch::status_of(&error), message: format!("{name}: {error}") }
        }
        Err(failure) => failure,
    };
    // A missing program is reported as by a shell.
    let speaker = if failure.status == launch::NOT_CONFINED { "cohab-confine: " } else { "" };
    complain(&format!("{speaker}{}\n", failure.message));
    failure.status
}

fn complain(message: &str) {
    // The exit status reports the failure, too.
    let _ = io::stderr().write_all(message.as_bytes());
}

/// Calls `exec` directly: the standard library would reset signals that the shell had set. Returns only with an error.
fn become_program(ready: &Ready) -> io::Error {
    for name in &ready.dropped {
        let Ok(name) = CString::new(name.as_bytes()) else { continue };
        #[expect(unsafe_code, reason = "no other thread reads the environment: there is none")]
        unsafe {
            libc::unsetenv(name.as_ptr());
        }
    }
    for (name, value) in &ready.variables {
        let (Ok(name), Ok(value)) = (CString::new(*name), CString::new(value.as_bytes())) else { continue };
        #[expect(unsafe_code, reason = "no other thread reads the environment: there is none")]
        unsafe {
            libc::setenv(name.as_ptr(), value.as_ptr(), 1);
        }
    }
    let arguments: Vec<*const c_char> =
        ready.arguments.iter().map(|argument| argument.as_ptr()).chain([ptr::null()]).collect();
    #[expect(unsafe_code, reason = "both are valid and end with a null")]
    unsafe {
        // The file has a slash in its name: no path is searched. A script without a first line is one of `sh`.
        libc::execvp(ready.file.as_ptr(), arguments.as_ptr());
    }
    io::Error::last_os_error()
}
