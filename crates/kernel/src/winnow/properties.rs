//! Tests the selection against the definitions, written as in the papers. The result must agree for any
//! hashes, in pieces of any size, on every instruction set.

use std::collections::{BTreeSet, HashSet};

use super::{Selected, Winnower};
use crate::fuzzing::Draw;
use crate::lanes::Processor;
use crate::profile::Selection;

/// The selection by Definitions 1 and 3 and section 3.1.2, window by window.
pub(crate) fn definition(hashes: &[u64], selection: Selection, w: usize) -> Vec<Selected> {
    let n = hashes.len();
    let w = if selection == Selection::All { 1 } else { w };
    let mut picked = BTreeSet::new();
    match selection {
        Selection::Mod(p) => picked.extend((0..n).filter(|&i| hashes[i].is_multiple_of(p))),
        Selection::SafeMod(p) => {
            let good = |i: usize| hashes[i].is_multiple_of(p);
            picked.extend((0..n).filter(|&i| good(i)));
            picked.extend((0..n).filter(|&i| i + 1 >= w && (i + 1 - w..=i).all(|j| !good(j))));
            if n > 0 && n < w && picked.is_empty() {
                picked.insert(n - 1);
            }
        }
        Selection::Plain | Selection::Robust | Selection::All => {
            let windows: Vec<(usize, usize)> = match n {
                0 => vec![],
                _ if n < w => vec![(0, n)],
                _ => (0..=n - w).map(|start| (start, start + w)).collect(),
            };
            let mut left: Option<usize> = None;
            for (start, end) in windows {
                let least = *hashes[start..end].iter().min().unwrap();
                let kept = left.filter(|&i| i >= start && hashes[i] == least && selection != Selection::Plain);
                let pick = kept.unwrap_or_else(|| (start..end).rev().find(|&i| hashes[i] == least).unwrap());
                picked.insert(pick);
                left = Some(pick);
            }
        }
    }
    picked.into_iter().map(|i| Selected { hash: hashes[i], position: i as u64 }).collect()
}

/// Draws a selection of any kind.
pub(crate) fn drawn_selection(draw: &mut Draw<'_>) -> Selection {
    let (kind, modulus) = (draw.byte() % 5, u64::from(draw.byte()) + 1);
    match kind {
        0 => Selection::Robust,
        1 => Selection::Plain,
        2 => Selection::All,
        3 => Selection::Mod(modulus),
        _ => Selection::SafeMod(modulus),
    }
}

/// Draws hashes from a small or large range. Some tie in their upper halves.
fn drawn_hashes(mut draw: Draw<'_>) -> Vec<u64> {
    let kind = draw.byte() % 4;
    let mut hashes: Vec<u64> = Vec::new();
    // The number of hashes is limited, because the definition takes w steps for each hash.
    while !draw.is_empty() && hashes.len() < 4000 {
        match kind {
            0 => hashes.push(draw.u64()),
            1 => hashes.push(draw.byte().into()),
            2 => hashes.push(u64::from(draw.byte()) << 32 | u64::from(draw.byte())),
            // Runs of constant, ascending or descending values.
            _ => {
                let (first, step, length) = (draw.byte(), draw.byte() % 3, u64::from(draw.byte()));
                let first = u64::from(first).wrapping_mul(u64::MAX / 255);
                hashes.extend((0..length).map(|i| match step {
                    0 => first,
                    1 => first.wrapping_add(i),
                    _ => first.wrapping_sub(i),
                }));
            }
        }
    }
    hashes
}

/// The winnower's selection, with the hashes fed in pieces of this size.
pub(crate) fn select(
    processor: Processor,
    hashes: &[u64],
    selection: Selection,
    w: usize,
    piece: usize,
) -> Vec<Selected> {
    let mut winnower = Winnower::new(selection, w as u32);
    winnower.set_processor(processor);
    let mut out = Vec::new();
    // Selecting a first document must not affect the second.
    winnower.feed(&hashes[..hashes.len() / 2], &mut out);
    winnower.finish(&mut out);
    out.clear();
    for piece in hashes.chunks(piece) {
        winnower.feed(piece, &mut out);
    }
    winnower.finish(&mut out);
    out
}

/// Checks the definition, the subset property and the guarantee.
pub(crate) fn winnow(data: &[u8]) {
    let mut draw = Draw::new(data);
    let selection = drawn_selection(&mut draw);
    let (w, more, piece) = (draw.size(), draw.size() - 1, draw.size());
    let hashes = drawn_hashes(draw);
    let selected = definition(&hashes, selection, w);
    for processor in Processor::all() {
        assert_eq!(select(processor, &hashes, selection, w, piece), selected, "{processor:?}");
    }
    let pairs: HashSet<(u64, u64)> = selected.iter().map(|it| (it.hash, it.position)).collect();
    let values: HashSet<u64> = selected.iter().map(|it| it.hash).collect();
    for it in select(Processor::detect(), &hashes, selection, w + more, piece) {
        assert!(values.contains(&it.hash));
        assert!(selection != Selection::Plain || pairs.contains(&(it.hash, it.position)));
    }
    if matches!(selection, Selection::Robust | Selection::Plain | Selection::SafeMod(_)) && hashes.len() >= w {
        let ends = selected.iter().map(|it| it.position as usize).chain([hashes.len()]);
        // A window without a fingerprint would fit between two consecutive fingerprints.
        let mut next = 0;
        for end in ends {
            assert!(end < next + w, "no fingerprint from {next} to {end}");
            next = end + 1;
        }
    }
}
