//! The library between the program and the system.

use std::path::PathBuf;
use std::process::Command;
use std::sync::OnceLock;

use tempfile::TempDir;

/// The fault of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// It fails with this error.
    Error(&'static str),
    /// It reads or writes half.
    Short,
    /// The process ends before it.
    KillBefore,
    /// The process ends after it.
    KillAfter,
    /// Another program appends a line to a file before it ([`Shim::appends`]).
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
    /// Compiles it once for all tests; `None`, with a word, where that is not possible.
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

    /// Has the program that the command runs count calls of a class on paths that contain `on`.
    pub(super) fn count(&self, command: &mut Command, class: &str, on: &str, into: &str) {
        command.env("LD_PRELOAD", self.path()).env("FAULT_CLASS", class).env("FAULT_PATH", on);
        command.env("FAULT_COUNT", into);
    }

    /// With [`Fault::Append`], `appended` is written to this file.
    pub(super) fn appends(command: &mut Command, file: &str) {
        command.env("FAULT_APPEND", file);
    }

    /// Of the allocations that the command makes, only those of at least this size count.
    pub(super) fn only_large(command: &mut Command, least_bytes: usize) {
        command.env("FAULT_BYTES", least_bytes.to_string());
    }

    /// Has calls from the number `at` to the number `last` go wrong.
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
