//! Connections: accepts connections, bounds their number and the time that each may wait, and lets open ones
//! finish when the service ends.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::Request;
use hyper::body::Incoming;
use hyper::rt::{Read, Write};
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio_io_timeout::TimeoutStream;
use tower::ServiceExt;

use crate::app::App;
use crate::log;

/// The pause after a connection could not be accepted. Without a pause, a lack of open files would make the
/// loop spin.
const PAUSE: Duration = Duration::from_millis(100);

/// Answers connections until `ended` completes. Then lets open connections finish their requests.
pub(crate) async fn answer(app: Arc<App>, listener: TcpListener, routes: Router, ended: impl Future<Output = ()>) {
    let places = Arc::new(Semaphore::new(app.options.connections.min(Semaphore::MAX_PERMITS)));
    let graceful = GracefulShutdown::new();
    tokio::pin!(ended);
    loop {
        let stream = tokio::select! {
            () = &mut ended => break,
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => stream,
                Err(error) => {
                    if !is_of_one_connection(&error) {
                        log::event("cannot take a connection", &error.to_string());
                        tokio::time::sleep(PAUSE).await;
                    }
                    continue;
                }
            },
        };
        // If there are too many connections, this one is closed without an answer, because an answer would
        // also need a place.
        let Ok(place) = Arc::clone(&places).try_acquire_owned() else { continue };
        let (app, routes, watcher) = (Arc::clone(&app), routes.clone(), graceful.watcher());
        tokio::spawn(async move {
            app.metrics.connections.inc();
            connection(&app, stream, routes, watcher).await;
            app.metrics.connections.dec();
            drop(place);
        });
    }
    drop(listener);
    graceful.shutdown().await;
}

/// Answers the requests of a connection. Nothing is logged if the client leaves or is too slow.
async fn connection(app: &App, stream: TcpStream, routes: Router, watcher: Watcher) {
    let patience = app.options.client_time();
    // Sends small answers without delay. If this fails, they are only sent later.
    let _ = stream.set_nodelay(true);
    let mut stream = TimeoutStream::new(stream);
    stream.set_write_timeout(Some(patience));
    let stream = Box::pin(stream);
    match app.tls.acceptor() {
        None => requests(TokioIo::new(stream), patience, routes, watcher).await,
        Some(acceptor) => {
            if let Ok(Ok(stream)) = tokio::time::timeout(patience, acceptor.accept(stream)).await {
                requests(TokioIo::new(stream), patience, routes, watcher).await;
            }
        }
    }
}

async fn requests(stream: impl Read + Write + Unpin + 'static, patience: Duration, routes: Router, watcher: Watcher) {
    let into: fn(Request<Incoming>) -> Request = |request| request.map(axum::body::Body::new);
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        // The timeout limits the time for the head of a request, and the time between two requests.
        .header_read_timeout(patience)
        .serve_connection(stream, TowerToHyperService::new(routes.map_request(into)));
    let _ = watcher.watch(connection).await;
}

/// True if the error concerns one connection, and not the listening socket.
fn is_of_one_connection(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset, Interrupted};
    [ConnectionAborted, ConnectionRefused, ConnectionReset, Interrupted].contains(&error.kind())
}
