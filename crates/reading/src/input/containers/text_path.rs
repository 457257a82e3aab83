//! Text path: the place of a record's text. The text is one field, or is made of many values in lists and
//! objects within the record, such as the messages of a chat.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use serde::de::{DeserializeSeed, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use super::bad_beginning::MOST_FIELDS;
use super::json_lines::Key;
use super::json_text::JsonText;
use super::json_values::for_each_value;

/// Separates the texts that are joined.
const BLANK_LINE: &[u8] = b"\n\n";

/// A step of a [`TextPath`], from a value to values within it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TextStep {
    /// The field of this name of an object.
    Field(String),
    /// Each element of a list.
    Each,
}

/// The place of a record's text. A line of [`RecordFields::text`](super::RecordFields) names it. A host that
/// has records of its own can use this type too.
///
/// ```
/// # use fpdb_reading::input as fpdb;
/// use fpdb::{TextPath, TextStep};
///
/// let path = TextPath::of("messages[].content");
/// assert_eq!(path.root, "messages");
/// assert_eq!(path.steps, [TextStep::Each, TextStep::Field("content".into())]);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TextPath {
    /// The field of the record.
    pub root: String,
    /// The steps from the value of this field to the texts. Empty if the value is the text.
    pub steps: Vec<TextStep>,
}

impl TextPath {
    /// The path that a name of a text field stands for: `messages[].content` is the field `content` of each
    /// element of the list `messages`. A name without `[]` is one field, even if it has dots.
    #[must_use]
    pub fn of(field: &str) -> Self {
        if !field.contains("[]") {
            return Self { root: field.to_owned(), steps: Vec::new() };
        }
        let (mut root, mut steps) = (None, Vec::new());
        for part in field.split('.') {
            let name = part.trim_end_matches("[]").to_owned();
            let lists = (part.len() - name.len()) / 2;
            match root {
                None => root = Some(name),
                Some(_) => steps.push(TextStep::Field(name)),
            }
            steps.extend((0..lists).map(|_| TextStep::Each));
        }
        Self { root: root.unwrap_or_default(), steps }
    }

    /// The paths of [`RecordFields::text`](super::RecordFields): one for each line.
    #[must_use]
    pub fn all_of(fields: &str) -> Vec<Self> {
        fields.split('\n').map(Self::of).collect()
    }

    /// Appends a text to the texts found so far, after a blank line unless it is the first.
    pub fn join(texts: &mut Option<Vec<u8>>, text: Vec<u8>) {
        match texts {
            None => *texts = Some(text),
            Some(texts) => {
                texts.extend_from_slice(BLANK_LINE);
                texts.extend_from_slice(&text);
            }
        }
    }

    /// Follows the path in the JSON of the root field, from the text of that JSON.
    pub(super) fn follow(&self, value: &RawValue) -> serde_json::Result<Reached> {
        let mut reached = Reached::default();
        self.seed(&mut reached).deserialize(&mut serde_json::Deserializer::from_str(value.get()))?;
        Ok(reached)
    }

    /// A deserializer that follows the path in the JSON of the root field.
    pub(super) fn seed<'a>(&'a self, reached: &'a mut Reached) -> PathSeed<'a> {
        reached.is_found = !self.steps.iter().any(|step| matches!(step, TextStep::Field(_)));
        PathSeed { steps: &self.steps, is_joined: !self.steps.is_empty(), reached }
    }
}

/// The result of following a path in one record. If an empty list or null ends the path early, both flags
/// are false.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Reached {
    /// The texts, joined. `None` if there are none.
    pub(super) texts: Option<Vec<u8>>,
    /// True if the path has been followed to its last field.
    pub(super) is_found: bool,
    /// True if an object lacks a field of the path.
    pub(super) is_lacking: bool,
}

impl Reached {
    /// Adds the texts of the next text field.
    pub(super) fn add(&mut self, next: Self) {
        self.is_found |= next.is_found;
        self.is_lacking |= next.is_lacking;
        if let Some(text) = next.texts {
            TextPath::join(&mut self.texts, text);
        }
    }
}

/// True if the text of a record is joined from several values, because `field` names several fields or a
/// list.
pub fn is_joined(field: &str) -> bool {
    field.contains('\n') || !TextPath::of(field).steps.is_empty()
}

/// Adds a text to the texts that are joined. `value` is a string, or a list of parts, as in messages with
/// pictures: objects that may have a field `text`.
fn add_text(value: &RawValue, texts: &mut Option<Vec<u8>>) -> serde_json::Result<()> {
    if !value.get().starts_with('[') {
        return add_string(value, texts);
    }
    for_each_value(value.get().as_bytes(), &mut |_, part| {
        let mut text = None;
        match part.get().as_bytes() {
            b"null" => return Ok(()),
            [b'[', ..] => return Err(serde_json::Error::custom("a list in a list of parts")),
            part => for_each_value(part, &mut |name, value| {
                if name == "text" {
                    text = Some(value);
                }
                Ok(())
            })?,
        }
        text.map_or(Ok(()), |text| add_string(text, texts))
    })
}

fn add_string(value: &RawValue, texts: &mut Option<Vec<u8>>) -> serde_json::Result<()> {
    let JsonText(text) = serde_json::from_str(value.get())?;
    if let Some(text) = text {
        TextPath::join(texts, text);
    }
    Ok(())
}

/// The place with most text in a field of a record, and the number of bytes of that text. The place is the
/// field itself, the texts of its list, or a field of the objects of its list. `None` if the field has no
/// text.
pub(super) fn most_text(name: &str, value: &RawValue) -> Option<(String, usize)> {
    let bytes = |value: &RawValue| {
        let mut texts = None;
        add_text(value, &mut texts).ok()?;
        texts.map(|texts| texts.len())
    };
    if value.get().starts_with('"') {
        return bytes(value).map(|bytes| (name.to_owned(), bytes));
    }
    if !value.get().starts_with('[') {
        return None;
    }
    // Bytes by field of the objects. `None` stands for the strings of the list.
    let mut places: BTreeMap<Option<Cow<'_, str>>, usize> = BTreeMap::new();
    let mut add = |field, value: &RawValue| {
        if let Some(bytes) = bytes(value).filter(|&bytes| bytes > 0)
            && (places.len() < MOST_FIELDS || places.contains_key(&field))
        {
            *places.entry(field).or_default() += bytes;
        }
        Ok(())
    };
    let read = for_each_value(value.get().as_bytes(), &mut |_, element| match element.get().as_bytes() {
        object @ [b'{', ..] => for_each_value(object, &mut |field, value| add(Some(field), value)),
        [b'"', ..] => add(None, element),
        _ => Ok(()),
    });
    read.ok()?;
    let (field, bytes) = places.into_iter().max_by_key(|(_, bytes)| *bytes)?;
    Some((field.map_or_else(|| format!("{name}[]"), |field| format!("{name}[].{field}")), bytes))
}

/// Reads the texts of a JSON value. A missing field and null count as no text.
pub(super) struct PathSeed<'a> {
    steps: &'a [TextStep],
    /// True if the whole path has steps, even if none are left to follow here.
    is_joined: bool,
    reached: &'a mut Reached,
}

impl<'de> DeserializeSeed<'de> for PathSeed<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        self.reached.is_found |= self.steps.is_empty();
        if self.steps.is_empty() && self.is_joined {
            let value: &RawValue = Deserialize::deserialize(from)?;
            return add_text(value, &mut self.reached.texts).map_err(D::Error::custom);
        }
        if self.steps.is_empty() {
            let JsonText(text) = Deserialize::deserialize(from)?;
            if let Some(text) = text {
                TextPath::join(&mut self.reached.texts, text);
            }
            return Ok(());
        }
        from.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for PathSeed<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.steps.first() {
            Some(TextStep::Each) => "a list",
            _ => "an object",
        })
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<(), A::Error> {
        let Some((TextStep::Each, steps)) = self.steps.split_first() else {
            return Err(A::Error::invalid_type(serde::de::Unexpected::Seq, &self));
        };
        while elements.next_element_seed(PathSeed { steps, reached: self.reached, ..self })?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let Some((TextStep::Field(name), steps)) = self.steps.split_first() else {
            return Err(A::Error::invalid_type(serde::de::Unexpected::Map, &self));
        };
        let mut has_field = false;
        while let Some(Key(key)) = map.next_key()? {
            if *key == *name {
                has_field = true;
                map.next_value_seed(PathSeed { steps, reached: self.reached, ..self })?;
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        self.reached.is_lacking |= !has_field;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_with_brackets_are_paths() {
        let path = |field| TextPath::of(field);
        let field = |name: &str| TextStep::Field(name.into());
        assert_eq!(path("a.b"), TextPath { root: "a.b".into(), steps: vec![] });
        assert_eq!(path("texts[]"), TextPath { root: "texts".into(), steps: vec![TextStep::Each] });
        let chat = TextPath { root: "messages".into(), steps: vec![TextStep::Each, field("content")] };
        assert_eq!(path("messages[].content"), chat);
        let lists = TextPath { root: "a".into(), steps: vec![field("b"), TextStep::Each, TextStep::Each, field("c")] };
        assert_eq!(path("a.b[][].c"), lists);
    }
}
