//! Member place: where in a file the reading stands, layer by layer.

use super::About;

/// Where in a file the reading stands.
#[derive(Clone, Debug)]
pub(super) struct MemberPlace {
    /// The part of the documents' names after that of the file.
    pub(super) suffix: String,
    /// As [`About::hint`].
    pub(super) hint: String,
    /// Layers around it.
    pub(super) depth: u32,
    /// The format of the innermost of them.
    pub(super) format: &'static str,
    pub(super) metadata: Vec<(String, String)>,
    /// As [`About::repeated`].
    pub(super) repeated: bool,
}

impl MemberPlace {
    pub(super) fn outermost(about: &About) -> Self {
        let metadata = about.metadata.clone();
        Self { suffix: String::new(), hint: about.hint.clone(), depth: 0, format: "file's", metadata, repeated: false }
    }
}
