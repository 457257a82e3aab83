//! Left members: the members of a container that are no documents. The record of the container lists them, so
//! a later run that does not read the unchanged container tells the same.

use std::borrow::Cow;

use super::Intake;
use fpdb_host::error::{DocumentError, Error};
use fpdb_host::skip_reason::SkipReason;
use fpdb_store::LeftMembers;

/// Maximum bytes of names and reasons in the record of a container. Further members are only counted.
const LISTED_BYTES: usize = 16 << 10;

/// Maximum number of different errors in the record of a container.
const LISTED_ERRORS: usize = 200;

/// The members of the container that is being read that are no documents.
#[derive(Default)]
pub(super) struct NotedMembers {
    left: Vec<LeftMembers>,
    bytes: usize,
}

impl NotedMembers {
    /// Notes a member that was skipped for this reason, or could not be read because of it.
    pub(super) fn note(&mut self, name: &str, mut reason: String, has_failed: bool) {
        let is_new = |left: &[LeftMembers], reason: &str| {
            !left.iter().any(|known| known.has_failed == has_failed && known.reason == reason)
        };
        let has_room = self.left.len() < LISTED_ERRORS && self.bytes + reason.len() <= LISTED_BYTES;
        if has_failed && !has_room && is_new(&self.left, &reason) {
            reason.clear();
        }
        if is_new(&self.left, &reason) {
            self.bytes += reason.len();
            self.left.push(LeftMembers { reason: reason.clone(), has_failed, number: 0, first: Vec::new() });
        }
        let known = self.left.iter_mut().find(|known| known.has_failed == has_failed && known.reason == reason);
        let Some(known) = known else { return };
        known.number += 1;
        // The list has no gaps.
        if known.first.len() as u64 + 1 == known.number && self.bytes + name.len() <= LISTED_BYTES {
            self.bytes += name.len();
            known.first.push(name.to_owned());
        }
    }

    /// The members, named without the name of the container.
    pub(super) fn of(self, container: &str) -> Vec<LeftMembers> {
        let without = |name: String| name.strip_prefix(container).map(str::to_owned);
        let left = self.left.into_iter();
        left.map(|left| LeftMembers { first: left.first.into_iter().map_while(without).collect(), ..left }).collect()
    }
}

impl Intake<'_> {
    pub(super) fn skip(&mut self, name: String, reason: SkipReason) {
        self.progress.skipped(&name, &reason);
        self.noted.note(&name, reason.to_string(), false);
        self.summary.skip(name, reason);
    }

    pub(super) fn fail(&mut self, name: &str, error: &Error) {
        self.passing_failures += u64::from(!matches!(error, Error::Document(error) if error.is_lasting()));
        self.progress.failed(name, error);
        self.noted.note(name, error.chain(), true);
        self.summary.fail(name, error);
    }

    /// Tells again which members of an unchanged container are no documents. Members without a listed name
    /// have the name of the container.
    pub(super) fn tell_again(&mut self, container: &str, left: Vec<LeftMembers>) {
        for LeftMembers { reason, has_failed, number, first } in left {
            let mut parts = first.iter();
            for _ in 0..number {
                let name = format!("{container}{}", parts.next().map_or("", String::as_str));
                if has_failed {
                    let error = match reason.clone() {
                        reason if reason.is_empty() => DocumentError::FailedBefore,
                        reason => DocumentError::FailedEarlier { reason },
                    };
                    self.fail(&name, &Error::Document(error));
                } else {
                    self.skip(name, SkipReason::from(Cow::Owned(reason.clone())));
                }
            }
        }
    }
}
