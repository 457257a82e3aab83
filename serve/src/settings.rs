//! Settings: the settings of a service. The flags, the file of settings and `--print-config` all use this one
//! type.

use std::fmt;
use std::net::{Ipv4Addr, SocketAddr};
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::time::Duration;

use bytesize::ByteSize;
use fpdb::{InputLimits, ReaderProcess};
use serde::{Deserialize, Deserializer, Serialize, de};

use crate::error::{Result, ServeError};

/// The settings of a service. Their form in a file is TOML, with the names of the fields.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct ServeOptions {
    /// The folder of the database, which must exist.
    pub db: PathBuf,
    /// Opens the database for reading only, so that other processes may change it. Each change over HTTP is
    /// refused. Answers show a commit of another process after a second or two.
    pub read_only: bool,
    /// The address to listen on; by default 127.0.0.1:7788. An address that other machines can reach needs a
    /// key file.
    pub listen: SocketAddr,
    /// Further names under which clients reach the service: host names without a port. The address of
    /// `listen` always counts as a name. If that address is a loopback address, `localhost`, `127.0.0.1` and
    /// `[::1]` count too.
    pub hosts: Vec<String>,
    /// The file of keys. Without one, everybody who reaches the address has all rights.
    pub key_file: Option<PathBuf>,
    /// The file of a certificate in PEM, followed by the certificates of its issuers. With a certificate,
    /// clients reach the service by `https` alone.
    pub tls_cert: Option<PathBuf>,
    /// The file of the certificate's private key, in PEM.
    pub tls_key: Option<PathBuf>,
    /// The folder of backups. Without a folder, clients cannot make backups over HTTP.
    pub backup_folder: Option<PathBuf>,
    /// Number of newest backups to keep. `None`: all.
    pub keep_backups: Option<usize>,
    /// Memory for an ingest and for the store, in bytes. `None`: the library's default.
    #[serde(deserialize_with = "some_size")]
    pub memory: Option<u64>,
    /// Bytes of the cache for blocks and filters of the database. `None`: the library's default.
    #[serde(deserialize_with = "some_size")]
    pub cache: Option<usize>,
    /// Memory for each job (pairs, dedup, repeats), in bytes.
    #[serde(deserialize_with = "size")]
    pub job_memory: u64,
    /// Threads of the database. `None`: one per processor.
    pub threads: Option<usize>,
    /// Number of requests that are processed at the same time. `None`: two per processor.
    pub workers: Option<usize>,
    /// Number of requests that may wait for a worker. Also the number of changes that may be in progress or
    /// wait for the writer. A further request or change is refused with 503.
    pub queue: usize,
    /// Number of requests of one key that are processed or wait at the same time. A further request is
    /// refused with 429.
    pub per_key: usize,
    /// Number of requests of one key per minute. A further request is refused with 429. `None`: any number.
    pub per_minute: Option<NonZeroU32>,
    /// Number of open connections. A further connection is closed at once.
    pub connections: usize,
    /// Maximum size of a request's body, in bytes.
    #[serde(deserialize_with = "size")]
    pub max_body: usize,
    /// Bytes of bodies that may be in memory at the same time; a further request is refused with 503.
    #[serde(deserialize_with = "size")]
    pub body_memory: usize,
    /// Maximum number of matches that a query or a report returns.
    pub max_results: usize,
    /// Seconds after which a request is ended. Jobs have no such limit.
    pub request_seconds: u64,
    /// Seconds that a client may take for each step: to send the head of a request or the next part of its
    /// body, or to receive a part of an answer.
    pub client_seconds: u64,
    /// Number of jobs that run at the same time.
    pub jobs: usize,
    /// Number of jobs that are kept, including finished ones. A new job takes the room of a job whose result
    /// was fetched, or that ended more than a minute ago. If there is no such job, the new job is refused
    /// with 503.
    pub kept_jobs: usize,
    /// Seconds that requests may still take after a signal to end.
    pub drain_seconds: u64,
    /// Writes a line for each request to standard error.
    pub log_requests: bool,
    /// The program that reads documents of untrusted formats in a separate process.
    #[serde(skip)]
    pub reader: Option<ReaderProcess>,
}

/// A size in the file: a number of bytes, or a text as on the command line.
#[derive(Deserialize)]
#[serde(untagged, expecting = "expected a number of bytes, or a size such as \"64MiB\"")]
enum Size {
    Bytes(u64),
    Text(String),
}

fn size<'a, D: Deserializer<'a>, T: TryFrom<u64, Error: fmt::Display>>(given: D) -> Result<T, D::Error> {
    let bytes = match Size::deserialize(given)? {
        Size::Bytes(bytes) => bytes,
        Size::Text(text) => {
            let parsed: Result<ByteSize, _> = text.parse();
            parsed.map_err(|_| de::Error::custom(format!("{text} is no size such as 512M or 4GiB")))?.as_u64()
        }
    };
    bytes.try_into().map_err(de::Error::custom)
}

fn some_size<'a, D: Deserializer<'a>, T: TryFrom<u64, Error: fmt::Display>>(given: D) -> Result<Option<T>, D::Error> {
    size(given).map(Some)
}

impl Default for ServeOptions {
    fn default() -> Self {
        Self {
            db: PathBuf::new(),
            read_only: false,
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 7788)),
            hosts: Vec::new(),
            key_file: None,
            tls_cert: None,
            tls_key: None,
            backup_folder: None,
            keep_backups: None,
            memory: None,
            cache: None,
            job_memory: 1 << 30,
            threads: None,
            workers: None,
            queue: 64,
            per_key: 32,
            per_minute: None,
            connections: 1024,
            max_body: 64 << 20,
            body_memory: 256 << 20,
            max_results: 1000,
            request_seconds: 60,
            client_seconds: 20,
            jobs: 1,
            kept_jobs: 32,
            drain_seconds: 20,
            log_requests: true,
            reader: None,
        }
    }
}

impl ServeOptions {
    /// Reads a file of settings. Settings that the file does not name have their defaults.
    ///
    /// # Errors
    /// [`ServeError::Read`]; [`ServeError::Settings`] for an unknown name or a value of another kind.
    pub fn read(path: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(path).map_err(ServeError::read(path))?;
        toml::from_str(&text).map_err(|error| {
            let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or("");
            let line = 1 + before.matches('\n').count();
            let message = error.message().replace("expected usize", "expected a whole number");
            let message = message.replace("expected u64", "expected a whole number");
            ServeError::Settings { path: path.to_owned(), line, message }
        })
    }

    /// The settings in the form of the file.
    ///
    /// # Errors
    /// [`ServeError::Setting`] for a path that is not UTF-8.
    pub fn to_toml(&self) -> Result<String> {
        toml::to_string(self).map_err(|_| ServeError::Setting {
            name: "db",
            value: self.db.display().to_string(),
            expected: "paths in UTF-8",
        })
    }

    /// Checks the numbers.
    pub(crate) fn check(&self) -> Result<()> {
        let positive = [
            ("workers", self.workers.unwrap_or(1)),
            ("queue", self.queue),
            ("per_key", self.per_key),
            ("connections", self.connections),
            ("max_body", self.max_body),
            ("max_results", self.max_results),
            ("keep_backups", self.keep_backups.unwrap_or(1)),
            ("jobs", self.jobs),
            ("kept_jobs", self.kept_jobs),
            ("request_seconds", usize::try_from(self.request_seconds).unwrap_or(usize::MAX)),
            ("client_seconds", usize::try_from(self.client_seconds).unwrap_or(usize::MAX)),
        ];
        for (name, value) in positive {
            if value == 0 {
                return Err(ServeError::Setting { name, value: "0".into(), expected: "a number, 1 or more" });
            }
        }
        if self.body_memory < self.max_body {
            let value = self.body_memory.to_string();
            return Err(ServeError::Setting { name: "body_memory", value, expected: "at least max_body" });
        }
        Ok(())
    }

    /// The limits of all documents that the service reads. Requests cannot change them.
    pub(crate) fn limits(&self) -> InputLimits {
        InputLimits::default().process(self.reader.clone())
    }

    /// Number of requests that are processed at the same time.
    pub(crate) fn worker_count(&self) -> usize {
        let processors = || std::thread::available_parallelism().map_or(2, usize::from);
        self.workers.unwrap_or_else(|| 2 * processors())
    }

    /// Maximum time of a request.
    pub(crate) fn request_time(&self) -> Duration {
        Duration::from_secs(self.request_seconds)
    }

    /// Maximum time to wait for a client.
    pub(crate) fn client_time(&self) -> Duration {
        Duration::from_secs(self.client_seconds)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_read_back_as_they_were_printed() {
        let options = ServeOptions {
            db: "/srv/db".into(),
            hosts: vec!["a.example".into()],
            key_file: Some("keys".into()),
            workers: Some(3),
            ..ServeOptions::default()
        };
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("serve.toml");
        std::fs::write(&path, options.to_toml().unwrap()).unwrap();
        assert_eq!(ServeOptions::read(&path).unwrap(), options);
        std::fs::write(&path, "jobs = 1\nqueu = 3\n").unwrap();
        assert!(matches!(ServeOptions::read(&path), Err(ServeError::Settings { line: 2, .. })));
        std::fs::write(&path, "max_body = \"5MiB\"\nmemory = \"2G\"\ncache = \"1MiB\"\nbody_memory = 77\n").unwrap();
        let read = ServeOptions::read(&path).unwrap();
        assert_eq!((read.max_body, read.memory, read.body_memory), (5 << 20, Some(2_000_000_000), 77));
        assert_eq!(read.cache, Some(1 << 20));
        for wrong in ["\"much\"", "-1", "true"] {
            std::fs::write(&path, format!("jobs = 1\nmax_body = {wrong}\n")).unwrap();
            let error = ServeOptions::read(&path).unwrap_err().to_string();
            assert!(error.contains("line 2") && error.contains("size such as"), "{error}");
        }
        std::fs::write(&path, "queue = 3\n").unwrap();
        assert_eq!(ServeOptions::read(&path).unwrap(), ServeOptions { queue: 3, ..ServeOptions::default() });
    }

    #[test]
    fn numbers_out_of_range_are_named() {
        assert!(ServeOptions::default().check().is_ok());
        for (options, setting) in [
            (ServeOptions { queue: 0, ..ServeOptions::default() }, "queue"),
            (ServeOptions { workers: Some(0), ..ServeOptions::default() }, "workers"),
            (ServeOptions { body_memory: 1, ..ServeOptions::default() }, "body_memory"),
        ] {
            let error = options.check().unwrap_err();
            assert!(matches!(error, ServeError::Setting { name, .. } if name == setting), "{error}");
        }
    }
}
