//! Prints the figures of a database as text for people.

use std::fmt::Write;

use fpdb::Unit;
use fpdb::maintenance::DatabaseStats;

use super::escape::{as_words, escape_terminal};
use super::numbers::{count, grouped, moment, percent, size};
use super::verification::damaged_stores;
use crate::typed::reading_flags::words_of_json;

/// The word for a symbol.
fn symbol(unit: Unit) -> &'static str {
    match unit {
        Unit::Char => "character",
        Unit::Word | Unit::Byte | Unit::Token => unit.name(),
    }
}

/// Maximum number of runs that are shown.
const RUNS_SHOWN: usize = 8;

/// Names and values of metadata, as they are typed.
pub(crate) fn as_fields(fields: &[(String, String)]) -> String {
    fields.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(" ")
}

/// Maximum number of sources that are shown with their flags.
const SOURCES_SHOWN: usize = 10;

/// The figures of the database; `verbose` adds the parts of its store.
pub(crate) fn stats_page(stats: &DatabaseStats, verbose: bool) -> String {
    let mut page = String::new();
    let mut row = |name: &str, value: String| {
        let _ = writeln!(page, "{name:<14} {value}");
    };
    let profile = &stats.profile;
    row("database", format!("{} (format {})", stats.path.display(), stats.format));
    let words = if profile.unit() == Unit::Word { format!(" ({})", profile.word_rule()) } else { String::new() };
    row(
        "profile",
        format!(
            "unit {}{words}, k {}, w {}, selection {}",
            profile.unit(),
            profile.k(),
            profile.w(),
            profile.selection()
        ),
    );
    match profile.guarantee() {
        Some(t) => row("guarantee", format!("every shared run of {} is found", count(t, symbol(profile.unit())))),
        None => row("guarantee", "none with this selection".into()),
    }
    if profile.unit() == Unit::Token {
        match profile.text_view() {
            Some(text) => {
                let t = text.guarantee().unwrap_or_default();
                let found = format!("every shared run of {t} words and marks is found");
                row("as written", format!("k {}, w {}: {found}", text.k(), text.w()));
            }
            None => row("as written", "not in this database: it was made with one view, the structure".into()),
        }
    }
    let boilerplate = if stats.boilerplate > 0 {
        format!(", {} of them boilerplate", grouped(stats.boilerplate))
    } else {
        String::new()
    };
    row("documents", format!("{}{boilerplate}", grouped(stats.documents)));
    if stats.deleted > 0 {
        let documents = count(stats.deleted, "document");
        // Later commits free the space of some of these postings.
        let waiting = count(stats.postings.saturating_sub(stats.fingerprints), "posting");
        row("deleted", format!("{documents} not cleared away yet; space not freed yet: {waiting}"));
    }
    row("bytes", size(stats.bytes));
    row(&format!("{}s", symbol(profile.unit())), grouped(stats.symbols));
    row("fingerprints", grouped(stats.fingerprints));
    if let (Some(distinct), Some(singletons)) = (stats.distinct, stats.singletons) {
        let share = if distinct == 0 { 0.0 } else { singletons as f64 / distinct as f64 };
        row("distinct", format!("{}, {} of them once ({})", grouped(distinct), grouped(singletons), percent(share)));
    }
    for df in stats.df.iter().flatten().filter(|df| df.hashes > 0) {
        let range =
            if df.from == df.to { grouped(df.from) } else { format!("{}-{}", grouped(df.from), grouped(df.to)) };
        row("", format!("{:>10}  in {range} document{}", grouped(df.hashes), if df.to == 1 { "" } else { "s" }));
    }
    let stored: u64 = stats.stored.iter().map(|part| part.bytes).sum();
    let each = if stats.fingerprints == 0 {
        String::new()
    } else {
        format!(", {:.1} bytes a fingerprint", stored as f64 / stats.fingerprints as f64)
    };
    row("stored", format!("{}{each}", size(stored)));
    for part in stats.stored.iter().filter(|part| part.bytes > 0) {
        row("", format!("{:>10}  {}", size(part.bytes), part.part));
    }
    let (runs, blocks) = (grouped(stats.runs), stats.cold_blocks);
    row("runs", format!("{runs}, all visited by each lookup; a cold query reads {blocks:.1} blocks for each hash"));
    if verbose {
        let sizes: Vec<String> =
            stats.run_postings.iter().take(RUNS_SHOWN).map(|&postings| grouped(postings)).collect();
        let more = if stats.run_postings.len() > RUNS_SHOWN { ", ..." } else { "" };
        if !sizes.is_empty() {
            row("", format!("of {}{more} postings", sizes.join(", ")));
        }
        for (i, level) in stats.levels.iter().enumerate() {
            row(
                if i == 0 { "by level" } else { "" },
                format!("{:>10}  in {} of level {}", size(level.bytes), count(level.files, "table"), level.level),
            );
        }
        row("cache", format!("{} of {} in use", size(stats.cache.bytes), size(stats.cache.capacity)));
    }
    for (at, source) in stats.sources.iter().take(SOURCES_SHOWN).enumerate() {
        let settings = as_words(&words_of_json(&source.options));
        row(if at == 0 { "ingested with" } else { "" }, format!("{settings}  {}", escape_terminal(&source.path)));
    }
    if let more @ 1.. = stats.sources.len().saturating_sub(SOURCES_SHOWN) {
        row("", format!("... and {more} more"));
    }
    if !stats.kept_out.is_empty() {
        row("kept out", format!("{} (--format json lists them)", count(stats.kept_out.len() as u64, "content")));
    }
    if let Some(seconds) = stats.committed_at {
        row("last commit", moment(seconds));
    }
    page + &damaged_stores(&stats.damaged_stores)
}
