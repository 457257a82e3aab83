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

/// True for elements without content and end tag.
pub(super) fn is_void(name: &[u8]) -> bool {
    matches!(
        name,
        b"area"
            | b"base"
            | b"br"
            | b"col"
            | b"embed"
            | b"frame"
            | b"hr"
            | b"img"
            | b"input"
            | b"link"
            | b"meta"
            | b"param"
            | b"source"
            | b"track"
            | b"wbr"
    )
}

/// The group and the level of an element that may lack its end tag. A start tag of the same group ends the
/// element if its level is equal or greater.
fn level(name: &[u8]) -> Option<(u8, u8)> {
    match name {
        b"p" => Some((0, 0)),
        b"li" => Some((1, 0)),
        b"dt" | b"dd" => Some((2, 0)),
        b"option" => Some((3, 0)),
        b"optgroup" => Some((3, 1)),
        b"td" | b"th" => Some((4, 0)),
        b"tr" => Some((4, 1)),
        b"thead" | b"tbody" | b"tfoot" => Some((4, 2)),
        _ => None,
    }
}

/// True for elements that may contain others and always have an end tag. This end tag also ends the elements
/// that are open inside.
pub(super) fn is_container(name: &[u8]) -> bool {
    role(name) == ElementRole::Block && level(name).is_none() && !is_void(name)
}

/// True if the start tag of `next` ends an open element `name` that may lack its end tag.
pub(super) fn ends_before(name: &[u8], next: &[u8]) -> bool {
    if name == b"p" {
        let is_within =
            matches!(next, b"br" | b"button" | b"select" | b"optgroup" | b"option" | b"textarea" | b"title");
        return role(next) == ElementRole::Block && !is_within;
    }
    let (group, least) = level(name).unwrap_or_default();
    level(next).is_some_and(|(of, level)| of == group && group > 0 && level >= least)
}

/// The bit of a paragraph in a set of open elements that may lack their end tag.
pub(super) const PARAGRAPH: u16 = 1;

/// The bit of an element in a set of open elements. Zero for elements that always have an end tag.
pub(super) fn bit(name: &[u8]) -> u16 {
    level(name).map_or(0, |(group, level)| 1 << (3 * group + level))
}

/// The set of open elements that a start tag of `name` ends.
pub(super) fn ended_by(name: &[u8]) -> u16 {
    let of_group = level(name).map_or(0, |(group, level)| ((2 << level) - 1) << (3 * group));
    of_group | if ends_before(b"p", name) { PARAGRAPH } else { 0 }
}

/// The set of elements that, inside an element `name`, end no element around `name`. For example, an `li`
/// inside an inner `ul` does not end the `li` around that `ul`.
pub(super) fn contained_by(name: &[u8]) -> u16 {
    let group = match name {
        b"ul" | b"ol" | b"menu" | b"dir" => 1,
        b"dl" => 2,
        b"select" | b"datalist" => 3,
        b"table" => 4,
        _ => return 0,
    };
    0b111 << (3 * group)
}

/// The set of open elements after a tag of `name`. The tag of a list removes the items around the list from
/// the set. The tag of a table removes the cells around the table.
pub(super) fn open_after(open: u16, name: &[u8], is_start: bool) -> u16 {
    let rest = open & !(ended_by(name) | contained_by(name));
    if is_start { rest | bit(name) } else { rest }
}

/// True for a style that hides its element: the last value of `display` is `none`, or the last value of
/// `visibility` is `hidden` or `collapse`.
pub(super) fn hides(style: &[u8]) -> bool {
    let (mut display, mut visibility) = (false, false);
    for declaration in style.split(|&byte| byte == b';') {
        let text: Vec<u8> = declaration.iter().filter(|byte| !byte.is_ascii_whitespace()).copied().collect();
        let text = text.to_ascii_lowercase();
        let text = text.strip_suffix(b"!important").unwrap_or(&text);
        if let Some(value) = text.strip_prefix(b"display:") {
            display = value == b"none";
        } else if let Some(value) = text.strip_prefix(b"visibility:") {
            visibility = value == b"hidden" || value == b"collapse";
        }
    }
    display || visibility
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
