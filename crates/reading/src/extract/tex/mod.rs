//! TeX: extracts text with a simple rule, since no library except TeX itself reads TeX. Text is kept,
//! commands are dropped.
//!
//! The rule expands only the commands that write a single character ([`accents`]). It drops comments, the
//! text before `\begin{document}`, names of commands and their optional arguments. It also drops arguments
//! that are names or lengths. It keeps everything else, including the arguments of all other commands and the
//! contents of formulas. Text that TeX prints as it is written is kept as it is.

mod accents;

use crate::extract::Extracted;
use crate::extract::text::builder::TextBuilder;
use crate::extract::text::source::Utf8Source;
use crate::recognise::begins_tex;
use fpdb_kernel::document::Span;

/// Commands whose first argument is not text.
const NAMES: [&str; 35] = [
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
    "href",
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

/// Environments whose content is printed as it is written, and true if an argument precedes the content.
const VERBATIM: [(&[u8], bool); 9] = [
    (b"BVerbatim", false),
    (b"LVerbatim", false),
    (b"Verbatim", false),
    (b"filecontents", true),
    (b"lstlisting", false),
    (b"minted", true),
    (b"spverbatim", false),
    (b"tcblisting", true),
    (b"verbatim", false),
];

/// The marks where a document begins and ends.
const BEGIN: &[u8] = b"\\begin{document}";
const END: &[u8] = b"\\end{document}";

/// Extracts the text of a document.
pub(crate) fn extract(bytes: &[u8]) -> Extracted {
    let source = Utf8Source::new(bytes, None);
    let mut builder = source.builder(bytes.len());
    let text = source.text();
    let has_body = TexReader::new(text.as_bytes()).read(0, &mut builder);
    if !has_body && begins_tex(text.as_bytes()) {
        // Either the text is all or part of a preamble, without a document. Or a command of the preamble
        // seems to contain the mark where the document begins.
        builder.clear();
        if let Some(begin) = begin_of_document(text.as_bytes()) {
            TexReader::new(text.as_bytes()).read(begin, &mut builder);
        }
    }
    source.lead_back(builder)
}

/// Offset of the first mark outside a comment where a document begins.
fn begin_of_document(tex: &[u8]) -> Option<usize> {
    let mut at = 0;
    for line in tex.split_inclusive(|&byte| byte == b'\n') {
        let comment = memchr::memchr_iter(b'%', line).find(|&at| at == 0 || line[at - 1] != b'\\');
        if let Some(begin) = memchr::memmem::find(&line[..comment.unwrap_or(line.len())], BEGIN) {
            return Some(at + begin);
        }
        at += line.len();
    }
    None
}

/// Reads TeX.
struct TexReader<'a> {
    /// The text. Once the end of the document is reached, only the text before it.
    tex: &'a [u8],
    /// True after the beginning of the document.
    has_begun: bool,
    /// The number of failed searches for the end of a group that are still allowed. At 0, no further search
    /// is made. A failed search takes some thousand steps, and a hostile document could cause nothing but
    /// failed searches.
    misses: usize,
}

impl<'a> TexReader<'a> {
    fn new(tex: &'a [u8]) -> Self {
        Self { tex, has_begun: false, misses: 100 + tex.len() / 256 }
    }

    /// Adds the text from the offset `at` on. Returns false if no document begins there or later.
    fn read(mut self, mut at: usize, builder: &mut TextBuilder) -> bool {
        while at < self.tex.len() {
            let tex = self.tex;
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
        builder.separate(self.tex.len() as u64);
        self.has_begun
    }

    /// Reads the command that begins at `at`. Returns the offset at which kept text continues.
    fn command(&mut self, at: usize, builder: &mut TextBuilder) -> usize {
        let tex = self.tex;
        // A document may show the mark of its end as an example, so only the last mark ends it.
        if self.has_begun && tex[at..].starts_with(END) && memchr::memmem::find(&tex[at + 1..], END).is_none() {
            self.tex = &tex[..at];
            return at;
        }
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
        if matches!(name, "verb" | "Verb" | "lstinline" | "mintinline" | "url" | "nolinkurl" | "path") {
            return self.written(at, name, builder);
        }
        if NAMES.contains(&name) && tex.get(at) == Some(&b'{') {
            let begin = at + 1;
            at = self.group_end(at, b'{', b'}');
            if name == "begin" {
                return self.environment(&tex[begin..at.max(begin + 1) - 1], at, builder);
            }
        }
        at
    }

    /// Adds the argument of a command that prints it as it is written, such as `{a%b}` or `|\a|`. Returns the
    /// offset after it.
    fn written(&mut self, mut at: usize, name: &str, builder: &mut TextBuilder) -> usize {
        if name == "mintinline" && self.tex.get(at) == Some(&b'{') {
            at = self.group_end(at, b'{', b'}');
        }
        let end = match self.tex.get(at) {
            Some(b'{') => self.group_end(at, b'{', b'}'),
            // TikZ also has a command `\path`, which takes coordinates.
            Some(&mark) if mark.is_ascii_punctuation() && (mark == b'|' || name != "path") => {
                let found = memchr::memchr2(mark, b'\n', &self.tex[at + 1..]).map(|length| at + 1 + length);
                found.filter(|&end| self.tex[end] == mark).map_or(at, |end| end + 1)
            }
            _ => at,
        };
        if end > at + 1 {
            builder.verbatim(&self.tex[at + 1..end - 1], at as u64 + 1);
        }
        end
    }

    /// Begins an environment whose content begins at `at`. Returns the offset at which kept text continues.
    fn environment(&mut self, name: &[u8], mut at: usize, builder: &mut TextBuilder) -> usize {
        if name == b"document" {
            if !self.has_begun {
                builder.clear();
            }
            self.has_begun = true;
        }
        let is_same = |&&(verbatim, _): &&(&[u8], bool)| verbatim == name.strip_suffix(b"*").unwrap_or(name);
        let Some((_, has_argument)) = VERBATIM.iter().find(is_same) else { return at };
        while let Some((open, close)) = match self.tex.get(at) {
            Some(b'[') => Some((b'[', b']')),
            Some(b'{') if *has_argument => Some((b'{', b'}')),
            _ => None,
        } {
            at = self.group_end(at, open, close);
        }
        let mark = [b"\\end{", name, b"}"].concat();
        let end = memchr::memmem::find(&self.tex[at..], &mark).map_or(self.tex.len(), |length| at + length);
        builder.verbatim(&self.tex[at..end], at as u64);
        end
    }

    /// Offset after the group that begins at `at`. If the group has no end within reach, or would contain the
    /// beginning of the document, returns the offset after its opening bracket.
    fn group_end(&mut self, at: usize, open: u8, close: u8) -> usize {
        const REACH: usize = 4096;
        let reach = if self.misses == 0 { 0 } else { REACH };
        let mut depth = 0;
        for (end, &byte) in self.tex.iter().enumerate().skip(at).take(reach) {
            depth += i32::from(byte == open) - i32::from(byte == close);
            if depth == 0 {
                if !self.has_begun && memchr::memmem::find(&self.tex[at..end], BEGIN).is_some() {
                    break;
                }
                return end + 1;
            }
        }
        self.misses = self.misses.saturating_sub(1);
        at + 1
    }
}

#[cfg(all(test, feature = "all"))]
mod tests {
    use super::*;
    use crate::extract::properties::check_segments;

    fn text(tex: &str) -> String {
        let extracted = extract(tex.as_bytes());
        check_segments(tex.as_bytes(), &extracted);
        String::from_utf8(extracted.text).expect("the text is UTF-8")
    }

    #[test]
    fn text_that_is_printed_as_written_is_kept() {
        for (tex, expected) in [
            (r"See \url{https://a.org/b%20c} and", "See https://a.org/b%20c and"),
            (r"See \href{https://a.org/b%20c}{the page} and", "See {the page} and"),
            (r"\nolinkurl{a%b} \path{c%d} \path|e%f|", "a%b c%d e%f"),
            (r"\path (0,0) -- (1,1); \path[draw] (a)", " (0,0) -- (1,1);  (a)"),
            (r"\verb|\a%b| \verb*+c+ \lstinline[x]!d%! \mintinline{py}{e%f} \verb", r"\a%b c d% e%f "),
            ("\\verb|a\nb| c", "|a\nb| c"),
            ("\\begin{verbatim}\n% a\n\\b\n\\end{verbatim}% c\nd", "\n% a\n\\b\nd"),
            ("\\begin{lstlisting}[x={y}]\n%a\n\\end{lstlisting} d", "\n%a\n d"),
            ("\\begin{minted}[x]{py}\nb % 2\n\\end{minted} d", "\nb % 2\n d"),
            ("\\begin{verbatim*}\n%a \\end{verbatim}\n\\end{verbatim*}", "\n%a \\end{verbatim}\n"),
            ("\\begin{verbatim}\n% a", "\n% a"),
            ("\\begin{", ""),
            ("\\verb{", ""),
        ] {
            assert_eq!(text(tex).trim_end_matches('\n'), expected.trim_end_matches('\n'), "{tex}");
        }
    }

    #[test]
    fn only_a_document_ends_and_begins_one() {
        let document = |body: &str| {
            format!("% \\begin{{document}}\n\\documentclass{{a}}\nx\\begin{{document}}{body}\\end{{document}}\ny")
        };
        let shown = "\\begin{verbatim}\\begin{document}z\\end{document}\\end{verbatim}";
        assert_eq!(text(&document("one")), "one\n");
        assert_eq!(text(&document(&format!("one {shown} two"))), "one \n\\begin{document}z\\end{document}\n two\n");
        assert_eq!(text(&format!("one {shown} two")), "one \n\\begin{document}z\\end{document}\n two\n");
        assert_eq!(text("one \\verb|\\begin{document}| two"), "one \\begin{document} two\n");
        assert_eq!(text("one \\verb|\\documentclass| two"), "one \\documentclass two\n");
        assert_eq!(text("one\n\\documentclass two"), "one\n two\n");
        assert_eq!(text("% one\n\\documentclass{a}\n\\title{two}\n"), "");
        assert_eq!(text("\\documentclass{a}\\begin{document}one"), "one\n");
        // Nothing that only looks like the end of the document ends it.
        assert_eq!(text(&document("one % \\end{document}\n two")), "one  two\n");
        for shown in ["\\iffalse\n\\end{document}\n\\fi", "\\begin{x}\\begin{document}z\\end{document}\\end{x}"] {
            let text = text(&document(&format!("one {shown} two")));
            assert!(text.starts_with("one") && text.ends_with("two\n"), "{text}");
        }
    }

    #[test]
    fn no_preamble_hides_where_the_document_begins() {
        for (preamble, is_read_without_class) in [
            ("\\newcommand{\\open}[2]{\\left[#1,#2\\right)}\n", true),
            ("\\newcommand{\\open\n", true),
            ("\\newcommand{\\open}{\\begin{verbatim}}\n", false),
            ("50\\% % \\begin{document}\n\\lstinline!\\%", false),
        ] {
            let body = "\\begin{document}The interval $(0,1]$ } ! is read.\n\\end{document}\ncut";
            let expected = "The interval $(0,1]$ } ! is read.\n";
            assert_eq!(text(&format!("\\documentclass{{a}}\n{preamble}{body}")), expected, "{preamble}");
            let without_class = text(&format!("words\n{preamble}{body}"));
            assert!(!is_read_without_class || without_class == expected, "{preamble}: {without_class}");
        }
    }
}
