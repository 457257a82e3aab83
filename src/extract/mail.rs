//! Mail: the subject and the texts of a message (RFC 5322, MIME), decoded by `mail-parser`.

use mail_parser::{Message, MessageParser, PartType};

use super::{Extracted, Limits, html};
use crate::document::Format;
use crate::error::{DocumentError, Error, Result};

/// Messages within messages that are read.
const DEPTH: u32 = 16;

/// The text of a message.
pub(super) fn extract(bytes: &[u8], limits: &Limits) -> Result<Extracted> {
    let message = MessageParser::default().parse(bytes);
    let message = message.ok_or_else(|| Error::not_of_format(Format::Mail, "it has no header"))?;
    let mut text = String::new();
    // Messages to read, the next one last.
    let mut waiting = vec![(&message, 0)];
    while let Some((message, depth)) = waiting.pop() {
        read(message, &mut text);
        if text.len() as u64 > limits.unpacked {
            return Err(Error::Document(DocumentError::Unpacked {
                format: Format::Mail.name(),
                limit: limits.unpacked,
            }));
        }
        if depth < DEPTH {
            let inner = message.parts.iter().rev().filter_map(|part| match &part.body {
                PartType::Message(inner) => Some((inner, depth + 1)),
                _ => None,
            });
            waiting.extend(inner);
        }
    }
    Ok(Extracted::detached(text))
}

/// Adds the subject of a message and its texts; of a text that is there as HTML as well, the plain one.
fn read(message: &Message<'_>, text: &mut String) {
    let mut add = |block: &str| {
        text.push_str(block);
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
    };
    add(message.subject().unwrap_or_default());
    for &part in &message.text_body {
        match message.part(part).map(|part| &part.body) {
            Some(PartType::Text(plain)) => add(plain),
            Some(PartType::Html(page)) => add(&html::text_of_str(page)),
            _ => {}
        }
    }
}
