//! Tests of mails by examples: which parts are text, and what their bytes mean.

use super::*;

fn read(mail: &str) -> (String, u64) {
    let extracted = extract(mail.as_bytes(), &InputLimits::default()).unwrap();
    (String::from_utf8(extracted.text).unwrap(), extracted.unread.count)
}

/// A multipart with these parts; each part includes its header.
fn multipart(kind: &str, boundary: &str, parts: &[&str], end: &str) -> String {
    let parts: String = parts.iter().map(|part| format!("--{boundary}\n{part}\n")).collect();
    format!("Content-Type: multipart/{kind}; boundary={boundary}\n\n{parts}{end}")
}

fn text_of_bytes(mail: &[u8]) -> String {
    String::from_utf8(extract(mail, &InputLimits::default()).unwrap().text).unwrap()
}

const PLAIN: &str = "Content-Type: text/plain\n\nthe plain words";
const PAGE: &str = "Content-Type: text/html\n\n<p>the words of a page</p>";
const BASE64: &str = "Content-Type: text/plain\nContent-Transfer-Encoding: base64\n\nd29yZHMgaW4gYmFzZTY0";
const QUOTED: &str =
    "Content-Type: text/plain; charset=iso-8859-1\nContent-Transfer-Encoding: quoted-printable\n\nna=EFve wo=\nrds";
const MESSAGE: &str = "Content-Type: message/rfc822\n\nSubject: inner\n\nwords of a message";

#[test]
fn a_multipart_that_nothing_closes_is_read_to_its_end() {
    let cases = [
        (PLAIN, "the plain words"),
        (PAGE, "the words of a page"),
        (BASE64, "words in base64"),
        (QUOTED, "na\u{EF}ve words"),
        (MESSAGE, "words of a message"),
    ];
    for kind in ["mixed", "related", "signed", "report", "alternative", "other"] {
        for (last, words) in cases {
            for first in [&[][..], &[PLAIN], &["Content-Type: image/png\n\nPNG"]] {
                // In `related` and `alternative`, the first part changes the role of the last one.
                if !first.is_empty() && !matches!(kind, "mixed" | "signed" | "report" | "other") {
                    continue;
                }
                let parts = [first, &[last]].concat();
                let closed = read(&format!("From: a\n{}", multipart(kind, "BB", &parts, "--BB--\n")));
                assert!(closed.0.contains(words), "{kind} {last}: {closed:?}");
                for end in ["", "--BB", "--B"] {
                    let cut = read(&format!("From: a\n{}", multipart(kind, "BB", &parts, end)));
                    assert!(cut.0.contains(words), "{kind} {last} and {end:?}: {cut:?}");
                }
            }
        }
    }
}

#[test]
fn a_multipart_that_ends_with_the_one_around_it_hides_no_part() {
    let inner = multipart("alternative", "II", &[PLAIN], "");
    let second = multipart("mixed", "SS", &["Content-Type: text/plain\n\nthe second words"], "");
    let mail = multipart("mixed", "BB", &[&inner, &second, QUOTED], "");
    let (text, unread) = read(&format!("From: a\n{mail}"));
    assert_eq!((text.as_str(), unread), ("the plain words\nthe second words\nna\u{EF}ve words\n", 0));
}

#[test]
fn the_innermost_of_the_open_multiparts_is_found() {
    let (mut open, mut naive) = (OpenParts::default(), Vec::new());
    let names: [&[u8]; 4] = [b"A", b"B", b"A--", b""];
    let mut state = 1_u64;
    for _ in 0..2000 {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let chosen = (state >> 33) as usize % 7;
        match names.get(chosen) {
            Some(&name) => {
                open.push(name);
                naive.push(name);
            }
            None => assert_eq!(open.pop(), naive.pop()),
        }
        for line in [&b"A"[..], b"A--", b"A----", b"B", b"B--", b"--", b"", b"C"] {
            let is_it = |&it: &&[u8]| line == it || line.strip_suffix(b"--") == Some(it);
            assert_eq!(open.innermost(line), naive.iter().rposition(is_it), "{line:?} in {naive:?}");
        }
    }
}

#[test]
fn a_multipart_whose_parts_never_begin_is_text() {
    for header in ["multipart/mixed; boundary=never", "multipart/mixed"] {
        let (text, _) = read(&format!("From: a\nContent-Type: {header}\n\nwords that stand there\n"));
        assert_eq!(text, "words that stand there\n", "{header}");
    }
}

#[test]
fn attachments_are_counted_and_compared() {
    let with = |attached: &str| {
        let attached = format!("Content-Type: application/pdf\nContent-Disposition: attachment\n\n{attached}");
        let mail = format!("From: a\n{}", multipart("mixed", "BB", &[PLAIN, &attached], "--BB--\n"));
        extract(mail.as_bytes(), &InputLimits::default()).unwrap()
    };
    let (one, other) = (with("%PDF-1"), with("%PDF-2"));
    assert_eq!((one.text == other.text, one.unread.count, other.unread.count), (true, 1, 1));
    assert_ne!(one.unread.digest, other.unread.digest);
    assert_eq!(one.unread, with("%PDF-1").unread);
    assert_eq!(read(&format!("From: a\n{PLAIN}")).1, 0);
    let alternative = multipart("alternative", "BB", &[PLAIN, PAGE], "--BB--\n");
    assert_eq!(read(&format!("From: a\n{alternative}")), ("the plain words\n".into(), 0));
}

#[test]
fn attachments_are_the_parts_that_are_counted() {
    let attached = |kind: &str, content: &str| format!("Content-Type: {kind}\n{content}");
    let pdf = attached("application/pdf; name=a.pdf", "\n%PDF-1");
    let named =
        attached("text/html; charset=latin1", "Content-Disposition: attachment; filename*=utf-8''%C3%A4\n\n\u{e9}");
    let broken = attached("a/b", "Content-Transfer-Encoding: base64\n\nYW!J");
    let inner = format!("Content-Type: message/rfc822\n\n{}", multipart("mixed", "CC", &[PLAIN, &pdf], "--CC--\n"));
    let bytes = format!("From: a\n{}", multipart("mixed", "BB", &[PLAIN, &pdf, &named, &broken, &inner], "--BB--\n"));
    let found = attachments(bytes.as_bytes()).unwrap();
    let inner = inner.split_once("\n\n").unwrap().1;
    let of_inner = attachments(inner.as_bytes()).unwrap();
    // The message in the message is text too.
    assert_eq!((found.iter().count() + of_inner.iter().count()) as u64, read(&bytes).1 + 1);
    let pdf = Attachment { name: "a.pdf", media_type: "application/pdf", content: b"%PDF-1", is_broken: false };
    let named =
        Attachment { name: "\u{e4}", media_type: "text/html", content: "\u{feff}\u{c3}\u{a9}".as_bytes(), ..pdf };
    let broken = Attachment { name: "", media_type: "a/b", content: b"", is_broken: true };
    let [.., message] = found.iter().collect::<Vec<_>>()[..] else { panic!("no attachment") };
    assert_eq!((message.media_type, message.name), ("message/rfc822", ""));
    assert_eq!(str::from_utf8(message.content).unwrap().trim_end(), inner.trim_end());
    assert_eq!(found.iter().take(3).collect::<Vec<_>>(), [pdf, named, broken]);
    assert_eq!(of_inner.iter().collect::<Vec<_>>(), [pdf]);
}

#[test]
fn messages_within_each_other_are_attachments_of_each_other() {
    let mut mail = "Subject: innermost\n\nwords".to_owned();
    for _ in 0..=DEPTH {
        let outer = format!("Subject: outer\nContent-Type: message/rfc822\n\n{mail}");
        let found = attachments(outer.as_bytes()).unwrap();
        let found: Vec<Attachment<'_>> = found.iter().collect();
        let [one] = found[..] else { panic!("{found:?}") };
        assert_eq!((one.media_type, one.content), ("message/rfc822", mail.as_bytes()));
        mail = outer;
    }
    // A message that is nested too deeply is not read as text.
    assert_eq!(read(&mail).1, 1);
}

/// The oracle: the words of both forms, counted by the way they were made.
#[test]
fn the_html_is_read_if_the_plain_text_is_a_stub() {
    let words = |prefix: &str, number: usize| (0..number).map(|n| format!("{prefix}{n} ")).collect::<String>();
    for (of_plain, of_page) in [(0, 1), (1, 10), (1, 11), (9, 90), (9, 91), (30, 200), (0, 0)] {
        let plain = format!("Content-Type: text/plain\n\n{}", words("p", of_plain));
        let page = format!("Content-Type: text/html\n\n<p>{}</p>", words("h", of_page));
        let picture = "Content-Type: image/png\n\nPNG";
        let related = multipart("related", "RR", &[&page, picture], "--RR--\n");
        let last = "Content-Type: text/plain\n\nlast";
        for page in [&page, &related] {
            let alternative = multipart("alternative", "AA", &[&plain, page], "--AA--\n");
            let mixed = multipart("mixed", "MM", &[&alternative, last], "--MM--\n");
            for (mail, end) in [(&alternative, ""), (&mixed, "last")] {
                let text = read(&format!("From: a\n{mail}")).0;
                let prefer = if of_plain * 10 < of_page { words("h", of_page) } else { words("p", of_plain) };
                let expected: Vec<&str> = prefer.split_whitespace().chain(end.split_whitespace()).collect();
                assert_eq!(text.split_whitespace().collect::<Vec<_>>(), expected, "{of_plain} {of_page}");
            }
        }
    }
}

const RUSSIAN: &str = "\u{41f}\u{440}\u{438}\u{432}\u{435}\u{442}, \u{434}\u{43e}\u{440}\u{43e}\u{433}\u{43e}\u{439} \
                       \u{434}\u{440}\u{443}\u{433}, \u{43a}\u{430}\u{43a} \u{434}\u{435}\u{43b}\u{430} \
                       \u{441}\u{435}\u{433}\u{43e}\u{434}\u{43d}\u{44f}?";
const FRENCH: &str = "le caf\u{e9} o\u{f9} l'\u{e9}t\u{e9} fut tr\u{e8}s agr\u{e9}able, d\u{e9}j\u{e0} no\u{eb}l";

#[test]
fn a_text_without_a_usable_charset_is_detected() {
    let headers = [
        "",
        "MIME-Version: 1.0\nContent-Type: text/plain\n",
        "Content-Type: text/plain; charset=x-unheard-of\n",
        "Content-Type: text/plain; charset=utf-8\n",
        "Content-Type: text/plain; charset=us-ascii\n",
        "Content-Type: text/html\n",
        "Content-Type: text/html; charset=utf-8\n",
    ];
    let encodings = [
        (FRENCH, encoding_rs::WINDOWS_1252),
        (FRENCH, encoding_rs::UTF_8),
        (RUSSIAN, encoding_rs::KOI8_R),
        (RUSSIAN, encoding_rs::WINDOWS_1251),
        (RUSSIAN, encoding_rs::UTF_8),
    ];
    for (words, encoding) in encodings {
        let body = encoding.encode(words).0;
        let quoted: String = body.iter().map(|byte| format!("={byte:02X}")).collect();
        for header in headers {
            let mail = [b"From: a\n", header.as_bytes(), b"\n", &body, b"\n"].concat();
            assert_eq!(text_of_bytes(&mail), format!("{words}\n"), "{} {header}", encoding.name());
            let mail = format!("From: a\nContent-Transfer-Encoding: quoted-printable\n{header}\n{quoted}\n");
            assert_eq!(read(&mail).0, format!("{words}\n"), "{} {header}", encoding.name());
            let part = [header.as_bytes(), b"\n", &body].concat();
            let begin = b"From: a\nContent-Type: multipart/mixed; boundary=BB\n\n--BB\n";
            let mail = [&begin[..], &part, b"\n--BB--\n"].concat();
            assert_eq!(text_of_bytes(&mail), format!("{words}\n"), "{} {header}", encoding.name());
        }
    }
}

#[test]
fn a_charset_that_decodes_most_of_a_text_counts() {
    let mail = |charset: &str, body: &[u8]| {
        text_of_bytes(&[format!("From: a\nContent-Type: text/plain; charset={charset}\n\n").as_bytes(), body].concat())
    };
    // One broken byte at the end.
    let utf8 = [FRENCH.as_bytes(), b"\xe9"].concat();
    assert_eq!(mail("utf-8", &utf8), format!("{FRENCH}\u{fffd}\n"));
    let (japanese, _, _) = encoding_rs::SHIFT_JIS.encode("\u{65e5}\u{672c}\u{8a9e}");
    assert_eq!(mail("shift_jis", &[&japanese, &b"\xff"[..]].concat()), "\u{65e5}\u{672c}\u{8a9e}\u{fffd}\n");
    // Many mails in UTF-8 are declared as Latin-1. One character is no proof.
    for words in [FRENCH, RUSSIAN] {
        assert_eq!(mail("iso-8859-1", words.as_bytes()), format!("{words}\n"));
    }
    assert_eq!(mail("iso-8859-1", "\u{e9}".as_bytes()), "\u{c3}\u{a9}\n");
}

#[test]
fn a_charset_that_contradicts_the_bytes_does_not_count() {
    let mail = |charset: &str, body: &[u8]| {
        text_of_bytes(&[format!("From: a\nContent-Type: text/plain; charset={charset}\n\n").as_bytes(), body].concat())
    };
    let chinese = "\u{6211}\u{80fd}\u{541e}\u{4e0b}\u{73bb}\u{7483}".repeat(3);
    let japanese = "\u{3053}\u{308c}\u{306f}\u{65e5}\u{672c}\u{8a9e}\u{3067}\u{3059}".repeat(3);
    for charset in ["utf-16", "UTF-16LE", "utf-16be", "iso-2022-jp", "gb2312", "big5", "shift_jis", "euc-kr"] {
        for words in [&FRENCH.repeat(2), RUSSIAN, &chinese, &japanese] {
            assert_eq!(mail(charset, words.as_bytes()), format!("{words}\n"), "{charset}");
        }
        assert_eq!(mail(charset, b"plain words"), "plain words\n", "{charset}");
    }
    for charset in ["utf-16", "utf-16le", "utf-16be", "iso-2022-jp"] {
        for (words, encoding) in [(FRENCH, encoding_rs::WINDOWS_1252), (RUSSIAN, encoding_rs::KOI8_R)] {
            assert_eq!(mail(charset, &encoding.encode(words).0), format!("{words}\n"), "{charset}");
        }
    }
    // A text in its declared charset is decoded by this charset, even without a zero byte.
    let wide = |text: &str, bytes: fn(u16) -> [u8; 2]| text.encode_utf16().flat_map(bytes).collect::<Vec<u8>>();
    let short = "\u{6211}\u{80fd}\u{541e}\u{4e0b}\u{73bb}\u{7483}\u{ff0c}\u{597d}";
    let quoted = "\u{6211}\u{8bf4}\u{201c}\u{6020}\u{60f0}\u{201d}\u{ff0c}\u{597d}\u{3002}".repeat(4);
    let hindi = "\u{928}\u{92e}\u{938}\u{94d}\u{924}\u{947}";
    for words in [FRENCH, RUSSIAN, &chinese, &japanese, short, &quoted, hindi] {
        assert_eq!(mail("utf-16le", &wide(words, u16::to_le_bytes)), format!("{words}\n"));
        assert_eq!(mail("utf-16be", &wide(words, u16::to_be_bytes)), format!("{words}\n"));
    }
    for encoding in [encoding_rs::GBK, encoding_rs::BIG5, encoding_rs::EUC_JP, encoding_rs::ISO_2022_JP] {
        let words = if [encoding_rs::GBK, encoding_rs::BIG5].contains(&encoding) {
            "\u{6211}\u{80fd}\u{541e}\u{4e0b}"
        } else {
            &japanese
        };
        assert_eq!(mail(encoding.name(), &encoding.encode(words).0), format!("{words}\n"), "{}", encoding.name());
    }
}

/// The letters in code page 850 and in that of the Macintosh.
#[test]
fn old_code_pages_are_known_by_their_other_names() {
    let words = "\u{e9}l\u{e8}ve fran\u{e7}ais, \u{e0} No\u{eb}l, \u{fc}ber";
    let encoded = |letters: [(char, u8); 6]| -> Vec<u8> {
        let byte =
            |letter: char| letters.iter().find(|(known, _)| *known == letter).map_or(letter as u8, |&(_, byte)| byte);
        words.chars().map(byte).collect()
    };
    let dos = encoded([
        ('\u{e9}', 0x82),
        ('\u{e8}', 0x8a),
        ('\u{e7}', 0x87),
        ('\u{e0}', 0x85),
        ('\u{eb}', 0x89),
        ('\u{fc}', 0x81),
    ]);
    let mac = encoded([
        ('\u{e9}', 0x8e),
        ('\u{e8}', 0x8f),
        ('\u{e7}', 0x8d),
        ('\u{e0}', 0x88),
        ('\u{eb}', 0x91),
        ('\u{fc}', 0x9f),
    ]);
    for (charset, bytes) in [
        ("CP850", &dos),
        ("IBM850", &dos),
        ("ibm-850", &dos),
        ("x-cp850", &dos),
        ("cp437", &dos),
        ("IBM858", &dos),
        ("macintosh", &mac),
        ("MacRoman", &mac),
        ("x-mac-roman", &mac),
        ("x-MacRoman", &mac),
    ] {
        let header = format!("From: a\nContent-Type: text/plain; charset={charset}\n\n");
        assert_eq!(text_of_bytes(&[header.as_bytes(), bytes].concat()), format!("{words}\n"), "{charset}");
    }
}

#[test]
fn a_page_in_a_mail_may_declare_its_own_encoding() {
    let page = encoding_rs::KOI8_R.encode("<meta charset=koi8-r><p>\u{434}\u{430}").0;
    let mail = [b"From: a\nContent-Type: text/html\n\n", &page[..]].concat();
    assert_eq!(text_of_bytes(&mail), "\u{434}\u{430}\n");
}

#[test]
fn headers_with_bytes_above_127_are_detected() {
    for (words, encoding) in
        [(FRENCH, encoding_rs::WINDOWS_1252), (RUSSIAN, encoding_rs::KOI8_R), (RUSSIAN, encoding_rs::UTF_8)]
    {
        let raw = encoding.encode(words).0;
        let mail =
            [b"From: =?utf-8?q?J=C3=BC?= <a@x>\nSubject: ", &raw[..], b"\nX-Note: ", &raw, b"\n\nwords\n"].concat();
        assert_eq!(text_of_bytes(&mail), format!("{words}\nwords\n"), "{}", encoding.name());
        let inner = [b"From: b\nContent-Type: message/rfc822\n\n", &mail[..]].concat();
        assert_eq!(text_of_bytes(&inner), format!("{words}\nwords\n"), "{}", encoding.name());
        let kept = headers(&mail, &["from", "subject", "x-note"]);
        let kept: Vec<&str> = kept.iter().map(|(_, value)| value.as_str()).collect();
        assert_eq!(kept, ["J\u{fc} <a@x>", words, words], "{}", encoding.name());
    }
}

#[test]
fn an_attachment_without_a_usable_charset_keeps_its_bytes() {
    for header in ["", "; charset=x-unheard-of", "; charset=utf-8", "; charset=us-ascii"] {
        let begin = format!(
            "From: a\nContent-Type: multipart/mixed; boundary=BB\n\n--BB\nContent-Type: text/plain{header}\n\
             Content-Disposition: attachment; filename=a.txt\n\n"
        );
        let mail = [begin.as_bytes(), b"\xe9t\xe9", b"\n--BB--\n"].concat();
        let found = attachments(&mail).unwrap();
        assert_eq!(found.iter().next().map(|found| found.content), Some(&b"\xe9t\xe9"[..]), "{header}");
    }
}

/// The bytes of `words in base64` in the lines of a list, which adds its footer below them.
#[test]
fn base64_with_a_footer_or_a_stray_byte_is_decoded() {
    const FOOTER: &str = "\n____\nlist mailing list\nlist@example.org\n";
    let encoded = "d29yZHMgaW4gYmFzZTY0LCBhbmQgbW9yZSBvZiB0aGVt";
    let words = "words in base64, and more of them";
    let part = |kind: &str, text: &str| format!("Content-Type: {kind}\nContent-Transfer-Encoding: base64\n\n{text}");
    let broken =
        [format!("{encoded}{FOOTER}"), format!("> {encoded}\n"), format!("{}!{}", &encoded[..7], &encoded[7..])];
    for text in &broken {
        assert_eq!(read(&format!("From: a\n{}", part("text/plain", text))), (format!("{words}\n"), 0), "{text}");
        let page =
            read(&format!("From: a\n{}", multipart("mixed", "BB", &[&part("text/html", text), PLAIN], "--BB--\n")));
        assert_eq!(page, (format!("{words}\nthe plain words\n"), 0), "{text}");
        let inner = format!("Content-Type: message/rfc822\n\nSubject: inner\n{}", part("text/plain", text));
        let outer = read(&format!("From: a\n{}", multipart("mixed", "BB", &[PLAIN, &inner], "--BB--\n")));
        assert!(outer.0.contains(words), "{outer:?}");
        let attached = part("application/pdf; name=a.pdf", text);
        let mail = format!("From: a\n{}", multipart("mixed", "BB", &[PLAIN, &attached], "--BB--\n"));
        let attachments = attachments(mail.as_bytes()).unwrap();
        let found: Vec<_> = attachments.iter().map(|it| (it.name, it.content, it.is_broken)).collect();
        assert_eq!(found, [("a.pdf", words.as_bytes(), false)], "{text}");
    }
    // Plain text that says it is base64 is read as it is.
    let prose = "Hello,\nthis is no base64 at all.\n";
    assert_eq!(read(&format!("From: a\n{}", part("text/plain", prose))).0, prose);
}

#[test]
fn texts_of_other_kinds_are_read_unless_they_are_attached_or_repeated() {
    let words = "BEGIN:VCALENDAR, and further words";
    for kind in ["text", "text/enriched", "text/x-diff", "text/calendar; method=REQUEST", "TEXT/Markdown"] {
        let part = format!("Content-Type: {kind}\n\n{words}");
        assert_eq!(read(&format!("From: a\n{part}")), (format!("{words}\n"), 0), "{kind}");
        let mixed = |part: &str| read(&format!("From: a\n{}", multipart("mixed", "BB", &[PLAIN, part], "--BB--\n")));
        assert_eq!(mixed(&part), (format!("the plain words\n{words}\n"), 0), "{kind}");
        for attached in ["Content-Disposition: attachment\n", "Content-Disposition: inline; filename=a.ics\n"] {
            let attached = mixed(&format!("{attached}{part}"));
            assert_eq!(attached, ("the plain words\n".to_owned(), 1), "{kind}");
        }
        let alternative =
            |parts: &[&str]| read(&format!("From: a\n{}", multipart("alternative", "BB", parts, "--BB--\n")));
        assert_eq!(alternative(&[PLAIN, &part]), ("the plain words\n".to_owned(), 1), "{kind}");
        assert_eq!(alternative(&[&part]), (format!("{words}\n"), 0), "{kind}");
    }
    assert_eq!(read("From: a\nContent-Type: text/rtf\n\n{\\rtf1 x}").1, 1);
}

#[test]
fn a_mail_with_many_boundaries_is_read() {
    let prose = |boundary: &str| format!("{}{}the end\n", boundary.repeat(4000), "some words\n".repeat(110_000));
    for boundary in ["boundary=b1\n", "boundary=", "Content-Type: multipart/mixed; boundary=b1\n"] {
        let text = prose(boundary);
        assert!(read(&format!("From: a\n\n{text}")) == (text, 0), "{boundary}");
    }
    let part = "--out\nContent-Type: multipart/mixed; boundary=z\n\ntext\n".repeat(400);
    let mail = format!("From: a\nContent-Type: multipart/mixed; boundary=out\n\n{part}--out--\n");
    assert_eq!(read(&mail).0, "text\n".repeat(400));
}
