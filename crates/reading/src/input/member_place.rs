//! Member place: the current place in a file, layer by layer.

use super::About;

/// The current place in a file.
#[derive(Clone, Debug)]
pub(super) struct MemberPlace {
    /// The part of the documents' names after the name of the file.
    pub(super) suffix: String,
    /// As in [`About::hint`].
    pub(super) hint: String,
    /// Number of layers around it.
    pub(super) depth: u32,
    /// The format of the innermost layer.
    pub(super) format: &'static str,
    pub(super) metadata: Vec<(String, String)>,
    /// As in [`About::repeated`].
    pub(super) repeated: bool,
}

impl MemberPlace {
    pub(super) fn outermost(about: &About) -> Self {
        let metadata = about.metadata.clone();
        Self { suffix: String::new(), hint: about.hint.clone(), depth: 0, format: "file's", metadata, repeated: false }
    }
}
