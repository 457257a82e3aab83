//! Request: reads bodies and options, within limits.

use std::sync::Arc;

use axum::body::{Body, Bytes, HttpBody};
use axum::extract::{FromRequestParts, Path, Query, Request};
use axum::http::request::Parts;
use axum::http::{HeaderMap, header};
use fpdb::{InputLimits, ReadOptions, StopToken};
use serde::de::DeserializeOwned;
use tokio::sync::OwnedSemaphorePermit;

use crate::app::App;
use crate::keys::Identity;
use crate::problem::{Answer, Problem};
use crate::room::Room;

/// Maximum bytes of JSON that holds no document: its values take many times their bytes in memory.
pub(super) const MOST_JSON: usize = 1 << 20;

/// The parameters in the address.
pub(crate) struct Params<T>(pub(super) T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for Params<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Answer<Self> {
        let read = Query::<T>::from_request_parts(parts, state).await;
        read.map(|Query(params)| Self(params)).map_err(|refused| Problem::bad_request(refused.body_text()))
    }
}

/// The part of the path that names a document or a job.
pub(crate) struct Name(pub(super) String);

impl<S: Send + Sync> FromRequestParts<S> for Name {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Answer<Self> {
        let read = Path::<String>::from_request_parts(parts, state).await;
        read.map(|Path(name)| Self(name)).map_err(|refused| Problem::bad_request(refused.body_text()))
    }
}

/// A body in memory, and the room for it. The room is for one copy of the bytes. So a request that copies
/// parts of the body must drop the body, or move the bytes into documents.
pub(super) struct HeldBody {
    pub(super) bytes: Vec<u8>,
    pub(super) room: Room,
}

/// The media type of a body, without parameters; empty if there is none.
pub(super) fn media_type(headers: &HeaderMap) -> String {
    let value = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or("");
    value.split(';').next().unwrap_or("").trim().to_ascii_lowercase()
}

/// Reads a body of documents, which may have any length that the service allows.
pub(super) async fn read_body(app: &Arc<App>, request: Request) -> Answer<HeldBody> {
    read_within(app, request, app.options.max_body).await
}

/// Reads a body of documents, and then takes a place for the change, so that a slow client holds no place. If
/// all places are taken, refuses the body before it is read.
pub(super) async fn read_change(app: &Arc<App>, request: Request) -> Answer<(HeldBody, OwnedSemaphorePermit)> {
    app.writer.look_for_place()?;
    let body = read_body(app, request).await?;
    Ok((body, app.writer.enter()?))
}

/// Reads a body of JSON that holds no document.
pub(super) async fn read_json_body(app: &Arc<App>, request: Request) -> Answer<HeldBody> {
    read_within(app, request, MOST_JSON.min(app.options.max_body)).await
}

/// Bytes of memory taken for the first part of a body, if the body may have this length.
const FIRST: usize = 64 << 10;

/// Reads a body of at most `limit` bytes. Takes memory as parts arrive. The memory doubles each time, up to
/// the length that the client states.
async fn read_within(app: &Arc<App>, request: Request, limit: usize) -> Answer<HeldBody> {
    let told =
        request.headers().get(header::CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse::<usize>().ok());
    if told.is_some_and(|told| told > limit) {
        return Err(Problem::too_large(limit));
    }
    let of_key = request.extensions().get::<Identity>().and_then(|sender| sender.bodies.clone());
    let stores: Vec<_> = of_key.into_iter().chain([Arc::clone(&app.bodies)]).collect();
    let mut body = request.into_body();
    let (mut bytes, mut room) = (Vec::new(), Room::default());
    while let Some(data) = next_data(app, &mut body).await? {
        if data.len() > limit - bytes.len() {
            return Err(Problem::too_large(limit));
        }
        let needed = bytes.len() + data.len();
        if needed > bytes.capacity() {
            let larger = (2 * bytes.capacity()).max(FIRST).min(told.unwrap_or(limit)).max(needed);
            room.grow(larger, &stores)?;
            bytes.reserve_exact(larger - bytes.len());
        }
        bytes.extend_from_slice(&data);
    }
    Ok(HeldBody { bytes, room })
}

/// The next part of a body; `None` at its end.
async fn next_data(app: &App, body: &mut Body) -> Answer<Option<Bytes>> {
    loop {
        let frame = std::future::poll_fn(|context| std::pin::Pin::new(&mut *body).poll_frame(context));
        match tokio::time::timeout(app.options.client_time(), frame).await {
            Err(_) => return Err(Problem::slow_client()),
            Ok(None) => return Ok(None),
            Ok(Some(Err(_))) => return Err(Problem::bad_request("the body ended early or is malformed")),
            Ok(Some(Ok(frame))) => match frame.into_data() {
                Ok(data) => return Ok(Some(data)),
                // Trailers are not used here.
                Err(_) => continue,
            },
        }
    }
}

/// Reads a body of JSON, and returns what `make` makes of its value. An empty body gives the default value.
/// Parsed JSON takes many times the memory of its bytes. So a worker parses it, and keeps the room of the
/// body until the end.
pub(super) async fn read_json<T: DeserializeOwned + Default, M: Send + 'static>(
    app: &Arc<App>,
    request: Request,
    make: impl FnOnce(T) -> Answer<M> + Send + 'static,
) -> Answer<M> {
    let media_type = media_type(request.headers());
    let body = read_json_body(app, request).await?;
    if !body.bytes.is_empty() && media_type != "application/json" {
        return Err(Problem::media_type("application/json"));
    }
    let make = move |_: &StopToken| {
        let HeldBody { bytes, room: _room } = body;
        make(if bytes.is_empty() { T::default() } else { parse(&bytes)? })
    };
    app.work.run(make).await
}

/// Parses JSON.
pub(super) fn parse<T: DeserializeOwned>(json: &[u8]) -> Answer<T> {
    serde_json::from_slice(json).map_err(|error| Problem::bad_request(error.to_string()))
}

/// The options for reading the documents of a request: those of the request, with the limits of the service.
pub(super) fn read_options(app: &App, asked: ReadOptions) -> Answer<ReadOptions> {
    if asked.limits != InputLimits::default() {
        return Err(Problem::bad_request("the limits of documents are set by the service, not by a request"));
    }
    Ok(asked.limits(app.limits.clone()))
}
