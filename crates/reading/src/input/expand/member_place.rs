//! Member place: the current place in a file, layer by layer.

use crate::input::About;
use crate::recognise::Hint;
use fpdb_kernel::document::Modified;

/// The current place in a file.
#[derive(Clone, Debug)]
pub(crate) struct MemberPlace {
    /// The part of the documents' names after the name of the file.
    pub(crate) suffix: String,
    /// As in [`About::hint`].
    pub(crate) hint: Hint,
    /// Number of layers around it.
    pub(crate) depth: u32,
    /// The format of the innermost layer.
    pub(crate) format: &'static str,
    /// As in [`About::modified`].
    pub(crate) modified: Option<Modified>,
    pub(crate) metadata: Vec<(String, String)>,
    /// The first `given` entries of `metadata` are those that the user gave for the file.
    pub(super) given: usize,
    /// The kept headers of the innermost mail around it. Metadata of the same name takes precedence.
    pub(crate) headers: Vec<(String, String)>,
    /// As in [`About::repeated`].
    pub(crate) repeated: bool,
}

impl MemberPlace {
    pub(crate) fn outermost(about: &About) -> Self {
        let (metadata, given) = (about.metadata.clone(), about.metadata.len());
        let (suffix, hint, headers) = (String::new(), about.hint.clone(), Vec::new());
        Self { suffix, hint, depth: 0, format: "file's", modified: None, metadata, given, headers, repeated: false }
    }

    /// The name of a similar file.
    pub(crate) fn like(&self) -> &str {
        &self.hint.name
    }

    /// The place around the members of a container at this place. Each member is stored with the metadata of
    /// this place. So values of more than `limit` bytes are cut if they come from the file.
    pub(crate) fn around_members(mut self, format: &'static str, limit: u64) -> Self {
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        let of_file = self.metadata.iter_mut().skip(self.given).chain(&mut self.headers);
        for (_, value) in of_file.filter(|(_, value)| value.len() > limit) {
            let end = (0..=limit).rev().find(|&end| value.is_char_boundary(end)).unwrap_or(0);
            value.truncate(end);
            value.push_str("...");
        }
        Self { depth: self.depth + 1, format, ..self }
    }
}
