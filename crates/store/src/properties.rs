//! Properties of every decoder, for any bytes that a store may find on disk. A decoder either refuses the
//! bytes, or returns a value that encodes to an equal value again.

use std::fmt::Debug;

use roaring::RoaringBitmap;

use super::codec::block;
use super::codec::block::{BLOCK_POSTINGS, Block, Posting};
use super::codec::container_record::ContainerRecord;
use super::codec::filter as filters;
use super::codec::filter::Filter;
use super::codec::format;
use super::codec::positions as chunks;
use super::codec::records as metadata;
use super::codec::records::{DocumentRecord, FoldRecord, KeptOutRecord, RunRecord, SourceRecord, StateRecord};
use super::codec::varint;
use super::document_set as sets;
use super::open::commit_mark::CommitMark;
use super::texts;
use crate::fuzzing::Draw;

/// A posting block: decodes any bytes, or encodes any postings.
pub(crate) fn posting_block(data: &[u8]) {
    let mut draw = Draw::new(data);
    if draw.byte().is_multiple_of(2) {
        return any_block(draw.u64(), draw.rest());
    }
    // Draws narrow values, so that some are equal.
    let (hash, id) = (u32::from(draw.byte() % 64), u32::from(draw.byte() % 32));
    let mut postings = Vec::new();
    while !draw.is_empty() && postings.len() < BLOCK_POSTINGS {
        postings.push(Posting { hash: draw.u64() >> hash, document: draw.u32() >> id, ordinal: draw.u32() >> id });
    }
    postings.sort_unstable();
    check_postings(&postings);
}

fn any_block(last_hash: u64, bytes: &[u8]) {
    let Ok(block) = Block::decode(last_hash, bytes) else { return };
    let postings: Vec<Posting> = block.postings().collect();
    assert!((1..=BLOCK_POSTINGS).contains(&postings.len()));
    for posting in &postings {
        block.find(posting.hash, &mut Vec::new());
    }
    // The decoder does not check the order: only reading the postings shows it.
    if postings.is_sorted() && postings.last().is_some_and(|last| last.hash == last_hash) {
        check_postings(&postings);
    }
}

fn check_postings(postings: &[Posting]) {
    let Some(last) = postings.last() else { return };
    let mut bytes = Vec::new();
    block::encode(postings, &mut bytes);
    let block = Block::decode(last.hash, &bytes).unwrap();
    assert!(block.postings().eq(postings.iter().copied()));
    for hash in postings.iter().flat_map(|it| [it.hash, it.hash.wrapping_add(1), it.hash.wrapping_sub(1)]) {
        let mut found = Vec::new();
        assert_eq!(block.find(hash, &mut found), hash == last.hash);
        assert!(found.iter().eq(postings.iter().filter(|posting| posting.hash == hash)));
    }
    assert!(Block::decode(last.hash, &bytes[..bytes.len() - 1]).is_err());
}

/// A chunk of positions, and a varint.
pub(crate) fn positions(data: &[u8]) {
    let mut rest = data;
    if let Some(value) = varint::read(&mut rest) {
        let mut bytes = Vec::new();
        varint::write(value, &mut bytes);
        assert_eq!(varint::read(&mut &bytes[..]), Some(value));
    }
    let Ok(places) = chunks::decode(data) else { return };
    let mut bytes = Vec::new();
    chunks::encode(&places, &mut bytes);
    assert_eq!(chunks::decode(&bytes), Ok(places));
}

/// A filter: decodes any bytes, or encodes any hashes.
pub(crate) fn filter(data: &[u8]) {
    let mut draw = Draw::new(data);
    if draw.byte().is_multiple_of(2) {
        let hash = draw.u64();
        if let Ok(filter) = Filter::decode(draw.rest()) {
            for turn in 0..64 {
                let _ = filter.may_hold(hash.rotate_left(turn));
            }
        }
        return;
    }
    let mut hashes = Vec::new();
    while !draw.is_empty() {
        hashes.push(draw.u64());
    }
    hashes.sort_unstable();
    hashes.dedup();
    let mut bytes = Vec::new();
    filters::encode(&hashes, &mut filters::FilterBuilder::default(), &mut bytes);
    let filter = Filter::decode(&bytes).unwrap();
    assert!(hashes.iter().all(|&hash| filter.may_hold(hash)));
    assert!(Filter::decode(&bytes[..bytes.len() - 1]).is_err());
}

/// The records that bincode encodes.
pub(crate) fn records(data: &[u8]) {
    record::<DocumentRecord>(data);
    record::<StateRecord>(data);
    record::<RunRecord>(data);
    record::<FoldRecord>(data);
    record::<ContainerRecord>(data);
    record::<SourceRecord>(data);
    record::<KeptOutRecord>(data);
}

fn record<T: metadata::Record + PartialEq + Debug>(data: &[u8]) {
    let Ok(record) = metadata::decode::<T>(data, String::new) else { return };
    let bytes = metadata::encode(&record).unwrap();
    assert_eq!(metadata::decode::<T>(&bytes, String::new).unwrap(), record);
}

/// A row of a document set.
pub(crate) fn document_set(data: &[u8]) {
    let key = [1, 2];
    let Ok(set) = sets::decode("tombstones", &key, data) else { return };
    assert!(set.len() <= 1 << 16 && set.iter().all(|id| id >> 16 == 0x0102));
    let low: RoaringBitmap = set.iter().map(|id| id & 0xffff).collect();
    let mut bytes = Vec::new();
    low.serialize_into(&mut bytes).unwrap();
    assert_eq!(sets::decode("tombstones", &key, &bytes).unwrap(), set);
}

/// Keys, the profile, and the files beside the store.
pub(crate) fn keys(data: &[u8]) {
    if let Some((name, document)) = format::parse_name_key(data) {
        assert_eq!(format::name_key(&name, document), data);
    }
    if let Some((run, hash, continuation)) = format::parse_posting_key(data) {
        assert_eq!(format::posting_key(run, hash, continuation), data);
    }
    if let Some((run, hash)) = format::parse_filter_key(data) {
        assert_eq!(format::filter_key(run, hash), data);
    }
    if let Ok(profile) = format::decode_profile(data) {
        assert_eq!(format::decode_profile(&format::encode_profile(&profile)).unwrap(), profile);
        assert_eq!(format::marker_profile(&format::marker(&profile)), Some(profile));
    }
    if let Some(mark) = CommitMark::parse(data) {
        assert_eq!(CommitMark::parse(mark.text().as_bytes()), Some(mark));
    }
    let Ok(text) = std::str::from_utf8(data) else { return };
    let _ = (format::marker_version(text), format::marker_profile(text));
    // Keys must sort like the names, for any characters in the names.
    let middle = (0..=text.len() / 2).rfind(|&at| text.is_char_boundary(at)).unwrap_or(0);
    let (one, other) = text.split_at(middle);
    assert_eq!(format::name_key(one, 7).cmp(&format::name_key(other, 7)), one.cmp(other));
    assert_eq!(format::parse_name_key(&format::name_key(one, 7)), Some((one.to_owned(), 7)));
}

/// A chunk of a stored text.
pub(crate) fn stored_text(data: &[u8]) {
    if let Ok(text) = texts::decompress(data) {
        assert!(text.len() <= texts::TEXT_CHUNK_BYTES);
    }
    assert_eq!(texts::decompress(&texts::compress(data).unwrap()).as_deref(), Ok(data));
}
