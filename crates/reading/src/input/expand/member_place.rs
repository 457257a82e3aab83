//! Member place: the current place in a file, layer by layer.

use crate::input::About;

/// The current place in a file.
#[derive(Clone, Debug)]
pub(crate) struct MemberPlace {
    /// The part of the documents' names after the name of the file.
    pub(crate) suffix: String,
    /// As in [`About::hint`].
    pub(crate) hint: String,
    /// Number of layers around it.
    pub(crate) depth: u32,
    /// The format of the innermost layer.
    pub(crate) format: &'static str,
    pub(crate) metadata: Vec<(String, String)>,
    /// As in [`About::repeated`].
    pub(crate) repeated: bool,
}

impl MemberPlace {
    pub(crate) fn outermost(about: &About) -> Self {
        let metadata = about.metadata.clone();
        Self { suffix: String::new(), hint: about.hint.clone(), depth: 0, format: "file's", metadata, repeated: false }
    }
}
