//! EPUB: reads the pages of a book in the order of its spine, each like a page of XHTML.

use std::collections::{HashMap, HashSet};

use super::package::Package;
use super::xml::{self, XmlEvent};
use crate::extract::html;
use crate::extract::{Extracted, InputLimits};
use fpdb_host::error::{DocumentError, Error, Result};
use fpdb_kernel::document::Format;
use fpdb_kernel::hex;

/// Extracts the text of a book.
pub(crate) fn extract(bytes: &[u8], limits: &InputLimits) -> Result<Extracted> {
    let mut package = Package::open(Format::Epub, bytes, limits)?;
    let contents = contents_part(&mut package)?;
    let pages = pages(&package.needed(&contents)?, &contents)?;
    let encrypted = match package.part("META-INF/encryption.xml")? {
        Some(part) => encrypted(&part)?,
        None => HashSet::new(),
    };
    let mut text = String::new();
    for page in &pages {
        // Only encrypted pages matter: fonts are often encrypted.
        if encrypted.contains(page) {
            return Err(Error::Document(DocumentError::EncryptedDocument { format: Format::Epub.name() }));
        }
        let page = package.needed(page)?;
        limits.check_memory(Format::Html, &page).map_err(|_| too_much(limits))?;
        let page = html::text(&page, true);
        text.push_str(str::from_utf8(&page).unwrap_or_default());
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
    }
    let unread = package.unread(is_picture)?;
    Ok(Extracted { unread, ..Extracted::detached(text) })
}

/// True for the names of pictures, sounds and films.
fn is_picture(name: &str) -> bool {
    const EXTENSIONS: [&str; 11] = ["png", "jpg", "jpeg", "gif", "svg", "webp", "mp3", "m4a", "ogg", "mp4", "webm"];
    let extension = name.rsplit_once('.').map(|(_, extension)| extension.to_ascii_lowercase());
    extension.is_some_and(|extension| EXTENSIONS.contains(&&*extension))
}

fn too_much(limits: &InputLimits) -> Error {
    Error::Document(DocumentError::ReadingMemory { format: Format::Epub.name(), limit: limits.reading_memory })
}

/// The name of the part that lists the pages.
fn contents_part(package: &mut Package<'_>) -> Result<String> {
    let mut found = None;
    let container = package.needed("META-INF/container.xml")?;
    xml::read(Format::Epub, &container, &mut |piece| {
        if let XmlEvent::Start("rootfile", attributes) = piece
            && found.is_none()
        {
            found = attributes.get("full-path");
        }
        Ok(())
    })?;
    found.ok_or_else(|| Error::not_of_format(Format::Epub, "it does not say where its contents are listed"))
}

/// The names of the parts with the pages, in the order of the spine.
fn pages(contents: &[u8], part: &str) -> Result<Vec<String>> {
    let mut items = HashMap::new();
    let mut spine = Vec::new();
    xml::read(Format::Epub, contents, &mut |piece| {
        match piece {
            XmlEvent::Start("item", attributes) => {
                if let (Some(id), Some(href)) = (attributes.get("id"), attributes.get("href"))
                    && attributes.get("media-type").is_none_or(|kind| kind.contains("html"))
                {
                    items.insert(id, resolve(part, &href));
                }
            }
            XmlEvent::Start("itemref", attributes) => spine.extend(attributes.get("idref")),
            _ => {}
        }
        Ok(())
    })?;
    // A page is read only once, even if the spine lists it several times.
    Ok(spine.iter().filter_map(|id| items.remove(id)).collect())
}

/// The names of the encrypted parts.
fn encrypted(part: &[u8]) -> Result<HashSet<String>> {
    let mut names = HashSet::new();
    xml::read(Format::Epub, part, &mut |piece| {
        if let XmlEvent::Start("CipherReference", attributes) = piece {
            names.extend(attributes.get("URI").map(|uri| resolve("", &uri)));
        }
        Ok(())
    })?;
    Ok(names)
}

/// The name of the part to which a reference in the part `from` leads.
fn resolve(from: &str, reference: &str) -> String {
    let reference = reference.split('#').next().unwrap_or_default();
    let mut path: Vec<&str> = match reference.starts_with('/') {
        true => Vec::new(),
        false => from.split('/').rev().skip(1).collect::<Vec<_>>().into_iter().rev().collect(),
    };
    for step in reference.split('/') {
        match step {
            "" | "." => {}
            ".." => drop(path.pop()),
            step => path.push(step),
        }
    }
    percent_decoded(&path.join("/"))
}

/// Decodes escapes such as `%20`. Other text is unchanged.
fn percent_decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        let escaped = match after {
            [high, low, ..] if byte == b'%' => hex::decode_byte(*high, *low),
            _ => None,
        };
        bytes.push(escaped.unwrap_or(byte));
        rest = if escaped.is_some() { &after[2..] } else { after };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
