//! Progress: bytes done of bytes to do, with rate and time left, on a terminal only.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

use fpdb::{IngestOptions, Source};
use indicatif::{ProgressBar, ProgressStyle};

use super::printer::Printer;

/// A bar, or nothing where none is wanted.
pub(crate) struct Progress {
    bar: Option<ProgressBar>,
    documents: AtomicU64,
    ended: Arc<AtomicBool>,
}

impl Progress {
    /// Starts a bar. What there is to do is measured meanwhile, by a walk that only looks at sizes.
    pub(crate) fn start(printer: &Printer, sources: &[Source], options: &IngestOptions) -> Self {
        let ended = Arc::new(AtomicBool::new(false));
        let bar = printer.progress.then(|| {
            let bar = ProgressBar::new_spinner();
            bar.set_style(style("{spinner} {msg}, {bytes} ({bytes_per_sec})"));
            bar.enable_steady_tick(std::time::Duration::from_millis(200));
            let (measured, sources, walk) = (bar.clone(), sources.to_vec(), options.walk.clone());
            let ended = Arc::clone(&ended);
            // Left to itself: it ends with the walk, or soon after the bar does.
            thread::spawn(move || {
                if let Ok(Some(bytes)) = fpdb::measure(&sources, &walk, &ended) {
                    measured.set_length(bytes);
                    measured.set_style(style("{bar:30} {bytes} of {total_bytes} ({bytes_per_sec}), {eta} left, {msg}"));
                }
            });
            bar
        });
        Self { bar, documents: AtomicU64::new(0), ended }
    }

    pub(crate) fn read(&self, bytes: u64) {
        if let Some(bar) = &self.bar {
            bar.inc(bytes);
        }
    }

    pub(crate) fn documents(&self, more: u64) {
        let documents = self.documents.fetch_add(more, Ordering::Relaxed) + more;
        if let Some(bar) = &self.bar {
            bar.set_message(format!("{documents} documents"));
        }
    }

    /// Lets something be printed without the bar in its way.
    pub(crate) fn suspend(&self, print: impl FnOnce()) {
        match &self.bar {
            Some(bar) => bar.suspend(print),
            None => print(),
        }
    }

    pub(crate) fn end(&self) {
        self.ended.store(true, Ordering::Relaxed);
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// A bar for what is counted, or nothing where none is wanted.
pub(crate) struct Bar {
    bar: Option<ProgressBar>,
}

impl Bar {
    pub(crate) fn start(printer: &Printer, what: &'static str) -> Self {
        let bar = printer.progress.then(|| {
            let bar = ProgressBar::new(0);
            bar.set_style(style("{bar:30} {pos} of {len} {msg} ({per_sec}), {eta} left"));
            bar.set_message(what);
            bar
        });
        Self { bar }
    }

    pub(crate) fn show(&self, done: u64, total: u64) {
        if let Some(bar) = &self.bar {
            bar.set_length(total);
            bar.set_position(done);
        }
    }

    pub(crate) fn end(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// A running count, or nothing where none is wanted.
pub(crate) struct Counter {
    bar: Option<ProgressBar>,
}

impl Counter {
    pub(crate) fn start(printer: &Printer) -> Self {
        let bar = printer.progress.then(|| {
            let bar = ProgressBar::new_spinner();
            bar.set_style(style("{spinner} {pos} {msg} ({per_sec})"));
            bar
        });
        Self { bar }
    }

    pub(crate) fn show(&self, what: &'static str, done: u64) {
        if let Some(bar) = &self.bar {
            bar.set_message(what);
            bar.set_position(done);
        }
    }

    pub(crate) fn end(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}
