//! TLS: the certificate of the service. It can be read again while the service runs, because certificates are
//! renewed every few months.

use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};

use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::{Error as PemError, PemObject};
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};

use crate::error::{Result, ServeError};

/// The files of a certificate.
struct Files {
    certificate: PathBuf,
    key: PathBuf,
}

/// The certificate of a service, if it has one.
pub(crate) struct Tls(Option<(Files, RwLock<TlsAcceptor>)>);

impl Tls {
    /// Reads the certificate, if there is one.
    pub(crate) fn open(certificate: Option<&Path>, key: Option<&Path>) -> Result<Self> {
        let (certificate, key) = match (certificate, key) {
            (Some(certificate), Some(key)) => (certificate.to_owned(), key.to_owned()),
            (None, None) => return Ok(Self(None)),
            (Some(_), None) => return Err(missing("tls_key", "a file, because tls_cert is given")),
            (None, Some(_)) => return Err(missing("tls_cert", "a file, because tls_key is given")),
        };
        let files = Files { certificate, key };
        let acceptor = RwLock::new(read(&files)?);
        Ok(Self(Some((files, acceptor))))
    }

    /// Reads the files again. Returns false if there are none. After an error the previous certificate stays
    /// in use.
    pub(crate) fn reload(&self) -> Result<bool> {
        let Some((files, acceptor)) = &self.0 else { return Ok(false) };
        let read = read(files)?;
        *acceptor.write().unwrap_or_else(PoisonError::into_inner) = read;
        Ok(true)
    }

    /// Begins TLS on a connection; `None` if the service has no certificate.
    pub(crate) fn acceptor(&self) -> Option<TlsAcceptor> {
        let (_, acceptor) = self.0.as_ref()?;
        Some(acceptor.read().unwrap_or_else(PoisonError::into_inner).clone())
    }
}

fn missing(name: &'static str, expected: &'static str) -> ServeError {
    ServeError::Setting { name, value: "missing".into(), expected }
}

fn read(files: &Files) -> Result<TlsAcceptor> {
    let unfit = |path: &Path, message: String| ServeError::Certificate { path: path.to_owned(), message };
    let of_file = |path: &Path, error: PemError| match error {
        PemError::Io(source) => ServeError::read(path)(source),
        error => unfit(path, error.to_string()),
    };
    let chain = CertificateDer::pem_file_iter(&files.certificate).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    let chain = chain.map_err(|error| of_file(&files.certificate, error))?;
    if chain.is_empty() {
        return Err(unfit(&files.certificate, "it has no certificate in PEM".into()));
    }
    let key = PrivateKeyDer::from_pem_file(&files.key).map_err(|error| of_file(&files.key, error))?;
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .and_then(|config| config.with_no_client_auth().with_single_cert(chain, key));
    let mut config = config.map_err(|error| unfit(&files.certificate, error.to_string()))?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(TlsAcceptor::from(Arc::new(config)))
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::TcpStream;
    use std::sync::Arc;

    use fpdb::{Database, Profile};
    use rcgen::{CertifiedKey, KeyPair, generate_simple_self_signed};
    use tokio::net::TcpListener;
    use tokio_rustls::rustls::pki_types::ServerName;
    use tokio_rustls::rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};

    use super::*;
    use crate::app::App;
    use crate::settings::ServeOptions;
    use crate::{connections, routes};

    /// Writes a new certificate and its key, and returns the certificate.
    fn renew(folder: &Path) -> CertificateDer<'static> {
        let CertifiedKey { cert, signing_key } = generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        std::fs::write(folder.join("cert.pem"), cert.pem()).unwrap();
        std::fs::write(folder.join("key.pem"), signing_key.serialize_pem()).unwrap();
        cert.der().clone()
    }

    const ASKED: &[u8] = b"GET /healthz HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n";

    /// True if a client that trusts only this certificate gets an answer to `GET /healthz`.
    fn is_healthy(port: u16, trusted: &CertificateDer<'static>) -> bool {
        let mut roots = RootCertStore::empty();
        roots.add(trusted.clone()).unwrap();
        let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(roots)
            .with_no_client_auth();
        let name = ServerName::try_from("localhost").unwrap();
        let session = ClientConnection::new(Arc::new(config), name).unwrap();
        let mut stream = StreamOwned::new(session, TcpStream::connect(("127.0.0.1", port)).unwrap());
        let mut answer = String::new();
        let answered = stream.write_all(ASKED).and_then(|()| stream.read_to_string(&mut answer));
        answered.is_ok() && answer.starts_with("HTTP/1.1 200")
    }

    #[test]
    fn requests_are_answered_by_tls_and_the_certificate_is_renewed() {
        let folder = tempfile::tempdir().unwrap();
        let first = renew(folder.path());
        let db = folder.path().join("db");
        drop(Database::create(&db, Profile::PROSE).unwrap());
        let (cert, key) = (folder.path().join("cert.pem"), folder.path().join("key.pem"));
        let options = ServeOptions { db, tls_cert: Some(cert), tls_key: Some(key), ..ServeOptions::default() };
        let app = App::open(ServeOptions { log_requests: false, ..options }).unwrap();
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
        let port = listener.local_addr().unwrap().port();
        let (end, ended) = tokio::sync::oneshot::channel::<()>();
        let answering = connections::answer(Arc::clone(&app), listener, routes::router(&app), async move {
            let _ = ended.await;
        });
        let answering = runtime.spawn(answering);
        assert!(is_healthy(port, &first));
        // A client without TLS gets no answer, and the service continues.
        let mut plain = TcpStream::connect(("127.0.0.1", port)).unwrap();
        plain.write_all(ASKED).unwrap();
        let mut answer = Vec::new();
        // The connection may be reset.
        let _ = plain.read_to_end(&mut answer);
        assert!(!answer.starts_with(b"HTTP"));
        let second = renew(folder.path());
        app.tls.reload().unwrap();
        assert!(!is_healthy(port, &first));
        assert!(is_healthy(port, &second));
        // A certificate and a key that do not belong together change nothing.
        std::fs::write(folder.path().join("key.pem"), KeyPair::generate().unwrap().serialize_pem()).unwrap();
        assert!(matches!(app.tls.reload(), Err(ServeError::Certificate { .. })));
        assert!(is_healthy(port, &second));
        end.send(()).unwrap();
        runtime.block_on(answering).unwrap();
        app.close();
    }

    #[test]
    fn files_that_are_no_certificate_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        renew(folder.path());
        let (cert, key) = (folder.path().join("cert.pem"), folder.path().join("key.pem"));
        let opened = |cert: Option<&Path>, key: Option<&Path>| Tls::open(cert, key).map(|_| ());
        assert!(opened(Some(&cert), Some(&key)).is_ok());
        assert!(matches!(opened(Some(&cert), None), Err(ServeError::Setting { name: "tls_key", .. })));
        assert!(matches!(opened(None, Some(&key)), Err(ServeError::Setting { name: "tls_cert", .. })));
        assert!(matches!(opened(Some(&key), Some(&key)), Err(ServeError::Certificate { .. })));
        assert!(matches!(opened(Some(&cert), Some(&cert)), Err(ServeError::Certificate { .. })));
        let missing = folder.path().join("missing");
        assert!(matches!(opened(Some(&missing), Some(&key)), Err(ServeError::Read { path, .. }) if path == missing));
    }
}
