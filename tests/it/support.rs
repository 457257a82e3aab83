//! Running the program, and folders to run it in.

use std::collections::BTreeSet;
use std::io::{Read, Seek, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::Value;
use tempfile::TempDir;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

/// A separate folder for one test, in which the program can run.
pub(crate) struct Folder {
    folder: TempDir,
}

/// The result of a run of the program.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) status: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Folder {
    pub(crate) fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Writes a file, and the folders above it.
    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, content).unwrap();
        path
    }

    /// Makes a file an hour old, because the time of a new file is not trusted.
    pub(crate) fn age(&self, name: &str) {
        let past = std::time::SystemTime::now() - Duration::from_secs(3600);
        std::fs::File::options().write(true).open(self.path().join(name)).unwrap().set_modified(past).unwrap();
    }

    /// The program, ready to run in this folder, without the environment variables of the tests and of the
    /// user.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        #[cfg(target_os = "linux")]
        signals::hear();
        let mut command = Command::new(env!("CARGO_BIN_EXE_fpdb"));
        command.args(arguments).current_dir(self.path()).env("NO_COLOR", "1").env("COLUMNS", "100");
        for (name, _) in std::env::vars_os().filter(|(name, _)| name.as_encoded_bytes().starts_with(b"FPDB_")) {
            command.env_remove(name);
        }
        command
    }

    /// Runs the program in this folder with nothing on standard input.
    pub(crate) fn run(&self, arguments: &[&str]) -> Run {
        Run::of(&self.command(arguments).stdin(Stdio::null()).output().unwrap())
    }

    /// Starts the program again and again, and kills it a little later each time, until it ends before the
    /// kill. Calls `killed` after each kill.
    pub(crate) fn kill_until_it_ends(&self, arguments: &[&str], mut killed: impl FnMut()) {
        let mut milliseconds = 30;
        loop {
            let mut child = self.command(arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
            thread::sleep(Duration::from_millis(milliseconds));
            if child.try_wait().unwrap().is_some() {
                return;
            }
            child.kill().unwrap();
            child.wait().unwrap();
            killed();
            milliseconds += milliseconds / 3;
        }
    }

    /// Runs the program, and fails the test unless it succeeds.
    pub(crate) fn ok(&self, arguments: &[&str]) -> Run {
        let run = self.run(arguments);
        assert_eq!(run.status, 0, "fpdb {arguments:?}: {run:#?}");
        run
    }
}

/// Time limit of a command, far more than any command on a small database takes.
const PATIENCE: Duration = Duration::from_secs(60);

impl Run {
    /// Runs a command with empty standard input. The command must end by itself within the time limit.
    pub(crate) fn to_its_end(command: &mut Command) -> Self {
        // The output goes to files, because a command could wait for ever on a pipe that is not read.
        let mut outputs = [tempfile::tempfile().unwrap(), tempfile::tempfile().unwrap()];
        let [stdout, stderr] = outputs.each_ref().map(|file| file.try_clone().unwrap());
        let mut child = command.stdin(Stdio::null()).stdout(stdout).stderr(stderr).spawn().unwrap();
        let start = Instant::now();
        let status = loop {
            if let Some(status) = child.try_wait().unwrap() {
                break status;
            }
            if start.elapsed() > PATIENCE {
                child.kill().unwrap();
                panic!("{command:?} does not end");
            }
            thread::sleep(Duration::from_millis(2));
        };
        let [stdout, stderr] = outputs.each_mut().map(|file| {
            let mut bytes = Vec::new();
            file.rewind().unwrap();
            file.read_to_end(&mut bytes).unwrap();
            bytes
        });
        Self::of(&Output { status, stdout, stderr })
    }

    pub(crate) fn of(output: &Output) -> Self {
        let stdout = String::from_utf8(output.stdout.clone()).unwrap();
        record(&stdout);
        Self {
            // A signal shows as -1.
            status: output.status.code().unwrap_or(-1),
            stdout,
            stderr: String::from_utf8(output.stderr.clone()).unwrap(),
        }
    }

    /// The lines of JSON on standard output.
    pub(crate) fn json(&self) -> Vec<serde_json::Value> {
        self.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

/// If `FPDB_JSON_LINES` names a folder, adds to a file there each line of JSON whose fields, or their types,
/// differ from those of all lines before. The tests of the Python package validate these lines against
/// `docs/schemas`, because Python has a validator.
fn record(stdout: &str) {
    static SHAPES: Mutex<BTreeSet<BTreeSet<String>>> = Mutex::new(BTreeSet::new());
    let Some(folder) = std::env::var_os("FPDB_JSON_LINES") else { return };
    let mut lines = String::new();
    for line in stdout.lines().filter(|line| line.starts_with(r#"{"schema":"#)) {
        let Ok(value) = serde_json::from_str::<Value>(line) else { continue };
        let mut shape = BTreeSet::from([value["schema"].to_string()]);
        fields(&value, "", &mut shape);
        if SHAPES.lock().unwrap().insert(shape) {
            lines.extend([line, "\n"]);
        }
    }
    if lines.is_empty() {
        return;
    }
    std::fs::create_dir_all(&folder).unwrap();
    let file = PathBuf::from(folder).join(format!("{}.jsonl", std::process::id()));
    // A single write, so that lines of other tests do not come in between.
    let mut file = std::fs::OpenOptions::new().create(true).append(true).open(file).unwrap();
    file.write_all(lines.as_bytes()).unwrap();
}

/// The path and the type of each field below a value.
fn fields(value: &Value, path: &str, found: &mut BTreeSet<String>) {
    let kind = match value {
        Value::Object(inner) => {
            inner.iter().for_each(|(name, inner)| fields(inner, &format!("{path}.{name}"), found));
            "object"
        }
        Value::Array(inner) => {
            inner.iter().for_each(|inner| fields(inner, &format!("{path}[]"), found));
            "array"
        }
        Value::String(_) => "string",
        Value::Bool(_) => "boolean",
        Value::Null => "null",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
    };
    found.insert(format!("{path}: {kind}"));
}

/// A started program ignores the signals that this process ignores. A background job of a script ignores
/// some. Tests that interrupt the program would then wait for ever.
#[cfg(target_os = "linux")]
mod signals {
    use std::sync::{Arc, LazyLock};

    use signal_hook::consts::{SIGINT, SIGTERM};

    /// A handler is not inherited, but an ignored signal stays ignored in a started program. This handler
    /// does nothing, so this process still ignores the signals.
    static HEARD: LazyLock<()> = LazyLock::new(|| {
        let status = std::fs::read_to_string("/proc/self/status").unwrap();
        let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).unwrap();
        let ignored = u64::from_str_radix(ignored.trim(), 16).unwrap();
        for signal in [SIGINT, SIGTERM].into_iter().filter(|signal| ignored & (1 << (signal - 1)) != 0) {
            signal_hook::flag::register(signal, Arc::default()).unwrap();
        }
    });

    /// From now on, started programs receive SIGINT and SIGTERM.
    pub(super) fn hear() {
        LazyLock::force(&HEARD);
    }
}

/// Removes folders without files, since an ingest keeps the documents of an empty folder. Returns true if
/// `folder` itself was removed.
pub(crate) fn remove_empty(folder: &Path) -> bool {
    let entries: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    let kept = entries.iter().filter(|path| !(path.is_dir() && remove_empty(path))).count();
    if kept == 0 {
        std::fs::remove_dir(folder).unwrap();
    }
    kept == 0
}

/// Copies a folder with all below it.
pub(crate) fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let place = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &place)
        } else {
            std::fs::copy(entry.path(), place).map(drop).unwrap()
        }
    }
}

/// These bytes, compressed with gzip.
pub(crate) fn gzip(bytes: impl AsRef<[u8]>) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes.as_ref()).unwrap();
    encoder.finish().unwrap()
}

/// A zip archive of members with these names and contents.
pub(crate) fn zip(members: impl IntoIterator<Item = (impl AsRef<str>, impl AsRef<[u8]>)>) -> Vec<u8> {
    let mut archive = ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, content) in members {
        archive.start_file(name.as_ref(), SimpleFileOptions::default()).unwrap();
        archive.write_all(content.as_ref()).unwrap();
    }
    archive.finish().unwrap().into_inner()
}

/// The names of the stored documents, sorted.
pub(crate) fn names(folder: &Folder) -> Vec<String> {
    let listed = folder.ok(&["list", "--format", "json"]).json();
    let mut names: Vec<String> = listed.iter().map(|document| document["name"].as_str().unwrap().to_owned()).collect();
    names.sort();
    names
}

/// A linear congruential generator of numbers below its argument: the same numbers from the same seed, on
/// every machine.
pub(crate) fn lcg(mut seed: u64) -> impl FnMut(u64) -> u64 {
    move |below| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) % below
    }
}

/// A text of 80 words, different for each seed.
pub(crate) fn text(seed: u64) -> String {
    (0..80).map(|place| word((seed * 7919 + place * place * 31 + place * 17) % 9973) + " ").collect()
}

/// A word of letters for each number: `a` to `z`, then `ba` and so on.
pub(crate) fn word(number: u64) -> String {
    let last = char::from(b'a' + (number % 26) as u8);
    if number < 26 { last.into() } else { format!("{}{last}", word(number / 26)) }
}

/// The shared test data beside the project. `None`, with a message, if they are absent.
pub(crate) fn shared_data(name: &str) -> Option<PathBuf> {
    let path = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/..")).join("../shared/data").join(name);
    if !path.exists() {
        eprintln!("skipped: {} is absent", path.display());
        return None;
    }
    Some(path)
}
