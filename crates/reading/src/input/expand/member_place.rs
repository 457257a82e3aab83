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
    /// The kept headers of the innermost mail around it. Metadata of the same name takes precedence.
    pub(crate) headers: Vec<(String, String)>,
    /// As in [`About::repeated`].
    pub(crate) repeated: bool,
}

impl MemberPlace {
    pub(crate) fn outermost(about: &About) -> Self {
        let metadata = about.metadata.clone();
        let (suffix, hint, headers) = (String::new(), about.hint.clone(), Vec::new());
        Self { suffix, hint, depth: 0, format: "file's", metadata, headers, repeated: false }
    }
}
