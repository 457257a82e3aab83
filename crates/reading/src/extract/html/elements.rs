//! The effect of HTML elements on the text, as a table of names. `docs/formats.md` states the rule.

use html5gum::State;

/// The effect of an element's tags on the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ElementRole {
    /// Text before, in and after it is joined. Unknown elements have this role.
    Inline,
    /// It begins and ends a line.
    Block,
    /// Its content is invisible and dropped.
    Dropped,
    /// The root of SVG or MathML, whose content is tokenised by other rules.
    Foreign,
}

/// Maximum length of a known element name.
pub(super) const LONGEST: usize = 16;

/// The role of an element. The name must be in lower case.
pub(super) fn role(name: &[u8]) -> ElementRole {
    match name {
        b"script" | b"style" | b"template" | b"noscript" | b"iframe" | b"noembed" | b"noframes" => ElementRole::Dropped,
        b"svg" | b"math" => ElementRole::Foreign,
        b"p" | b"div" | b"br" | b"hr" | b"li" | b"tr" | b"td" | b"th" | b"h1" | b"h2" | b"h3" | b"h4" | b"h5"
        | b"h6" | b"ul" | b"ol" | b"dl" | b"dt" | b"dd" | b"pre" | b"table" | b"thead" | b"tbody" | b"tfoot"
        | b"caption" | b"colgroup" | b"col" | b"blockquote" | b"article" | b"section" | b"aside" | b"header"
        | b"footer" | b"main" | b"nav" | b"hgroup" | b"search" | b"address" | b"figure" | b"figcaption"
        | b"details" | b"summary" | b"dialog" | b"menu" | b"dir" | b"center" | b"fieldset" | b"legend" | b"form"
        | b"option" | b"optgroup" | b"select" | b"textarea" | b"button" | b"title" | b"head" | b"body" | b"html"
        | b"frameset" | b"frame" | b"listing" | b"plaintext" | b"xmp" => ElementRole::Block,
        _ => ElementRole::Inline,
    }
}

/// The tokeniser's state for the content of an HTML element; `None` for normal markup. Scripting counts as
/// enabled, as in a browser, so `noscript` contains raw text.
pub(super) fn content(name: &[u8]) -> Option<State> {
    match name {
        b"textarea" | b"title" => Some(State::RcData),
        b"script" => Some(State::ScriptData),
        b"style" | b"xmp" | b"iframe" | b"noembed" | b"noframes" | b"noscript" => Some(State::RawText),
        b"plaintext" => Some(State::PlainText),
        _ => None,
    }
}

/// True if a start tag with this name ends the SVG or MathML around it ("breaks out" of foreign content).
pub(super) fn breaks_out(name: &[u8], role: ElementRole) -> bool {
    match name {
        b"b" | b"big" | b"code" | b"em" | b"embed" | b"i" | b"img" | b"meta" | b"nobr" | b"ruby" | b"s" | b"small"
        | b"span" | b"strong" | b"strike" | b"sub" | b"sup" | b"tt" | b"u" | b"var" => true,
        // `title` is also an element of SVG.
        _ => role == ElementRole::Block && name != b"title",
    }
}
