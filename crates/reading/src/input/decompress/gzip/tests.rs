//! Tests of gzip: damaged, cut and hostile files.

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
    Gzip::new(Few(&bytes)).read_to_string(&mut text)?;
    Ok(text)
}

/// Gives so few bytes at a time that every boundary falls between two reads.
struct Few<'a>(&'a [u8]);

impl Read for Few<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let few = buffer.len().min(3);
        self.0.read(&mut buffer[..few])
    }
}

/// The content of a file up to its end, or to an error after which reading ends. Also the offsets of the
/// damaged members.
fn all_inside(bytes: &[u8]) -> (String, Vec<u64>) {
    let (text, damaged, _) = inside_and_error(bytes);
    (text, damaged)
}

/// Like [`all_inside`], with the error after which reading ends.
fn inside_and_error(bytes: impl Read) -> (String, Vec<u64>, Option<String>) {
    let (mut gzip, mut text, mut damaged) = (Gzip::new(bytes), Vec::new(), Vec::new());
    let mut last = None;
    while let Err(error) = gzip.read_to_end(&mut text) {
        let member = error.get_ref().and_then(|inner| inner.downcast_ref::<DamagedMember>());
        let Some(member) = member else {
            last = Some(error.to_string());
            break;
        };
        damaged.push(member.at);
    }
    (String::from_utf8(text).unwrap(), damaged, last)
}

fn records(range: std::ops::Range<u32>) -> Vec<String> {
    let text =
        |number: u32| (0..200).map(move |word| format!("{:x} ", (number * 1000 + word).wrapping_mul(0x9E37_79B1)));
    range.map(|number| format!("WARC/1.0\r\n{}", text(number).collect::<String>())).collect()
}

#[test]
fn a_damaged_member_costs_no_other_record() {
    let texts = records(0..5);
    let members: Vec<Vec<u8>> = texts.iter().map(|text| gzip(text)).collect();
    let (start, length) = (members[0].len() + members[1].len(), members[2].len());
    let without = [&texts[..2], &texts[3..]].concat().concat();
    for at in 0..length {
        for change in [1, 0xff] {
            let mut bytes = members.concat();
            bytes[start + at] ^= change;
            let (text, damaged) = all_inside(&bytes);
            // Time, system and flags in the header do not matter.
            if text == texts.concat() && at < 10 {
                assert!(damaged.is_empty(), "{at}");
            } else {
                assert!(text == without && damaged == [start as u64], "{at} {damaged:?} {}", text.len());
            }
        }
    }
    for cut in [1, length / 2, length - 1] {
        let bytes = [members[..2].concat(), members[2][..cut].to_vec(), members[3..].concat()].concat();
        assert_eq!(all_inside(&bytes), (without.clone(), vec![start as u64]), "{cut}");
        let bytes = [members[..2].concat(), members[2][..cut].to_vec()].concat();
        assert_eq!(all_inside(&bytes), (texts[..2].concat(), vec![start as u64]), "{cut}");
    }
    // Two damaged members, and a large one.
    let mut bytes = members.concat();
    bytes[start + length / 2] ^= 1;
    bytes[start + length + members[3].len() / 2] ^= 1;
    let damaged = vec![start as u64, (start + length) as u64];
    assert_eq!(all_inside(&bytes), ([&texts[..2], &texts[4..]].concat().concat(), damaged));
    let large = records(10..2000).concat();
    let packed = gzip(&large);
    let mut bytes = [&members[0][..], &packed, &members[1]].concat();
    bytes[members[0].len() + packed.len() - 100] ^= 1;
    let (text, damaged) = all_inside(&bytes);
    assert_eq!(damaged, [members[0].len() as u64]);
    assert!(text.starts_with(&(texts[0].clone() + &large[..large.len() / 2])) && text.ends_with(&texts[1]));
}

#[test]
fn only_records_are_searched_for() {
    let [record, other] = [gzip(&records(0..1)[0]), gzip("no record")];
    let mut damaged = other.clone();
    damaged[other.len() - 5] ^= 1;
    assert_eq!(all_inside(&[&other[..], &damaged, &record].concat()).1, Vec::<u64>::new());
    let (text, at) = all_inside(&[&record[..], &damaged, &other, &record].concat());
    assert_eq!((text, at), (records(0..1).concat().repeat(2), vec![record.len() as u64]));
}

/// Members within members that are all damaged, and places that only look like members.
#[test]
fn a_hostile_file_is_searched_once() {
    let record = gzip(&records(0..1)[0]);
    let cut = &record[..40];
    let (text, damaged) = all_inside(&[&record[..], &cut.repeat(20_000)].concat());
    assert!(text == records(0..1)[0] && damaged.len() <= 20_000, "{}", damaged.len());
    let places = b"\x1f\x8b\x08\0".repeat(1 << 20);
    let (text, damaged, error) = inside_and_error(&[&record[..], &places, &record].concat()[..]);
    assert_eq!((text, damaged), (records(0..1).concat(), vec![record.len() as u64]));
    assert!(error.is_some_and(|error| error.ends_with("the rest was not read")));
}

/// A crawl that was compressed as a whole.
#[test]
fn what_comes_before_the_damage_of_the_only_member_is_returned() {
    struct Failing;
    impl Read for Failing {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::Error::other("the disk is gone"))
        }
    }
    for count in [8, 2000] {
        let text = records(0..count).concat();
        let member = gzip(&text);
        let mut checksum = member.clone();
        checksum[member.len() - 6] ^= 1;
        let (read, damaged, error) = inside_and_error(&checksum[..]);
        assert!(read == text && damaged.is_empty() && error.is_some());
        let cut = &member[..member.len() - 200];
        let (read, damaged, error) = inside_and_error(cut);
        assert!(text.starts_with(&read) && read.len() + 2000 > text.len(), "{} of {}", read.len(), text.len());
        assert!(damaged.is_empty() && error.is_some());
        let (failed, damaged, error) = inside_and_error(cut.chain(Failing));
        assert_eq!((failed == read, damaged, error.as_deref()), (true, vec![], Some("the disk is gone")));
    }
    // If others follow, nothing of a damaged first record is used.
    let members = [gzip(&records(0..1)[0]), gzip(&records(1..2)[0])];
    let bytes = [&members[0][..members[0].len() - 6], &members[1]].concat();
    assert_eq!(inside_and_error(&bytes[..]), (records(1..2).concat(), vec![0], None));
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
    Gzip::new(Interrupted(vec![&one, &[0; 5], &two])).read_to_string(&mut text).unwrap();
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
