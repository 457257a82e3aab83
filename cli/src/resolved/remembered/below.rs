//! Below: remembered paths in typed folders.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use fpdb::WalkOptions;
use fpdb::maintenance::RememberedSource;
use fpdb_reading::input::{PathFilter, absolute_name, is_gone, is_hidden};

use super::{Flags, Group};

/// Decides which paths an ingest of a folder reads.
struct Reach {
    walk: WalkOptions,
    filter: PathFilter,
}

impl Reach {
    fn new(walk: WalkOptions) -> anyhow::Result<Self> {
        Ok(Self { filter: PathFilter::new(&walk)?, walk })
    }

    /// True if an ingest of `folder` reads a path in it. Both are absolute.
    fn reads(&self, path: &Path, folder: &Path) -> bool {
        let Self { walk, filter } = self;
        let is_skipped = walk.skip_hidden && is_hidden(path.strip_prefix(folder).unwrap_or(path));
        let is_behind_link = || path.ancestors().take_while(|path| *path != folder).any(Path::is_symlink);
        !is_gone(path)
            && !is_skipped
            && (walk.follow || !is_behind_link())
            && !filter.excludes(path)
            && (!path.is_file() || filter.includes(path) || filter.may_hold_included(&path.to_string_lossy()))
    }
}

/// The remembered paths in these folders that an ingest of the folders reads. All paths are absolute.
pub(super) fn read_paths<'a>(
    known: &'a [RememberedSource],
    folders: &[String],
    walk: &WalkOptions,
) -> anyhow::Result<Vec<&'a RememberedSource>> {
    let reach = Reach::new(walk.clone())?;
    let is_folder = |path: &Path| folders.iter().any(|folder| Path::new(folder) == path);
    let is_read = |source: &&RememberedSource| {
        let path = Path::new(&source.path);
        let around = path.ancestors().skip(1).find(|folder| is_folder(folder));
        around.is_some_and(|folder| !is_folder(path) && reach.reads(path, folder))
    };
    Ok(known.iter().filter(is_read).collect())
}

/// The number of the group with these remembered flags. Adds the group if there is none.
pub(super) fn group_with(groups: &mut Vec<Group>, flags: Flags) -> usize {
    let known = groups.iter().position(|group| group.remembered == flags);
    known.unwrap_or_else(|| {
        groups.push(Group::of(flags));
        groups.len() - 1
    })
}

/// Adds remembered paths in folders of the command, if their flags differ from those of the nearest path
/// above. Each path joins the group with its flags. `known` has each folder before the paths in it. Returns,
/// for each group, the paths that it must leave out because they are in another group, as a walk spells them.
pub(super) fn add(
    known: &[RememberedSource],
    groups: &mut Vec<Group>,
    walk_of: &dyn Fn(&Group) -> anyhow::Result<WalkOptions>,
) -> anyhow::Result<Vec<Vec<PathBuf>>> {
    let mut reaches = Vec::new();
    // The group and the spellings of each path.
    let mut places: HashMap<PathBuf, (usize, Vec<PathBuf>)> = HashMap::new();
    for (number, group) in groups.iter().enumerate() {
        reaches.push(Reach::new(walk_of(group)?)?);
        for path in group.paths() {
            let (_, spellings) = places.entry(absolute_name(path)?.into()).or_insert((number, Vec::new()));
            spellings.push(path.clone());
        }
    }
    for source in known {
        let path = Path::new(&source.path);
        let around = path.ancestors().skip(1).find_map(|folder| Some((folder, places.get(folder)?)));
        let Some((folder, (of, spellings))) = around.filter(|_| !places.contains_key(path)) else { continue };
        if groups[*of].remembered == source.options || !reaches[*of].reads(path, folder) {
            continue;
        }
        let spelling = spellings[0].join(path.strip_prefix(folder)?);
        let number = group_with(groups, source.options.clone());
        if number == reaches.len() {
            reaches.push(Reach::new(walk_of(&groups[number])?)?);
        }
        groups[number].below.push(spelling.clone());
        places.insert(path.to_owned(), (number, vec![spelling]));
    }
    let mut left_out = vec![Vec::new(); groups.len()];
    for (path, (number, _)) in &places {
        for folder in path.ancestors().skip(1) {
            if let Some((of, spellings)) = places.get(folder).filter(|(of, _)| of != number) {
                let below = path.strip_prefix(folder)?;
                left_out[*of].extend(spellings.iter().map(|folder| folder.join(below)));
            }
        }
    }
    Ok(left_out)
}
