//! Writing a report: each text is read once, decoded, and the passages of all its pairs found in it; then the pairs; then
//! the page.

use std::collections::HashMap;
use std::path::Path;

use super::data::{PairData, SideData, TextData};
use super::output::Output;
use super::sides::ShownText;
use super::texts::Texts;
use super::{Report, anonymous, escape, pack};
use crate::document::Offsets;
use crate::error::{Error, Result};
use crate::normalize::Readable;
use crate::report::{Failure, MatchReport};

/// What a report holds at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Pairs, the best.
    pub pairs: usize,
    /// Bytes of texts and passages as they are packed, about.
    pub bytes: u64,
}

impl Limits {
    /// Passages of one pair, those that tell something new, the longest: more than anybody reads, and few enough for a
    /// browser. What is asked for with [`PassageOptions::most`](crate::PassageOptions::most).
    pub const PASSAGES: usize = 1000;
}

impl Default for Limits {
    fn default() -> Self {
        Self { pairs: 1000, bytes: 64 << 20 }
    }
}

/// How a report is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Bytes of texts and passages to embed, as they are packed, about; those of the best pairs come first.
    pub max_bytes: u64,
    /// Whether names are replaced and paths left out.
    pub anonymise: bool,
    /// Whether texts are embedded at all.
    pub texts: bool,
    /// One file instead of a folder.
    pub single_file: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self { max_bytes: Limits::default().bytes, anonymise: false, texts: true, single_file: false }
    }
}

/// What was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Written {
    /// Files.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Documents whose text could not be read again; the report names them.
    pub unreadable: u64,
}

/// The places of a document's passages in its text, by pair and by whether it is A.
type Sides = HashMap<(usize, bool), SideData>;

/// Writes a report to `path`: a folder, or a file. An earlier report there is replaced.
///
/// # Errors
/// [`Error::NotAReport`] where something else is there, and [`Error::Io`]. A text that cannot be read is no error: the
/// report says so.
pub fn write(mut report: Report, texts: &dyn Texts, path: &Path, options: &Options) -> Result<Written> {
    let mut output = Output::create(path, options.single_file)?;
    let names: Vec<String> = report.overview.documents.iter().map(|document| document.name.clone()).collect();
    report.overview.texts = options.texts;
    if options.anonymise {
        anonymous::anonymise(&mut report);
    }
    let wanted = choose(&mut report, options);
    let mut sides: Vec<Option<Sides>> = vec![None; names.len()];
    let mut unreadable = 0;
    for index in wanted {
        match embed(&report, index, texts, &mut output) {
            Ok((found, offsets)) => {
                sides[index] = Some(found);
                report.overview.documents[index].extracted = offsets == Offsets::Extracted;
            }
            Err(Unreadable::Text(error)) => {
                unreadable += 1;
                let why = if options.anonymise { anonymous::REASON.to_owned() } else { error.chain() };
                let document = &mut report.overview.documents[index];
                document.why = Some(why.clone());
                report.overview.failures.push(Failure { name: document.name.clone(), error: why });
            }
            Err(Unreadable::Report(error)) => return Err(error),
        }
    }
    for (index, (pair, found)) in report.overview.pairs.iter().zip(report.evidence).enumerate() {
        let Some(found) = found.filter(|_| pair.page) else { continue };
        let mut side = |document: usize, is_a: bool| {
            let shown = sides[document].as_mut().and_then(|sides| sides.remove(&(index, is_a)));
            shown.unwrap_or_else(|| SideData::without_text(&found, is_a))
        };
        let (a, b) = (side(pair.a, true), side(pair.b, false));
        let data = PairData {
            schema: "fpdb.report.pair/2".into(),
            a,
            b,
            symbols: found.passages.iter().map(|passage| passage.symbols).collect(),
            agreement: found.passages.iter().map(|passage| passage.agreement.map(thousandths)).collect(),
            found: MatchReport { passages: Vec::new(), ..found },
        };
        let packed = pack::pack(&data).map_err(Error::io("write", path))?;
        output.part(&format!("pair-{}", index + 1), &packed)?;
    }
    let overview = escape::json(&report.overview).map_err(|error| Error::io("write", path)(error.into()))?;
    let (files, bytes) = output.finish(&overview)?;
    Ok(Written { files, bytes, unreadable })
}

/// What kept a text from the report: itself, or the report.
enum Unreadable {
    Text(Error),
    Report(Error),
}

/// About how many bytes a passage takes, packed, with its marks in both texts.
const PASSAGE_BYTES: u64 = 20;

/// About how many bytes of a text take one byte, packed.
const TEXT_PACKED: u64 = 2;

/// Decides which pairs get a page, the best first as long as there is room for their passages and texts, and counts those
/// that get none. Returns the documents whose texts are wanted.
fn choose(report: &mut Report, options: &Options) -> Vec<usize> {
    let overview = &mut report.overview;
    let mut wanted = vec![false; overview.documents.len()];
    let mut room = options.max_bytes;
    for (pair, found) in overview.pairs.iter_mut().zip(&report.evidence) {
        let Some(found) = found else { continue };
        let both = if pair.a == pair.b { vec![pair.a] } else { vec![pair.a, pair.b] };
        let new: Vec<usize> = both.into_iter().filter(|&document| options.texts && !wanted[document]).collect();
        let texts: u64 = new.iter().map(|&document| overview.documents[document].bytes).sum();
        let bytes = texts / TEXT_PACKED + PASSAGE_BYTES * found.passages.len() as u64;
        pair.page = bytes <= room;
        if pair.page {
            room -= bytes;
            new.into_iter().for_each(|document| wanted[document] = true);
        } else {
            overview.left_out.pages += 1;
        }
    }
    overview.left_out.bytes = options.max_bytes;
    (0..wanted.len()).filter(|&document| wanted[document]).collect()
}

/// Writes the text of a document, and returns where the passages of its pairs are in it.
fn embed(
    report: &Report,
    index: usize,
    texts: &dyn Texts,
    output: &mut Output,
) -> std::result::Result<(Sides, Offsets), Unreadable> {
    let Some(origin) = &report.overview.documents[index].origin else {
        return Ok((Sides::new(), Offsets::Original));
    };
    let text = texts.text(origin).map_err(Unreadable::Text)?;
    let shown = ShownText::new(Readable::decode(&text.bytes));
    let mut sides = Sides::new();
    for (number, (pair, found)) in report.overview.pairs.iter().zip(&report.evidence).enumerate() {
        let Some(found) = found.as_ref().filter(|_| pair.page) else { continue };
        for (document, is_a) in [(pair.a, true), (pair.b, false)] {
            if document == index {
                sides.insert((number, is_a), SideData::with_text(found, is_a, &shown));
            }
        }
    }
    let ignored = report.ignored[index].iter().map(|span| shown.mark(span)).collect();
    let data = TextData { schema: "fpdb.report.text/1".into(), text: shown.into_text(), ignored };
    let packed = pack::pack(&data).map_err(|error| Unreadable::Report(Error::io("write", "the report")(error)))?;
    output.part(&format!("text-{}", index + 1), &packed).map_err(Unreadable::Report)?;
    Ok((sides, text.offsets))
}

/// A share in thousandths: all of them only where it is one.
fn thousandths(share: f64) -> u16 {
    let rounded = (share * 1000.0).round() as u16;
    if share < 1.0 { rounded.min(999) } else { 1000 }
}
