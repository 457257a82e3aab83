//! TeX: extracts text with a simple rule, since no library except TeX itself reads TeX. Text is kept,
//! commands are dropped.
//!
//! It expands only the commands that write a single character ([`accents`]). It drops comments, the text
//! before `\begin{document}`, names of commands and their optional arguments. It also drops arguments that
//! are names or lengths. It keeps everything else, including the arguments of all other commands and the
//! contents of formulas.

mod accents;

use crate::extract::Extracted;
use crate::extract::text::builder::TextBuilder;
use crate::extract::text::source::Utf8Source;
use fpdb_kernel::document::Span;

/// Commands whose first argument is not text.
const NAMES: [&str; 34] = [
    "addbibresource",
    "begin",
    "bibitem",
    "bibliography",
    "bibliographystyle",
    "citation",
    "cite",
    "citep",
    "citet",
    "autocite",
    "parencite",
    "textcite",
    "documentclass",
    "documentstyle",
    "end",
    "eqref",
    "hspace",
    "include",
    "includegraphics",
    "includeonly",
    "input",
    "label",
    "cref",
    "Cref",
    "autoref",
    "newcommand",
    "pageref",
    "pagestyle",
    "ref",
    "renewcommand",
    "setlength",
    "thispagestyle",
    "usepackage",
    "vspace",
];

/// Extracts the text of a document.
pub(crate) fn extract(bytes: &[u8]) -> Extracted {
    let source = Utf8Source::new(bytes, None);
    let mut builder = source.builder(bytes.len());
    let text = source.text();
    let body = match text.find("\\begin{document}") {
        Some(begin) => begin..text.find("\\end{document}").filter(|&end| end > begin).unwrap_or(text.len()),
        // The text is a preamble without a document, or a part of a preamble.
        None if text.contains("\\documentclass") => 0..0,
        None => 0..text.len(),
    };
    TexReader::new(&text.as_bytes()[..body.end]).read(body.start, &mut builder);
    source.lead_back(builder)
}

/// Reads TeX.
struct TexReader<'a> {
    tex: &'a [u8],
    /// The number of failed searches for the end of a group that are still allowed. At 0, no further search
    /// is made. A failed search takes some thousand steps, and a document could consist of nothing else.
    misses: usize,
}

impl<'a> TexReader<'a> {
    fn new(tex: &'a [u8]) -> Self {
        Self { tex, misses: 100 + tex.len() / 256 }
    }

    /// Adds the text from byte `at` on.
    fn read(mut self, mut at: usize, builder: &mut TextBuilder) {
        let tex = self.tex;
        while at < tex.len() {
            let plain = memchr::memchr2(b'\\', b'%', &tex[at..]).unwrap_or(tex.len() - at);
            let begin = at;
            at += plain;
            if tex.get(at) == Some(&b'\\')
                && let Some((character, mut end)) = accents::character(tex, at)
            {
                // Braces around just this character would split the word.
                if at > begin && tex[at - 1] == b'{' && tex.get(end) == Some(&b'}') {
                    (at, end) = (at - 1, end + 1);
                }
                builder.verbatim(&tex[begin..at], begin as u64);
                builder.replaced(character.as_bytes(), Span { start: at as u64, end: end as u64 });
                at = end;
                continue;
            }
            builder.verbatim(&tex[begin..at], begin as u64);
            match (tex.get(at), tex.get(at + 1)) {
                // A comment includes the end of its line.
                (Some(b'%'), _) => {
                    at += memchr::memchr(b'\n', &tex[at..]).map_or(tex.len() - at, |end| end + 1);
                }
                (Some(_), Some(letter)) if letter.is_ascii_alphabetic() => at = self.command(at, builder),
                // `\\` ends a line. `\%`, `\&` and similar stand for the character. Others are dropped.
                (Some(_), Some(b'\\')) => {
                    builder.separate(at as u64);
                    at += 2;
                }
                (Some(_), Some(b'%' | b'&' | b'$' | b'#' | b'_' | b'{' | b'}')) => {
                    builder.verbatim(&tex[at + 1..at + 2], at as u64 + 1);
                    at += 2;
                }
                (Some(_), Some(other)) if other.is_ascii() => at += 2,
                _ => at += 1,
            }
        }
        builder.separate(tex.len() as u64);
    }

    /// Reads the command that begins at `at`. Returns the offset at which kept text continues.
    fn command(&mut self, at: usize, builder: &mut TextBuilder) -> usize {
        let tex = self.tex;
        let letters = tex[at + 1..].iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
        let name = str::from_utf8(&tex[at + 1..at + 1 + letters]).unwrap_or_default();
        let mut at = at + 1 + letters;
        if matches!(name, "par" | "item" | "begin" | "end" | "newline" | "section" | "chapter" | "paragraph") {
            builder.separate(at as u64);
        }
        at += usize::from(tex.get(at) == Some(&b'*'));
        while tex.get(at) == Some(&b'[') {
            at = self.group_end(at, b'[', b']');
        }
        if NAMES.contains(&name) && tex.get(at) == Some(&b'{') {
            at = self.group_end(at, b'{', b'}');
        }
        at
    }

    /// Offset after the group that begins at `at`. If the group has no end within reach, offset after its
    /// first bracket.
    fn group_end(&mut self, at: usize, open: u8, close: u8) -> usize {
        const REACH: usize = 4096;
        let reach = if self.misses == 0 { 0 } else { REACH };
        let mut depth = 0;
        for (end, &byte) in self.tex.iter().enumerate().skip(at).take(reach) {
            depth += i32::from(byte == open) - i32::from(byte == close);
            if depth == 0 {
                return end + 1;
            }
        }
        self.misses = self.misses.saturating_sub(1);
        at + 1
    }
}
