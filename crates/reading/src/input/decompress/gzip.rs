//! Gzip: reads all members of a file one after the other. Zeros after them are skipped; tapes and disk blocks
//! leave such padding.

use std::io::{self, BufRead, Read};

use flate2::bufread::GzDecoder;

/// Reads the content of all members.
pub(crate) struct Gzip<R> {
    /// `None` after the last member.
    member: Option<GzDecoder<R>>,
}

impl<R: BufRead> Gzip<R> {
    pub(crate) fn new(input: R) -> Self {
        Self { member: Some(GzDecoder::new(input)) }
    }
}

impl<R: BufRead> Read for Gzip<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let Some(member) = &mut self.member else { return Ok(0) };
            let read = member.read(buffer)?;
            if read > 0 || buffer.is_empty() {
                return Ok(read);
            }
            // The checksum of the member is correct. Another member or padding follows.
            let goes_on = follows(member.get_mut())?;
            let ended = self.member.take();
            self.member = ended.filter(|_| goes_on).map(|ended| GzDecoder::new(ended.into_inner()));
        }
    }
}

/// Skips zeros. Returns false if nothing follows them.
fn follows(input: &mut impl BufRead) -> io::Result<bool> {
    loop {
        let bytes = input.fill_buf()?;
        let zeros = bytes.iter().take_while(|&&byte| byte == 0).count();
        let (is_end, is_over) = (bytes.is_empty(), zeros == bytes.len());
        input.consume(zeros);
        if is_end || !is_over {
            return Ok(!is_end);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    fn gzip(text: &str) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(text.as_bytes()).unwrap();
        encoder.finish().unwrap()
    }

    fn inside(parts: &[&[u8]]) -> io::Result<String> {
        let mut text = String::new();
        let bytes = parts.concat();
        // The buffer is so small that every boundary falls between two reads.
        Gzip::new(io::BufReader::with_capacity(3, &bytes[..])).read_to_string(&mut text)?;
        Ok(text)
    }

    /// An interrupted read is repeated, and does not count as the end.
    #[test]
    fn an_interruption_between_members_loses_none() {
        struct Interrupted<'a>(Vec<&'a [u8]>);
        impl Read for Interrupted<'_> {
            fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
                match self.0.first().copied() {
                    None => Ok(0),
                    Some([]) => {
                        self.0.remove(0);
                        Err(io::ErrorKind::Interrupted.into())
                    }
                    Some(part) => {
                        let read = part.len().min(buffer.len());
                        buffer[..read].copy_from_slice(&part[..read]);
                        self.0[0] = &part[read..];
                        Ok(read)
                    }
                }
            }
        }
        let (one, two) = (gzip("one "), gzip("two"));
        let mut text = String::new();
        let input = io::BufReader::new(Interrupted(vec![&one, &[0; 5], &two]));
        Gzip::new(input).read_to_string(&mut text).unwrap();
        assert_eq!(text, "one two");
    }

    #[test]
    fn members_follow_each_other_and_zeros_are_no_more_than_padding() {
        let (one, two) = (gzip("one "), gzip("two"));
        assert_eq!(inside(&[&one]).unwrap(), "one ");
        assert_eq!(inside(&[&one, &two]).unwrap(), "one two");
        assert_eq!(inside(&[&one, &two, &[0; 1000]]).unwrap(), "one two");
        assert_eq!(inside(&[&one, &[0; 10], &two]).unwrap(), "one two");
        assert!(inside(&[&one, b"garbage"]).is_err());
        assert!(inside(&[&one, &two[..5]]).is_err());
        assert!(inside(&[&one[..one.len() - 1]]).is_err());
        assert!(inside(&[]).is_err());
    }
}
