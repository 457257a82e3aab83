//! `fpdb serve` as a process: over real sockets, with signals.

mod page;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::support::{Folder, Run, word};

const TEXT: &str =
    "When in the Course of human events, it becomes necessary for one people to dissolve the political bands";

/// A service that runs. It is killed if the test fails.
struct Service {
    process: Child,
    address: SocketAddr,
    /// The output on standard error so far.
    said: Arc<Mutex<String>>,
}

impl Service {
    fn start(folder: &Folder, arguments: &[&str]) -> Self {
        let mut command =
            folder.command(&["serve", "--db", "db", "--listen", "127.0.0.1:0", "--log-requests", "false"]);
        Self::of(command.args(arguments))
    }

    fn of(command: &mut Command) -> Self {
        let mut process = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let mut said = BufReader::new(process.stderr.take().unwrap());
        let mut line = String::new();
        said.read_line(&mut line).unwrap();
        let serving: Value = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"));
        let address = serving["detail"].as_str().and_then(|url| url.strip_prefix("http://")?.strip_suffix('/'));
        let address = address.unwrap_or_else(|| panic!("{line}")).parse().unwrap();
        // Later output must not fill the pipe.
        let lines = Arc::new(Mutex::new(line));
        let heard = Arc::clone(&lines);
        std::thread::spawn(move || {
            for line in said.lines().map_while(Result::ok) {
                heard.lock().unwrap().push_str(&format!("{line}\n"));
            }
        });
        Self { process, address, said: lines }
    }

    /// Waits for a line of the log whose field `name` has this value.
    fn logged(&self, name: &str, value: impl Into<Value>) -> Value {
        let value = value.into();
        let begun = Instant::now();
        loop {
            let said = self.said.lock().unwrap().clone();
            let mut lines = said.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
            if let Some(line) = lines.find(|line| line[name] == value) {
                return line;
            }
            assert!(begun.elapsed() < Duration::from_secs(10), "no line has {name} {value}: {said}");
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    fn ask(&self, method: &str, path: &str, headers: &str, body: &[u8]) -> std::io::Result<(u16, Vec<u8>)> {
        ask(self.address, method, path, headers, body)
    }

    fn json(&self, method: &str, path: &str, body: &Value) -> Value {
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let (_, answer) = self.ask(method, path, "content-type: application/json\r\n", body.as_bytes()).unwrap();
        serde_json::from_slice(&answer).unwrap()
    }

    fn signal(&self, name: &str) {
        let process = self.process.id().to_string();
        assert!(Command::new("kill").args([&format!("-{name}"), &process]).status().unwrap().success());
    }

    /// Ends the service with SIGTERM, and returns its exit status.
    fn end(mut self) -> Option<i32> {
        self.signal("TERM");
        self.process.wait().unwrap().code()
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        // The process may already have ended.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Sends a request on a new connection. Returns the status and the body of the answer.
fn ask(address: SocketAddr, method: &str, path: &str, headers: &str, body: &[u8]) -> std::io::Result<(u16, Vec<u8>)> {
    let mut stream = TcpStream::connect(address)?;
    let head = format!(
        "{method} {path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\ncontent-length: {}\r\n{headers}\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes())?;
    stream.write_all(body)?;
    answer(&mut stream)
}

/// The answer on a connection that closes after it.
fn answer(stream: &mut TcpStream) -> std::io::Result<(u16, Vec<u8>)> {
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer)?;
    let cut = || std::io::Error::from(std::io::ErrorKind::UnexpectedEof);
    let end = answer.windows(4).position(|part| part == b"\r\n\r\n").ok_or_else(cut)?;
    let status = std::str::from_utf8(&answer[9..12]).ok().and_then(|status| status.parse().ok()).ok_or_else(cut)?;
    let head = String::from_utf8_lossy(&answer[..end]).to_ascii_lowercase();
    let body = answer.split_off(end + 4);
    let told = head.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse::<usize>().ok());
    if told.is_some_and(|told| told != body.len()) {
        return Err(cut());
    }
    Ok((status, body))
}

fn prepared() -> Folder {
    let folder = Folder::new();
    folder.ok(&["init", "--db", "db"]);
    folder
}

#[test]
fn documents_are_stored_and_found_and_sigterm_commits() {
    let folder = prepared();
    let service = Service::start(&folder, &[]);
    let (status, _) = service.ask("PUT", "/v1/documents/essays/a.txt", "", TEXT.as_bytes()).unwrap();
    assert_eq!(status, 201);
    let answer = service.json("POST", "/v1/query", &json!({"text": format!("They wrote: {TEXT}.")}));
    assert_eq!(answer["matches"][0]["document"], "essays/a.txt");
    let (status, page) = service.ask("GET", "/", "", b"").unwrap();
    assert!(status == 200 && page.starts_with(b"<!DOCTYPE html>"));
    // Another process can read meanwhile, but cannot write.
    assert!(folder.ok(&["list", "--db", "db"]).stdout.contains("essays/a.txt"));
    let locked = folder.run(&["serve", "--db", "db", "--listen", "127.0.0.1:0"]);
    let holder = format!("is being written by process {}\n", service.process.id());
    assert!(locked.status == 2 && locked.stderr.contains(&holder), "{locked:?}");
    assert!(locked.stderr.contains("`fpdb serve`"), "{locked:?}");
    #[cfg(target_os = "linux")]
    assert!(locked.stderr.contains("hint: it is `fpdb serve`"), "{locked:?}");
    // A request under way when the signal comes is finished.
    let mut slow = TcpStream::connect(service.address).unwrap();
    let head =
        format!("PUT /v1/documents/b.txt HTTP/1.1\r\nhost: {}\r\ncontent-length: 8\r\n\r\nfour", service.address);
    slow.write_all(head.as_bytes()).unwrap();
    std::thread::sleep(Duration::from_millis(200));
    service.signal("TERM");
    while TcpStream::connect(service.address).is_ok() {
        std::thread::sleep(Duration::from_millis(10));
    }
    slow.write_all(b" end").unwrap();
    assert_eq!(answer_of(&mut slow), 201);
    assert_eq!(service.end(), Some(0));
    let run = folder.ok(&["show", "--db", "db", "b.txt", "essays/a.txt", "--format", "json"]);
    assert_eq!(run.json().len(), 2);
    assert_eq!(folder.run(&["verify", "--db", "db"]).status, 0);
}

fn answer_of(stream: &mut TcpStream) -> u16 {
    answer(stream).unwrap().0
}

/// The service answers a query with the same line as the program.
#[test]
fn answers_are_those_of_the_program() {
    let folder = prepared();
    folder.write("a.txt", TEXT);
    folder.write("q.txt", format!("A copy: {TEXT}. More of it."));
    let service = Service::start(&folder, &[]);
    service.ask("PUT", "/v1/documents/a.txt", "", TEXT.as_bytes()).unwrap();
    let query = std::fs::read(folder.path().join("q.txt")).unwrap();
    let (_, served) = service.ask("POST", "/v1/query?name=q.txt", "content-type: text/plain\r\n", &query).unwrap();
    let program = folder.ok(&["query", "--db", "db", "q.txt", "--format", "json"]);
    assert_eq!(String::from_utf8(served).unwrap(), program.stdout);
}

#[test]
fn results_of_jobs_are_the_lines_of_the_program() {
    let folder = prepared();
    let service = Service::start(&folder, &[]);
    let text: String = (0..80).map(|at| word(at) + " ").collect();
    for (name, text) in [("a.txt", text.clone()), ("b.txt", format!("Another beginning, then: {text}"))] {
        service.ask("PUT", &format!("/v1/documents/{name}"), "", text.as_bytes()).unwrap();
    }
    for (kind, options, command) in [
        ("pairs", json!({}), &["pairs"][..]),
        ("dedup", json!({"by": "containment"}), &["dedup", "--by", "containment"]),
        ("repeats", json!({"min_length": 100}), &["dedup", "--passages", "--min-length", "100"]),
    ] {
        let job = service.json("POST", &format!("/v1/{kind}"), &json!({"options": options}));
        let place = format!("/v1/{kind}/{}", job["id"].as_str().unwrap());
        while ["queued", "running"].map(Value::from).contains(&service.json("GET", &place, &Value::Null)["state"]) {
            std::thread::sleep(Duration::from_millis(10));
        }
        let (_, lines) = service.ask("GET", &format!("{place}/result"), "", b"").unwrap();
        let program = folder.ok(&[command, &["--db", "db", "--format", "json"]].concat());
        assert_eq!(String::from_utf8(lines).unwrap(), program.stdout, "{kind}");
        assert!(!program.json().is_empty(), "{kind}");
        assert_eq!(service.ask("DELETE", &place, "", b"").unwrap().0, 204);
    }
}

#[test]
fn the_log_tells_why_a_job_failed() {
    let folder = prepared();
    folder.write("a-file", "x");
    let service = Service::start(&folder, &["--backup-folder", "a-file"]);
    let job = service.json("POST", "/v1/backup", &Value::Null);
    let line = service.logged("job", job["id"].clone());
    assert_eq!((&line["job"], &line["kind"], &line["key"]), (&job["id"], &json!("backup"), &json!("")));
    assert!(line["failed"].as_str().unwrap().contains("a-file"), "{line}");
    assert_eq!(service.end(), Some(0));
}

/// Sets the size to which a file of a process may grow. `None`: any size.
#[cfg(target_os = "linux")]
fn limit_files(process: u32, bytes: Option<u64>) {
    use rustix::process::{Pid, Resource, Rlimit, prlimit};
    let process = Pid::from_raw(process.try_into().unwrap());
    prlimit(process, Resource::Fsize, Rlimit { current: bytes, maximum: None }).unwrap();
}

#[cfg(target_os = "linux")]
#[test]
fn after_a_failed_write_the_database_is_opened_again_once_there_is_room() {
    let folder = prepared();
    let program = folder.command(&[]);
    let mut shell = Command::new("sh");
    // A write beyond the limit fails, as on a full disk.
    let script = "trap '' XFSZ; exec \"$0\" serve --db db --listen 127.0.0.1:0";
    shell.args(["-c", script]).arg(program.get_program()).current_dir(folder.path());
    let service = Service::of(&mut shell);
    assert_eq!(service.ask("PUT", "/v1/documents/first", "", TEXT.as_bytes()).unwrap().0, 201);
    let long: String = (0..400_000).map(|at| word(at) + " ").collect();
    // Twice, because files that the first attempt leaves must not hinder the second.
    for round in ["one", "two"] {
        let document = format!("/v1/documents/long-{round}");
        limit_files(service.process.id(), Some(1 << 20));
        assert!(service.ask("PUT", &document, "", long.as_bytes()).unwrap().0 >= 500);
        for _ in 0..2 {
            let problem = service.json("PUT", "/v1/documents/short", &json!("short"));
            assert_eq!((&problem["type"], &problem["status"]), (&json!("urn:fpdb:not-written"), &json!(503)));
            assert_eq!(problem["retry_after"], 5);
        }
        assert_eq!(service.json("GET", "/readyz", &Value::Null)["status"], 503);
        let figures = service.ask("GET", "/metrics", "", b"").unwrap().1;
        assert!(String::from_utf8(figures).unwrap().contains("\nfpdb_writable 0\n"));
        // Requests can read meanwhile.
        assert_eq!(service.json("GET", "/v1/documents/first?text=true", &Value::Null)["text"], TEXT);
        limit_files(service.process.id(), None);
        let begun = Instant::now();
        while service.ask("GET", "/readyz", "", b"").unwrap().0 != 200 {
            let found = service.json("POST", "/v1/query", &json!({"text": TEXT}));
            assert_eq!(found["matches"][0]["document"], "first", "{found}");
            assert!(begun.elapsed() < Duration::from_secs(60));
            std::thread::sleep(Duration::from_millis(50));
        }
        assert_eq!(service.ask("PUT", &document, "", long.as_bytes()).unwrap().0, 201);
        assert_eq!(service.json("GET", &document, &Value::Null)["bytes"], long.len());
        // Requests that read see the new commits.
        assert_eq!(service.json("GET", "/v1/documents/first?text=true", &Value::Null)["text"], TEXT);
    }
    service.logged("event", "the database takes no changes");
    service.logged("event", "the database is open for changes again");
    assert_eq!(service.end(), Some(0));
    assert_eq!(folder.ok(&["list", "--db", "db", "--format", "json"]).json().len(), 3);
    assert_eq!(folder.run(&["verify", "--db", "db"]).status, 0);
}

#[test]
fn after_a_failed_write_a_restart_goes_on() {
    let folder = prepared();
    let program = folder.command(&[]);
    let mut shell = Command::new("sh");
    // No file may grow beyond 1 MiB, as on a full disk.
    let script = "trap '' XFSZ; ulimit -f 2048; exec \"$0\" serve --db db --listen 127.0.0.1:0";
    shell.args(["-c", script]).arg(program.get_program()).current_dir(folder.path());
    let service = Service::of(&mut shell);
    let long: String = (0..400_000).map(|at| word(at) + " ").collect();
    assert!(service.ask("PUT", "/v1/documents/long", "", long.as_bytes()).unwrap().0 >= 500);
    for _ in 0..2 {
        let problem = service.json("PUT", "/v1/documents/short", &json!("short"));
        assert_eq!((&problem["type"], &problem["status"]), (&json!("urn:fpdb:not-written"), &json!(503)));
        assert!(problem["hint"].as_str().unwrap().contains("takes changes again"), "{problem}");
    }
    assert_eq!(service.json("GET", "/readyz", &Value::Null)["status"], 503);
    assert_eq!(service.json("GET", "/v1/stats", &Value::Null)["documents"], 0);
    drop(service);
    let service = Service::start(&folder, &[]);
    assert_eq!(service.ask("PUT", "/v1/documents/long", "", long.as_bytes()).unwrap().0, 201);
    assert_eq!(service.end(), Some(0));
}

#[test]
fn acknowledged_documents_survive_kills() {
    acknowledged_documents_survive(3);
}

#[test]
#[ignore = "long: make soak"]
fn acknowledged_documents_survive_many_kills() {
    acknowledged_documents_survive(50);
}

/// After a kill at any moment, each acknowledged document is stored as it was sent.
fn acknowledged_documents_survive(kills: u64) {
    let folder = prepared();
    let text = |number: u64| (0..20).map(|at| word(number * 1000 + at) + " ").collect::<String>();
    let next = AtomicU64::new(0);
    let acknowledged = Mutex::new(Vec::new());
    for round in 0..kills {
        let mut service = Service::start(&folder, &[]);
        let ended = AtomicBool::new(false);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    while !ended.load(Ordering::Relaxed) {
                        let number = next.fetch_add(1, Ordering::Relaxed);
                        let path = format!("/v1/documents/d/{number}");
                        if let Ok((201, _)) = service.ask("PUT", &path, "", text(number).as_bytes()) {
                            acknowledged.lock().unwrap().push(number);
                        }
                    }
                });
            }
            std::thread::sleep(Duration::from_millis(300 + round * 370 % 700));
            service.signal("KILL");
            ended.store(true, Ordering::Relaxed);
        });
        service.process.wait().unwrap();
    }
    let service = Service::start(&folder, &[]);
    let acknowledged = acknowledged.into_inner().unwrap();
    assert!(acknowledged.len() > 20, "{}", acknowledged.len());
    for &number in &acknowledged {
        let shown = service.json("GET", &format!("/v1/documents/d/{number}?text=true"), &Value::Null);
        assert_eq!(shown["text"], text(number), "{number}");
    }
    assert_eq!(service.end(), Some(0));
    assert_eq!(folder.run(&["verify", "--db", "db"]).status, 0);
}

#[test]
fn small_documents_that_arrive_together_share_commits() {
    let folder = prepared();
    let service = Service::start(&folder, &["--workers", "64"]);
    std::thread::scope(|scope| {
        for client in 0..16 {
            let address = service.address;
            scope.spawn(move || {
                for number in 0..10 {
                    let path = format!("/v1/documents/{client}/{number}");
                    assert_eq!(ask(address, "PUT", &path, "", path.as_bytes()).unwrap().0, 201);
                }
            });
        }
    });
    let (_, metrics) = service.ask("GET", "/metrics", "", b"").unwrap();
    let metrics = String::from_utf8(metrics).unwrap();
    let figure =
        |name: &str| metrics.lines().find_map(|line| line.strip_prefix(name)?.trim().parse::<u64>().ok()).unwrap();
    assert_eq!(figure("fpdb_documents "), 160);
    assert!(figure("fpdb_commits_total ") < 120, "{metrics}");
    assert_eq!(service.end(), Some(0));
}

/// For the path of a file, the program suggests the name of the document that was read from it. The service
/// does not.
#[test]
fn a_hint_tells_no_path_of_the_server() {
    let folder = prepared();
    folder.write("letters/a.txt", TEXT);
    folder.ok(&["ingest", "-q", "--db", "db", "letters"]);
    let path = folder.path().join("letters/a.txt");
    let path = path.to_str().unwrap();
    let told = "the nearest name is letters/a.txt";
    assert!(folder.run(&["query", "--db", "db", "--document", path]).stderr.contains(told));
    let service = Service::start(&folder, &[]);
    let hint = |typed: &str| service.json("POST", "/v1/query", &json!({"document": typed}))["hint"].clone();
    assert_eq!(hint("letters/a.text"), told);
    assert_eq!(hint(path), "list the documents to see their names");
    assert_eq!(service.end(), Some(0));
}

#[test]
fn a_second_ctrl_c_ends_the_service_at_once() {
    let folder = prepared();
    let mut service = Service::start(&folder, &["--client-seconds", "60"]);
    assert_eq!(service.ask("PUT", "/v1/documents/a", "", TEXT.as_bytes()).unwrap().0, 201);
    // Begins a request. After the first signal, the service waits for its end.
    let mut slow = TcpStream::connect(service.address).unwrap();
    let head = format!("PUT /v1/documents/b HTTP/1.1\r\nhost: {}\r\ncontent-length: 8\r\n\r\nfour", service.address);
    slow.write_all(head.as_bytes()).unwrap();
    std::thread::sleep(Duration::from_millis(200));
    service.signal("INT");
    service.logged("event", "ending");
    assert_eq!(service.process.try_wait().unwrap(), None);
    let begun = Instant::now();
    service.signal("INT");
    assert_eq!(service.process.wait().unwrap().code(), Some(130));
    assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
    assert_eq!(folder.ok(&["list", "--db", "db", "--format", "json"]).json().len(), 1);
    assert_eq!(folder.run(&["verify", "--db", "db"]).status, 0);
}

#[test]
fn clients_that_are_slow_or_too_many_are_cut_off() {
    let folder = prepared();
    let service = Service::start(&folder, &["--client-seconds", "1", "--connections", "2"]);
    let begun = Instant::now();
    let mut slow = TcpStream::connect(service.address).unwrap();
    slow.write_all(b"GET /v1/stats HTTP/1.1\r\nhost: lo").unwrap();
    let mut idle = TcpStream::connect(service.address).unwrap();
    std::thread::sleep(Duration::from_millis(100));
    // A third connection is closed without an answer.
    assert!(service.ask("GET", "/healthz", "", b"").is_err());
    for stream in [&mut slow, &mut idle] {
        // The connections are closed, with or without an answer.
        let _ = stream.read_to_end(&mut Vec::new());
    }
    let waited = begun.elapsed();
    assert!(waited > Duration::from_millis(900) && waited < Duration::from_secs(10), "{waited:?}");
    assert_eq!(service.ask("GET", "/healthz", "", b"").unwrap().0, 200);
    assert_eq!(service.end(), Some(0));
}

#[test]
fn keys_are_made_needed_and_read_again() {
    let folder = prepared();
    let made = folder.ok(&["serve", "--new-key", "ann", "--rights", "read"]);
    let (key, line) = made.stdout.trim_end().split_once('\n').unwrap();
    let other = folder.ok(&["serve", "--new-key", "ben", "--rights", "write"]).stdout;
    let (other, other_line) = other.trim_end().split_once('\n').unwrap();
    folder.write("keys", line);
    let arguments = ["serve", "--db", "db", "--listen", "127.0.0.1:0", "--key-file", "keys"];
    let service = Service::of(&mut folder.command(&arguments));
    let ask = |method: &str, key: &str| {
        let body: &[u8] = if method == "PUT" { b"text" } else { b"" };
        service.ask(method, "/v1/documents/a", &format!("authorization: Bearer {key}\r\n"), body).unwrap().0
    };
    assert_eq!((ask("GET", key), ask("PUT", key), ask("PUT", other)), (404, 403, 401));
    folder.write("keys", other_line);
    service.signal("HUP");
    let begun = Instant::now();
    while ask("GET", key) != 401 {
        assert!(begun.elapsed() < Duration::from_secs(10));
        std::thread::sleep(Duration::from_millis(10));
    }
    assert_eq!(ask("PUT", other), 201);
    // The log has the key of a refused request, and names only files that were read again.
    assert_eq!(service.logged("status", 403)["key"], "ann");
    service.logged("event", "the keys were read again");
    assert!(!service.said.lock().unwrap().contains("certificate"));
    assert_eq!(service.end(), Some(0));
}

#[test]
fn settings_come_from_flags_the_environment_and_a_file() {
    let folder = prepared();
    folder.write("serve.toml", "db = \"db\"\nqueue = 5\nworkers = 6\njobs = 7\n");
    let mut command = folder.command(&["serve", "--config", "serve.toml", "--print-config", "--queue", "1"]);
    let environment = [("FPDB_QUEUE", "2"), ("FPDB_WORKERS", "3"), ("FPDB_DB", "db"), ("FPDB_READ_ONLY", "1")];
    let run = Run::of(&command.envs(environment).output().unwrap());
    assert_eq!((run.status, &*run.stderr), (0, ""), "{run:?}");
    let lines =
        ["db = \"db\"", "queue = 1", "workers = 3", "jobs = 7", "listen = \"127.0.0.1:7788\"", "read_only = true"];
    for line in lines {
        assert!(run.stdout.lines().any(|printed| printed == line), "{line}: {}", run.stdout);
    }
    folder.write("printed.toml", &run.stdout);
    assert_eq!(folder.ok(&["serve", "--config", "printed.toml", "--print-config"]).stdout, run.stdout);
    // Of these variables, only the one that is no setting is reported.
    let mut misspelt = folder.command(&["serve", "--db", "db", "--listen", "127.0.0.1:0"]);
    let misspelt = misspelt.env("FPDB_MAXBODY", "1").env("FPDB_QUEUE", "2").env("FPDB_COMPLETE", "");
    let service = Service::of(misspelt);
    let line = service.logged("event", "unknown variable");
    assert!(line["detail"].as_str().unwrap().starts_with("FPDB_MAXBODY "), "{line}");
    let said = service.said.lock().unwrap().clone();
    assert!(!said.contains("FPDB_QUEUE") && !said.contains("FPDB_COMPLETE"), "{said}");
}

fn told(folder: &Folder, arguments: &[&str]) -> String {
    let run = folder.run(arguments);
    format!("status {}\n{}", run.status, run.stderr.replace(folder.path().to_str().unwrap(), "[folder]"))
}

#[test]
fn what_cannot_be_served_says_so() {
    let folder = prepared();
    assert_snapshot!(told(&folder, &["serve", "--db", "db", "--listen", "0.0.0.0:0"]), @"
    status 2
    error: 0.0.0.0:0 can be reached from other machines, and there is no key file
    hint: make a key with --new-key NAME --rights read, put its line into a file, and name the file with --key-file; or listen on 127.0.0.1
    ");
    folder.write("keys", "ann read 00\n");
    assert_snapshot!(told(&folder, &["serve", "--db", "db", "--key-file", "keys"]), @"
    status 2
    error: line 1 of keys is not a key: expected NAME RIGHTS SHA256
    hint: --new-key NAME --rights read|write|admin prints a key and its line for the file
    ");
    folder.write("serve.toml", "queue = 1\njobs = true\n");
    assert_snapshot!(told(&folder, &["serve", "--config", "serve.toml"]), @"
    status 2
    error: line 2 of serve.toml is not a setting: invalid type: boolean `true`, expected a whole number
    hint: --print-config prints all settings in the form of the file
    ");
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let run = told(&folder, &["serve", "--db", "db", "--listen", &address]).replace(&address, "[address]");
    assert_snapshot!(run, @"
    status 2
    error: cannot listen on [address]: Address already in use (os error 98)
    hint: another program listens there, perhaps another fpdb: end it, or choose another port with --listen
    ");
    assert_snapshot!(told(&folder, &["serve", "--db", "none"]), @"
    status 2
    error: there is no database at none
    hint: make one with `fpdb init --db none` or `fpdb ingest --db none PATH`, or name another with --db or FPDB_DB
    ");
    assert_snapshot!(told(&folder, &["serve", "--db", "db", "--queue", "0"]), @"
    status 2
    error: queue is 0: expected a number, 1 or more
    ");
}
