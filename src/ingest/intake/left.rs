//! Left members: the members of a container that are no documents. The record of the container lists these
//! members. So a later run, which does not read the unchanged container, tells the same.

use std::borrow::Cow;

use rustc_hash::FxHashSet;

use super::Intake;
use fpdb_host::error::{DocumentError, Error};
use fpdb_host::skip_reason::SkipReason;
use fpdb_reading::input::PARTS;
use fpdb_store::LeftMembers;

/// Maximum bytes of names and reasons in the record of a container. Further members are only counted.
const LISTED_BYTES: usize = 16 << 10;

/// Maximum number of different errors in the record of a container.
const LISTED_ERRORS: usize = 200;

/// Maximum bytes of names of failed members in memory.
const FAILED_BYTES: usize = 4 << 20;

/// The members of the container that is being read that are no documents.
#[derive(Default)]
pub(super) struct NotedMembers {
    left: Vec<LeftMembers>,
    bytes: usize,
    /// The names of the members that failed.
    failed: FxHashSet<String>,
    /// Bytes of the names of members that failed, also of names that `failed` has no room for.
    failed_bytes: usize,
}

impl NotedMembers {
    /// Notes a member that was skipped or could not be read, and the reason.
    pub(super) fn note(&mut self, name: &str, mut reason: String, has_failed: bool) {
        if has_failed {
            self.failed_bytes += name.len();
            if self.failed_bytes <= FAILED_BYTES {
                self.failed.insert(name.to_owned());
            }
        }
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
        // `first` lists names without gaps, so it ends at the first name that has no room.
        if known.first.len() as u64 + 1 == known.number && self.bytes + name.len() <= LISTED_BYTES {
            self.bytes += name.len();
            known.first.push(name.to_owned());
        }
    }

    /// Notes an error of the container, if there is room for it. Later runs tell the error again. The error
    /// does not count as a member.
    pub(super) fn note_container(&mut self, name: &str, reason: String) {
        if self.bytes + reason.len() <= LISTED_BYTES {
            self.bytes += reason.len();
            self.left.push(LeftMembers { reason, has_failed: true, number: 0, first: vec![name.to_owned()] });
        }
    }

    /// True if the document of this name, or a part of the container around the document, failed. Also true
    /// if too many members failed to know all of their names.
    pub(super) fn may_have_failed(&self, name: &str) -> bool {
        let mut around = name.match_indices(PARTS).map(|(at, _)| &name[..at]).chain([name]);
        self.failed_bytes > FAILED_BYTES || around.any(|part| self.failed.contains(part))
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
        if reason == SkipReason::SameName {
            self.progress.same_name(&name);
        }
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

    /// Tells again which members of an unchanged container are no documents. If the names of some
    /// members are not listed, one message with the name of the container stands for all of them. A damaged
    /// record may give any number of members, so they are counted without a loop.
    pub(super) fn tell_again(&mut self, container: &str, left: Vec<LeftMembers>) {
        for LeftMembers { reason, has_failed, number, first } in left {
            let unlisted = number.saturating_sub(first.len() as u64);
            let unnamed = (unlisted > 0).then(String::new);
            for part in first.into_iter().chain(unnamed) {
                if self.task.token().is_stopped() {
                    return;
                }
                let name = format!("{container}{part}");
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
            let uncounted = unlisted.saturating_sub(1);
            if has_failed {
                self.summary.failures = self.summary.failures.saturating_add(uncounted);
            } else {
                self.summary.count_skips(uncounted, &SkipReason::from(Cow::Owned(reason)));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::with_intake;
    use super::*;
    use crate::ingest::kept_out::KeptOutContents;
    use crate::{IngestOptions, Profile, Task};
    use fpdb_host::stop::StopToken;
    use fpdb_store::{Store, StoreOptions};

    #[test]
    fn any_number_of_members_is_told_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let store = &Store::create(&folder.path().join("db"), &Profile::PROSE, &StoreOptions::default()).unwrap();
        let (options, kept_out) = (IngestOptions::default(), KeptOutContents::of(store).unwrap());
        let told = |task: &Task<'_>, left: &[LeftMembers]| {
            with_intake(store, (&options, &kept_out), task, |intake| {
                intake.tell_again("a.zip", left.to_vec());
                Ok(std::mem::take(&mut intake.summary))
            })
            .unwrap()
        };
        let members = |reason: SkipReason, has_failed, number| LeftMembers {
            reason: reason.to_string(),
            has_failed,
            number,
            first: vec!["!a".into(), "!b".into()],
        };
        let (rar, torn) = (members(SkipReason::Rar, false, u64::MAX), members(SkipReason::Binary, true, 9));
        let summary = told(&Task::new(), &[rar.clone(), rar.clone(), torn.clone()]);
        assert_eq!((summary.skips, summary.unread_archives, summary.failures), (u64::MAX, u64::MAX, 9));
        let names = |summary: &crate::IngestSummary| -> Vec<_> {
            summary.failed.iter().map(|failure| failure.name.clone()).collect()
        };
        assert_eq!(names(&summary), ["a.zip!a", "a.zip!b", "a.zip"]);
        let token = StopToken::new();
        token.stop();
        let summary = told(&Task::new().stop(&token), &[torn]);
        assert_eq!((summary.failures, summary.failed.len()), (0, 0));
    }

    #[test]
    fn too_many_failed_names_are_not_told_apart() {
        let mut noted = NotedMembers::default();
        noted.note("a.zip!in.zip", String::new(), true);
        assert!(noted.may_have_failed("a.zip!in.zip!b") && !noted.may_have_failed("a.zip!b"));
        noted.note(&"x".repeat(FAILED_BYTES), String::new(), true);
        assert!(noted.may_have_failed("a.zip!b") && noted.failed.len() == 1);
    }
}
