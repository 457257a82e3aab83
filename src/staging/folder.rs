//! Folder: the folder of a build, with its plan. All machines see it.

use std::path::{Path, PathBuf};

use super::json_file;
use super::layout::Layout;
use super::plan::StagingPlan;
use fpdb_host::durable::create_folders;
use fpdb_host::error::{Error, Result};
use fpdb_kernel::profile::Profile;
use fpdb_store::PartMaker;

pub(super) const PLAN: &str = "plan.json";
pub(super) const MANIFEST: &str = "manifest.json";
pub(super) const PARTS: &str = "parts";
pub(super) const PART: &str = "part.json";
/// The engine's copy of the documents, if the engine needs a copy to number them.
pub(super) const INPUT: &str = "input";

/// A build, in its folder.
pub struct Staging {
    pub(super) root: PathBuf,
    pub(super) plan: StagingPlan,
    pub(super) layout: Layout,
    pub(super) maker: PartMaker,
}

impl std::fmt::Debug for Staging {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Staging").field("root", &self.root).field("plan", &self.plan).finish_non_exhaustive()
    }
}

impl Staging {
    /// Begins a build in `folder`, which must be empty or missing. If the folder holds a build with the same
    /// plan, continues that build. Generation, time and program version may differ.
    ///
    /// # Errors
    /// [`Error::OtherBuild`]; [`Error::InvalidParameter`] for an invalid plan; errors from writing the
    /// folder.
    pub fn create(folder: impl AsRef<Path>, plan: &StagingPlan) -> Result<Self> {
        let folder = folder.as_ref();
        plan.check()?;
        match Self::open(folder) {
            Ok(begun) if begun.plan.is_like(plan) => return Ok(begun),
            Ok(_) => return Err(Error::OtherBuild { path: folder.to_owned() }),
            Err(Error::NoBuild { .. }) => {}
            Err(error) => return Err(error),
        }
        let staging = Self::of(folder.to_owned(), plan.clone())?;
        create_folders(&folder.join(PARTS))?;
        json_file::write_whole(&folder.join(PLAN), plan)?;
        Ok(staging)
    }

    /// Opens the build in `folder`.
    ///
    /// # Errors
    /// [`Error::NoBuild`]; [`Error::DamagedBuild`]; [`Error::HashVersion`] if a program with other hashes
    /// made the build.
    pub fn open(folder: impl AsRef<Path>) -> Result<Self> {
        let root = folder.as_ref().to_owned();
        let path = root.join(PLAN);
        let Some(plan) = json_file::read_json::<StagingPlan>(&path)? else { return Err(Error::NoBuild { path: root }) };
        Self::of(root, plan).map_err(|error| match error {
            Error::InvalidParameter { .. } => Error::DamagedBuild { path, detail: "it cannot be carried out" },
            other => other,
        })
    }

    fn of(root: PathBuf, plan: StagingPlan) -> Result<Self> {
        let (unit, found, supported) = (plan.profile.unit(), plan.hash_version, plan.profile.supported_hash_version());
        if found != supported {
            return Err(Error::HashVersion { path: root, unit, found, supported });
        }
        plan.check()?;
        let layout = Layout::of(&plan);
        Ok(Self { root, plan, layout, maker: PartMaker::new()? })
    }

    /// The identifier of this build: 32 hexadecimal digits.
    #[must_use]
    pub fn generation(&self) -> &str {
        &self.plan.generation
    }

    /// The profile of the database to build.
    #[must_use]
    pub fn profile(&self) -> &Profile {
        &self.plan.profile
    }

    /// The plan of the build.
    #[must_use]
    pub fn plan(&self) -> &StagingPlan {
        &self.plan
    }

    /// The number of parts, which are numbered from 0.
    #[must_use]
    pub fn part_count(&self) -> u32 {
        self.layout.count()
    }
}
