//! How to query.

use fpdb::{Mode, QueryOptions};

use crate::typed::QueryArgs;

/// Hashes looked up in resemblance mode: an error of at most 9% (1 / sqrt(128)).
const RESEMBLANCE_N: u64 = 128;

/// The options of a query from the command line, except phrases; with at most so many passages of a pair.
pub(crate) fn options(args: &QueryArgs, most_passages: Option<usize>) -> QueryOptions {
    let n = match args.mode {
        Mode::Containment => None,
        Mode::Resemblance => Some(RESEMBLANCE_N),
    };
    QueryOptions::default()
        .mode(args.mode)
        .window(args.window)
        .n(args.n.or(n))
        .top((args.top > 0).then(|| usize::try_from(args.top).unwrap_or(usize::MAX)))
        .min_score(args.min_score)
        .max_df(args.max_df.filter(|&most| most > 0))
        .passages(!args.no_passages)
        .joining(args.joining.options(most_passages))
        .weight(args.weight)
        .submission_by(args.submission_by.as_deref().map(fpdb::submission_pattern))
        .read(args.read.options())
}
