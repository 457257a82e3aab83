//! Spans: joins repeated windows into spans, and adds document names and byte offsets.

use std::collections::{HashMap, VecDeque};

use super::anchor::Cover;
use super::report::{Repeat, RepeatOf, RepeatRow, RepeatSource, RepeatSummary, Uncompared};
use super::symbol_store::SymbolStore;
use fpdb_dedup::BySource;
use fpdb_host::error::Result;
use fpdb_host::progress::{Task, is_due};
use fpdb_host::schema::Schema;
use fpdb_host::spill::Sorted;
use fpdb_kernel::document::{Digest, DocId};
use fpdb_store::{DocumentRecord, Store};

/// Maximum number of documents whose names are kept for later spans.
const MOST_NAMES: usize = 4096;

/// Maximum number of earlier runs of windows in which a near occurrence is looked for. If the near occurrence
/// lies in an older run, the answer has the same symbols in more spans.
const MOST_RUNS: usize = 64;

/// A span of a document, in symbols, and its source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RepeatedSymbols {
    pub(super) start: u64,
    pub(super) end: u64,
    pub(super) source: u32,
    pub(super) source_start: u64,
}

/// Joins the repeated windows of one document, which must ascend.
#[derive(Debug, Default)]
pub(super) struct WindowJoiner {
    open: Option<RepeatedSymbols>,
    /// The latest runs of windows and their first occurrences, at most [`MOST_RUNS`].
    latest: VecDeque<Cover>,
}

impl WindowJoiner {
    /// Adds a run of windows of `window` symbols. Appends to `ended` the spans that the run does not
    /// continue.
    pub(super) fn take(&mut self, mut cover: Cover, window: u32, ended: &mut Vec<RepeatedSymbols>) {
        while cover.windows > 0 {
            let near = self.near(cover, window);
            ended.extend(self.join(near, window));
            let (source_start, left) = (cover.source_start + near.windows, cover.windows - near.windows);
            self.note(Cover { windows: near.windows, ..cover }, window);
            cover = Cover { start: cover.start + near.windows, windows: left, source_start, ..cover };
        }
    }

    /// The first windows of a run that have one source. In a text of one character, or of a short period,
    /// windows occur again before they end. The source is then the nearest earlier occurrence: unlike the
    /// first one, it moves on with the windows, so the whole text is one span.
    fn near(&self, cover: Cover, window: u32) -> Cover {
        let mut windows = cover.windows;
        let shift = |run: &Cover| i64::from(run.start) - i64::from(run.source_start);
        let is_near = |run: &&Cover| run.source == cover.source && shift(&cover) - shift(run) < window.into();
        for run in self.latest.iter().rev().filter(is_near) {
            match cover.source_start.checked_sub(run.source_start) {
                Some(at) if at < run.windows => {
                    let (windows, source_start) = (windows.min(run.windows - at), run.start + at);
                    return Cover { windows, source: cover.document, source_start, ..cover };
                }
                Some(_) => {}
                None => windows = windows.min(run.source_start - cover.source_start),
            }
        }
        Cover { windows, ..cover }
    }

    /// Notes a run for the windows after it.
    fn note(&mut self, run: Cover, window: u32) {
        let is_over = |first: &Cover| first.start + first.windows < run.start.saturating_sub(window);
        while self.latest.len() == MOST_RUNS || self.latest.front().is_some_and(is_over) {
            self.latest.pop_front();
        }
        match self.latest.back_mut() {
            Some(last)
                if last.source == run.source
                    && last.start + last.windows == run.start
                    && last.source_start + last.windows == run.source_start =>
            {
                last.windows += run.windows;
            }
            _ => self.latest.push_back(run),
        }
    }

    /// Adds a run of windows with one source. Returns the previous span if the run does not continue it.
    fn join(&mut self, cover: Cover, window: u32) -> Option<RepeatedSymbols> {
        let (start, source_start) = (u64::from(cover.start), u64::from(cover.source_start));
        let end = start + u64::from(cover.windows) + u64::from(window) - 1;
        let next = RepeatedSymbols { start, end, source: cover.source, source_start };
        let Some(open) = &mut self.open else {
            self.open = Some(next);
            return None;
        };
        let is_same_run = open.source == next.source
            && open.source_start + next.start == next.source_start + open.start
            && next.start <= open.end;
        if is_same_run {
            open.end = end;
            return None;
        }
        // Symbols in both spans belong to the first.
        let within = open.end.saturating_sub(next.start);
        let next = RepeatedSymbols { start: next.start + within, source_start: next.source_start + within, ..next };
        self.open.replace(next)
    }

    /// Returns the last span.
    pub(super) fn end(&mut self) -> Option<RepeatedSymbols> {
        self.open.take()
    }
}

/// The name and digest of a document, and true if offsets in it refer to its extracted text.
type NamedDocument = (String, Digest, bool);

/// An answer while it is written.
pub(super) struct RepeatWriter<'a> {
    store: &'a Store,
    symbol_store: &'a SymbolStore,
    window: u32,
    uncompared: Vec<(u32, &'static str)>,
    /// The names of the documents in which spans first occur, by id.
    names: HashMap<u32, NamedDocument>,
    sources: BySource<RepeatSource>,
    summary: RepeatSummary,
}

impl<'a> RepeatWriter<'a> {
    pub(super) fn new(
        store: &'a Store,
        symbol_store: &'a SymbolStore,
        window: u32,
        uncompared: Vec<(u32, &'static str)>,
    ) -> Self {
        let summary = RepeatSummary { min_length: window, ..RepeatSummary::default() };
        Self { store, symbol_store, window, uncompared, names: HashMap::new(), sources: BySource::default(), summary }
    }

    /// Calls `visit` with each row, in order of document and place.
    pub(super) fn for_each(
        mut self,
        covers: Sorted<'_, Cover>,
        task: &Task<'_>,
        visit: &mut dyn FnMut(RepeatRow) -> Result<()>,
    ) -> Result<RepeatSummary> {
        let (store, total) = (self.store, self.store.view().state().documents);
        let mut covers = covers.peekable();
        let mut uncompared = std::mem::take(&mut self.uncompared).into_iter().peekable();
        store.for_each_document(|id, record| {
            if record.boilerplate {
                return Ok(true);
            }
            self.summary.documents += 1;
            if is_due(self.summary.documents) {
                task.step("documents listed", self.summary.documents, total)?;
            }
            self.summary.bytes += record.bytes;
            self.summary.symbols += u64::from(self.symbol_store.symbols_of(id).unwrap_or(0));
            while let Some((document, why)) = uncompared.next_if(|&(document, _)| document <= id) {
                if document < id {
                    continue;
                }
                self.summary.uncompared += 1;
                let (document, id) = (record.name.clone(), DocId(id));
                visit(RepeatRow::Uncompared(Uncompared { schema: Schema::new(), document, id, why: why.into() }))?;
            }
            let (mut joining, mut bytes, mut until, mut any) = (WindowJoiner::default(), 0, 0, false);
            let mut ended = Vec::new();
            loop {
                let next = covers.next_if(|cover| cover.as_ref().map_or(true, |cover| cover.document <= id));
                match next.transpose()? {
                    Some(cover) => joining.take(cover, self.window, &mut ended),
                    None => match joining.end() {
                        None => break,
                        last => ended.extend(last),
                    },
                }
                for piece in ended.drain(..) {
                    let repeat = self.repeat(id, &record, &piece)?;
                    // A character that stands for several symbols can be in two spans.
                    bytes += repeat.end - repeat.start.max(until).min(repeat.end);
                    until = repeat.end;
                    any = true;
                    self.summary.repeats += 1;
                    self.summary.repeated_symbols += repeat.symbols;
                    visit(RepeatRow::Repeat(repeat))?;
                }
            }
            self.summary.affected += u64::from(any);
            self.summary.repeated_bytes += bytes;
            let totals = self.sources.of(&record);
            totals.documents += 1;
            totals.bytes += record.bytes;
            totals.repeated_bytes += bytes;
            Ok(true)
        })?;
        let largest = self.sources.largest(|totals| totals.repeated_bytes);
        let sources = largest.map(|(source, totals)| RepeatSource { source, ..totals }).collect();
        let mut summary = RepeatSummary { sources, ..self.summary };
        if summary.symbols > 0 {
            summary.share = summary.repeated_symbols as f64 / summary.symbols as f64;
        }
        Ok(summary)
    }

    fn repeat(&mut self, id: u32, record: &DocumentRecord, piece: &RepeatedSymbols) -> Result<Repeat> {
        let DocumentRecord { name, digest, extracted, .. } = record;
        let symbols = piece.end - piece.start;
        // Places of symbols have 32 bits.
        let span = |document, start: u64| self.symbol_store.span(document, start as u32, symbols as u32);
        let (here, there) = (span(id, piece.start)?, span(piece.source, piece.source_start)?);
        let is_same = piece.source == id;
        let (document, of, of_extracted) =
            if is_same { (name.clone(), *digest, *extracted) } else { self.name(piece.source)? };
        Ok(Repeat {
            schema: Schema::new(),
            document: name.clone(),
            id: DocId(id),
            start: here.start,
            end: here.end,
            extracted: *extracted,
            symbols,
            digest: *digest,
            of: RepeatOf {
                document,
                id: DocId(piece.source),
                start: there.start,
                end: there.end,
                extracted: of_extracted,
                digest: of,
            },
            exact: true,
        })
    }

    fn name(&mut self, id: u32) -> Result<NamedDocument> {
        if let Some(name) = self.names.get(&id) {
            return Ok(name.clone());
        }
        if self.names.len() >= MOST_NAMES {
            self.names.clear();
        }
        let DocumentRecord { name, digest, extracted, .. } = self.store.document(id)?;
        self.names.insert(id, (name.clone(), digest, extracted));
        Ok((name, digest, extracted))
    }
}
