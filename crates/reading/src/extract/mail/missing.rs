//! Missing boundaries: multiparts whose parts never begin. For each, the library searches the rest of the
//! mail for the boundary. A mail of nothing else would take a time that grows with the square of its size.

use rustc_hash::FxHashMap;

use fpdb_host::error::{Error, Result};
use fpdb_kernel::document::Format;

/// Number of missing boundaries that a mail of any size may have.
const FREE: u64 = 300;

/// Maximum bytes that all searches for missing boundaries together may read: some seconds.
const SEARCHED: u64 = 4 << 30;

/// Returns an error if searching the missing boundaries of a mail would take too long.
pub(super) fn refuse_many(mail: &[u8]) -> Result<()> {
    const NAME: &[u8] = b"boundary";
    // The last offset of each line that can begin a part.
    let mut lines: FxHashMap<&[u8], usize> = FxHashMap::default();
    let mut at = 0;
    for line in mail.split(|&byte| byte == b'\n') {
        if let Some(boundary) = line.strip_prefix(b"--") {
            let boundary = boundary.trim_ascii_end();
            lines.insert(boundary.strip_suffix(b"--").unwrap_or(boundary), at);
            lines.insert(boundary, at);
        }
        at += line.len() + 1;
    }
    let (mut missing, mut searched) = (0_u64, 0_u64);
    for at in memchr::memchr2_iter(b'b', b'B', mail) {
        if mail.get(at..at + NAME.len()).is_some_and(|name| name.eq_ignore_ascii_case(NAME)) {
            let value = value(&mail[at + NAME.len()..]);
            if value.is_some_and(|boundary| lines.get(boundary).is_none_or(|&last| last < at)) {
                missing += 1;
                searched += (mail.len() - at) as u64;
            }
        }
    }
    if missing > FREE && searched > SEARCHED {
        return Err(Error::not_of_format(Format::Mail, "it has too many multiparts without a part"));
    }
    Ok(())
}

/// The value of a parameter, from its equals sign on. `None` if the name stands in a text. A value in parts
/// or with an encoding (RFC 2231) is returned as empty, so it counts as missing.
fn value(after: &[u8]) -> Option<&[u8]> {
    let after = after.trim_ascii_start();
    if after.starts_with(b"*") {
        return Some(b"");
    }
    let value = after.strip_prefix(b"=")?.trim_ascii_start();
    match value.strip_prefix(b"\"") {
        Some(quoted) => quoted.split(|&byte| byte == b'"').next(),
        None => value.split(|&byte| byte.is_ascii_whitespace() || byte == b';').next(),
    }
}
