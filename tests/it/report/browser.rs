//! Controls a headless Chromium through a pipe with its DevTools protocol. Opens a page, evaluates
//! expressions in it, presses keys, and records complaints and loaded files.
//!
//! The program is `$FPDB_CHROMIUM`, or `chromium` on the path. Without one these tests are skipped, unless
//! `FPDB_BROWSER_TESTS=required`. With `FPDB_AXE`, the file `axe.min.js` of axe-core, pages are checked for
//! obstacles for readers with disabilities.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;

/// Time after which a missing answer fails the test, far more than any answer needs.
const PATIENCE: Duration = Duration::from_secs(120);

/// A browser with one page.
pub(crate) struct Browser {
    process: Child,
    input: ChildStdin,
    messages: Receiver<Value>,
    session: Option<String>,
    last_id: u64,
    events: Vec<Value>,
    _profile: TempDir,
}

/// The browser's program, if there is one.
fn program() -> Option<PathBuf> {
    let given = std::env::var_os("FPDB_CHROMIUM").map(PathBuf::from);
    let found = given.or_else(|| {
        let folders = std::env::var_os("PATH")?;
        let names = ["chromium", "chromium-browser", "google-chrome"];
        std::env::split_paths(&folders)
            .flat_map(|folder| names.map(|name| folder.join(name)))
            .find(|path| path.is_file())
    });
    let required = std::env::var_os("FPDB_BROWSER_TESTS").is_some_and(|value| value == "required");
    if found.is_none() {
        assert!(!required, "no Chromium on the path: tools/setup.sh --browser installs it");
        eprintln!("skipped: no Chromium on the path (tools/setup.sh --browser installs it)");
    }
    found
}

impl Browser {
    /// A browser with an empty page, or `None` if there is no browser.
    pub(crate) fn start() -> Option<Self> {
        let program = program()?;
        let profile = tempfile::tempdir().unwrap();
        // The protocol uses the descriptors 3 and 4. The shell makes them from its standard input and output.
        let mut process = Command::new("sh")
            .args(["-c", "exec \"$0\" \"$@\" 3<&0 4>&1 </dev/null >/dev/null 2>&1"])
            .arg(program)
            .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"])
            .args(["--disable-background-networking", "--disable-component-update", "--disable-sync"])
            .args(["--disable-dev-shm-usage", "--remote-debugging-pipe", "--window-size=1400,900"])
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .arg("about:blank")
            // Files that a killed browser leaves are removed with its profile.
            .env("TMPDIR", profile.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let input = process.stdin.take().unwrap();
        let mut output = BufReader::new(process.stdout.take().unwrap());
        let (sender, messages) = channel();
        std::thread::spawn(move || {
            let mut message = Vec::new();
            while output.read_until(0, &mut message).is_ok_and(|read| read > 0) {
                message.pop();
                if sender.send(serde_json::from_slice(&message).unwrap()).is_err() {
                    return;
                }
                message.clear();
            }
        });
        let mut browser =
            Self { process, input, messages, session: None, last_id: 0, events: Vec::new(), _profile: profile };
        let target = browser.call("Target.createTarget", json!({"url": "about:blank"}));
        let attached = json!({"targetId": target["targetId"], "flatten": true});
        browser.session = browser.call("Target.attachToTarget", attached)["sessionId"].as_str().map(str::to_owned);
        for domain in ["Page", "Runtime", "Network", "Log"] {
            browser.call(&format!("{domain}.enable"), json!({}));
        }
        if let Some(path) = std::env::var_os("FPDB_AXE") {
            let source = std::fs::read_to_string(path).unwrap();
            browser.call("Page.addScriptToEvaluateOnNewDocument", json!({"source": source}));
        }
        Some(browser)
    }

    /// Sends one command of the protocol, and returns its result.
    pub(crate) fn call(&mut self, method: &str, parameters: Value) -> Value {
        self.last_id += 1;
        let mut message = json!({"id": self.last_id, "method": method, "params": parameters});
        if let Some(session) = &self.session {
            message["sessionId"] = json!(session);
        }
        let mut bytes = serde_json::to_vec(&message).unwrap();
        bytes.push(0);
        self.input.write_all(&bytes).unwrap();
        loop {
            let mut message = self.messages.recv_timeout(PATIENCE).unwrap_or_else(|_| panic!("no answer to {method}"));
            if message["id"] == self.last_id {
                assert!(message["error"].is_null(), "{method}: {}", message["error"]);
                return message["result"].take();
            }
            self.events.push(message);
        }
    }

    /// Opens an address, and waits until its page is drawn.
    pub(crate) fn visit(&mut self, address: &str) {
        // Without this step, another fragment of the same page would not load the page again.
        self.call("Page.navigate", json!({"url": "about:blank"}));
        self.call("Page.navigate", json!({"url": address}));
        self.wait("document.querySelector('h1') !== null && document.readyState === 'complete'");
    }

    /// Opens a file at the fragment `fragment` (the part after `#`), and waits until its page is drawn.
    pub(crate) fn open(&mut self, path: &Path, fragment: &str) {
        self.visit(&format!("file://{}#{fragment}", path.canonicalize().unwrap().display()));
    }

    /// The value of an expression, which may be a promise.
    pub(crate) fn ask(&mut self, expression: &str) -> Value {
        let parameters = json!({"expression": expression, "awaitPromise": true, "returnByValue": true});
        let mut answer = self.call("Runtime.evaluate", parameters);
        assert!(answer["exceptionDetails"].is_null(), "{expression}: {}", answer["exceptionDetails"]);
        answer["result"]["value"].take()
    }

    /// The value of an expression, as text.
    pub(crate) fn text(&mut self, expression: &str) -> String {
        self.ask(&format!("String({expression})")).as_str().unwrap().to_owned()
    }

    /// Waits until an expression is true.
    pub(crate) fn wait(&mut self, expression: &str) {
        let until = std::time::Instant::now() + PATIENCE;
        while self.ask(&format!("Boolean({expression})")) != json!(true) {
            assert!(std::time::Instant::now() < until, "never true: {expression}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Presses a key.
    pub(crate) fn press(&mut self, key: &str) {
        let code = match key {
            "Tab" => 9,
            "Enter" => 13,
            "ArrowRight" => 39,
            "ArrowLeft" => 37,
            "End" => 35,
            _ => 0,
        };
        let text = match key {
            "Enter" => Some("\r"),
            _ if key.chars().count() == 1 => Some(key),
            _ => None,
        };
        let mut down = json!({"type": "keyDown", "key": key, "code": key, "windowsVirtualKeyCode": code});
        if let Some(text) = text {
            down["text"] = json!(text);
        }
        self.call("Input.dispatchKeyEvent", down);
        let up = json!({"type": "keyUp", "key": key, "code": key, "windowsVirtualKeyCode": code});
        self.call("Input.dispatchKeyEvent", up);
    }

    /// Clicks the middle of the first element that a selector finds.
    pub(crate) fn click(&mut self, selector: &str) {
        let place = self.ask(&format!(
            "(() => {{ const e = document.querySelector({selector:?}); e.scrollIntoView({{block: 'nearest'}}); \
             const b = e.getClientRects()[0]; return [b.x + b.width / 2, b.y + b.height / 2] }})()"
        ));
        for kind in ["mousePressed", "mouseReleased"] {
            let event = json!({"type": kind, "x": place[0], "y": place[1], "button": "left", "clickCount": 1});
            self.call("Input.dispatchMouseEvent", event);
        }
    }

    /// Pretends that the reader's system has these settings: `prefers-color-scheme` and the medium.
    pub(crate) fn pretend(&mut self, scheme: &str, medium: &str) {
        let features = json!([{"name": "prefers-color-scheme", "value": scheme}]);
        self.call("Emulation.setEmulatedMedia", json!({"media": medium, "features": features}));
    }

    /// Fails the test if the browser complained, ran a forbidden script, or loaded anything except files of
    /// the report.
    pub(crate) fn check_quiet(&mut self) {
        self.check_quiet_at("file://");
    }

    /// Like [`Self::check_quiet`], for a page that may load addresses that begin with `own`.
    pub(crate) fn check_quiet_at(&mut self, own: &str) {
        // The browser has reported all events so far before this answer.
        self.ask("1");
        for event in &self.events {
            let parameters = &event["params"];
            match event["method"].as_str().unwrap_or_default() {
                "Runtime.exceptionThrown" | "Page.javascriptDialogOpening" => panic!("{event}"),
                "Runtime.consoleAPICalled" => panic!("{event}"),
                "Log.entryAdded" if parameters["entry"]["level"] != "verbose" => panic!("{event}"),
                "Network.requestWillBeSent" => {
                    let address = parameters["request"]["url"].as_str().unwrap();
                    let is_local =
                        [own, "blob:", "about:blank", "data:,"].iter().any(|known| address.starts_with(known));
                    assert!(is_local, "{address}");
                }
                _ => {}
            }
        }
    }

    /// Fails the test if axe-core finds that the page, or one in a frame of it, breaks a rule of
    /// accessibility. Without `FPDB_AXE` it does nothing.
    pub(crate) fn check_accessible(&mut self) {
        if std::env::var_os("FPDB_AXE").is_none() {
            return;
        }
        let found = self.ask(
            "axe.run(document).then(({violations}) => \
             violations.map(({id, help, nodes}) => [id, help, ...nodes.map(({target, html}) => [String(target), html])]))",
        );
        assert_eq!(found, json!([]), "{found:#}");
    }

    /// Checks that the page is accessible. Keeps a picture of it in the folder `$FPDB_SCREENSHOTS`, if that
    /// is set, for a person to look at.
    pub(crate) fn picture(&mut self, name: &str) {
        self.check_accessible();
        use base64::Engine;
        let Some(folder) = std::env::var_os("FPDB_SCREENSHOTS") else { return };
        let data = self.call("Page.captureScreenshot", json!({"format": "png"}));
        let png = base64::prelude::BASE64_STANDARD.decode(data["data"].as_str().unwrap()).unwrap();
        std::fs::write(Path::new(&folder).join(format!("{name}.png")), png).unwrap();
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
