//! Mail: the attachments of a mail are its members. The mail itself is a document, which `expand` passes on
//! before the attachments.

use rustc_hash::FxHashMap;

use super::{Member, MemberContent, Members, tidy};
use crate::extract::attachments::{Attachment, Attachments};
use fpdb_host::error::{DocumentError, Error, Result};

/// Passes on the attachments of a mail. An attachment without a name gets its number as a name.
pub(crate) fn read(attachments: &Attachments, members: &mut dyn Members) -> Result<()> {
    let mut names = AttachmentNames::default();
    for (number, Attachment { name, media_type, mut content, is_broken }) in (1u64..).zip(attachments.iter()) {
        let tidied = tidy(name);
        let name = if tidied.is_empty() { format!("{number}.{}", extension_of(media_type)) } else { tidied };
        let mut hint = names.unique(name);
        let suffix = format!("!{hint}");
        if media_type == "message/rfc822" && !hint.to_ascii_lowercase().ends_with(".eml") {
            hint.push_str(".eml");
        }
        if is_broken {
            let source = "it is broken or cut short".into();
            members.failed(suffix, Error::Document(DocumentError::Undecodable { format: "base64", source }))?;
            continue;
        }
        let content = MemberContent::Stream(&mut content);
        members.member(Member { suffix, hint: hint.into(), modified: None, metadata: Vec::new(), content })?;
    }
    Ok(())
}

/// The extension of files of a media type.
fn extension_of(media_type: &str) -> &str {
    match media_type {
        "text/plain" => "txt",
        "text/markdown" => "md",
        "image/jpeg" => "jpg",
        "message/rfc822" => "eml",
        "application/epub+zip" => "epub",
        "application/vnd.oasis.opendocument.text" => "odt",
        "application/vnd.openxmlformats-officedocument.wordprocessingml.document" => "docx",
        // Many short subtypes are extensions: html, csv, pdf, zip, png.
        _ => match media_type.split_once('/') {
            Some((_, short @ ("html" | "csv" | "xml" | "json" | "pdf" | "zip" | "gzip" | "png" | "gif" | "rtf"))) => {
                short
            }
            _ => "bin",
        },
    }
}

/// The names of the attachments of a mail. Of two attachments `a.pdf`, the second is named `a (2).pdf`.
#[derive(Default)]
struct AttachmentNames {
    /// Each name given so far, and the last number tried for it.
    given: FxHashMap<String, u64>,
}

impl AttachmentNames {
    fn unique(&mut self, name: String) -> String {
        let mut number = self.given.get(&name).copied().unwrap_or(0);
        let unique = loop {
            number += 1;
            let numbered = if number == 1 { name.clone() } else { numbered(&name, number) };
            if !self.given.contains_key(&numbered) {
                break numbered;
            }
        };
        self.given.insert(unique.clone(), 1);
        self.given.insert(name, number);
        unique
    }
}

/// A name with a number before its extension.
fn numbered(name: &str, number: u64) -> String {
    match name.rsplit_once('.').filter(|(stem, ending)| !stem.is_empty() && !ending.contains('/')) {
        Some((stem, ending)) => format!("{stem} ({number}).{ending}"),
        None => format!("{name} ({number})"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attachments_of_one_name_stay_apart() {
        let mut names = AttachmentNames::default();
        let given = ["a.pdf", "a (2).pdf", "a.pdf", "a.pdf", "b", "b", "d.x/b", "d.x/b", "a (2).pdf", ".a", ".a"];
        let unique = given.map(|name| names.unique(name.into()));
        let expected = [
            "a.pdf",
            "a (2).pdf",
            "a (3).pdf",
            "a (4).pdf",
            "b",
            "b (2)",
            "d.x/b",
            "d.x/b (2)",
            "a (2) (2).pdf",
            ".a",
            ".a (2)",
        ];
        assert_eq!(unique, expected);
    }
}
