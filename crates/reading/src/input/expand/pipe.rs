//! Pipe: input that another process writes, maybe never. A stopped run does not wait for such input.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use fpdb_host::stop::StopToken;

/// Input that may not be ready.
pub(crate) trait Input: Read + Send + 'static {
    /// Waits for a short time. Returns false if a read would still block.
    fn await_some(&mut self) -> bool {
        true
    }
}

/// Standard input or a pipe at a path, without a buffer.
pub(crate) struct Pipe(File);

impl Pipe {
    /// Standard input. No other code may read standard input, because data in the buffer of that code would
    /// be missing here.
    pub(crate) fn standard_input() -> io::Result<Self> {
        use std::os::fd::AsFd;
        Ok(Self(io::stdin().as_fd().try_clone_to_owned()?.into()))
    }

    /// The pipe at a path. It can be opened before a process writes to it.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    pub fn open(path: &Path) -> io::Result<Self> {
        use std::os::unix::fs::OpenOptionsExt;
        let flags = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
        Ok(Self(File::options().read(true).custom_flags(flags).open(path)?))
    }

    /// The pipe at a path. Waits until a process opens it for writing, because on this system a pipe without
    /// a writer may look ended.
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    pub fn open(path: &Path) -> io::Result<Self> {
        Ok(Self(File::open(path)?))
    }

    /// Waits until input is ready or the time is over. A failure also returns true, and the following read
    /// reports it.
    fn poll(&self, time: Option<&rustix::event::Timespec>) -> bool {
        use rustix::event::{PollFd, PollFlags, poll};
        match poll(&mut [PollFd::new(&self.0, PollFlags::IN)], time) {
            Ok(ready) => ready > 0,
            Err(error) => error != rustix::io::Errno::INTR,
        }
    }
}

impl Input for Pipe {
    fn await_some(&mut self) -> bool {
        const STOP_CHECK_INTERVAL: rustix::event::Timespec =
            rustix::event::Timespec { tv_sec: 0, tv_nsec: 100_000_000 };
        self.poll(Some(&STOP_CHECK_INTERVAL))
    }
}

impl Read for Pipe {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.0.read(buffer) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => self.poll(None),
                read => return read,
            };
        }
    }
}

/// Input that ends early once `stop` is set. The caller also checks `stop`, so it does not take this end for
/// the real one.
pub(crate) struct Stoppable<'a, R> {
    pub(crate) input: R,
    pub(crate) stop: &'a StopToken,
}

impl<R: Input> Read for Stoppable<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while !self.input.await_some() {
            if self.stop.is_stopped() {
                return Ok(0);
            }
        }
        self.input.read(buffer)
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    #[test]
    fn what_nobody_writes_to_ends_when_the_run_is_to_stop() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
        let stop = StopToken::new();
        stop.stop();
        // No writer yet.
        #[cfg(target_os = "linux")]
        assert_eq!(Stoppable { input: Pipe::open(&path).unwrap(), stop: &stop }.read(&mut [0; 8]).unwrap(), 0);
        // A writer that writes once and then pauses.
        let mut writer = File::options().read(true).write(true).open(&path).unwrap();
        io::Write::write_all(&mut writer, b"some").unwrap();
        let mut idle = Stoppable { input: Pipe::open(&path).unwrap(), stop: &stop };
        let started = Instant::now();
        let mut text = Vec::new();
        idle.read_to_end(&mut text).unwrap();
        assert_eq!(text, b"some");
        assert!(started.elapsed() < Duration::from_secs(60));
    }

    #[test]
    fn what_comes_late_is_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
        let stop = StopToken::new();
        let mut input = Stoppable { input: Pipe::open(&path).unwrap(), stop: &stop };
        let writer = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(300));
            std::fs::write(path, "late").unwrap();
        });
        let mut text = Vec::new();
        input.read_to_end(&mut text).unwrap();
        writer.join().unwrap();
        assert_eq!(text, b"late");
    }
}
