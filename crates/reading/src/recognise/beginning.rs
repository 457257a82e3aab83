//! Beginnings: tells from the first bytes of a text that it is a page, a notebook, TeX or a mail.

/// True if a text begins like a page, after an XML declaration, comments and white space.
pub(super) fn is_html(mut head: &[u8]) -> bool {
    let starts = |head: &[u8], with: &[u8]| head.get(..with.len()).is_some_and(|it| it.eq_ignore_ascii_case(with));
    loop {
        let end: &[u8] = match head {
            _ if starts(head, b"<?xml") => b"?>",
            _ if head.starts_with(b"<!--") => b"-->",
            _ => break,
        };
        let Some(found) = memchr::memmem::find(head, end) else { return false };
        head = head[found + end.len()..].trim_ascii_start();
    }
    // The name must end here: `<header` is not `<head`.
    [&b"<!doctype html"[..], b"<html", b"<head", b"<body"]
        .iter()
        .any(|with| starts(head, with) && head.get(with.len()).is_none_or(|byte| !byte.is_ascii_alphanumeric()))
}

/// True if a text begins with the header of a mail.
pub(super) fn is_mail(head: &[u8]) -> bool {
    // Fast exit: few texts begin with a field, and the other texts often have long lines.
    let name_end = head.iter().position(|&byte| !byte.is_ascii_alphanumeric() && byte != b'-');
    if name_end.is_none_or(|end| end == 0 || head[end] != b':') {
        return false;
    }
    let mut lines = head.split(|&byte| byte == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line));
    let (mut from, mut sent) = (false, false);
    let mut last_was_field = false;
    for line in lines.by_ref().take_while(|line| !line.is_empty()) {
        if last_was_field && (line.starts_with(b" ") || line.starts_with(b"\t")) {
            continue;
        }
        let Some(colon) = line.iter().position(|&byte| byte == b':') else { return from && sent };
        let name = &line[..colon];
        if name.is_empty() || !name.iter().all(|&byte| byte.is_ascii_alphanumeric() || byte == b'-') {
            return false;
        }
        last_was_field = true;
        let is = |field: &[u8]| name.eq_ignore_ascii_case(field);
        from |= is(b"From");
        sent |= is(b"Received") || is(b"Message-ID") || is(b"MIME-Version");
    }
    from && sent
}

/// True if a text begins like a notebook. It is an object with a list `cells` (version 3: `worksheets`). It
/// also has a version number, or the beginning of a cell. Other JSON may have these words anywhere.
pub(super) fn is_notebook(head: &[u8]) -> bool {
    if !head.starts_with(b"{") {
        return false;
    }
    let (mut depth, mut at) = (0_u32, 0);
    let (mut has_cells, mut has_version) = (false, false);
    while let Some(&byte) = head.get(at) {
        let begin = at;
        at += 1;
        match byte {
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            b'"' => {
                while let Some(&within) = head.get(at).filter(|&&within| within != b'"') {
                    at += if within == b'\\' { 2 } else { 1 };
                }
                at += 1;
                let after = head.get(at..).unwrap_or_default().trim_ascii_start();
                let value = after.strip_prefix(b":").map(<[u8]>::trim_ascii_start);
                if let (1, Some([first, ..])) = (depth, value) {
                    has_cells |= *first == b'[' && matches!(&head[begin..at], b"\"cells\"" | b"\"worksheets\"");
                    has_version |= first.is_ascii_digit() && &head[begin..at] == b"\"nbformat\"";
                }
            }
            _ => {}
        }
    }
    has_cells && (has_version || memchr::memmem::find(head, b"\"cell_type\"").is_some())
}

/// True if a text begins as a TeX document: only comments and other commands, with their arguments, precede
/// the command for its class. Texts about TeX have words before that command.
pub(crate) fn begins_tex(mut head: &[u8]) -> bool {
    loop {
        head = head.trim_ascii_start();
        match head {
            [b'%', ..] => head = memchr::memchr(b'\n', head).map_or(&[], |end| &head[end..]),
            [b'\\', rest @ ..] => {
                let letters = rest.iter().take_while(|byte| byte.is_ascii_alphabetic() || **byte == b'@').count();
                match &rest[..letters] {
                    b"" => return false,
                    b"documentclass" | b"documentstyle" => return true,
                    _ => head = after_arguments(&rest[letters..]),
                }
            }
            _ => return false,
        }
    }
}

/// The text after the arguments in brackets and braces with which `text` begins.
fn after_arguments(mut text: &[u8]) -> &[u8] {
    while let [b'{' | b'[', ..] = text {
        let mut depth = 0;
        let end = text.iter().position(|byte| {
            depth += match byte {
                b'{' | b'[' => 1,
                b'}' | b']' => -1,
                _ => 0,
            };
            depth == 0
        });
        text = end.map_or(&[], |end| &text[end + 1..]);
    }
    text
}
