//! Run status: how a command ended, as an exit status.

use std::process::ExitCode;

/// The result of a command that ran to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RunStatus {
    /// Everything succeeded.
    Done,
    /// `-e` was given, and nothing was found.
    NothingFound,
    /// Some documents could not be read. The output has the rest.
    Incomplete,
    /// Ctrl-C stopped the command.
    Interrupted,
}

impl RunStatus {
    /// The status of an answer for which this number of documents could not be read.
    pub(crate) fn without(unread: u64) -> Self {
        if unread == 0 { Self::Done } else { Self::Incomplete }
    }

    pub(crate) fn exit_code(self) -> ExitCode {
        ExitCode::from(match self {
            Self::Done => 0,
            Self::NothingFound => 1,
            Self::Incomplete => 2,
            Self::Interrupted => 130,
        })
    }
}
