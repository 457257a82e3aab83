//! The command line of `serve`. A setting without a flag comes from the file of settings, otherwise it has
//! its default.

use std::net::SocketAddr;
use std::num::NonZeroU32;
use std::path::PathBuf;

use clap::builder::BoolishValueParser;
use clap::{Args, ValueEnum, ValueHint};

use super::values::parse_size;

/// The rights of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum KeyRights {
    /// To query, list and show
    Read,
    /// Also to add and remove documents
    Write,
    /// Also to compact, and to see all jobs
    Admin,
}

#[derive(Debug, Args)]
pub(crate) struct ServeArgs {
    /// Address to listen on [default: 127.0.0.1:7788]
    ///
    /// Others than the machine's own need a key file. Port 0 is any free port; the first line of the log
    /// tells which.
    #[arg(long, value_name = "ADDRESS:PORT", env = "FPDB_LISTEN", hide_env = true)]
    pub(crate) listen: Option<SocketAddr>,
    /// Only read the database, so that other processes may change it
    ///
    /// Each change over HTTP is refused with status 403. Answers show a commit of another process, such as an
    /// ingest every night, after a second or two.
    #[arg(long, value_name = "BOOL", env = "FPDB_READ_ONLY", hide_env = true)]
    #[arg(num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    #[arg(value_parser = BoolishValueParser::new(), hide_possible_values = true)]
    pub(crate) read_only: Option<bool>,
    /// File of keys; without one everybody who reaches the address may do everything
    ///
    /// A key a line: its name, its rights, and the SHA-256 of the key; then limits of its own, if any. SIGHUP
    /// reads it again.
    #[arg(long, value_name = "FILE", env = "FPDB_KEY_FILE", hide_env = true, value_hint = ValueHint::FilePath)]
    pub(crate) key_file: Option<PathBuf>,
    /// Print a new key, then its line for the key file
    #[arg(long, value_name = "NAME", requires = "rights")]
    pub(crate) new_key: Option<String>,
    /// What the new key allows
    #[arg(long, value_enum, value_name = "RIGHTS", requires = "new_key")]
    pub(crate) rights: Option<KeyRights>,
    /// Read settings from this file, in TOML; flags and the environment come first
    ///
    /// Each flag below can stand in it, with _ for -, and in the environment as FPDB_ and its name in
    /// capitals.
    #[arg(long, value_name = "FILE", env = "FPDB_CONFIG", hide_env = true, value_hint = ValueHint::FilePath)]
    pub(crate) config: Option<PathBuf>,
    /// Print all settings in the form of the file, and end
    #[arg(long)]
    pub(crate) print_config: bool,
    /// A host name under which clients reach the service; may be repeated
    ///
    /// Requests under other names are refused. Addresses and localhost are always allowed.
    #[arg(long = "host", value_name = "NAME", env = "FPDB_HOSTS", hide_env = true, value_delimiter = ',')]
    pub(crate) hosts: Vec<String>,
    /// Certificate of the service, in PEM, with those of its issuers after it; SIGHUP reads it again
    ///
    /// With one, the service is reached by https alone.
    #[arg(long, value_name = "FILE", env = "FPDB_TLS_CERT", hide_env = true, value_hint = ValueHint::FilePath)]
    pub(crate) tls_cert: Option<PathBuf>,
    /// Private key of the certificate, in PEM
    #[arg(long, value_name = "FILE", env = "FPDB_TLS_KEY", hide_env = true, value_hint = ValueHint::FilePath)]
    pub(crate) tls_key: Option<PathBuf>,
    /// Folder of backups that are made over HTTP; without one there are none
    #[arg(long, value_name = "FOLDER", env = "FPDB_BACKUP_FOLDER", hide_env = true, value_hint = ValueHint::DirPath)]
    pub(crate) backup_folder: Option<PathBuf>,
    /// The newest backups kept in that folder [default: all]
    #[arg(long, value_name = "N", env = "FPDB_KEEP_BACKUPS", hide_env = true)]
    pub(crate) keep_backups: Option<usize>,
    /// Memory for an ingest and the store
    #[arg(long, value_name = "SIZE", env = "FPDB_MEMORY", hide_env = true, value_parser = parse_size)]
    pub(crate) memory: Option<u64>,
    /// Cache for blocks and filters of the database [default: 192MiB]
    #[arg(long, value_name = "SIZE", env = "FPDB_CACHE", hide_env = true, value_parser = parse_size)]
    pub(crate) cache: Option<u64>,
    /// Memory for each job [default: 1GiB]
    #[arg(long, value_name = "SIZE", env = "FPDB_JOB_MEMORY", hide_env = true, value_parser = parse_size)]
    pub(crate) job_memory: Option<u64>,
    /// Requests worked on at the same time [default: two per processor]
    #[arg(long, value_name = "N", env = "FPDB_WORKERS", hide_env = true)]
    pub(crate) workers: Option<usize>,
    /// Requests that may wait, and separately changes; more are refused with status 503 [default: 64]
    #[arg(long, value_name = "N", env = "FPDB_QUEUE", hide_env = true)]
    pub(crate) queue: Option<usize>,
    /// Requests of one key at the same time; a further one is refused with status 429 [default: 32]
    #[arg(long, value_name = "N", env = "FPDB_PER_KEY", hide_env = true)]
    pub(crate) per_key: Option<usize>,
    /// Requests of one key per minute; a further one is refused with status 429 [default: any number]
    ///
    /// A line of the key file may have other limits after the digest: per_key=N, per_minute=N.
    #[arg(long, value_name = "N", env = "FPDB_PER_MINUTE", hide_env = true)]
    pub(crate) per_minute: Option<NonZeroU32>,
    /// Open connections; a further one is closed [default: 1024]
    #[arg(long, value_name = "N", env = "FPDB_CONNECTIONS", hide_env = true)]
    pub(crate) connections: Option<usize>,
    /// The largest body of a request [default: 64MiB]
    #[arg(long, value_name = "SIZE", env = "FPDB_MAX_BODY", hide_env = true, value_parser = parse_size)]
    pub(crate) max_body: Option<u64>,
    /// Bodies in memory at the same time; a further one is refused with status 503 [default: 256MiB]
    #[arg(long, value_name = "SIZE", env = "FPDB_BODY_MEMORY", hide_env = true, value_parser = parse_size)]
    pub(crate) body_memory: Option<u64>,
    /// The most matches of a query, or of a report [default: 1000]
    #[arg(long, value_name = "N", env = "FPDB_MAX_RESULTS", hide_env = true)]
    pub(crate) max_results: Option<usize>,
    /// Seconds until a request is given up [default: 60]
    #[arg(long, value_name = "N", env = "FPDB_REQUEST_SECONDS", hide_env = true)]
    pub(crate) request_seconds: Option<u64>,
    /// Seconds that a client may take for the head of a request, and between two parts of its body or answer
    /// [default: 20]
    #[arg(long, value_name = "N", env = "FPDB_CLIENT_SECONDS", hide_env = true)]
    pub(crate) client_seconds: Option<u64>,
    /// Jobs (pairs, dedup, repeats) that run at the same time [default: 1]
    #[arg(long, value_name = "N", env = "FPDB_JOBS", hide_env = true)]
    pub(crate) jobs: Option<usize>,
    /// Jobs kept with their results [default: 32]
    #[arg(long, value_name = "N", env = "FPDB_KEPT_JOBS", hide_env = true)]
    pub(crate) kept_jobs: Option<usize>,
    /// Seconds that requests may still take after SIGTERM [default: 20]
    #[arg(long, value_name = "N", env = "FPDB_DRAIN_SECONDS", hide_env = true)]
    pub(crate) drain_seconds: Option<u64>,
    /// Whether to log each request [default: true]
    #[arg(long, value_name = "BOOL", env = "FPDB_LOG_REQUESTS", hide_env = true)]
    pub(crate) log_requests: Option<bool>,
}
