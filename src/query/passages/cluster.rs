//! Clusters: joins matches that are near each other in both texts, in any order. It is for rewritten text,
//! and for text whose sentences were moved.
//!
//! Matches are divided wherever the query has a gap, and each part wherever the document has one. This
//! repeats until no part can be divided ([`super::connected`]). Rewritten text needs wide gaps. A copy needs
//! narrow ones, or its passage includes the text around it. So the gap is halved as long as the parts are
//! dense. The filters and the constants were tuned on texts rewritten in several ways (docs/measurements.md).
//!
//! Phrases that both texts repeat are left out, and so are clusters that overlap one in which twice as much
//! agrees. If this leaves out a shared run of t symbols, the run becomes a passage of its own. A run whose
//! two places already lie in passages does not. So each place of each run is marked, but a phrase that both
//! texts repeat is not paired each place with each.

use std::ops::Range;

use super::chain::longest_chain;
use super::connected::connected;
use super::joined::{Joined, Joining};
use super::runs::MaximalMatch;
use crate::query::ranges::Uncounted;
use fpdb_host::error::Result;

/// A phrase with more pairs of places than this is no evidence that text was taken over, unless it is `LONG`.
const RARE: u32 = 4;

/// A phrase of at least this many times k symbols counts, however often it is repeated.
const LONG: u64 = 3;

/// A part is dense if at least this share of its symbols agrees.
const DENSE: f64 = 0.6;

/// The gap is halved if the dense parts keep at least this share of the agreeing symbols.
const KEPT: f64 = 0.75;

/// The narrowest gap is the requested one divided by this.
const HALVINGS: u32 = 4;

/// Compares with the 1,024 largest clusters only, to bound time.
const RIVALS: usize = 1 << 10;

/// The clusters of matches, in no order.
///
/// # Errors
/// [`Error::Stopped`](crate::Error::Stopped).
pub(super) fn cluster(matches: &[MaximalMatch], joining: &Joining<'_>) -> Result<Vec<Joined>> {
    let long = LONG * joining.k;
    let significant = |found: &&MaximalMatch| found.rarest <= RARE || u64::from(found.length) >= long;
    let significant: Vec<MaximalMatch> = matches.iter().filter(significant).copied().collect();
    let mut clusters = Vec::new();
    for part in connected(&significant, joining.gap) {
        joining.stop.check()?;
        narrow(part, joining.gap, joining, &mut clusters);
    }
    joining.stop.check()?;
    clusters.retain(|cluster| cluster.counted >= joining.least);
    let mut clusters = without_rivals(clusters);
    add_missed(matches, joining, &mut clusters);
    Ok(clusters)
}

/// Adds shared runs of t symbols that no cluster holds, until each of them lies in a passage on either side.
/// A phrase that both texts repeat is not paired each place with each.
fn add_missed(matches: &[MaximalMatch], joining: &Joining<'_>, passages: &mut Vec<Joined>) {
    let sides: [fn(&Joined) -> &Range<u32>; 2] = [|found| &found.query, |found| &found.document];
    let long = matches.iter().filter(|found| u64::from(found.length) >= joining.guarantee);
    let mut runs: Vec<Joined> = long.map(|found| Joined::of(found, joining.uncounted)).collect();
    runs.retain(|run| run.counted >= joining.least);
    for side in sides {
        let ascending = |found: &Joined| (side(found).start, std::cmp::Reverse(side(found).end));
        runs.sort_by_key(ascending);
        let mut held: Vec<Range<u32>> = passages.iter().map(|found| side(found).clone()).collect();
        held.sort_unstable_by_key(|held| held.start);
        let mut held = held.into_iter().peekable();
        // The furthest end of the passages that begin here or earlier.
        let mut reach = 0;
        for run in &runs {
            while let Some(passage) = held.next_if(|held| held.start <= side(run).start) {
                reach = reach.max(passage.end);
            }
            if side(run).end > reach {
                reach = side(run).end;
                passages.push(run.clone());
            }
        }
    }
}

/// Divides a part further as long as that gives dense parts.
fn narrow(part: Vec<MaximalMatch>, gap: u32, joining: &Joining<'_>, clusters: &mut Vec<Joined>) {
    let whole = joined(&part, joining.uncounted);
    let narrower = gap / 2;
    if narrower >= (joining.gap / HALVINGS).max(1) {
        let mut dense = connected(&part, narrower);
        dense.retain(|part| {
            let joined = joined(part, joining.uncounted);
            joined.counted >= joining.least && joined.agreed as f64 >= DENSE * joined.length() as f64
        });
        let kept: u64 = dense.iter().map(|part| joined(part, joining.uncounted).agreed).sum();
        if !dense.is_empty() && kept as f64 >= KEPT * whole.agreed as f64 {
            dense.into_iter().for_each(|part| narrow(part, narrower, joining, clusters));
            return;
        }
    }
    clusters.push(Joined { in_order: longest_chain(&part), ..whole });
}

/// The smallest spans that contain these matches. The symbols that agree are those matched on both sides, in
/// any order, each counted once. A later step finds the number of symbols in order.
fn joined(matches: &[MaximalMatch], uncounted: &Uncounted) -> Joined {
    let spans = |span: fn(&MaximalMatch) -> Range<u32>| {
        let mut spans: Vec<Range<u32>> = matches.iter().map(span).collect();
        spans.sort_unstable_by_key(|span| (span.start, span.end));
        let (mut end, mut covered, mut counted) = (0, 0, 0);
        for span in &spans {
            let start = span.start.max(end);
            end = end.max(span.end);
            covered += u64::from(end.saturating_sub(start));
            counted += uncounted.counted(&(start.min(end).into()..end.into()));
        }
        (spans.first().map_or(0, |first| first.start)..end, covered, counted)
    };
    let (query, in_query, counted) = spans(|found| found.query..found.query_end());
    let (document, in_document, _) = spans(|found| found.document..found.document_end());
    let agreed = in_query.min(in_document);
    Joined { query, document, agreed, counted: counted.min(agreed), in_order: 0 }
}

/// Leaves out a cluster if most of one of its spans lies in a cluster in which twice as much agrees: the same
/// phrases found again elsewhere. Only the largest clusters are compared with.
fn without_rivals(mut clusters: Vec<Joined>) -> Vec<Joined> {
    clusters.sort_by_key(|cluster| {
        let (query, document) = (&cluster.query, &cluster.document);
        (std::cmp::Reverse(cluster.agreed), query.start, document.start, query.end, document.end)
    });
    let mut kept: Vec<Joined> = Vec::new();
    for cluster in clusters {
        let mostly_in = |inner: &Range<u32>, outer: &Range<u32>| {
            let common = inner.end.min(outer.end).saturating_sub(inner.start.max(outer.start));
            common as usize * 2 > inner.len()
        };
        let rival = |other: &Joined| {
            other.agreed > 2 * cluster.agreed
                && (mostly_in(&cluster.query, &other.query) || mostly_in(&cluster.document, &other.document))
        };
        if !kept.iter().take(RIVALS).any(rival) {
            kept.push(cluster);
        }
    }
    kept
}
