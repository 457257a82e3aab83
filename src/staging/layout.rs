//! Layout: finds the part to which a row belongs. The parts of postings have the first numbers, then come
//! those of documents, of names and of digests. A heavy hash has several parts: the first is the part of the
//! hash's range, and the others come after all parts of digests.

use std::ops::RangeInclusive;

use super::plan::StagingPlan;
use fpdb_kernel::document::Digest;
use fpdb_store::{PartKind, Posting, StagedRow, named, of_hashes};

#[derive(Clone)]
pub(super) struct Layout {
    documents: u64,
    ranges: Vec<RangeInclusive<u64>>,
    document_parts: u32,
    name_bounds: Vec<String>,
    /// For each heavy hash: the hash, its number of parts, and the number of its second part.
    heavy: Vec<(u64, u32, u32)>,
    count: u32,
}

impl Layout {
    pub(super) fn of(plan: &StagingPlan) -> Self {
        let mut layout = Self {
            documents: u64::from(plan.documents),
            ranges: of_hashes(&plan.profile, plan.posting_parts as usize),
            document_parts: plan.document_parts,
            name_bounds: plan.name_bounds.clone(),
            heavy: Vec::new(),
            count: 0,
        };
        let mut next = layout.first_digest() + layout.document_parts;
        for &(hash, parts) in &plan.heavy {
            layout.heavy.push((hash, parts, next));
            next += parts - 1;
        }
        layout.count = next;
        layout
    }

    pub(super) fn count(&self) -> u32 {
        self.count
    }

    fn first_document(&self) -> u32 {
        self.ranges.len() as u32
    }

    fn first_name(&self) -> u32 {
        self.first_document() + self.document_parts
    }

    fn first_digest(&self) -> u32 {
        self.first_name() + self.name_bounds.len() as u32 + 1
    }

    /// The kind of the rows of a part; `None` if the part does not exist.
    pub(super) fn kind(&self, part: u32) -> Option<PartKind> {
        Some(match part {
            _ if part >= self.count => return None,
            _ if part < self.first_document() => PartKind::Postings { run: 0 },
            _ if part < self.first_name() => PartKind::Documents,
            _ if part < self.first_digest() => PartKind::Names,
            _ if part < self.first_digest() + self.document_parts => PartKind::Digests,
            _ => {
                // Each part of a heavy hash is in its own run.
                let (_, _, first) = self.heavy[self.heavy.partition_point(|&(_, _, first)| first <= part) - 1];
                PartKind::Postings { run: part - first + 1 }
            }
        })
    }

    pub(super) fn part_of_posting(&self, posting: Posting) -> u32 {
        if let Ok(at) = self.heavy.binary_search_by_key(&posting.hash, |&(hash, _, _)| hash) {
            let (_, parts, first) = self.heavy[at];
            let slice = self.slice_of(posting.document, parts);
            if slice > 0 {
                return first + slice - 1;
            }
        }
        self.ranges.partition_point(|range| *range.end() < posting.hash) as u32
    }

    pub(super) fn part_of_document(&self, document: u32) -> u32 {
        self.first_document() + self.slice_of(document, self.document_parts)
    }

    pub(super) fn part_of_name(&self, name: &str) -> u32 {
        self.first_name() + self.name_bounds.partition_point(|bound| bound.as_str() <= name) as u32
    }

    pub(super) fn part_of_digest(&self, digest: &Digest) -> u32 {
        self.digest_part((u128::from_be_bytes(*digest) >> 64) as u64)
    }

    fn digest_part(&self, high: u64) -> u32 {
        self.first_digest() + ((u128::from(high) * u128::from(self.document_parts)) >> 64) as u32
    }

    /// The index of the slice that holds a document, if all documents are divided into `slices` equal slices.
    fn slice_of(&self, document: u32, slices: u32) -> u32 {
        (u64::from(document) * u64::from(slices) / self.documents.max(1)) as u32
    }

    /// True if a row of this kind belongs to the part. A malformed row of names also counts: it is detected
    /// when it is written.
    pub(super) fn holds(&self, part: u32, kind: PartKind, row: StagedRow<'_>) -> bool {
        match kind {
            PartKind::Postings { .. } => {
                let document = (row.low >> 32) as u32;
                self.part_of_posting(Posting { hash: row.high, document, ordinal: 0 }) == part
            }
            PartKind::Documents => row.high < self.documents && self.part_of_document(row.high as u32) == part,
            PartKind::Names => named(row).is_none_or(|(name, _)| self.part_of_name(&name) == part),
            PartKind::Digests => self.digest_part(row.high) == part,
        }
    }
}
