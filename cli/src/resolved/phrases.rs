//! Phrases of queries to ignore.

use fpdb::{Phrases, Profile};

use crate::printer::Printer;
use crate::render::{count, grouped, has};
use crate::typed::QueryReadArgs;

/// Reads the phrases to ignore. Prints how many of them are too short to have an effect alone.
pub(crate) fn read(args: &QueryReadArgs, profile: &Profile, printer: &Printer) -> anyhow::Result<Option<Phrases>> {
    let Some(path) = &args.ignore_phrases else { return Ok(None) };
    let phrases = Phrases::read(path, profile)?;
    let short = phrases.shorter_than_k() as u64;
    if short > 0 {
        printer.warning(&format!(
            "warning: {} of {} {} fewer than {} symbols (k): a phrase so short ignores nothing on its own",
            grouped(short),
            count(phrases.count() as u64, "phrase"),
            has(short),
            profile.k()
        ));
    }
    Ok(Some(phrases))
}
