//! Tests the rule for HTML by examples, character by character, and against a simple implementation on the
//! tokeniser's tokens.

use html5gum::{Token, Tokenizer};
use proptest::prelude::*;

use super::elements::{ElementRole, role};
use crate::extract::tests::text_of;
use crate::extract::{Extracted, Map};
use fpdb_kernel::document::Format;
use fpdb_kernel::document::Span;

fn text(page: &str) -> String {
    text_of(Format::Html, page.as_bytes()).expect("HTML is never refused")
}

/// The part of the page from which the text `of` comes.
fn origin(page: &[u8], extracted: &Extracted, of: &str) -> String {
    let text = str::from_utf8(&extracted.text).expect("UTF-8");
    let start = text.find(of).unwrap_or_else(|| panic!("{of} is in {text}")) as u64;
    let mut map = Map::new(&extracted.segments, text.len() as u64);
    let span = map.origin(Span { start, end: start + of.len() as u64 });
    String::from_utf8_lossy(&page[span.start as usize..span.end as usize]).into_owned()
}

#[test]
fn text_is_kept_and_markup_dropped() {
    let cases = [
        ("<p>one<p>two", "\none\ntwo"),
        ("<b>jo</b>in<i>ed</i>", "joined"),
        ("a<br>b<br/>c", "a\nb\nc"),
        ("<td>a<td>b<tr><th>c", "a\nb\nc"),
        ("<ul><li>a</li><li>b</li></ul>c", "a\nb\nc"),
        ("<pre>\n  a\n b</pre>", "\n  a\n b\n"),
        ("a<!-- b -->c<!>d<!-->e<!--->f<!-- x --!>g", "acdefg"),
        ("<!DOCTYPE html><title>T &amp; t</title>x", "T & t\nx"),
        ("<title><b>no tag</b></title>", "<b>no tag</b>\n"),
        ("<textarea><b>no tag</textarea>", "<b>no tag\n"),
        ("a<script>b<\"</scri\"</script >c", "ac"),
        ("a<script><!--<script></script>--></script>c", "ac"),
        ("a<style>b</style>c<noscript><p>d</noscript>e<iframe>f</iframe>g", "aceg"),
        ("a<template>b<template>c</template>d</template>e", "ae"),
        ("a<script/>b</script>c", "ac"),
        ("<xmp><b>&amp;</xmp>", "<b>&amp;\n"),
        ("<img alt=x title='y>z'>a<input placeholder=\"b\">", "a"),
        ("&amp;&lt;&copy&notin;&notit;&#65;&#x42;&#128;&#0;&#xD800;&bogus;&", "&<©∉¬it;AB€\u{FFFD}\u{FFFD}&bogus;&"),
        ("a<3 b</ c>d</>e<?php f>g<", "a<3 bdeg<"),
        ("a<p id='unclosed", "a"),
        ("<P>UPPER</P><ScRiPt>x</sCrIpT>", "UPPER\n"),
        ("a\r\nb\rc", "a\nb\nc"),
        ("<svg><title>t</title><style>s{}</style><path/>u</svg>v", "t\nuv"),
        ("<svg><title/><script/>u</svg>v", "uv"),
        ("<svg><![CDATA[a<b]]></svg><![CDATA[c]]>", "a<b"),
        ("<svg>a<p>b<title>c</title>", "a\nb\nc\n"),
        ("<math><mi>x</mi><mo>&lt;</mo></math>", "x<"),
        ("<custom-element-with-a-long-name>a</custom-element-with-a-long-name>b", "ab"),
        ("<plaintext>a</plaintext>", "a</plaintext>"),
    ];
    for (page, expected) in cases {
        // A separator is emitted only after some text.
        let expected = if page.starts_with("<pre>") { expected } else { expected.trim_start_matches('\n') };
        assert_eq!(text(page), expected, "{page}");
    }
}

#[test]
fn hidden_elements_are_dropped() {
    for hidden in [
        "hidden",
        "HIDDEN=''",
        "style='display:none'",
        "style=\" color:red; Display : NONE !important;\"",
        "style=visibility:hidden",
    ] {
        for (page, expected) in [
            ("f<span #>x</span>ed", "fed"),
            ("a<div #>x<div>y</div>z</div>b", "ab"),
            ("a<p #>x</p>b<p #>x<p>c", "ab\nc"),
            ("a<p #>x<div>b</div>", "a\nb\n"),
            ("<ul><li>a<li #>x<ul><li>y</ul><li>b<li #>x</ul>c", "a\nb\nc"),
            ("<div>a<b #>x</div>b", "a\nb"),
            ("<div>a<div #><section>x</section>y</section></div></div>b", "a\nb"),
            ("<table><tr #><td>x<td>y<tr><td>a<td #>x<tr><td>b</table>c", "a\nb\nc"),
            ("<dl><dt #>x<dd>a</dl>", "a\n"),
            ("<select><option #>x<option>a</select>", "a\n"),
            ("a<br #>b<img #>c<input #>d", "a\nbcd"),
            ("a<svg #><title>x</title><script/>y</svg>b", "ab"),
            ("a<script #>x</script>b<template #>x</template>c", "abc"),
            ("<body #>a<p>b</body>", "a\nb\n"),
            ("a<span # />x</span>b", "ab"),
            ("a</p #>b", "a\nb"),
            // Elements without an end tag, inside elements with or without one.
            ("<table><tr><td><span #>x</td><td>a</td></tr><tr><td>b</td></tr></table>", "a\nb\n"),
            ("<table><tr><td><div #>x<td>a<tr><td>b</table>", "a\nb\n"),
            ("<table><tr><td><b #>x</tr><tr><td>a</table>", "a\n"),
            ("<p>a<span #>x</p><p>b</p><p>c</p>", "a\nb\nc\n"),
            ("<p>a<span #>x<p>b<div>c</div>", "a\nb\nc\n"),
            ("<ul><li>a<span #>x</li><li>b<b #>x<li>c</ul>d", "a\nb\nc\nd"),
            ("<dl><dt>a<i #>x<dt>b<dd><i #>x</dd><dd>c</dl>", "a\nb\nc\n"),
            ("<select><option>a<span #>x</option><option>b</select>", "a\nb\n"),
            ("<ul><li>a<div #>x<ul><li>y</li><li>z</ul>x</div>b</ul>", "ab\n"),
            ("a<span #>x<p>y</p>z</p>x<p>y<p>z</p>x</span>b", "ab"),
            ("a<my-list #><li>x</li><li>y<li>z</my-list>b", "ab"),
            ("<p>a<button #><div>x</div></button>b", "ab"),
            ("<p>a<span #>x<select><option>y<option>z</select>x</span>b", "ab"),
            ("<table #><tr><td>x</td></td><td>y</tr><tr><td>z</table>a", "a"),
            ("<table><tr #></td><td>x</td><td>y</td></tr><tr><td>a</table>", "a\n"),
        ] {
            let page = page.replace('#', hidden);
            assert_eq!(text(&page), expected, "{page}");
        }
    }
    for page in [
        "a<span style='display:none;display:inline'>b</span>",
        "a<span style='color:red' title=hidden>b</span>",
        "a<span data-hidden aria-hidden=true>b</span>",
        "a<span style=\"content:'display:none'\">b</span>",
        "a<span class='display:none'>b</span>",
        "a<span hidden=until-found>b</span>",
        "a<span style='color:red' hidden=' Until-Found'>b</span>",
    ] {
        assert_eq!(text(page), "ab", "{page}");
    }
    assert_eq!(
        text("<?xml version='1.0'?><p>a<span hidden='hidden'/>b<span style='display:none'>x</span></p>"),
        "ab\n"
    );
}

#[test]
fn the_root_of_xhtml_shows_that_a_page_is_xml() {
    let page = |root: &str| format!("<!DOCTYPE html>\n<!-- x -->\n<html{root}><p>a<script src='x'/>b</p></html>");
    assert_eq!(text(&page(" lang='en' xmlns='http://www.w3.org/1999/xhtml'")).trim(), "ab");
    assert_eq!(text(&page("")).trim(), "a");
    assert_eq!(text(&page(" lang='en'><a xmlns='http://www.w3.org/1999/xhtml'")).trim(), "a");
}

#[test]
fn xhtml_closes_what_it_says_it_closes() {
    let page = "<?xml version=\"1.0\"?><html><head><title/><script src='x'/><style/></head><body>a<div/>b\
                <script>//<![CDATA[\nif (a<b) {}\n//]]></script><p>c<![CDATA[<d>]]></p></body></html>";
    assert_eq!(text(page), "a\nb\nc<d>\n");
}

#[test]
fn characters_lead_back_to_what_was_written_for_them() {
    let page = "<p>caf&eacute; &amp; th<b>&eacute;</b> &nGg; \r\n end".as_bytes();
    let extracted = super::extract(page);
    for (of, written) in [
        ("caf", "caf"),
        ("é", "&eacute;"),
        ("café &", "caf&eacute; &amp;"),
        ("thé", "th<b>&eacute;"),
        ("⋙", "&nGg;"),
        ("\u{338}", "&nGg;"),
        (" \n end", " \r\n end"),
    ] {
        assert_eq!(origin(page, &extracted, of), written);
    }
}

#[test]
fn encodings_are_honoured_and_lead_back() {
    let windows = b"<meta charset=windows-1252><p>caf\xE9 &amp; \x93na\xEFve\x94";
    let extracted = super::extract(windows);
    assert_eq!(extracted.encoding, Some("windows-1252"));
    assert_eq!(String::from_utf8_lossy(&extracted.text), "café & “naïve”");
    assert_eq!(origin(windows, &extracted, "é &"), "\u{FFFD} &amp;");
    // The declared encoding is used even if it is wrong, as in browsers. But a byte order mark takes
    // precedence.
    let cases: [(&[u8], &str, &str); 9] = [
        (b"<meta charset=koi8-r>\xC4\xC1", "KOI8-R", "да"),
        (
            b"<meta http-equiv=content-type content='text/html; charset=\"shift_jis\"'>\x93\xFA\x96{",
            "Shift_JIS",
            "日本",
        ),
        (b"<?xml version='1.0' encoding='iso-8859-2'?><p>\xB1", "ISO-8859-2", "ą"),
        (b"<meta charset=utf-16><p>\xC3\xA9", "UTF-8", "é"),
        (b"\xEF\xBB\xBF<meta charset=koi8-r>\xC3\xA9", "UTF-8", "é"),
        (b"<meta charset=utf-8>a\xFFb", "UTF-8", "a\u{FFFD}b"),
        (b"\xFF\xFE<\0p\0>\0\xE9\0&\0l\0t\0;\0", "UTF-16LE", "é<"),
        (b"<meta charset=iso-2022-jp>\x1B$BF|\x1B(B", "ISO-2022-JP", "日"),
        (b"<meta charset=none-such><p>plain", "ASCII", "plain"),
    ];
    for (page, encoding, expected) in cases {
        let extracted = super::extract(page);
        assert_eq!(extracted.encoding, Some(encoding), "{expected}");
        assert_eq!(String::from_utf8_lossy(&extracted.text).trim_ascii(), expected, "{encoding}");
        assert_eq!(extracted.undecodable, u64::from(expected.contains('\u{FFFD}')));
    }
    let wide = b"\xFF\xFE<\0p\0>\0\xE9\0&\0l\0t\0;\0";
    assert_eq!(origin(wide, &super::extract(wide), "<"), "&\0l\0t\0;\0");
}

/// The same rule, applied to tokens with owned strings. It has no offsets and no foreign content.
fn naive(page: &str) -> String {
    let mut text = String::new();
    let mut dropped: Option<Vec<u8>> = None;
    for token in Tokenizer::new(page).flatten() {
        let name = match token {
            Token::String(string) if dropped.is_none() => {
                text.push_str(&String::from_utf8_lossy(&string));
                continue;
            }
            Token::StartTag(tag) => {
                if dropped.is_none() && role(&tag.name) == ElementRole::Dropped {
                    dropped = Some(tag.name.to_vec());
                }
                tag.name
            }
            Token::EndTag(tag) => {
                if dropped.as_deref() == Some(&**tag.name) {
                    dropped = None;
                }
                tag.name
            }
            _ => continue,
        };
        if dropped.is_none() && role(&name) == ElementRole::Block && !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
    }
    text
}

proptest! {
    #[test]
    fn the_text_is_that_of_the_tokens(pieces in prop::collection::vec(prop::sample::select(vec![
        "<p>", "</p>", "<b>", "</b", "<", ">", "&amp;", "&am", "&nGg;", "&#65", "&#xe9;", "&", ";", "a", "é", "日", "\r\n", "\r",
        "\n", "<!--", "-->", "--!>", "<!x>", "</ x>", "<? x>", "<a href='", "' x=\"", "\">", "=", "/", "<br/>", "<h1 class=a>",
        "<div", " id=x&y", "&lt", "3", "word ",
    ]), 0..80)) {
        let page = pieces.concat();
        prop_assert_eq!(text(&page), naive(&page));
        // Each character comes from itself, except for references and line ends.
        let extracted = super::extract(page.as_bytes());
        let text = std::str::from_utf8(&extracted.text).unwrap();
        let mut map = Map::new(&extracted.segments, text.len() as u64);
        for (at, written) in text.char_indices().filter(|&(_, written)| written != '\n') {
            let origin = map.origin(Span { start: at as u64, end: (at + written.len_utf8()) as u64 });
            let origin = &page[origin.start as usize..origin.end as usize];
            prop_assert!(origin.starts_with('&') || origin == written.to_string(), "{:?} from {:?}", written, origin);
        }
    }
}
