//! Job: a file to which a long run appends its decisions. After a crash the same command continues from it.
//!
//! | part   | bytes  | what                                                                       |
//! |--------|--------|----------------------------------------------------------------------------|
//! | magic  | 26     | `fpdb dedup job, format 6\n`, and a zero                                   |
//! | header | frame  | what the decisions depend on: commit, rule and earlier run, as text        |
//! | blocks | frames | [`JobBlock`], bincode 2 with its standard settings                         |
//!
//! An interrupted run can leave an incomplete [frame](super::frames) at the end. The next run cuts off this
//! frame.

use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use bincode::{Decode, Encode};
use xxhash_rust::xxh3::xxh3_64;

use crate::answer::decisions::{Decision, Decisions};
use crate::between_runs::frames::{MOST_BYTES, frame_bytes, next_frame, write_frame};
use crate::options::DedupOptions;
use crate::ranking::{Rank, Ranking};
use fpdb_host::error::{Error, Result};
use fpdb_host::job_lock::open_job;
use fpdb_host::spill::TempSpace;

/// The start of the magic in every format.
const MAGIC_NAME: &[u8] = b"fpdb dedup job, format ";
const MAGIC: &[u8; 26] = b"fpdb dedup job, format 6\n\0";

/// Minimum interval between syncs of the file to disk. A power failure loses the decisions since the last
/// sync.
const SYNC: Duration = Duration::from_secs(2);

/// The progress of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode, Decode)]
pub(crate) enum Stage {
    /// Documents below `next` have been compared with the survivors of a block, from `block` up to `end`.
    /// While the block still grows, `end` is `None`, and each document has been compared with those survivors
    /// of the block that come before the document.
    First { block: Rank, end: Option<Rank>, next: Rank },
    /// The survivors from `next` on have been reconsidered.
    Second { next: Rank },
}

/// The decisions of one step.
#[derive(Debug, Encode, Decode)]
struct JobBlock {
    /// The progress after these decisions.
    stage: Stage,
    decisions: Vec<(Rank, Decision)>,
}

/// The file for the decisions of a job with these options. Its name depends neither on threads nor on memory.
/// A run finds an interrupted job by this name, so the rule of the name must not change. The name contains
/// the mode as the `enum` spells it.
pub(crate) fn job_path(root: &Path, temp: &TempSpace, options: &DedupOptions) -> Result<PathBuf> {
    let root = root.canonicalize().map_err(Error::io("find", root))?;
    let name = root.file_name().map_or_else(|| "fpdb".into(), |name| name.to_string_lossy());
    let digest = xxh3_64(format!("{}, {:?}, {}", root.display(), options.mode, options.rule()).as_bytes());
    Ok(temp.folder().join(format!("{name}.dedup-{digest:016x}.job")))
}

/// The state of a run, and its file.
pub(crate) struct Job {
    stage: Stage,
    file: Option<JobFile>,
}

struct JobFile {
    file: File,
    path: PathBuf,
    synced: Instant,
}

impl Job {
    /// A job without a file.
    pub(crate) fn unsaved() -> Self {
        Self { stage: Stage::First { block: 0, end: None, next: 0 }, file: None }
    }

    /// Continues the job at `path` if its header equals `header`; otherwise starts a new job there. Writes
    /// the decisions of the continued job to `decisions`.
    ///
    /// # Errors
    /// [`Error::JobInUse`] if another run holds the job; [`Error::Damaged`] or an error of [`open_job`] if
    /// the file at `path` is not a job; [`Error::Io`].
    pub(crate) fn resume(path: &Path, header: &str, ranking: &Ranking, decisions: &mut Decisions) -> Result<Self> {
        let file = open_own(path)?;
        let mut job = Self { file: None, ..Self::unsaved() };
        let mut reader = BufReader::new(&file);
        let mut magic = [0; MAGIC.len()];
        let known = reader.read_exact(&mut magic).is_ok()
            && magic == *MAGIC
            && next_frame(&mut reader).map_err(Error::io("read", path))?.is_some_and(|text| text == header.as_bytes());
        let mut good = 0;
        if known {
            good = MAGIC.len() as u64 + frame_bytes(header.len());
            while let Some(bytes) = next_frame(&mut reader).map_err(Error::io("read", path))? {
                if !job.replay(&bytes, ranking, decisions) {
                    break;
                }
                good += frame_bytes(bytes.len());
            }
        }
        drop(reader);
        file.set_len(good).map_err(Error::io("write", path))?;
        let mut file = JobFile { file, path: path.to_owned(), synced: Instant::now() };
        file.file.seek(SeekFrom::End(0)).map_err(Error::io("write", path))?;
        if !known {
            file.file.write_all(MAGIC).map_err(Error::io("write", path))?;
            file.append(header.as_bytes())?;
        }
        job.file = Some(file);
        Ok(job)
    }

    /// Takes over the decisions of a block. Returns false if the bytes are not a block, or if a rank in the
    /// block is too large.
    fn replay(&mut self, bytes: &[u8], ranking: &Ranking, decisions: &mut Decisions) -> bool {
        let config = bincode::config::standard().with_limit::<{ MOST_BYTES as usize }>();
        let Ok((block, read)) = bincode::decode_from_slice::<JobBlock, _>(bytes, config) else { return false };
        let within = |rank: Rank| rank < ranking.len();
        let sound = block.decisions.iter().all(|&(rank, decision)| match decision {
            Decision::Removable(witness) => within(rank) && within(witness.rank),
            _ => within(rank),
        });
        if read != bytes.len() || !sound {
            return false;
        }
        for (rank, decision) in block.decisions {
            decisions.set(rank, decision);
        }
        self.stage = block.stage;
        true
    }

    /// The progress of the run.
    pub(crate) fn stage(&self) -> Stage {
        self.stage
    }

    /// Records a step without decisions in memory only: after a crash the step is repeated.
    pub(crate) fn set_stage(&mut self, stage: Stage) {
        self.stage = stage;
    }

    /// Records the decisions of a step, and the progress after it.
    pub(crate) fn append(&mut self, stage: Stage, decided: &[Rank], decisions: &Decisions) -> Result<()> {
        self.stage = stage;
        let Some(file) = &mut self.file else { return Ok(()) };
        let decisions = decided.iter().map(|&rank| (rank, decisions.get(rank))).collect();
        let block = JobBlock { stage, decisions };
        let bytes = bincode::encode_to_vec(&block, bincode::config::standard())
            .map_err(|source| Error::io("write", &file.path)(std::io::Error::other(source)))?;
        file.append(&bytes)
    }

    /// Deletes the file of the job at `path` once the record holds its decisions. Does nothing if another run
    /// holds the job, or if the file is not a job.
    pub(crate) fn discard(path: &Path) -> Result<()> {
        match path.symlink_metadata().map_err(Error::io("find", path)).and_then(|_| open_own(path)) {
            Ok(_alone) => std::fs::remove_file(path).map_err(Error::io("remove", path)),
            Err(_) => Ok(()),
        }
    }

    /// Deletes the file, because the answer has been given.
    pub(crate) fn remove(self) -> Result<()> {
        match self.file {
            None => Ok(()),
            Some(JobFile { path, .. }) => std::fs::remove_file(&path).map_err(Error::io("remove", &path)),
        }
    }
}

/// Opens the file of a job, and locks it for this run. Any user can write to a folder for temporary files. So
/// the file may be something other than a job: such a file stays unchanged.
fn open_own(path: &Path) -> Result<File> {
    let mut file = open_job(path)?;
    let mut start = Vec::new();
    (&file).take(MAGIC.len() as u64).read_to_end(&mut start).map_err(Error::io("read", path))?;
    // A crash can leave a part of the magic.
    if !(start.starts_with(MAGIC_NAME) || MAGIC.starts_with(&start)) {
        let what = format!("the state of this job in {}", path.display());
        return Err(Error::Damaged { what, detail: "it is the file of something else, which stays as it is" });
    }
    file.rewind().map_err(Error::io("read", path))?;
    Ok(file)
}

impl JobFile {
    fn append(&mut self, bytes: &[u8]) -> Result<()> {
        write_frame(&mut self.file, bytes).map_err(Error::io("write", &self.path))?;
        if self.synced.elapsed() >= SYNC {
            self.file.sync_data().map_err(Error::io("write", &self.path))?;
            self.synced = Instant::now();
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answer::decisions::Witness;
    use crate::options::{DedupBy, DedupMode};
    use fpdb_kernel::profile::Profile;

    /// The bytes of decisions in format 6: numbers in bincode's encoding, the variant as its index in the
    /// list. Another encoding needs another format.
    #[test]
    fn decisions_have_the_same_bytes_in_every_job_of_this_format() {
        let witness = Witness { rank: 7, shared: 5, novel: 250 };
        for (decision, expected) in [
            (Decision::Stays, &[0][..]),
            (Decision::Undecided, &[1]),
            (Decision::Open { cost: 9 }, &[2, 9]),
            (Decision::Removable(witness), &[3, 7, 5, 250]),
        ] {
            let bytes = bincode::encode_to_vec(decision, bincode::config::standard()).unwrap();
            assert_eq!(bytes, expected);
            let (decoded, _) = bincode::decode_from_slice::<Decision, _>(&bytes, bincode::config::standard()).unwrap();
            assert_eq!(decoded, decision);
        }
    }

    /// A run finds interrupted jobs by the names of their files, so these names must not change.
    #[test]
    fn the_name_of_a_job_stays_as_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let temp = TempSpace::new(folder.path()).unwrap();
        for (mode, word) in [(DedupMode::Once, "Once"), (DedupMode::Append, "Append"), (DedupMode::Rerank, "Rerank")] {
            let options = DedupOptions::of(&Profile::named("text").unwrap(), DedupBy::Exact).mode(mode);
            let digest = xxh3_64(format!("/, {word}, by exact, keep longest").as_bytes());
            let path = job_path(Path::new("/"), &temp, &options).unwrap();
            assert_eq!(path.file_name().unwrap().to_str().unwrap(), format!("fpdb.dedup-{digest:016x}.job"));
        }
    }

    /// A job of another version or rule is restarted: none of its decisions are taken.
    #[test]
    fn a_job_of_another_version_or_rule_is_begun_again() {
        let folder = tempfile::tempdir().unwrap();
        let (path, ranking) = (folder.path().join("job"), Ranking::default());
        let stage = Stage::First { block: 0, end: None, next: 5 };
        let resume = |header: &str| Job::resume(&path, header, &ranking, &mut Decisions::new(0, false)).unwrap();
        let begun = resume("rule");
        assert_eq!(begun.stage(), Stage::First { block: 0, end: None, next: 0 });
        let new = std::fs::read(&path).unwrap();
        drop(begun);
        let mut job = resume("rule");
        job.append(stage, &[], &Decisions::new(0, false)).unwrap();
        drop(job);
        let whole = std::fs::read(&path).unwrap();
        assert_eq!(resume("rule").stage(), stage, "the same job goes on");

        let mut earlier = whole.clone();
        earlier[MAGIC.len() - 3] = b'5';
        let cut_magic = whole[..MAGIC.len() - 1].to_vec();
        for (what, left, header) in [
            ("another rule", &whole, "Rule"),
            ("another version", &earlier, "rule"),
            ("a cut magic", &cut_magic, "rule"),
            ("nothing", &Vec::new(), "rule"),
        ] {
            std::fs::write(&path, left).unwrap();
            assert_eq!(resume(header).stage(), Stage::First { block: 0, end: None, next: 0 }, "{what}");
            let written = std::fs::read(&path).unwrap();
            assert_eq!(written.len(), new.len(), "{what}: nothing of it stays");
        }
    }

    /// Other users can know the name of the file, and put something else there.
    #[test]
    fn what_is_no_job_is_refused_and_stays() {
        let folder = tempfile::tempdir().unwrap();
        let (path, other, ranking) = (folder.path().join("job"), folder.path().join("other"), Ranking::default());
        let refused = |says: &str| {
            let resumed = Job::resume(&path, "rule", &ranking, &mut Decisions::new(0, false));
            let error = resumed.err().expect(says).chain();
            assert!(error.contains(says), "{error}");
            Job::discard(&path).unwrap();
            assert!(path.symlink_metadata().is_ok(), "{says}");
            path.symlink_metadata().unwrap()
        };
        for content in [&b"a text"[..], MAGIC] {
            std::fs::write(&other, content).unwrap();
            std::os::unix::fs::symlink(&other, &path).unwrap();
            assert!(refused("not a regular file").is_symlink());
            assert_eq!(std::fs::read(&other).unwrap(), content);
            std::fs::remove_file(&path).unwrap();
        }
        std::fs::create_dir(&path).unwrap();
        refused("not a regular file");
        std::fs::remove_dir(&path).unwrap();
        std::fs::write(&path, "a text").unwrap();
        refused("the file of something else");
        assert_eq!(std::fs::read(&path).unwrap(), b"a text");
    }
}
