//! Write: writes a report pair by pair, best first, until the space is used up. A text is read and decoded
//! for the first of its pairs that gets a page. At that time the passages of all its pairs are located in the
//! text. The overview is written last.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;

use serde::Serialize;

use super::assemble::assemble;
use super::data::{Origin, Overview, PairData, SideData, TextData};
use super::options::{HtmlAnswers, HtmlOptions};
use super::output::Output;
use super::sides::ShownText;
use super::texts::TextReader;
use super::{ReportContent, anonymous, escape, pack};
use crate::database::Database;
use crate::query::{Match, Passage};
use fpdb_host::error::{Error, Result};
use fpdb_host::failure::Failure;
use fpdb_host::progress::Task;
use fpdb_kernel::document::Offsets;
use fpdb_kernel::normalize::Readable;

/// The result of writing a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct HtmlSummary {
    /// Number of files written.
    pub files: u64,
    /// Total size of these files in bytes.
    pub bytes: u64,
    /// Number of documents whose text could not be read again; the report names them.
    pub unreadable: u64,
    /// Number of pairs not listed, because of [`HtmlOptions::max_pairs`].
    pub pairs_left_out: u64,
}

/// The places of passages in the texts of documents. A key is the number of the pair, and true for document
/// A.
type Sides = HashMap<(usize, bool), SideData>;

/// Writes a report of answers to `path`, as a folder or one file. People read it in a browser, without a
/// network or a server. An earlier report there is replaced.
///
/// ```
/// use fpdb::{Database, Document, IngestOptions, Profile, Task};
/// use fpdb::pairs::PairsOptions;
/// use fpdb::report::{HtmlAnswers, HtmlOptions, write_html};
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let folder = tempfile::tempdir()?;
/// # let folder = folder.path();
/// let profile = Profile::named("prose").ok_or("no such profile")?;
/// let database = Database::create(folder.join("db"), &profile)?;
/// let text = "When in the Course of human events, it becomes necessary for one people to dissolve";
/// let documents = [Document::new("a", text), Document::new("b", format!("They wrote: {text}."))];
/// database.ingest(documents)?;
///
/// let answer = database.pairs(&PairsOptions::of(&profile), &Task::new())?;
/// let answers = HtmlAnswers::Pairs { database: &database, answer };
/// let written = write_html(answers, folder.join("report"), &HtmlOptions::default(), &Task::new())?;
/// assert_eq!(written.unreadable, 0);
/// assert!(folder.join("report/index.html").is_file());
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// [`Error::Stopped`], and then an earlier report is unchanged; [`Error::NotAReport`] if something else
/// exists at `path`; [`Error::Io`]; errors from reading documents or postings. A text that cannot be read is
/// not an error: the report states it.
pub fn write_html(
    answers: HtmlAnswers<'_>,
    path: impl AsRef<Path>,
    options: &HtmlOptions,
    task: &Task<'_>,
) -> Result<HtmlSummary> {
    let path = path.as_ref();
    let database = database_of(&answers);
    let report = assemble(answers, options, task)?;
    let mut output = Output::create(path, options.single_file)?;
    let mut part = |name: String, packed: String| output.part(&name, &packed);
    let Filled { overview, unreadable, pairs_left_out } = fill(report, database, options, task, &mut part, path)?;
    let (files, bytes) = output.finish(&overview)?;
    Ok(HtmlSummary { files, bytes, unreadable, pairs_left_out })
}

/// The data of a report, for a host that serves the page itself with [`ReportAssets`](super::ReportAssets).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReportData {
    /// The overview, as JSON.
    pub overview: String,
    /// Pairs and texts: by name, JSON that is deflated (RFC 1951) and in base64 (RFC 4648).
    pub parts: BTreeMap<String, String>,
}

/// Returns the data of a report of answers, in memory: at most [`HtmlOptions::max_bytes`] of texts and
/// passages.
///
/// # Errors
/// [`Error::Stopped`]; errors from reading documents or postings. A text that cannot be read is not an error:
/// the report states it.
pub fn report_data(answers: HtmlAnswers<'_>, options: &HtmlOptions, task: &Task<'_>) -> Result<ReportData> {
    let database = database_of(&answers);
    let report = assemble(answers, options, task)?;
    let mut parts = BTreeMap::new();
    let mut part = |name: String, packed: String| {
        parts.insert(name, packed);
        Ok(())
    };
    // Nothing is written to this path. Only an error of packing would name it.
    let Filled { overview, .. } = fill(report, database, options, task, &mut part, Path::new("report"))?;
    Ok(ReportData { overview, parts })
}

fn database_of<'a>(answers: &HtmlAnswers<'a>) -> Option<&'a Database> {
    match answers {
        HtmlAnswers::Queries { database, .. }
        | HtmlAnswers::Pairs { database, .. }
        | HtmlAnswers::Dedup { database, .. } => Some(*database),
        HtmlAnswers::Diff { .. } => None,
    }
}

/// A report whose parts have been handed over.
struct Filled {
    overview: String,
    unreadable: u64,
    pairs_left_out: u64,
}

/// Hands over each part of a report, by name, and returns the rest of the report. `path` is for error
/// messages.
fn fill(
    mut report: ReportContent,
    database: Option<&Database>,
    options: &HtmlOptions,
    task: &Task<'_>,
    part: &mut TakePart<'_>,
    path: &Path,
) -> Result<Filled> {
    report.overview.texts = options.texts;
    report.overview.left_out.bytes = options.max_bytes;
    if options.anonymise {
        anonymous::anonymise(&mut report);
    }
    if !options.texts {
        let disguised = report.overview.documents.iter_mut().filter_map(|document| document.disguised.as_mut());
        disguised.for_each(|disguised| disguised.example.clear());
    }
    let known =
        report.overview.documents.iter().map(|_| if options.texts { TextState::Unread } else { TextState::Finished });
    let origins: Vec<Origin> = in_order(&report).collect();
    let unit = report.overview.profile.unit();
    let texts = TextReader::new(database, unit, &options.read, origins.iter());
    let mut pages =
        Pages { known: known.collect(), report, texts, options, sides: Sides::new(), room: options.max_bytes };
    let total = pages.report.overview.pairs.len();
    for number in 0..total {
        task.step("pairs written", number as u64, total as u64)?;
        let Some(found) = pages.report.evidence[number].take() else { continue };
        let page = pages.write(number, found, part).map_err(|failed| match failed {
            Failed::Pack(error) => Error::io("write", path)(error),
            Failed::Write(error) => error,
        })?;
        pages.report.overview.pairs[number].page = page;
        pages.report.overview.left_out.pages += u64::from(!page);
    }
    let Overview { documents, failures, left_out, .. } = &mut pages.report.overview;
    let reasons = documents.iter().filter_map(|document| Some((document.name.clone(), document.why.clone()?)));
    let reasons: Vec<Failure> = reasons.map(|(name, error)| Failure { name, error }).collect();
    let unreadable = reasons.len() as u64;
    let pairs_left_out = left_out.pairs;
    failures.extend(reasons);
    let overview = escape::json(&pages.report.overview).map_err(|error| Error::io("write", path)(error.into()))?;
    Ok(Filled { overview, unreadable, pairs_left_out })
}

/// Takes a part of a report: its name, and its packed content.
type TakePart<'a> = dyn FnMut(String, String) -> Result<()> + 'a;

/// The origins of the texts of the pairs' documents, in the order of the pairs, without duplicates.
fn in_order(report: &ReportContent) -> impl Iterator<Item = Origin> {
    let mut met = HashSet::new();
    let pairs = report.overview.pairs.iter().zip(&report.evidence).filter(|(_, found)| found.is_some());
    pairs
        .flat_map(|(pair, _)| [pair.a, pair.b])
        .filter(move |&document| met.insert(document))
        .filter_map(move |document| report.overview.documents[document].origin.clone())
}

/// Writes the pages of pairs.
struct Pages<'a> {
    report: ReportContent,
    texts: TextReader<'a>,
    options: &'a HtmlOptions,
    /// The state of the text of each document.
    known: Vec<TextState>,
    /// The places of passages in texts that are already in the report, for later pairs.
    sides: Sides,
    /// Number of bytes that may still be written.
    room: u64,
}

/// The state of the text of a document.
enum TextState {
    /// The text has not been read yet.
    Unread,
    /// The text was read but is not in the report. It would take this number of bytes.
    Takes(u64),
    /// The text cannot be read, for this reason.
    Unreadable(String),
    /// The text is in the report, or the report states why it is not, or the report has no texts.
    Finished,
}

/// A text that was read.
struct PackedText {
    packed: String,
    extracted: bool,
    /// The programming language of the text.
    language: Option<String>,
    sides: Sides,
}

/// The reason why the writing of a report ended.
enum Failed {
    Pack(std::io::Error),
    Write(Error),
}

/// Maximum bytes of a part in addition to its packed content: its name, and the element or call around it.
const PART_BYTES: u64 = 96;

/// Best compression ratio expected of a text. A text that would not fit even then is not read.
const TEXT_PACKED: u64 = 4;

impl Pages<'_> {
    /// Writes the page of a pair, and its texts that are not in the report yet. Returns false, and writes
    /// nothing, if there is no room for all of them.
    fn write(&mut self, number: usize, found: Match, part: &mut TakePart<'_>) -> std::result::Result<bool, Failed> {
        let pair = &self.report.overview.pairs[number];
        let (a, b) = (pair.a, pair.b);
        let mut sides = [self.sides.remove(&(number, true)), self.sides.remove(&(number, false))];
        let mut new = if a == b { vec![a] } else { vec![a, b] };
        new.retain(|&document| !matches!(self.known[document], TextState::Finished));
        // Texts of known size were read before. They are read again only if the other text leaves room for
        // them.
        new.sort_by_key(|&document| matches!(self.known[document], TextState::Takes(_)));
        let mut read = Vec::new();
        for &document in &new {
            if self.least(&new) > self.room {
                return Ok(false);
            }
            if let Some(mut text) = self.read(document, number, &found)? {
                for (side, is_a) in sides.iter_mut().zip([true, false]) {
                    *side = text.sides.remove(&(number, is_a)).or(side.take());
                }
                read.push((document, text));
            }
        }
        let [a, b] = sides;
        let data = PairData {
            schema: "fpdb.report.pair/2".into(),
            a: a.unwrap_or_else(|| SideData::without_text(&found, true)),
            b: b.unwrap_or_else(|| SideData::without_text(&found, false)),
            symbols: found.passages.iter().map(|passage| passage.symbols).collect(),
            agreement: found.passages.iter().map(|passage| passage.agreement.map(thousandths)).collect(),
            same_names: same_names(&found.passages),
            found: Match { passages: Vec::new(), ..found },
        };
        let packed = pack::pack(&data).map_err(Failed::Pack)?;
        let bytes = self.least(&new) + part_bytes(&packed);
        if bytes > self.room {
            return Ok(false);
        }
        self.room -= bytes;
        for (document, text) in read {
            part(format!("text-{}", document + 1), text.packed).map_err(Failed::Write)?;
            self.report.overview.documents[document].extracted = text.extracted;
            self.report.overview.documents[document].language = text.language;
            self.sides.extend(text.sides);
        }
        for document in new {
            if let TextState::Unreadable(why) = std::mem::replace(&mut self.known[document], TextState::Finished) {
                self.report.overview.documents[document].why = Some(why);
            }
        }
        part(format!("pair-{}", number + 1), packed).map_err(Failed::Write)?;
        Ok(true)
    }

    /// A lower bound for the bytes of these documents' texts.
    fn least(&self, documents: &[usize]) -> u64 {
        let bytes = documents.iter().map(|&document| match self.known[document] {
            TextState::Unread => self.report.overview.documents[document].bytes / TEXT_PACKED,
            TextState::Takes(bytes) => bytes,
            TextState::Unreadable(_) | TextState::Finished => 0,
        });
        bytes.sum()
    }

    /// Reads the text of a document. Locates in the text the passages `found` of a pair, and the passages of
    /// all later pairs. `None` if the text cannot be read.
    fn read(&mut self, index: usize, number: usize, found: &Match) -> std::result::Result<Option<PackedText>, Failed> {
        let text = match &self.report.overview.documents[index].origin {
            Some(origin) => self.texts.text(origin),
            None => {
                self.known[index] = TextState::Finished;
                return Ok(None);
            }
        };
        let text = match text {
            Ok(text) => text,
            Err(error) => {
                let why = if self.options.anonymise { anonymous::REASON.to_owned() } else { error };
                self.known[index] = TextState::Unreadable(why);
                return Ok(None);
            }
        };
        let shown = ShownText::new(Readable::decode(&text.bytes));
        let mut sides = Sides::new();
        let evidence = self.report.evidence[number + 1..].iter().map(Option::as_ref);
        let all = std::iter::once(Some(found)).chain(evidence);
        for ((number, pair), found) in self.report.overview.pairs.iter().enumerate().skip(number).zip(all) {
            let Some(found) = found else { continue };
            for (document, is_a) in [(pair.a, true), (pair.b, false)] {
                if document == index {
                    sides.insert((number, is_a), SideData::with_text(found, is_a, &shown));
                }
            }
        }
        let ignored = self.report.ignored[index].iter().map(|span| shown.mark(span)).collect();
        let unlike = text.unlike.iter().filter_map(|unlike| shown.unlike(unlike)).collect();
        let data = TextData { schema: "fpdb.report.text/1".into(), text: shown.into_text(), ignored, unlike };
        let packed = pack::pack(&data).map_err(Failed::Pack)?;
        self.known[index] = TextState::Takes(part_bytes(&packed));
        let language = text.format.language().map(|language| language.name().to_owned());
        Ok(Some(PackedText { packed, extracted: text.offsets == Offsets::Extracted, language, sides }))
    }
}

/// The bytes that a part takes in the report.
fn part_bytes(packed: &str) -> u64 {
    packed.len() as u64 + PART_BYTES
}

/// The shares of equal names; empty if no passage has names.
fn same_names(passages: &[Passage]) -> Vec<Option<u16>> {
    let shares: Vec<_> = passages.iter().map(|passage| passage.same_names.map(thousandths)).collect();
    if shares.iter().any(Option::is_some) { shares } else { Vec::new() }
}

/// A share in thousandths: 1000 only if the share is exactly 1.
fn thousandths(share: f64) -> u16 {
    let rounded = (share * 1000.0).round() as u16;
    if share < 1.0 { rounded.min(999) } else { 1000 }
}
