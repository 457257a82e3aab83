//! App: the state that all handlers share, and the start and the end of the service.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use axum::Router;
use fpdb::{Database, InputLimits, StopToken};
use tokio::net::TcpListener;
use tokio::runtime::{Builder, Runtime};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::Semaphore;

use crate::error::{Result, ServeError};
use crate::jobs::Jobs;
use crate::keys::{KeyLimits, Keys};
use crate::metrics::{JobFigures, Metrics};
use crate::reopening::{Reader, Reopening};
use crate::settings::ServeOptions;
use crate::tls::Tls;
use crate::work::Work;
use crate::writer::{Writer, Written};
use crate::{connections, log, routes};

/// The state that all handlers share.
pub(crate) struct App {
    pub(crate) options: ServeOptions,
    /// A handle that shows each commit of the writer.
    reader: Reader,
    pub(crate) writer: Writer,
    pub(crate) work: Work,
    pub(crate) jobs: Jobs,
    pub(crate) keys: Keys,
    pub(crate) tls: Tls,
    pub(crate) metrics: Metrics,
    /// Room for bodies in memory, in KiB.
    pub(crate) bodies: Arc<Semaphore>,
    pub(crate) limits: InputLimits,
    /// False once the service begins to end.
    ready: AtomicBool,
    /// True while a service that only reads cannot show the last commit of another process.
    behind: AtomicBool,
    requests: AtomicU64,
    /// Distinguishes the request ids of this process from those of other processes.
    epoch: u32,
}

impl App {
    /// Opens the database and starts the writer.
    pub(crate) fn open(options: ServeOptions) -> Result<Arc<Self>> {
        options.check()?;
        // The bodies of one key take at most half of the memory for bodies, or as much as one body may take.
        let bodies = options.max_body.max(options.body_memory / 2);
        let limits = KeyLimits { per_key: options.per_key, per_minute: options.per_minute, bodies };
        let keys = Keys::open(options.key_file.as_deref(), limits)?;
        let tls = Tls::open(options.tls_cert.as_deref(), options.tls_key.as_deref())?;
        if !options.listen.ip().is_loopback() && !keys.are_needed() {
            return Err(ServeError::NeedsKeys { address: options.listen });
        }
        let mut builder = Database::builder().raise_open_files(true).tell_paths(false);
        if let Some(memory) = options.memory {
            builder = builder.memory(memory);
        }
        if let Some(cache) = options.cache {
            builder = builder.cache(cache);
        }
        if let Some(threads) = options.threads {
            builder = builder.threads(threads);
        }
        let written = Written::default();
        let (reader, writer) = if options.read_only {
            (Reader::new(builder.open(&options.db)?), Writer::none(written.clone()))
        } else {
            let database = builder.open_writer(&options.db)?;
            let reader = Reader::new(database.reader());
            let reopening = Reopening::new(options.db.clone(), builder, reader.clone());
            (reader, Writer::start(database, reopening, written.clone(), options.queue)?)
        };
        let mut epoch = [0; 4];
        getrandom::fill(&mut epoch)
            .map_err(|error| ServeError::system("get random bytes")(std::io::Error::other(error)))?;
        let (stop, of_jobs) = (StopToken::new(), JobFigures::default());
        let bodies = options.body_memory.div_ceil(1 << 10).min(Semaphore::MAX_PERMITS);
        Ok(Arc::new(Self {
            reader,
            metrics: Metrics::new(&written, &of_jobs),
            writer,
            work: Work::new(options.worker_count(), options.queue, stop.clone()),
            jobs: Jobs::new(options.jobs, options.kept_jobs, stop, of_jobs),
            keys,
            tls,
            bodies: Arc::new(Semaphore::new(bodies)),
            limits: options.limits(),
            ready: AtomicBool::new(true),
            behind: AtomicBool::new(false),
            requests: AtomicU64::new(0),
            epoch: u32::from_be_bytes(epoch),
            options,
        }))
    }

    /// A handle for reading; `None` once the service has ended.
    pub(crate) fn reader(&self) -> Option<Database> {
        self.reader.get()
    }

    /// Shows the last commit of another process, if the service only reads. Returns false if that commit is
    /// already shown.
    pub(crate) fn follow(&self) -> fpdb::Result<bool> {
        let followed = self.reader.follow();
        self.behind.store(followed.is_err(), Ordering::Relaxed);
        followed
    }

    /// True if answers show an earlier commit, because the last commit cannot be read.
    pub(crate) fn is_behind(&self) -> bool {
        self.behind.load(Ordering::Relaxed)
    }

    /// True until the service begins to end.
    pub(crate) fn is_ready(&self) -> bool {
        self.ready.load(Ordering::Relaxed)
    }

    pub(crate) fn next_request_id(&self) -> String {
        format!("{:08x}{:08x}", self.epoch, self.requests.fetch_add(1, Ordering::Relaxed))
    }

    /// Carries out the waiting changes, and closes the database.
    pub(crate) fn close(&self) {
        self.ready.store(false, Ordering::Relaxed);
        self.work.stop.stop();
        self.reader.close();
        self.writer.end();
    }
}

/// Opens the database at [`ServeOptions::db`] and answers requests until SIGTERM or SIGINT. After the signal,
/// it finishes running requests and commits waiting changes. A later SIGINT ends the process at once, with
/// status 130. After SIGHUP it reads the key file and the certificate again. It calls `started` with the
/// address once it accepts requests.
///
/// # Errors
/// A [`ServeError`] that concerns the database, the address, the key file or a setting.
pub fn serve(options: ServeOptions, started: impl FnOnce(std::net::SocketAddr)) -> Result<()> {
    let app = App::open(options)?;
    let runtime = runtime()?;
    let ended = runtime.block_on(run(Arc::clone(&app), started));
    app.close();
    // The work that still runs has been asked to stop, and nobody waits for its result.
    runtime.shutdown_timeout(Duration::from_secs(2));
    ended
}

fn runtime() -> Result<Runtime> {
    let built = Builder::new_multi_thread().worker_threads(2).enable_io().enable_time().build();
    built.map_err(ServeError::system("start threads"))
}

async fn run(app: Arc<App>, started: impl FnOnce(std::net::SocketAddr)) -> Result<()> {
    let address = app.options.listen;
    let listen = |source| ServeError::Listen { address, source };
    let listener = TcpListener::bind(address).await.map_err(listen)?;
    let hear = |kind| signal(kind).map_err(ServeError::system("hear signals"));
    let (mut terminate, mut interrupt) = (hear(SignalKind::terminate())?, hear(SignalKind::interrupt())?);
    let mut hangup = hear(SignalKind::hangup())?;
    let local = listener.local_addr().map_err(listen)?;
    let scheme = if app.options.tls_cert.is_some() { "https" } else { "http" };
    log::event("serving", &format!("{scheme}://{local}/"));
    if !address.ip().is_loopback() && app.options.tls_cert.is_none() {
        log::event("others can read keys and texts on the network", "there is no certificate; see --tls-cert");
    }
    started(local);
    let reloading = Arc::clone(&app);
    let reload = tokio::spawn(async move {
        while hangup.recv().await.is_some() {
            match reloading.keys.reload() {
                Ok(true) => log::event("the keys were read again", ""),
                Ok(false) => {}
                Err(error) => log::event("the keys stay as they were", &error.to_string()),
            }
            match reloading.tls.reload() {
                Ok(true) => log::event("the certificate was read again", ""),
                Ok(false) => {}
                Err(error) => log::event("the certificate stays as it was", &error.to_string()),
            }
        }
    });
    let following = app.options.read_only.then(|| tokio::spawn(follow(Arc::clone(&app))));
    let patience = Duration::from_secs(app.options.drain_seconds);
    let routes: Router = routes::router(&app);
    let (end, ended) = tokio::sync::oneshot::channel();
    let ending = Arc::clone(&app);
    let answering = tokio::spawn(connections::answer(Arc::clone(&app), listener, routes, async move {
        // The sender is never dropped before it has sent.
        let _ = ended.await;
    }));
    tokio::select! {
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
    }
    log::event("ending", "requests under way are finished");
    tokio::spawn(async move {
        // Only SIGINT ends the process here. A supervisor may repeat SIGTERM, and can send SIGKILL to end the
        // process at once.
        interrupt.recv().await;
        log::event("ended", "by Ctrl-C, while requests were under way");
        // This exit runs no other code, so it does not close the store while a thread writes. The effect is
        // that of SIGKILL, which loses no acknowledged change.
        signal_hook::low_level::exit(130);
    });
    ending.ready.store(false, Ordering::Relaxed);
    let _ = end.send(());
    if tokio::time::timeout(patience, answering).await.is_err() {
        log::event("ending", "requests took too long and were cut off");
    }
    reload.abort();
    following.iter().for_each(tokio::task::JoinHandle::abort);
    Ok(())
}

/// Looks for commits of other processes every second, and shows them.
async fn follow(app: Arc<App>) {
    // A repeated error is logged only once.
    let mut logged = String::new();
    loop {
        tokio::time::sleep(Duration::from_secs(1)).await;
        let shared = Arc::clone(&app);
        let followed = match tokio::task::spawn_blocking(move || shared.follow()).await {
            Ok(followed) => followed.map_err(|error| error.chain()),
            Err(failed) => Err(failed.to_string()),
        };
        let failure = followed.err().unwrap_or_default();
        if !failure.is_empty() && failure != logged {
            log::event("answers show an earlier commit", &failure);
        }
        logged = failure;
    }
}
