//! The library between the program and the system.

use std::path::PathBuf;
use std::process::Command;
use std::sync::OnceLock;

use tempfile::TempDir;

/// The fault of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// The call fails with this error.
    Error(&'static str),
    /// The call reads or writes half of the bytes.
    Short,
    /// The process ends before the call.
    KillBefore,
    /// The process ends after the call.
    KillAfter,
    /// Another program appends a line to a file before the call ([`Shim::appends`]).
    Append,
}

impl Fault {
    fn number(self) -> String {
        let number = match self {
            Self::Error("EIO") => 5,
            Self::Error("ENOMEM") => 12,
            Self::Error("EACCES") => 13,
            Self::Error("EMFILE") => 24,
            Self::Error("ENOSPC") => 28,
            Self::Error(name) => panic!("no number for {name}"),
            Self::Short => 0,
            Self::KillBefore => -1,
            Self::KillAfter => -2,
            Self::Append => -3,
        };
        number.to_string()
    }
}

/// The compiled library.
pub(super) struct Shim {
    folder: TempDir,
}

impl Shim {
    /// Compiles the library once for all tests. Returns `None`, with a message, if that is not possible.
    pub(super) fn get() -> Option<&'static Self> {
        static SHIM: OnceLock<Option<Shim>> = OnceLock::new();
        let shim = SHIM.get_or_init(|| {
            let shim = Self { folder: tempfile::tempdir().unwrap() };
            let source = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/faults/shim.c");
            let mut command = Command::new("cc");
            command.args(["-O1", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", source, "-ldl", "-o"]);
            let output = cfg!(target_os = "linux").then(|| command.arg(shim.path()).output().ok()).flatten()?;
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            Some(shim)
        });
        if shim.is_none() {
            eprintln!("skipped: this is not Linux, or there is no C compiler `cc`");
        }
        shim.as_ref()
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("shim.so")
    }

    /// Makes the program of the command count calls of a class on paths that contain `on`.
    pub(super) fn count(&self, command: &mut Command, class: &str, on: &str, into: &str) {
        command.env("LD_PRELOAD", self.path()).env("FAULT_CLASS", class).env("FAULT_PATH", on);
        command.env("FAULT_COUNT", into);
    }

    /// Sets the file to which [`Fault::Append`] appends.
    pub(super) fn appends(command: &mut Command, file: &str) {
        command.env("FAULT_APPEND", file);
    }

    /// Counts only allocations of at least this size.
    pub(super) fn only_large(command: &mut Command, least_bytes: usize) {
        command.env("FAULT_BYTES", least_bytes.to_string());
    }

    /// Makes the calls with the numbers `at` to `last` fail.
    pub(super) fn fail(
        &self,
        command: &mut Command,
        (class, on): (&str, &str),
        (at, last): (usize, usize),
        with: Fault,
    ) {
        command.env("LD_PRELOAD", self.path()).env("FAULT_CLASS", class).env("FAULT_PATH", on);
        let last = last.min(i64::MAX as usize);
        command.env("FAULT_AT", at.to_string()).env("FAULT_LAST", last.to_string()).env("FAULT_WITH", with.number());
    }
}
