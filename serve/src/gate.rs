//! Gate: the checks that each request passes before its handler. The gate gives the request an id, counts and
//! logs it, checks its host, origin and key, and bounds its time.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Instant;

use axum::body::HttpBody;
use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, Uri, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use governor::clock::{Clock, DefaultClock};

use crate::app::App;
use crate::keys::{Identity, Rights};
use crate::log::{self, RequestLine};
use crate::problem::{Answer, Cause, Problem};

/// The name of the key of a request, for the log.
#[derive(Clone)]
struct LoggedKey(Arc<str>);

/// Gives a request an id, adds the common headers to its answer, and counts and logs the request.
pub(crate) async fn observe(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let began = Instant::now();
    let id = app.next_request_id();
    let method = request.method().clone();
    let route = request.extensions().get::<MatchedPath>().map(|path| path.as_str().to_owned());
    let is_page = route.as_deref().is_some_and(crate::page::is_page);
    let mut response = next.run(request).await;
    let headers = response.headers_mut();
    if let Ok(value) = HeaderValue::from_str(&id) {
        headers.insert("x-request-id", value);
    }
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    headers.insert("cross-origin-resource-policy", HeaderValue::from_static("same-origin"));
    headers.insert("cross-origin-opener-policy", HeaderValue::from_static("same-origin"));
    if !is_page {
        // A browser that shows an answer must not run or load anything from it.
        let policy = HeaderValue::from_static("default-src 'none'; frame-ancestors 'none'; sandbox");
        headers.insert(header::CONTENT_SECURITY_POLICY, policy);
        headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    }
    let route = route.as_deref().unwrap_or("none");
    let (time, status) = (began.elapsed(), response.status().as_u16());
    // All unknown methods share one label, so that clients cannot create any number of labels.
    let counted = if known_method(&method) { method.as_str() } else { "other" };
    app.metrics.count(counted, route, status, time);
    if app.options.log_requests || status >= 500 {
        let key = response.extensions().get::<LoggedKey>().map(|key| Arc::clone(&key.0)).unwrap_or_default();
        let cause = response.extensions().get::<Cause>().map(|cause| cause.0.as_str());
        log::request(&RequestLine {
            request: &id,
            key: &key,
            method: counted,
            route,
            status,
            milliseconds: time.as_micros() as f64 / 1000.0,
            cause,
        });
    }
    response
}

fn known_method(method: &Method) -> bool {
    [Method::GET, Method::HEAD, Method::POST, Method::PUT, Method::DELETE, Method::OPTIONS].contains(method)
}

/// Passes on a request if its host, origin and key are right. The log also names the key of a refused
/// request.
pub(crate) async fn admit(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let sender = app.keys.identify(bearer(request.headers()));
    let key = LoggedKey(sender.as_ref().map(|sender| Arc::clone(&sender.name)).unwrap_or_default());
    let mut response = pass(&app, sender, request, next).await.unwrap_or_else(Problem::into_response);
    response.extensions_mut().insert(key);
    response
}

/// Checks a request and passes it on. Ends the request when its time is over.
async fn pass(app: &App, sender: Option<Identity>, mut request: Request, next: Next) -> Answer<Response> {
    let identity = check(app, sender, &request)?;
    if let Some(rate) = identity.as_ref().and_then(|identity| identity.rate.as_ref())
        && let Err(until) = rate.check()
    {
        let wait = until.wait_time_from(DefaultClock::default().now());
        return Err(Problem::too_often(wait.as_secs() + 1));
    }
    // Without keys there is no limit per key.
    let room = match identity.as_ref().and_then(|identity| identity.room.clone()).map(|room| room.try_acquire_owned()) {
        None => None,
        Some(Ok(room)) => Some(room),
        Some(Err(_)) => return Err(Problem::too_many()),
    };
    check_understood(&request)?;
    if let Some(identity) = identity {
        request.extensions_mut().insert(identity);
    }
    let answered = tokio::time::timeout(app.options.request_time(), next.run(request)).await;
    drop(room);
    answered.map_err(|_| Problem::too_slow(app.options.request_seconds))
}

/// Checks a request, and returns its sender. `None` if the route needs no key.
fn check(app: &App, sender: Option<Identity>, request: &Request) -> Answer<Option<Identity>> {
    let route = request.extensions().get::<MatchedPath>().map(MatchedPath::as_str);
    check_host(request.uri(), request.headers(), &app.options.hosts)?;
    let Some(needed) = needed(request.method(), route) else { return Ok(None) };
    check_origin(request.headers())?;
    let identity = sender.ok_or_else(Problem::no_key)?;
    if [Method::GET, Method::HEAD].contains(request.method()) {
        // Some lists need a higher right than to read, but change nothing. So a service that only reads shows
        // these lists too.
        check_rights(&identity, needed)?;
    } else {
        allow(app, &identity, needed)?;
    }
    Ok(Some(identity))
}

/// Checks that a sender has this right. A service that only reads allows no changes.
pub(crate) fn allow(app: &App, who: &Identity, needed: Rights) -> Answer<()> {
    check_rights(who, needed)?;
    if app.options.read_only && needed > Rights::Read { Err(Problem::read_only()) } else { Ok(()) }
}

fn check_rights(who: &Identity, needed: Rights) -> Answer<()> {
    if who.rights < needed { Err(Problem::no_rights(needed.name())) } else { Ok(()) }
}

/// The right that a route needs. `None` if anybody may see the route.
fn needed(method: &Method, route: Option<&str>) -> Option<Rights> {
    let route = route.filter(|route| route.starts_with("/v1/") || *route == "/metrics")?;
    let needs_write = (route.starts_with("/v1/documents") && (*method == Method::PUT || *method == Method::DELETE))
        || ["/v1/remove", "/v1/kept-out"].contains(&route);
    Some(match route {
        _ if needs_write => Rights::Write,
        _ if route.starts_with("/v1/compact") || route.starts_with("/v1/backup") => Rights::Admin,
        _ => Rights::Read,
    })
}

/// Refuses parameters and bodies that the route does not read. A client that sends them expects them to have
/// an effect.
fn check_understood(request: &Request) -> Answer<()> {
    let route = request.extensions().get::<MatchedPath>().map_or("", MatchedPath::as_str);
    if !route.starts_with("/v1/") {
        return Ok(());
    }
    let reads_parameters =
        ["/v1/documents", "/v1/query", "/v1/report", "/v1/kept-out"].iter().any(|read| route.starts_with(read));
    if !reads_parameters && request.uri().query().is_some_and(|query| !query.is_empty()) {
        return Err(Problem::bad_request("this route has no parameters"));
    }
    let takes_body = [Method::POST, Method::PUT].contains(request.method());
    let reads_body = takes_body && !["/v1/compact", "/v1/backup"].contains(&route);
    if !reads_body && !request.body().is_end_stream() {
        return Err(Problem::bad_request("this route reads no body with this method"));
    }
    Ok(())
}

/// Refuses a request for a host name that is not a name of the service. In DNS rebinding, an attacker's name
/// resolves to this machine, so requests of the attacker's page carry that name. IP addresses are accepted,
/// because they resolve to nothing else.
fn check_host(uri: &Uri, headers: &HeaderMap, names: &[String]) -> Answer<()> {
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok()).or_else(|| uri.host());
    let host = host.ok_or_else(Problem::other_host)?;
    let name = match host.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((address, _)) => address,
        None => host.rsplit_once(':').map_or(host, |(name, _)| name),
    };
    let is_known = name.parse::<IpAddr>().is_ok()
        || name.eq_ignore_ascii_case("localhost")
        || names.iter().any(|known| known.eq_ignore_ascii_case(name));
    if is_known { Ok(()) } else { Err(Problem::other_host()) }
}

/// Refuses a request that a browser sends for a page of another site.
fn check_origin(headers: &HeaderMap) -> Answer<()> {
    let text = |name: &str| headers.get(name).map(|value| value.to_str().unwrap_or("?"));
    if let Some(site) = text("sec-fetch-site")
        && !["same-origin", "none"].contains(&site)
    {
        return Err(Problem::other_origin());
    }
    if let Some(origin) = text("origin") {
        let authority = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
        let is_own =
            matches!((authority, text("host")), (Some(origin), Some(host)) if origin.eq_ignore_ascii_case(host));
        if !is_own {
            return Err(Problem::other_origin());
        }
    }
    Ok(())
}

fn bearer(headers: &HeaderMap) -> Option<&str> {
    let value = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    let (scheme, key) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| key.trim())
}
