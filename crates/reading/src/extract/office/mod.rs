//! Word documents (Office Open XML) and OpenDocument texts: paragraphs in the order of the file, then notes.

pub(crate) mod epub;
mod package;
mod xml;

use crate::extract::{Extracted, InputLimits};
use fpdb_host::error::{DocumentError, Error, Result};
use fpdb_kernel::document::Format;
use package::Package;
use rustc_hash::FxHashSet;
use xml::{Attributes, XmlEvent};

/// Text under construction, in paragraphs.
#[derive(Default)]
struct Paragraphs(String);

impl Paragraphs {
    /// Ends the current paragraph, if any.
    fn end(&mut self) {
        if !self.0.is_empty() && !self.0.ends_with('\n') {
            self.0.push('\n');
        }
    }
}

/// Extracts the text of a Word document.
pub(crate) fn docx(bytes: &[u8], limits: &InputLimits) -> Result<Extracted> {
    // Word stores a document with a password in another kind of container.
    if bytes.starts_with(b"\xD0\xCF\x11\xE0") {
        return Err(Error::Document(DocumentError::EncryptedDocument { format: Format::Docx.name() }));
    }
    let mut package = Package::open(Format::Docx, bytes, limits)?;
    let main = main_part(&mut package)?;
    let (folder, file) = main.rsplit_once('/').unwrap_or(("", &main));
    let mut text = Paragraphs::default();
    let part = package.needed(&main)?;
    wordprocessing(&part, &mut text)?;
    // Without usable relationships, the notes are looked for under their usual names.
    let relations = package.part(&part_name(folder, &format!("_rels/{file}.rels")));
    let relations = relations.ok().flatten().unwrap_or_default();
    for notes in ["footnotes", "endnotes"] {
        let target = target(&relations, notes).ok().flatten();
        for name in target.into_iter().chain([format!("{notes}.xml")]) {
            if let Some(part) = package.part(&part_name(folder, &name))? {
                wordprocessing(&part, &mut text)?;
                break;
            }
        }
    }
    let unread = package.unread(|name| {
        ["/media/", "/embeddings/", "/diagrams/data", "/charts/chart"].iter().any(|it| name.contains(it))
    })?;
    Ok(Extracted { unread, ..Extracted::detached(text.0) })
}

/// The name of the part with the body.
fn main_part(package: &mut Package<'_>) -> Result<String> {
    let relations = package.needed("_rels/.rels")?;
    let main = target(&relations, "officeDocument")?;
    let main = main.ok_or_else(|| Error::not_of_format(Format::Docx, "it does not say where its text is"))?;
    Ok(part_name("", &main))
}

/// The target of the last relationship of this kind; `None` if there is none. `relations` may be empty.
fn target(relations: &[u8], kind: &str) -> Result<Option<String>> {
    let mut target = None;
    xml::read(Format::Docx, relations, &mut |piece| {
        if let XmlEvent::Start("Relationship", attributes) = piece
            && attributes.get("Type").and_then(|of| Some(of.rsplit_once('/')?.1 == kind)) == Some(true)
        {
            target = attributes.get("Target");
        }
        Ok(())
    })?;
    Ok(target)
}

/// The name of the part to which a relationship of a part in this folder leads.
fn part_name(folder: &str, target: &str) -> String {
    let mut names: Vec<&str> = if target.starts_with('/') { Vec::new() } else { folder.split('/').collect() };
    for name in target.split('/') {
        match name {
            "" | "." => {}
            ".." => drop(names.pop()),
            name => names.push(name),
        }
    }
    names.retain(|name| !name.is_empty());
    names.join("/")
}

/// Adds the text of a part in WordprocessingML.
fn wordprocessing(part: &[u8], text: &mut Paragraphs) -> Result<()> {
    // `dropped`: number of open elements whose content is dropped. `in_text`: true where characters are text.
    let (mut dropped, mut in_text) = (0_u64, false);
    // One entry for each open run, and for the open properties of a paragraph: true if hidden. Runs nest,
    // because text boxes have paragraphs within a run.
    let mut hidden: Vec<bool> = Vec::new();
    xml::read(Format::Docx, part, &mut |piece| {
        match piece {
            // Dropped: a copy of content for programs that do not support the original, the properties before
            // a change, and what a change deleted or moved away.
            XmlEvent::Start("Fallback" | "rPrChange" | "del" | "moveFrom", _) => dropped += 1,
            XmlEvent::End("Fallback" | "rPrChange" | "del" | "moveFrom") => dropped = dropped.saturating_sub(1),
            _ if dropped > 0 => {}
            XmlEvent::Start("r" | "pPr", _) => hidden.push(hidden.last().is_some_and(|&is_hidden| is_hidden)),
            XmlEvent::End("r" | "pPr") => drop(hidden.pop()),
            // In the properties of a paragraph, `vanish` hides only the mark of the paragraph.
            XmlEvent::Start("vanish", attributes) => {
                let is_off = attributes.get("val").is_some_and(|value| ["0", "false", "off"].contains(&&*value));
                hidden.last_mut().into_iter().for_each(|is_hidden| *is_hidden |= !is_off);
            }
            _ if hidden.last() == Some(&true) => {}
            XmlEvent::Start("t", _) => in_text = true,
            XmlEvent::End("t") => in_text = false,
            XmlEvent::Text(characters) if in_text => text.0.push_str(characters),
            XmlEvent::Start("tab", _) => text.0.push('\t'),
            XmlEvent::Start("noBreakHyphen", _) => text.0.push('-'),
            XmlEvent::Start("br" | "cr", _) | XmlEvent::Start("p", _) | XmlEvent::End("p") => text.end(),
            _ => {}
        }
        Ok(())
    })?;
    text.end();
    Ok(())
}

/// Extracts the text of an OpenDocument text.
pub(crate) fn odt(bytes: &[u8], limits: &InputLimits) -> Result<Extracted> {
    let mut package = Package::open(Format::Odt, bytes, limits)?;
    if let Some(manifest) = package.part("META-INF/manifest.xml")? {
        refuse_encrypted(&manifest)?;
    }
    let content = package.needed("content.xml")?;
    let mut reader = OdtContent::default();
    xml::read(Format::Odt, &content, &mut |piece| {
        reader.take(&piece);
        Ok(())
    })?;
    reader.body.end();
    let unread = package.unread(|name| ["Pictures/", "Media/", "Object"].iter().any(|it| name.starts_with(it)))?;
    Ok(Extracted { unread, ..Extracted::detached(reader.body.0 + &reader.notes.0) })
}

fn refuse_encrypted(manifest: &[u8]) -> Result<()> {
    xml::read(Format::Odt, manifest, &mut |piece| match piece {
        XmlEvent::Start("encryption-data", _) => {
            Err(Error::Document(DocumentError::EncryptedDocument { format: Format::Odt.name() }))
        }
        _ => Ok(()),
    })
}

/// Reads `content.xml`.
#[derive(Default)]
struct OdtContent {
    body: Paragraphs,
    /// Footnotes and endnotes. In the file they stand inside the paragraphs that refer to them.
    notes: Paragraphs,
    /// Number of open elements: of the text, of notes, of paragraphs, and of dropped content. Notes and
    /// frames may contain inner paragraphs.
    text: u64,
    note: u64,
    paragraphs: u64,
    dropped: u64,
    /// The name of the style being read, and the names of the styles that hide text.
    style: String,
    hidden_styles: FxHashSet<String>,
    /// Number of open paragraphs and spans in hidden text, the outermost included.
    hidden: u64,
}

/// Elements whose content is not part of the text.
const DROPPED: [&str; 5] = ["annotation", "tracked-changes", "note-citation", "title", "desc"];

impl OdtContent {
    fn take(&mut self, piece: &XmlEvent<'_>) {
        match piece {
            XmlEvent::Start(..) if self.dropped > 0 => self.dropped += 1,
            XmlEvent::End(_) if self.dropped > 0 => self.dropped -= 1,
            _ if self.dropped > 0 => {}
            // `text:title` is a field that prints the title of the document.
            XmlEvent::Start("title", attributes) if attributes.has_prefix("text") => {}
            XmlEvent::Start(name, _) if DROPPED.contains(name) => self.dropped = 1,
            XmlEvent::Start("style", attributes) => self.style = attributes.get("name").unwrap_or_default(),
            XmlEvent::Start("text-properties", attributes) if attributes.get("display").as_deref() == Some("none") => {
                self.hidden_styles.insert(std::mem::take(&mut self.style));
            }
            XmlEvent::Start("p" | "h" | "span", attributes) if self.is_hidden(attributes) => self.hidden += 1,
            XmlEvent::End("p" | "h" | "span") if self.hidden > 0 => self.hidden -= 1,
            _ if self.hidden > 0 => {}
            // `office:text`. A text document has no other element with this name.
            XmlEvent::Start("text", _) => self.text += 1,
            XmlEvent::End("text") => self.text = self.text.saturating_sub(1),
            XmlEvent::Start("note-body", _) => self.note += 1,
            XmlEvent::End("note-body") => {
                self.notes.end();
                self.note = self.note.saturating_sub(1);
            }
            XmlEvent::Start("p" | "h", _) => {
                self.paragraphs += 1;
                self.current().end();
            }
            XmlEvent::End("p" | "h") => {
                self.paragraphs = self.paragraphs.saturating_sub(1);
                self.current().end();
            }
            // Consecutive spaces. Their number does not matter.
            XmlEvent::Start("s", _) => self.current().0.push(' '),
            XmlEvent::Start("tab", _) => self.current().0.push('\t'),
            XmlEvent::Start("line-break", _) => self.current().end(),
            XmlEvent::Text(characters) if self.text > 0 && self.paragraphs > 0 => self.current().0.push_str(characters),
            _ => {}
        }
    }

    /// True if a paragraph or span with these attributes is hidden, by its own style or by an element around
    /// it.
    fn is_hidden(&self, attributes: &Attributes<'_>) -> bool {
        let has_style = || attributes.get("style-name").is_some_and(|style| self.hidden_styles.contains(&style));
        self.hidden > 0 || (!self.hidden_styles.is_empty() && has_style())
    }

    fn current(&mut self) -> &mut Paragraphs {
        if self.note > 0 { &mut self.notes } else { &mut self.body }
    }
}
