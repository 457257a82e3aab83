//! Expand: visits the documents of a file in order, layer by layer. It does not read a file that is a single
//! document. Members of a container are passed on while the container is read: small ones whole, large ones
//! in pieces.

pub(crate) mod container_batch;
pub(crate) mod extents;
pub(crate) mod file_parts;
mod mail;
pub(crate) mod member_name;
mod member_place;
pub(crate) mod pipe;
pub(crate) mod pump;
mod within;

use std::fs::File;
use std::io::{self, Cursor, Read};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use rustc_hash::FxHashSet;

use crate::input::containers::{read_file, read_stream};
use crate::input::decompress::decompress;
use crate::input::decompress::meter::{Meter, Metered, is_member_error};
use crate::input::decompress::thread::decompress_on_thread;
use crate::input::read::reader::{PIECE, STANDARD_INPUT, is_unchanged};
use crate::input::{About, Candidate, Content, FileFacts, PathFilter, Pieces, ReadOptions, TextPath, WalkEvent};
use crate::recognise::{
    Compression, Container, FORMAT_HEAD as HEAD, JsonRecords, Layer, holds_records, json_record_with, json_records,
    layer_of, name_inside, refuse_report,
};
use extents::Extents;
use fpdb_host::error::{DocumentError, Error, Result};
use fpdb_host::guarded::guarded;
use fpdb_host::stop::StopToken;
use mail::layer_under;
use member_name::CLOSED;
use member_place::MemberPlace;
use pipe::{Input, Pipe, Stoppable};
use pump::{Broken, PIECES_WAITING, first_bytes, pump};
use within::Within;

/// The options for reading, and the receiver of progress.
#[derive(Clone, Copy)]
pub struct ReadContext<'a> {
    /// The options for reading documents.
    pub options: &'a ReadOptions,
    /// Selects members of archives, and records. `None` selects all.
    pub members: Option<&'a PathFilter>,
    /// Ends the reading.
    pub stop: &'a StopToken,
    /// Called with the number of bytes read from files.
    pub progress: &'a dyn Fn(u64),
}

/// The content of an opened file.
pub enum Opened {
    /// A single document, and the source of its bytes.
    Document(Content),
    /// A container of documents, maybe compressed.
    Container(UnreadContainer),
}

/// A container that is not read yet.
pub struct UnreadContainer {
    file: File,
    head: Vec<u8>,
    layer: Layer,
}

/// Opens a file and detects its kind. If the file is one document, completes the facts in `about`.
///
/// # Errors
/// If the file cannot be read or decompressed.
pub fn open(about: &mut About, file: &FileFacts, reading: ReadContext<'_>) -> Result<Opened> {
    let mut open = File::open(&file.path).map_err(Error::io("read", &file.path))?;
    let mut head = Vec::with_capacity(HEAD);
    (&mut open).take(HEAD as u64).read_to_end(&mut head).map_err(Error::io("read", &file.path))?;
    refuse_report(about.named, &file.path, &head)?;
    let layer = layer_under(reading.options, &about.hint.name, &head);
    if reading.options.closed {
        about.member = (layer != Layer::Document).then(|| CLOSED.to_owned());
        return Ok(Opened::Document(Content::File));
    }
    Ok(match layer {
        Layer::Document => {
            refuse_records(reading.options, &file.path, &mut head, &mut open)?;
            Opened::Document(Content::File)
        }
        Layer::Container(_) | Layer::Mail => Opened::Container(UnreadContainer { file: open, head, layer }),
        Layer::Compressed(compression) => {
            // An error here will occur again when the file is read, and is reported then.
            let meter = Meter::new(reading.options.limits.clone(), Some(file.bytes), reading.stop, &|_| {});
            let mut inside = decompress(compression, Cursor::new(&head).chain(&open), &meter);
            let mut inside_head = Vec::with_capacity(HEAD);
            if let Ok(inside) = &mut inside {
                let _ = first_bytes(inside, HEAD, compression.name(), &meter, &mut inside_head);
            }
            let inside_layer = layer_under(reading.options, &name_inside(&about.hint.name), &inside_head);
            if let (Layer::Document, Ok(inside)) = (inside_layer, &mut inside) {
                refuse_records(reading.options, &file.path, &mut inside_head, inside)?;
            }
            drop(inside);
            match inside_layer {
                Layer::Document => {
                    about.hint = name_inside(&about.hint.name).into();
                    Opened::Document(Content::Compressed(compression))
                }
                _ => Opened::Container(UnreadContainer { file: open, head: Vec::new(), layer }.rewound(file)?),
            }
        }
    })
}

/// Returns an error if the options expect records, and a document holds records or begins with an object that
/// has the text field. Otherwise all records would be read as one document. `head` is the beginning of the
/// document. If the document may hold records, `head` is extended from `rest`.
fn refuse_records(options: &ReadOptions, path: &Path, head: &mut Vec<u8>, rest: &mut dyn Read) -> Result<()> {
    let first = head.iter().find(|byte| !byte.is_ascii_whitespace() && !b"\xef\xbb\xbf".contains(byte));
    if !options.refuses_whole_records() || !matches!(first, Some(b'{' | b'[')) {
        return Ok(());
    }
    let missing = PIECE.saturating_sub(head.len());
    // An error here will occur again when the document is read, and is reported then.
    let _ = rest.take(missing as u64).read_to_end(head);
    let path = path.to_owned();
    let texts = TextPath::all_of(&options.fields.text);
    match json_records(head).or_else(|| texts.iter().find_map(|text| json_record_with(&text.root, head))) {
        Some(JsonRecords::Lines) => Err(Error::Document(DocumentError::RecordsWithoutName { path })),
        Some(JsonRecords::Array) => Err(Error::Document(DocumentError::RecordsInArray { path })),
        None => Ok(()),
    }
}

impl UnreadContainer {
    fn rewound(mut self, file: &FileFacts) -> Result<Self> {
        io::Seek::rewind(&mut self.file).map_err(Error::io("read", &file.path))?;
        Ok(self)
    }

    /// Reads the container and visits its members. Returns true if every member could be read and `visit` did
    /// not break.
    ///
    /// # Errors
    /// If the file cannot be opened.
    pub fn expand(
        self,
        about: &About,
        facts: &FileFacts,
        reading: ReadContext<'_>,
        visit: &mut dyn FnMut(WalkEvent) -> ControlFlow<()>,
    ) -> Result<bool> {
        self.expand_with(about, facts, reading, visit, None)
    }

    /// Like [`Self::expand`]. Also reports the places of members to `extents`.
    pub(crate) fn expand_with(
        self,
        about: &About,
        facts: &FileFacts,
        reading: ReadContext<'_>,
        visit: &mut dyn FnMut(WalkEvent) -> ControlFlow<()>,
        extents: Option<&mut dyn Extents>,
    ) -> Result<bool> {
        let Self { file, head, layer } = self;
        let meter = Meter::new(reading.options.limits.clone(), Some(facts.bytes), reading.stop, reading.progress);
        meter.start_reporting();
        let mut expander = Expander::new(about, reading, &meter, visit);
        expander.extents = extents.map(|extents| extents as _);
        let place = MemberPlace::outermost(about);
        let copy = file.try_clone().map_err(Error::io("read", &facts.path))?;
        let told = match layer {
            Layer::Container(container @ (Container::Zip | Container::Parquet)) => {
                expander.container(container, place, ContainerInput::File(copy))
            }
            Layer::Container(container) => {
                let mut input = Cursor::new(head).chain(Metered { input: copy, path: &facts.path, meter: &meter });
                expander.container(container, place, ContainerInput::Stream(&mut input))
            }
            Layer::Compressed(compression) => {
                expander.compressed_outermost(compression, place, &facts.path, Cursor::new(head).chain(copy))
            }
            Layer::Mail => expander
                .mail(place, &mut Cursor::new(head).chain(Metered { input: copy, path: &facts.path, meter: &meter })),
            Layer::Document => Ok(()),
        };
        if told.is_ok() && !is_unchanged(&file, facts)? {
            // This is the last event, so a break does not matter.
            let _ = expander.fail("", Error::Document(DocumentError::ChangedWhileReading { path: facts.path.clone() }));
        }
        let whole = told.is_ok() && expander.whole;
        meter.end();
        Ok(whole)
    }
}

/// Visits the content of standard input or a pipe: one document, or the members of a container.
pub fn expand_stream(
    Candidate { about, content }: &Candidate,
    reading: ReadContext<'_>,
    visit: &mut dyn FnMut(WalkEvent) -> ControlFlow<()>,
) {
    let (path, pipe) = match content {
        Content::Pipe(path) => (path.as_path(), Pipe::open(path)),
        _ => (Path::new(STANDARD_INPUT), Pipe::standard_input()),
    };
    match pipe.map_err(Error::io("read", path)) {
        Ok(pipe) => expand_input(about, reading, path, pipe, visit),
        // This is the last event, so a break does not matter.
        Err(error) => drop(visit(WalkEvent::Failed { name: about.name.clone(), error })),
    }
}

/// Like [`expand_stream`], for any input. `path` names it in errors.
pub(crate) fn expand_input(
    about: &About,
    reading: ReadContext<'_>,
    path: &Path,
    input: impl Input,
    visit: &mut dyn FnMut(WalkEvent) -> ControlFlow<()>,
) {
    let meter = Meter::new(reading.options.limits.clone(), None, reading.stop, reading.progress);
    meter.start_reporting();
    let mut expander = Expander::new(about, reading, &meter, visit);
    expander.stream = Some(path);
    let place = MemberPlace::outermost(about);
    let mut head = Vec::with_capacity(HEAD);
    let mut input = Stoppable { input, stop: reading.stop };
    let read = (&mut input).take(HEAD as u64).read_to_end(&mut head);
    let layer = if reading.options.closed { Layer::Document } else { layer_of(&place.hint.name, &head) };
    let head = Cursor::new(head);
    // Errors were already reported.
    let _ = match (read, layer) {
        (Err(error), _) => expander.break_off(&place, Error::io("read", path)(error)),
        // The thread that decompresses reads the input without `Stoppable`, because no code waits for that
        // thread.
        (Ok(_), Layer::Compressed(compression)) => {
            expander.compressed_outermost(compression, place, path, head.chain(input.input))
        }
        (Ok(_), _) => expander.layer(place, &mut Metered { input: head.chain(input), path, meter: &meter }),
    };
}

/// The input of a container.
enum ContainerInput<'a> {
    File(File),
    Stream(&'a mut dyn Read),
}

struct Expander<'a> {
    about: &'a About,
    options: &'a ReadOptions,
    filter: Option<&'a PathFilter>,
    meter: &'a Meter<'a>,
    visit: &'a mut dyn FnMut(WalkEvent) -> ControlFlow<()>,
    /// True if no member failed so far.
    whole: bool,
    /// True if the last member could not be read to its end, and none can be read after it.
    broken: bool,
    /// The error of the last member, if the receiver had dropped the member and did not report the error. If
    /// the container cannot be read further, this is an error of the container.
    unreported: Option<Error>,
    /// Hashes of the names of members so far. Records are numbered, so they are not included.
    names: FxHashSet<u64>,
    extents: Option<&'a mut dyn Extents>,
    /// The name of the stream, if the input is not a file. The name of a stream may not show the kind of the
    /// input.
    stream: Option<&'a Path>,
}

impl<'a> Expander<'a> {
    fn new(
        about: &'a About,
        reading: ReadContext<'a>,
        meter: &'a Meter<'a>,
        visit: &'a mut dyn FnMut(WalkEvent) -> ControlFlow<()>,
    ) -> Self {
        let ReadContext { options, members: filter, .. } = reading;
        let names = FxHashSet::default();
        Self {
            about,
            options,
            filter,
            meter,
            visit,
            whole: true,
            broken: false,
            unreported: None,
            names,
            extents: None,
            stream: None,
        }
    }

    /// Visits the documents of `input`, which may be of any kind.
    fn layer(&mut self, place: MemberPlace, input: &mut dyn Read) -> Result<()> {
        let mut head = Vec::with_capacity(8 << 10);
        let (mut passed, broken) = first_bytes(input, PIECE, place.format, self.meter, &mut head);
        let layer = if self.options.closed { Layer::Document } else { layer_under(self.options, place.like(), &head) };
        let is_single = matches!(layer, Layer::Document | Layer::Mail);
        let broken = is_single.then(|| passed.drain(..).next()).flatten().or(broken);
        let passed = Broken { errors: passed.into_iter(), meter: self.meter };
        match (layer, broken) {
            (_, Some(error @ Error::Stopped)) | (Layer::Document | Layer::Mail, Some(error)) => {
                self.break_off(&place, error)
            }
            (Layer::Document, None) if self.is_records_without_name(&place, &head) => {
                let path = self.stream.unwrap_or(Path::new(STANDARD_INPUT)).to_owned();
                self.fail(&place.suffix, Error::Document(DocumentError::RecordsWithoutName { path }))
            }
            (Layer::Document, None) => {
                let name = format!("{}{}", self.about.name, place.suffix);
                let path = self.stream.map_or_else(|| PathBuf::from(name), Path::to_owned);
                match refuse_records(self.options, &path, &mut head, &mut io::empty()) {
                    Err(error) => self.fail(&place.suffix, error),
                    Ok(()) => self.document(place, head, input),
                }
            }
            // Documents before and after the place of the error can be valid.
            (_, Some(error)) => {
                let rest = Broken { errors: vec![error].into_iter(), meter: self.meter }.chain(input);
                self.expand_layer(layer, place, &mut passed.chain(Cursor::new(head)).chain(rest))
            }
            (_, None) => self.expand_layer(layer, place, &mut passed.chain(Cursor::new(head)).chain(input)),
        }
    }

    /// True for a stream of JSON lines whose name does not show this format.
    fn is_records_without_name(&self, place: &MemberPlace, head: &[u8]) -> bool {
        self.stream.is_some() && !self.options.closed && place.suffix.is_empty() && holds_records(place.like(), head)
    }

    fn expand_layer(&mut self, layer: Layer, place: MemberPlace, input: &mut dyn Read) -> Result<()> {
        match layer {
            Layer::Container(container) => self.container(container, place, ContainerInput::Stream(input)),
            Layer::Compressed(compression) => self.compressed(compression, place, input),
            Layer::Mail => self.mail(place, input),
            Layer::Document => Ok(()),
        }
    }

    fn compressed(&mut self, compression: Compression, place: MemberPlace, input: &mut dyn Read) -> Result<()> {
        let decoder = self.deeper(&place).map(|()| decompress(compression, input, self.meter));
        self.decompressed(compression, place, decoder)
    }

    /// Like [`Expander::compressed`], for the file itself, whose input is not metered yet.
    fn compressed_outermost(
        &mut self,
        compression: Compression,
        place: MemberPlace,
        path: &Path,
        input: impl Read + Send + 'static,
    ) -> Result<()> {
        let decoder = self.deeper(&place).map(|()| decompress_on_thread(compression, path, input, self.meter));
        self.decompressed(compression, place, decoder)
    }

    fn decompressed(
        &mut self,
        compression: Compression,
        place: MemberPlace,
        decoder: Result<io::Result<Box<dyn Read + '_>>>,
    ) -> Result<()> {
        let format = compression.name();
        match decoder.and_then(|decoder| decoder.map_err(|error| self.meter.error(format, error))) {
            Ok(mut inside) => {
                let outer = place.clone();
                let hint = name_inside(&place.hint.name).into();
                let inner = MemberPlace { hint, depth: place.depth + 1, format, ..place };
                guarded(|| self.layer(inner, &mut inside)).unwrap_or_else(|detail| self.give_up(&outer, detail))
            }
            Err(error) => self.fail(&place.suffix, error),
        }
    }

    fn container(&mut self, container: Container, place: MemberPlace, from: ContainerInput<'_>) -> Result<()> {
        if let Err(error) = self.deeper(&place) {
            return self.fail(&place.suffix, error);
        }
        self.goes_on();
        let (fields, meter) = (&self.options.fields, self.meter);
        if place.suffix.is_empty()
            && let Some(extents) = &mut self.extents
        {
            extents.container(container, place.depth);
        }
        let outer = place.around_members(container.name(), self.options.limits.name_bytes);
        let mut within = Within { outer: &outer, expander: self, last: String::new() };
        let read = guarded(|| match from {
            ContainerInput::File(file) => read_file(container, file, fields, meter, &mut within),
            ContainerInput::Stream(input) => read_stream(container, input, fields, meter, &mut within),
        });
        let read = match read {
            Ok(read) => read,
            Err(detail) => return self.give_up(&outer, detail),
        };
        match (read, self.unreported.take()) {
            (_, Some(error)) => self.break_off(&outer, error),
            (Err(Error::Stopped), None) => Err(Error::Stopped),
            // After a broken member no other can follow, so a second error is not reported.
            (Err(_), None) if self.broken && !meter.is_exhausted() => Ok(()),
            (Err(error), None) => self.break_off(&outer, error),
            (Ok(()), None) => Ok(()),
        }
    }

    /// Notes that members can follow the last one.
    fn goes_on(&mut self) {
        (self.broken, self.unreported) = (false, None);
    }

    fn deeper(&self, place: &MemberPlace) -> Result<()> {
        let limit = self.options.limits.nesting;
        if place.depth < limit { Ok(()) } else { Err(Error::Document(DocumentError::NestedTooDeep { limit })) }
    }

    /// Passes on a document that begins with `head` and continues with `input`.
    fn document(&mut self, place: MemberPlace, head: Vec<u8>, input: &mut dyn Read) -> Result<()> {
        let member = (!place.suffix.is_empty()).then(|| place.suffix.clone());
        self.found(place, member, head, input)
    }

    fn found(&mut self, place: MemberPlace, member: Option<String>, head: Vec<u8>, input: &mut dyn Read) -> Result<()> {
        self.goes_on();
        let limit = self.options.limits.document_bytes;
        if head.len() as u64 > limit {
            return self.fail(&place.suffix, Error::Document(DocumentError::DocumentTooLarge { limit }));
        }
        if head.len() < PIECE {
            return self.hand_over(place, member, Content::Whole(head));
        }
        let format = place.format;
        let (sender, pieces) = Pieces::queue(PIECES_WAITING);
        self.hand_over(place, member, Content::Pieces(pieces))?;
        if let Err(error) = pump(head, input, limit, &sender, |error| self.meter.error(format, error)) {
            self.whole = false;
            self.broken = !is_member_error(&error);
            let is_stopped = matches!(error, Error::Stopped);
            let is_of_document = matches!(error, Error::Document(DocumentError::DocumentTooLarge { .. }));
            self.unreported = sender.fail(error).filter(|_| self.broken && !is_of_document && !is_stopped);
            if is_stopped || self.meter.is_exhausted() {
                return Err(Error::Stopped);
            }
        }
        Ok(())
    }

    fn hand_over(&mut self, place: MemberPlace, member: Option<String>, content: Content) -> Result<()> {
        let mut metadata = place.metadata;
        for header in place.headers {
            if !metadata.iter().any(|(known, _)| *known == header.0) {
                metadata.push(header);
            }
        }
        let about = About {
            name: format!("{}{}", self.about.name, place.suffix),
            hint: place.hint,
            file: self.about.file.clone(),
            member,
            modified: place.modified,
            metadata,
            repeated: place.repeated,
            named: self.about.named && place.suffix.is_empty(),
        };
        self.send(WalkEvent::Document(Candidate { about, content }))
    }

    /// Handles a panic of the reader of the member at this place. The container around it can still be read.
    fn give_up(&mut self, place: &MemberPlace, detail: String) -> Result<()> {
        // The meter may hold the actual reason.
        let error = self.meter.failure_or(|| Error::Document(DocumentError::ReaderFailed { detail }));
        self.break_off(place, error)
    }

    /// Handles a member, at this place, that could not be read to its end.
    fn break_off(&mut self, place: &MemberPlace, error: Error) -> Result<()> {
        self.broken = !is_member_error(&error);
        if matches!(error, Error::Stopped) {
            self.whole = false;
            return Err(error);
        }
        self.fail(&place.suffix, error)?;
        // A limit of the whole file ends the file, and is reported only once.
        if self.meter.is_exhausted() { Err(Error::Stopped) } else { Ok(()) }
    }

    fn fail(&mut self, suffix: &str, error: Error) -> Result<()> {
        self.whole = false;
        let name = format!("{}{suffix}", self.about.name);
        self.send(WalkEvent::Failed { name, error })
    }

    fn send(&mut self, found: WalkEvent) -> Result<()> {
        match (self.visit)(found) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => Err(Error::Stopped),
        }
    }
}
