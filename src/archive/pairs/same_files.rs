//! Same files: finds a file that many submissions hold, such as a library.

use std::collections::HashSet;

use fpdb_kernel::document::Digest;
use fpdb_store::DocumentRecord;

/// The files of submissions, by their bytes.
#[derive(Default)]
pub(super) struct SameFiles {
    files: Vec<File>,
    /// The digests of boilerplate, whose copies count nowhere.
    boilerplate: HashSet<Digest>,
}

/// A file of a submission, in the order of digests, then of submissions.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct File {
    digest: Digest,
    /// The first document of the submission.
    submission: u32,
    id: u32,
    /// Number of its hashes, in all views.
    hashes: u64,
}

impl SameFiles {
    /// Minimum number of submissions that hold a file. Five make ten pairs. Fewer may be a group of copies.
    const SUBMISSIONS: usize = 5;

    /// Minimum number of hashes of a file. Shorter files, such as empty modules, bring no pair to the top.
    const HASHES: u64 = 32;

    pub(super) fn add(&mut self, id: u32, submission: u32, record: &DocumentRecord) {
        let hashes = record.structure().distinct + record.text().map_or(0, |text| text.distinct);
        if hashes >= Self::HASHES {
            self.files.push(File { digest: record.digest, submission, id, hashes });
        }
    }

    pub(super) fn add_boilerplate(&mut self, record: &DocumentRecord) {
        self.boilerplate.insert(record.digest);
    }

    /// The file that brings most hashes to the pairs of the submissions that hold it, and the number of these
    /// submissions. The id is that of the file in the first of these submissions.
    pub(super) fn most_frequent(self) -> Option<(u32, u64)> {
        let Self { mut files, boilerplate } = self;
        files.retain(|file| !boilerplate.contains(&file.digest));
        files.sort_unstable();
        files.dedup_by_key(|file| (file.digest, file.submission));
        let same = files.chunk_by(|a, b| a.digest == b.digest).filter(|same| same.len() >= Self::SUBMISSIONS);
        let brings = |same: &&[File]| {
            let pairs = same.len() as u64 * (same.len() as u64 - 1) / 2;
            pairs.saturating_mul(same[0].hashes)
        };
        same.max_by_key(brings).map(|same| (same[0].id, same.len() as u64))
    }
}
