//! The formats there are, as a table: for `docs/formats.md`, for the help of `--as`, and for guessing by name.

use crate::document::Format;

/// What is to be known of a format.
#[derive(Clone, Copy, Debug)]
pub struct FormatFacts {
    /// The format.
    pub format: Format,
    /// The extensions of its files, in lower case, without the dot.
    pub extensions: &'static [&'static str],
    /// What its documents begin with, where they are known by that.
    pub signature: &'static str,
    /// What of a document is text.
    pub kept: &'static str,
    /// What is not.
    pub dropped: &'static str,
    /// What reads it.
    pub reader: &'static str,
    /// Whether offsets count bytes of the document itself, and not of the text extracted from it.
    pub original: bool,
}

/// All formats but source code, in the order they are documented in.
pub const FORMATS: [FormatFacts; 12] = [
    FormatFacts {
        format: Format::Text,
        extensions: &["txt", "text"],
        signature: "",
        kept: "everything",
        dropped: "nothing",
        reader: "own, on `encoding_rs` and `chardetng`",
        original: true,
    },
    FormatFacts {
        format: Format::Html,
        extensions: &["html", "htm", "xhtml", "xht"],
        signature: "`<!doctype html`, `<html`, `<head` or `<body`, also after an XML declaration or comments",
        kept: "text with character references resolved, the `title` included; a new line at each block, cell, item and `br`, none at inline elements",
        dropped: "tags with all attributes (`alt`, `title`, `placeholder` too), comments, `script`, `style`, `template`, `noscript`, `iframe`, `noembed`, `noframes`",
        reader: "`html5gum`",
        original: true,
    },
    FormatFacts {
        format: Format::Markdown,
        extensions: &["md", "markdown", "mdown", "mkd"],
        signature: "",
        kept: "text, code and table cells; HTML in it as in HTML",
        dropped: "markup, addresses of links, images with their descriptions, a YAML header",
        reader: "`pulldown-cmark`",
        original: true,
    },
    FormatFacts {
        format: Format::ReStructuredText,
        extensions: &["rst", "rest"],
        signature: "",
        kept: "everything: read as text, since no maintained library tells where its text stands. Its markup is nearly all punctuation, which counts in no unit but byte and token",
        dropped: "nothing",
        reader: "as text",
        original: true,
    },
    FormatFacts {
        format: Format::Tex,
        extensions: &["tex", "ltx", "latex"],
        signature: "`\\documentclass` or `\\documentstyle` at the beginning of a line",
        kept: r#"text, the arguments of commands, the contents of formulas; accents and letters as the characters they are (`\'e`, `\"{o}`, `\c c`, `\ss`, `{\o}`); nothing else is expanded"#,
        dropped: "comments, what stands outside `document`, names of commands and their optional arguments, the arguments that are names and lengths (`\\label`, `\\cite`, `\\begin`, `\\usepackage`, ...)",
        reader: "own",
        original: true,
    },
    FormatFacts {
        format: Format::Notebook,
        extensions: &["ipynb"],
        signature: "`{` and, within the first bytes, `\"cells\"` or `\"nbformat\"`",
        kept: "the source of every cell, Markdown cells as in Markdown",
        dropped: "outputs, metadata, attachments",
        reader: "`serde_json`",
        original: true,
    },
    FormatFacts {
        format: Format::Mail,
        extensions: &["eml"],
        signature: "a header with `From` and one of `Received`, `Message-ID`, `MIME-Version`",
        kept: "the subject and the texts, decoded; of a text that is there as HTML as well the plain one; HTML as in HTML; messages attached",
        dropped: "other headers, other attachments",
        reader: "`mail-parser`",
        original: false,
    },
    FormatFacts {
        format: Format::Pdf,
        extensions: &["pdf"],
        signature: "`%PDF-` within the first 1,024 bytes",
        kept: "the characters of each page in the order they are drawn, with spaces and lines by their positions",
        dropped: "images (a scan has no text), annotations, form fields, metadata",
        reader: "`pdf-extract`",
        original: false,
    },
    FormatFacts {
        format: Format::Docx,
        extensions: &["docx", "docm", "dotx"],
        signature: "a zip archive with `[Content_Types].xml` and `word/`",
        kept: "paragraphs, table cells and text boxes in the order of the file, then footnotes and endnotes",
        dropped: "headers and footers, comments, deleted text, field codes, descriptions of images",
        reader: "`zip`, `quick-xml`",
        original: false,
    },
    FormatFacts {
        format: Format::Odt,
        extensions: &["odt", "ott"],
        signature: "a zip archive that begins with the media type `application/vnd.oasis.opendocument.text`",
        kept: "paragraphs, headings, table cells and frames in the order of the file, then footnotes and endnotes",
        dropped: "headers and footers, comments, deleted text, descriptions of images",
        reader: "`zip`, `quick-xml`",
        original: false,
    },
    FormatFacts {
        format: Format::Epub,
        extensions: &["epub"],
        signature: "a zip archive that begins with the media type `application/epub+zip`",
        kept: "the pages in the order of the spine, each as XHTML",
        dropped: "pages that are not in the spine, metadata",
        reader: "`zip`, `quick-xml`, `html5gum`",
        original: false,
    },
    FormatFacts {
        format: Format::Bytes,
        extensions: &[],
        signature: "",
        kept: "everything",
        dropped: "nothing",
        reader: "own; the only format of a database with unit byte",
        original: true,
    },
];
