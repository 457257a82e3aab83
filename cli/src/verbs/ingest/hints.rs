//! Hints: the advice after an ingest: a better profile, a compaction, moved files.

use fpdb::maintenance::{CompactionPlan, DatabaseStats};
use fpdb::{DatabaseWriter, IngestSummary, Profile, Unit};

use crate::render::{count, duration, size};
use crate::suggested::{Suggested, flag};

/// Minimum number of added documents for a hint about short records.
const FEW_RECORDS: u64 = 10;

/// The advice to compact, if a cold query reads many blocks for each hash.
pub(super) fn compaction_hint(database: &DatabaseWriter, on: &Suggested) -> anyhow::Result<Option<String>> {
    let stats = database.stats_without_lists()?;
    if stats.cold_blocks < DatabaseStats::MANY_BLOCKS {
        return Ok(None);
    }
    Ok(Some(hint_to_compact(stats.runs, stats.cold_blocks, &database.compaction_plan()?, on)))
}

fn hint_to_compact(runs: u64, blocks: f64, plan: &CompactionPlan, on: &Suggested) -> String {
    format!(
        "hint: a cold query reads {blocks:.1} blocks for each hash, in {}; `{}` reduces that to one (about {}; needs {} of \
         disk meanwhile)",
        count(runs, "run"),
        on.of("compact"),
        duration(plan.seconds as f64),
        size(plan.bytes)
    )
}

/// Names a profile that fits the documents of a new database better, if there is one.
pub(super) fn hint_for(profile: &Profile, summary: &IngestSummary, programs: u64) -> Option<String> {
    let added = summary.added;
    if profile.unit() != Unit::Char || added == 0 {
        return None;
    }
    if 2 * programs > added {
        return Some(
            "hint: most of these documents are source code; a database created with --profile code also finds copies with other \
             names and layout"
                .to_owned(),
        );
    }
    let t = profile.guarantee()?;
    // Records this short share many texts that are shorter than the guarantee t.
    (added >= FEW_RECORDS && summary.symbols / added < 3 * t).then(|| {
        format!(
            "hint: these documents have {} letters on average, and shared text is surely found from {t} letters on; a database \
             created with --profile words finds three shared words",
            summary.symbols / added
        )
    })
}

/// The number of bytes in both names before their common end.
pub(super) fn differing(old: &str, new: &str) -> usize {
    let common = old.bytes().rev().zip(new.bytes().rev()).take_while(|(old, new)| old == new).count();
    old.len() + new.len() - 2 * common
}

/// The advice after an ingest of files that were moved. `old` and `new` are the names of one of these files.
pub(super) fn hint_to_rename(old: &str, new: &str, dry_run: bool, on: &Suggested) -> String {
    hint_to_rename_folder(old, new, dry_run, on).unwrap_or_else(|| match dry_run {
        true => format!("hint: `{}` renames the stored one (--verbose lists all)", on.with("mv", Vec::new(), &[old, new])),
        false => format!(
            "hint: `{}` removes the old one (--verbose lists all); before the next ingest of moved files, `{}` keeps the old documents, \
             with their numbers and metadata",
            on.with("rm", Vec::new(), &[old]),
            on.of("mv OLD NEW")
        ),
    })
}

/// The advice if a folder, or a file of several documents, was moved.
pub(super) fn hint_to_rename_folder(old: &str, new: &str, dry_run: bool, on: &Suggested) -> Option<String> {
    // The common ends of both names: a path below a folder or in an archive, or the number of a record. The
    // first component of each name must remain, even if a folder was moved into another one.
    let is_end = |at: usize| {
        let number = old[at..].strip_prefix([':', '#']);
        number.is_none_or(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
    };
    let common = old.match_indices(['/', '!', ':', '#']).filter(|&(at, _)| at > 0 && is_end(at));
    let common = common.map(|(at, _)| &old[at..]);
    let mut folders = common.filter_map(|below| {
        let (old, new) = (old.strip_suffix(below)?, new.strip_suffix(below).filter(|new| !new.is_empty())?);
        Some((old, new, &below[..1]))
    });
    // `rm --prefix` with one of the folders must not remove the documents in the other.
    let is_apart = |&(old, new, end): &(&str, &str, &str)| {
        let [old, new] = [old, new].map(|folder| format!("{folder}{end}"));
        !old.starts_with(&new) && !new.starts_with(&old)
    };
    let rename = |old: &str, new: &str| on.with("mv", Vec::new(), &[old, new]);
    let (from, to, end) = folders.next().filter(is_apart)?;
    let rename = rename(from, to);
    Some(match dry_run {
        true => format!("hint: if all of {from} was moved to {to}: `{rename}` renames the stored documents"),
        false => {
            let prefix = flag("--prefix", &format!("{to}{end}"));
            format!(
                "hint: if {to} holds nothing but what was moved from {from}: `{}` and then `{}` keep the stored documents, with their \
                 numbers and metadata, also those that were not found there (without --yes `rm` shows what goes)",
                on.with("rm", [prefix, vec!["--yes".to_owned()]].concat(), &[]),
                rename
            )
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hint_to_rename_names_the_folders() {
        for (old, new, said) in [
            (
                "a/x/t.txt",
                "b/c/x/t.txt",
                "if b/c holds nothing but what was moved from a: `fpdb rm --prefix b/c/ --yes`",
            ),
            ("a/x/t.txt", "b/c/x/t.txt", "`fpdb rm --prefix b/c/ --yes` and then `fpdb mv a b/c`"),
            ("/a/t.zip!m/n", "/b/t.zip!m/n", "`fpdb mv /a /b`"),
            ("x/t.txt", "b/x/t.txt", "if b/x holds nothing but what was moved from x: `fpdb rm --prefix b/x/ --yes`"),
            (
                "n.zip!d/t.txt",
                "m.zip!d/t.txt",
                "holds nothing but what was moved from n.zip: `fpdb rm --prefix 'm.zip!' --yes`",
            ),
            (
                "a/t.jsonl:7",
                "a/u.jsonl:7",
                "`fpdb rm --prefix a/u.jsonl: --yes` and then `fpdb mv a/t.jsonl a/u.jsonl`",
            ),
            ("a/t:b.txt", "a/u:b.txt", "`fpdb rm a/t:b.txt` removes the old one"),
            ("a/t.txt", "a/u.txt", "`fpdb rm a/t.txt` removes the old one"),
            ("a/t.txt", "a/b/t.txt", "`fpdb rm a/t.txt` removes the old one"),
            ("a/b/t.txt", "a/t.txt", "`fpdb rm a/b/t.txt` removes the old one"),
        ] {
            let hint = hint_to_rename(old, new, false, &Suggested::default());
            assert!(hint.contains(said), "{old} {new}: {hint}");
        }
    }

    #[test]
    fn the_hint_to_compact_says_what_it_takes() {
        let mut plan = CompactionPlan::default();
        (plan.runs, plan.bytes, plan.seconds) = (21, 9 << 30, 66);
        let hint = "hint: a cold query reads 5.6 blocks for each hash, in 21 runs; `fpdb compact` reduces that to one (about 1 min 6 s; \
                    needs 9.0 GiB of disk meanwhile)";
        assert_eq!(hint_to_compact(21, 5.6, &plan, &Suggested::default()), hint);
    }
}
