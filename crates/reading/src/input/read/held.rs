//! Held: visits the documents at a path one after the other, each whole. Members of containers are held in
//! memory, or in a temporary file if they are large.

use std::ops::ControlFlow;
use std::path::Path;

use super::stored::Gathering;
use crate::input::find::path_filter::PathFilter;
use crate::input::find::walk::walk;
use crate::input::{About, Candidate, Content, Opened, ReadContext, ReadOptions, Source, WalkEvent, WalkOptions, open};
use fpdb_host::error::{DocumentError, Error, Result};
use fpdb_host::stop::StopToken;

/// Calls `visit` with each document of the file or folder at a path. Also calls it with the name and error of
/// each document that cannot be read. The error of a skipped file, such as a symbolic link, or of a skipped
/// member is [`DocumentError::Binary`].
///
/// # Errors
/// The error of `visit`; [`Error::Stopped`]; an error for invalid options.
pub fn for_each_held(
    path: &Path,
    options: &WalkOptions,
    read: &ReadOptions,
    stop: &StopToken,
    visit: &mut dyn FnMut(std::result::Result<Candidate, (String, Error)>) -> Result<()>,
) -> Result<()> {
    let filter = PathFilter::new(options)?;
    let mut holding = Holding { pending: None, outcome: Ok(()), visit };
    walk(&[Source::Path(path.to_owned())], options, &mut |found| {
        if stop.is_stopped() {
            holding.outcome = Err(Error::Stopped);
            return ControlFlow::Break(());
        }
        holding.file(found, ReadContext { options: read, members: Some(&filter), stop, progress: &|_| {} })
    })?;
    holding.finish_pending();
    holding.outcome
}

/// Receives the events of a walk.
struct Holding<'a> {
    /// A member whose bytes another thread collects: this thread sends them, so it cannot wait for them.
    pending: Option<(About, Gathering)>,
    outcome: Result<()>,
    visit: &'a mut dyn FnMut(std::result::Result<Candidate, (String, Error)>) -> Result<()>,
}

impl Holding<'_> {
    fn give(&mut self, found: std::result::Result<Candidate, (String, Error)>) {
        if self.outcome.is_ok() {
            self.outcome = (self.visit)(found);
        }
    }

    fn finish_pending(&mut self) {
        if let Some((about, gathering)) = self.pending.take() {
            self.give(match gathering.finish() {
                Ok(content) => Ok(Candidate { about, content }),
                Err(error) => Err((about.name, error)),
            });
        }
    }

    fn flow(&self) -> ControlFlow<()> {
        if self.outcome.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    }

    /// Handles a file of the walk.
    fn file(&mut self, found: WalkEvent, reading: ReadContext<'_>) -> ControlFlow<()> {
        let only_members = matches!(found, WalkEvent::Archive(_));
        let mut about = match found {
            WalkEvent::Document(Candidate { about, content: Content::File })
            | WalkEvent::Archive(Candidate { about, .. })
                if about.file.is_some() =>
            {
                about
            }
            other => return self.take(other),
        };
        let Some(file) = about.file.clone() else { return self.flow() };
        match open(&mut about, &file, reading) {
            Err(error) => self.give(Err((about.name, error))),
            Ok(Opened::Document(_)) if only_members => {}
            Ok(Opened::Document(content)) => self.give(Ok(Candidate { about, content })),
            Ok(Opened::Container(container)) => {
                let expanded = container.expand(&about, &file, reading, &mut |found| self.take(found));
                self.finish_pending();
                if let Err(error) = expanded {
                    self.give(Err((about.name.clone(), error)));
                }
            }
        }
        self.flow()
    }

    /// Handles a member.
    fn take(&mut self, found: WalkEvent) -> ControlFlow<()> {
        self.finish_pending();
        match found {
            WalkEvent::Document(Candidate { about, content: content @ Content::Pieces(_) }) => {
                self.pending = Some((about, Gathering::of(content, u64::MAX)));
            }
            WalkEvent::Document(candidate) => self.give(Ok(candidate)),
            WalkEvent::Failed { name, error } => self.give(Err((name, error))),
            WalkEvent::Skipped { name, reason } => {
                self.give(Err((name, Error::Document(DocumentError::Binary { reason }))))
            }
            WalkEvent::Archive(_) | WalkEvent::LeftOut(_) => {}
        }
        self.flow()
    }
}
