//! Error: the reasons why a service does not start, or ends early.

use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use thiserror::Error;

/// The result of starting or running a service.
pub type Result<T, E = ServeError> = std::result::Result<T, E>;

/// The reason why a service did not start, or ended early.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ServeError {
    /// The database cannot be opened or written.
    #[error(transparent)]
    Database(#[from] fpdb::Error),
    /// Other machines can reach the address, and there are no keys.
    #[error("{address} can be reached from other machines, and there is no key file")]
    NeedsKeys {
        /// The address.
        address: SocketAddr,
    },
    /// The address is in use, or does not belong to this machine.
    #[error("cannot listen on {address}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// The cause.
        source: io::Error,
    },
    /// A file cannot be read.
    #[error("cannot read {}", .path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// A line of the key file is not a key.
    #[error("line {line} of {} is not a key: expected NAME RIGHTS SHA256", .path.display())]
    NotAKey {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
    },
    /// Two lines of the key file have the same name.
    #[error("{} has two keys named {name}", .path.display())]
    KeyNamedTwice {
        /// The file.
        path: PathBuf,
        /// The name.
        name: String,
    },
    /// The key file has no key.
    #[error("{} has no key", .path.display())]
    NoKeys {
        /// The file.
        path: PathBuf,
    },
    /// Users other than the owner may write the key file.
    #[error("users other than the owner may change {}", .path.display())]
    OpenKeyFile {
        /// The file.
        path: PathBuf,
    },
    /// A certificate or its key cannot be used.
    #[error("{} is not the certificate or the key of a service: {message}", .path.display())]
    Certificate {
        /// The file.
        path: PathBuf,
        /// The fault, in words.
        message: String,
    },
    /// The name of a new key has a character that is not allowed.
    #[error("{name} is not a name for a key")]
    KeyName {
        /// The name.
        name: String,
    },
    /// The file of settings does not have the expected form, or has unknown names.
    #[error("line {line} of {} is not a setting: {message}", .path.display())]
    Settings {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// The message of the TOML parser.
        message: String,
    },
    /// A setting is out of range.
    #[error("{name} is {value}: expected {expected}")]
    Setting {
        /// The setting.
        name: &'static str,
        /// Its value.
        value: String,
        /// The values that are allowed.
        expected: &'static str,
    },
    /// The system refused threads, signals or random bytes.
    #[error("cannot {action}")]
    System {
        /// The action that failed, as a verb phrase.
        action: &'static str,
        /// The cause.
        source: io::Error,
    },
}

impl ServeError {
    /// The next step for the user, if there is one.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        let text = match self {
            Self::Database(error) => return error.hint(),
            Self::NeedsKeys { .. } => {
                "make a key with --new-key NAME --rights read, put its line into a file, and name the file with --key-file; or listen on 127.0.0.1"
            }
            Self::Listen { source, .. } if source.kind() == io::ErrorKind::AddrInUse => {
                "another program listens there, perhaps another fpdb: end it, or choose another port with --listen"
            }
            Self::Listen { .. } => "choose an address of this machine with --listen ADDRESS:PORT",
            Self::NotAKey { .. } | Self::NoKeys { .. } => {
                "--new-key NAME --rights read|write|admin prints a key and its line for the file"
            }
            Self::KeyNamedTwice { .. } => "give one of them another name",
            Self::OpenKeyFile { .. } => "take the permission to write from group and others: chmod go-w",
            Self::Certificate { .. } => {
                "tls_cert names a file in PEM with the certificate first and those of its issuers after it; tls_key names the file with its private key"
            }
            Self::KeyName { .. } => "use 1 to 64 letters, digits, and the characters . _ -",
            Self::Settings { .. } => "--print-config prints all settings in the form of the file",
            Self::Read { .. } | Self::Setting { .. } | Self::System { .. } => return None,
        };
        Some(text.to_owned())
    }

    /// Makes the error of a file that cannot be read.
    pub(crate) fn read(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Read { path, source }
    }

    /// Makes the error for an `action` that the system refused.
    pub(crate) fn system(action: &'static str) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::System { action, source }
    }
}
