//! A TLS server with a certificate that only an explicit setting trusts.

use std::sync::Arc;

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpListener,
    task::JoinHandle,
};
use tokio_rustls::{
    TlsAcceptor,
    rustls::{
        ServerConfig,
        pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer, pem::PemObject as _},
    },
};

/// For `localhost` alone, signed by itself.
pub(super) const CERTIFICATE: &str = "\
-----BEGIN CERTIFICATE-----\n\
MIIBoTCCAUigAwIBAgIUTy2m9WQjCN9zV4dYg9jOqcnPuHwwCgYIKoZIzj0EAwIw\n\
HDEaMBgGA1UEAwwRY29oYWIgdGVzdCBzZXJ2ZXIwIBcNMjYxMTIwMTYzNjI4WhgP\n\
MjEyNjEwMjcxNjM2MjhaMBwxGjAYBgNVBAMMEWNvaGFiIHRlc3Qgc2VydmVyMFkw\n\
EwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEd50YA0+XdS51fomL20WYSTd37dtlR0cZ\n\
aw4Xci3euPMjDpgV/rr/9WoxGgCfK7TqhaHLXWLPa1h/ILo82kGpM6NmMGQwHQYD\n\
VR0OBBYEFCMTWXrdvDt/Q7nTmn7HWWDyjDMWMB8GA1UdIwQYMBaAFCMTWXrdvDt/\n\
Q7nTmn7HWWDyjDMWMBQGA1UdEQQNMAuCCWxvY2FsaG9zdDAMBgNVHRMBAf8EAjAA\n\
MAoGCCqGSM49BAMCA0cAMEQCIBLq9N7W3BYjjJSqOh4hQvNi6a1KHrencwgTZwba\n\
W9RZAiBwliPcw3q+XPNV0T9dCbjsNRmkDAmr5eHYDYriHlam9Q==\n\
-----END CERTIFICATE-----\n\
";

/// Its key, which opens nothing but this server.
const KEY: &str = concat!(
    "308187020100301306072a8648ce3d020106082a8648ce3d030107046d306b0201010420767c739876a647b0a6890cc71d9d0de151bf7ad19bc195ed",
    "0f7e5deb7e6ac859a14403420004779d18034f97752e757e898bdb4598493777eddb654747196b0e17722ddeb8f3230e9815febafff56a311a009f2b",
    "b4ea85a1cb5d62cf6b587f20ba3cda41a933",
);

pub(super) struct TlsServer {
    pub(super) port: u16,
    task: JoinHandle<()>,
}

impl Drop for TlsServer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl TlsServer {
    /// Answers every request with `body`.
    pub(super) async fn start(body: String) -> Self {
        let key: Vec<u8> =
            (0..KEY.len()).step_by(2).map(|at| u8::from_str_radix(&KEY[at..at + 2], 16).expect("hex")).collect();
        let chain = vec![CertificateDer::from_pem_slice(CERTIFICATE.as_bytes()).expect("a certificate")];
        let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key));
        let config = ServerConfig::builder().with_no_client_auth().with_single_cert(chain, key).expect("they fit");
        let acceptor = TlsAcceptor::from(Arc::new(config));
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("loopback has free ports");
        let port = listener.local_addr().expect("it is bound").port();
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                // Most clients here go when they see the certificate.
                let Ok(mut stream) = acceptor.accept(stream).await else { continue };
                let _ = stream.read(&mut [0; 16 * 1024]).await;
                let head = "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-type: text/event-stream\r\n\r\n";
                let _ = stream.write_all(format!("{head}{body}").as_bytes()).await;
                let _ = stream.shutdown().await;
            }
        });
        Self { port, task }
    }
}
