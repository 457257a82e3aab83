//! Connections: takes them, bounds their number and the patience with each, and lets them end.

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

/// The pause after a connection that could not be taken: without it a lack of files would be a busy loop.
const PAUSE: Duration = Duration::from_millis(100);

/// Answers connections until `ended`; then lets those that are open finish their requests.
pub(crate) async fn answer(app: Arc<App>, listener: TcpListener, routes: Router, ended: impl Future<Output = ()>) {
    let places = Arc::new(Semaphore::new(app.options.connections));
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
        // Closed at once where there are too many: an answer would take a place, too.
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

/// Answers the requests of a connection. A client that goes or is too slow is no event.
async fn connection(app: &App, stream: TcpStream, routes: Router, watcher: Watcher) {
    let patience = app.options.client_time();
    // Small answers leave at once. A failure only makes them later.
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
        // From the first byte on, and between two requests.
        .header_read_timeout(patience)
        .serve_connection(stream, TowerToHyperService::new(routes.map_request(into)));
    let _ = watcher.watch(connection).await;
}

/// The connection has failed, not the listening.
fn is_of_one_connection(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset, Interrupted};
    [ConnectionAborted, ConnectionRefused, ConnectionReset, Interrupted].contains(&error.kind())
}
