//! Container batch: reads several members of one container in one pass.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::sync::Arc;

use super::member_name::{StoredPlace, member_today, parts_of};
use crate::input::read::stored::{
    FoundMembers, failed_part, members_of_file, stored_document, text_gone, without_field,
};
use crate::input::{Candidate, ReadOptions};
use fpdb_host::error::{Error, Result};
use fpdb_host::stop::StopToken;

/// Maximum bytes of all held members together.
pub const HELD_BYTES: u64 = 64 << 20;

/// A container: its path, and the text field of its records if it is not the default field.
type ContainerKey = (String, Option<String>);

/// Stored documents that will be requested.
#[derive(Debug, Default)]
pub struct ContainerBatch {
    /// Members that are not read yet, with their bytes, by container.
    expected: HashMap<ContainerKey, BTreeMap<String, u64>>,
    /// Members that are read but not requested yet, by path and member.
    found: HashMap<(String, String), Result<Candidate, Arc<Error>>>,
    /// Bytes of all members together.
    bytes: u64,
}

impl ContainerBatch {
    /// Announces that the document at this place will be requested. Returns false if the batch has no room
    /// for it.
    pub fn expect(&mut self, place: StoredPlace<'_>) -> bool {
        let all = self.bytes.saturating_add(place.bytes);
        if all > HELD_BYTES {
            return false;
        }
        if let Some((container, member)) = container_of(place) {
            self.bytes = all;
            self.expected.entry(container).or_default().insert(member.into_owned(), place.bytes);
        }
        true
    }

    /// Like [`stored_document`], but faster for announced documents. If a part of a container is broken, all
    /// members in this part get the error of the part.
    pub fn document(
        &mut self,
        place: StoredPlace<'_>,
        options: &ReadOptions,
        searched: u64,
        stop: &StopToken,
    ) -> Result<Candidate, Arc<Error>> {
        let source = place.source;
        if let Some((container, member)) = container_of(place) {
            if self.expected.get(&container).is_some_and(|members| members.len() > 1 && members.contains_key(&*member))
            {
                let members = self.expected.remove(&container).unwrap_or_default();
                let found =
                    members_of_file(Path::new(source), container.1.as_deref(), &members, options, searched, stop);
                stop.check()?;
                // If the container cannot be read to its end, each of its members is read separately later.
                if let Ok(FoundMembers { mut found, failed }) = found {
                    let failed: HashMap<_, _> =
                        failed.into_iter().map(|(part, error)| (part, Arc::new(error))).collect();
                    for member in members.into_keys() {
                        let candidate = found.remove(&member).map(|found| found.map_err(Arc::new));
                        let candidate = candidate.unwrap_or_else(|| {
                            let suffix = without_field(&member, container.1.as_deref());
                            Err(match failed_part(&failed, suffix) {
                                Some(part) => Arc::clone(&failed[part]),
                                None => Arc::new(text_gone(source, suffix)),
                            })
                        });
                        self.found.insert((source.to_owned(), member), candidate);
                    }
                }
            }
            if let Some(candidate) = self.found.remove(&(source.to_owned(), member.into_owned())) {
                return candidate;
            }
        }
        stored_document(place, options, searched, stop).map_err(Arc::new)
    }
}

/// The container of a member with its text field, and the name that this version gives the member.
fn container_of(place: StoredPlace<'_>) -> Option<(ContainerKey, Cow<'_, str>)> {
    let member = place.member?;
    let (_, field) = parts_of(place.name, member);
    Some(((place.source.to_owned(), field.map(str::to_owned)), member_today(place.source, member)))
}

#[cfg(test)]
mod tests {

    use super::*;
    use crate::input::{InputLimits, Reader};
    use fpdb_host::error::DocumentError;

    fn text(candidate: &Candidate) -> String {
        let mut text = Vec::new();
        let mut take = |bytes: &[u8]| {
            text.extend_from_slice(bytes);
            Ok(())
        };
        Reader::new(InputLimits::default()).read(candidate, &StopToken::new(), &|_| {}, &mut take).unwrap();
        String::from_utf8(text).unwrap()
    }

    #[test]
    fn members_are_the_same_in_a_batch_and_one_by_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.jsonl");
        let lines = (1..=9).map(|n| format!("{{\"text\":\"text {n}\",\"body\":\"body {n}\"}}\n")).collect::<String>();
        std::fs::write(&path, lines).unwrap();
        let source = path.to_str().unwrap();
        let options = ReadOptions::default();
        let mut batch = ContainerBatch::default();
        let place = |member: Option<&'static str>| StoredPlace {
            source,
            name: member.map_or("", |member| member.trim_end_matches("?body")),
            member,
            bytes: 10,
        };
        for member in [":3", ":1", ":7?body", ":99", ":8?body"] {
            assert!(batch.expect(place(Some(member))));
        }
        for (member, expected) in
            [(":1", "text 1"), (":3", "text 3"), (":8?body", "body 8"), (":4", "text 4"), (":7?body", "body 7")]
        {
            let mut find =
                || text(&batch.document(place(Some(member)), &options, u64::MAX, &StopToken::new()).unwrap());
            // The second call reads the member again, because the first one has already returned it.
            assert_eq!((find(), find()), (expected.to_owned(), expected.to_owned()), "{member}");
        }
        let gone = batch.document(place(Some(":99")), &options, u64::MAX, &StopToken::new());
        assert!(matches!(gone.as_ref().unwrap_err().as_ref(), Error::TextGone { .. }), "{gone:?}");
        let large = |member| StoredPlace { bytes: HELD_BYTES, ..place(member) };
        assert!(batch.expect(place(None)) && !batch.expect(large(Some(":2"))));
    }

    #[test]
    fn all_members_after_the_place_of_damage_have_its_reason() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.jsonl.gz");
        let lines: String = (1..=9000).map(|n| format!("{{\"text\":\"{:x}\"}}\n", n * n * n)).collect();
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        std::io::Write::write_all(&mut encoder, lines.as_bytes()).unwrap();
        let whole = encoder.finish().unwrap();
        std::fs::write(&path, &whole[..whole.len() / 2]).unwrap();
        let source = path.to_str().unwrap();
        let place = |member| StoredPlace { source, name: "", member: Some(member), bytes: 10 };
        let mut batch = ContainerBatch::default();
        let members = [":1", ":8998", ":8999", ":9000"];
        assert!(members.iter().all(|member| batch.expect(place(member))));
        let mut read = |member| batch.document(place(member), &ReadOptions::default(), u64::MAX, &StopToken::new());
        assert_eq!(text(&read(members[0]).unwrap()), "1");
        for member in &members[1..] {
            let error = read(member).unwrap_err();
            assert!(matches!(*error, Error::Document(DocumentError::Undecodable { .. })), "{member}: {error}");
        }
    }
}
