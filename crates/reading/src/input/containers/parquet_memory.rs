//! Parquet memory: bounds the memory of tables that are small on disk. The library reads a page and a row
//! whole, and pages hold runs: a few bytes can stand for any number of list elements.

use std::io::BufRead;
use std::sync::{Arc, Mutex, PoisonError};

use parquet::basic::{Encoding, Type as Physical};
use parquet::bloom_filter::Sbbf;
use parquet::column::page::{Page, PageMetadata, PageReader};
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::RowGroupMetaData;
use parquet::file::reader::RowGroupReader;
use parquet::record::reader::RowIter;
use parquet::schema::types::Type;

use super::parquet_deltas::deltas;
use fpdb_host::error::{DocumentError, Error};

/// Estimated bytes of memory for an element of a list, for each level of the schema around it.
const ELEMENT_BYTES: u64 = 96;

/// Number of rows that the library decodes at a time. Each value of these rows, with its levels, takes an
/// estimated [`VALUE_BYTES`] of memory.
const ROWS_AT_ONCE: u32 = 1024;
const VALUE_BYTES: u64 = 40;

/// Bytes of memory for a length in a list of lengths, for the library and for the check before it.
const LENGTH_BYTES: u64 = 16;

/// The sizes of a column's pages, as their headers state them. The library refuses a page that has another
/// size.
#[derive(Clone, Copy, Default)]
pub(super) struct PageSizes {
    /// Bytes of all pages in memory and in the file.
    pub(super) made: u64,
    pub(super) taken: u64,
    /// Bytes of the largest page in memory.
    pub(super) largest: u64,
    /// True if the last header was read but its page was not skipped yet.
    open: bool,
}

/// Collects the sizes of pages while their headers are read.
#[derive(Clone, Default)]
pub(super) struct PageHeaders(Arc<Mutex<Option<PageSizes>>>);

impl PageHeaders {
    /// The sizes of a column's pages, from the headers of the pages alone.
    pub(super) fn sizes(&self, mut pages: Box<dyn PageReader>) -> Result<PageSizes> {
        *self.lock() = Some(PageSizes::default());
        let read = (|| {
            while pages.peek_next_page()?.is_some() {
                pages.skip_next_page()?;
                self.lock().iter_mut().for_each(|sizes| sizes.open = false);
            }
            Ok(())
        })();
        let sizes = self.lock().take().unwrap_or_default();
        read.map(|()| sizes)
    }

    /// Notes the header at the start of `bytes`, if sizes are collected.
    pub(super) fn note(&self, bytes: &mut impl BufRead) -> Result<()> {
        let mut sizes = self.lock();
        let Some(sizes) = sizes.as_mut() else { return Ok(()) };
        // Before an index page, this check would skip only the header, while a later reading skips the whole
        // page. So the check would see other pages than the reading.
        if std::mem::replace(&mut sizes.open, true) {
            return Err(ParquetError::General("a column has an index page among its pages".into()));
        }
        let (made, taken) = sizes_of(bytes.fill_buf()?)
            .ok_or_else(|| ParquetError::General("the header of a page has no sizes".into()))?;
        sizes.made += made;
        sizes.taken += taken;
        sizes.largest = sizes.largest.max(made);
        Ok(())
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Option<PageSizes>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The size in memory and the size in the file of a page with this header. The header begins with three
/// 32-bit numbers in the compact form of Thrift: the kind of the page and the two sizes.
fn sizes_of(mut header: &[u8]) -> Option<(u64, u64)> {
    const NEXT_FIELD_I32: u8 = 0x15;
    let mut number = || {
        header = header.strip_prefix(&[NEXT_FIELD_I32])?;
        let zigzag = varint(&mut header)?;
        (zigzag % 2 == 0).then_some(zigzag / 2)
    };
    number()?;
    Some((number()?, number()?))
}

pub(super) fn varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..35).step_by(7) {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Some(number);
        }
    }
    None
}

/// A row group that fails if one of its dictionaries or rows takes more than `limit` bytes of memory,
/// estimated from the pages.
pub(super) struct BoundedGroup<'a> {
    pub(super) group: Box<dyn RowGroupReader + 'a>,
    pub(super) limit: u64,
}

impl RowGroupReader for BoundedGroup<'_> {
    fn metadata(&self) -> &RowGroupMetaData {
        self.group.metadata()
    }

    fn num_columns(&self) -> usize {
        self.group.num_columns()
    }

    fn get_column_page_reader(&self, column: usize) -> Result<Box<dyn PageReader>> {
        let pages = self.group.get_column_page_reader(column)?;
        let descriptor = self.metadata().schema_descr().column(column);
        // Each element repeats the names of its fields.
        let element = descriptor.path().parts().iter().map(|part| ELEMENT_BYTES + part.len() as u64).sum();
        let most = |level: i16| u32::from(level.unsigned_abs());
        Ok(Box::new(BoundedPages {
            pages,
            repeated: most(descriptor.max_rep_level()),
            defined: most(descriptor.max_def_level()),
            has_texts: descriptor.physical_type() == Physical::BYTE_ARRAY,
            dictionary: Vec::new(),
            element,
            row: 0,
            rows: 0,
            batch: 0,
            limit: self.limit,
        }))
    }

    fn get_column_bloom_filter(&self, column: usize) -> Option<&Sbbf> {
        self.group.get_column_bloom_filter(column)
    }

    fn get_row_iter(&self, projection: Option<Type>) -> Result<RowIter<'_>> {
        RowIter::from_row_group(projection, self)
    }
}

/// The pages of a column.
struct BoundedPages {
    pages: Box<dyn PageReader>,
    /// The highest levels of the column. A value has the highest definition level.
    repeated: u32,
    defined: u32,
    has_texts: bool,
    /// The lengths of the texts in the dictionary, if the column is in lists.
    dictionary: Vec<u32>,
    /// Estimated bytes of memory for an element without its value.
    element: u64,
    /// Estimated bytes of memory for the elements of the last row so far, with their values.
    row: u64,
    /// Rows that are decoded at a time: their number so far, and their estimated bytes.
    rows: u32,
    batch: u64,
    limit: u64,
}

impl BoundedPages {
    fn check(&mut self, page: &Page) -> Result<()> {
        match page {
            Page::DictionaryPage { buf, num_values, .. } => {
                self.allow(u64::from(*num_values) * ELEMENT_BYTES)?;
                if self.has_texts && self.repeated > 0 {
                    self.dictionary = texts_of(buf).collect();
                }
                Ok(())
            }
            Page::DataPage { buf, num_values, encoding, .. } => {
                let mut rest = &buf[..];
                let levels = [self.repeated, self.defined].map(|most| match most {
                    0 => &[][..],
                    _ => {
                        let length = rest
                            .split_first_chunk()
                            .map_or((0, &[][..]), |(length, after)| (u32::from_le_bytes(*length) as usize, after));
                        let (levels, after) = length.1.split_at_checked(length.0).unwrap_or_default();
                        rest = after;
                        levels
                    }
                });
                self.check_values(levels, rest, *num_values, *encoding)
            }
            Page::DataPageV2 { buf, num_values, encoding, rep_levels_byte_len, def_levels_byte_len, .. } => {
                let (repeated, rest) = buf.split_at_checked(*rep_levels_byte_len as usize).unwrap_or_default();
                let (defined, rest) = rest.split_at_checked(*def_levels_byte_len as usize).unwrap_or_default();
                self.check_values([repeated, defined], rest, *num_values, *encoding)
            }
        }
    }

    fn check_values(&mut self, levels: [&[u8]; 2], values: &[u8], number: u32, encoding: Encoding) -> Result<()> {
        let mut rest = values;
        // The library makes a list of all lengths. It copies each value that is stored without the beginning
        // that it shares with the value before it.
        let (is_copied, lengths) = match encoding {
            Encoding::DELTA_LENGTH_BYTE_ARRAY => (false, Some(self.deltas(&mut rest)?)),
            Encoding::DELTA_BYTE_ARRAY => {
                let (shared, own) = (self.deltas(&mut rest)?, self.deltas(&mut rest)?);
                (true, Some(shared.iter().zip(own).map(|(shared, own)| shared.saturating_add(own)).collect()))
            }
            _ => (false, None),
        };
        if self.repeated == 0 && !is_copied {
            return Ok(());
        }
        let mut lengths: Box<dyn Iterator<Item = u32>> = match (lengths, encoding) {
            (Some(lengths), _) => Box::new(lengths.into_iter()),
            (None, Encoding::RLE_DICTIONARY | Encoding::PLAIN_DICTIONARY) => {
                let indices = values.split_first().map(|(&bits, rest)| Levels::new(rest, bits.into()));
                let dictionary = &self.dictionary;
                let length = |index: u32| dictionary.get(index as usize).copied().unwrap_or(0);
                // Indices that cannot be decoded count as the first.
                Box::new(indices.into_iter().flatten().chain(std::iter::repeat(0)).map(length))
            }
            (None, Encoding::PLAIN) if self.has_texts => Box::new(texts_of(values)),
            _ => Box::new(std::iter::empty()),
        };
        let bits = |most: u32| u32::BITS - most.leading_zeros();
        let (mut repeated, mut defined) =
            (Levels::new(levels[0], bits(self.repeated)), Levels::new(levels[1], bits(self.defined)));
        let (mut row, mut rows, mut batch) = (self.row, self.rows, self.batch);
        for _ in 0..number {
            // Levels that cannot be decoded count as those of one row.
            if self.repeated == 0 || repeated.next() == Some(0) {
                row = 0;
                if rows == ROWS_AT_ONCE {
                    (rows, batch) = (0, 0);
                }
                rows += 1;
            }
            let has_value = defined.next().is_none_or(|level| level == self.defined);
            let length = has_value.then(|| lengths.next()).flatten().map_or(0, u64::from);
            row += self.element + length;
            batch += VALUE_BYTES + if is_copied { length } else { 0 };
            self.allow(row.max(batch))?;
        }
        drop(lengths);
        (self.row, self.rows, self.batch) = (row, rows, batch);
        Ok(())
    }

    /// Decodes numbers that are stored as differences, and moves `bytes` to the end of these numbers. No
    /// number is negative.
    fn deltas(&self, bytes: &mut &[u8]) -> Result<Vec<u32>> {
        let mut header = *bytes;
        let count = (0..3).map_while(|_| varint(&mut header)).nth(2);
        self.allow(count.unwrap_or(0) * LENGTH_BYTES)?;
        deltas(bytes).ok_or_else(|| ParquetError::General("the lengths of a page's values cannot be decoded".into()))
    }

    fn allow(&self, bytes: u64) -> Result<()> {
        if bytes <= self.limit { Ok(()) } else { Err(too_large(self.limit)) }
    }
}

/// The error for a table that takes more than `limit` bytes of memory.
pub(super) fn too_large(limit: u64) -> ParquetError {
    ParquetError::External(Box::new(Error::Document(DocumentError::ReadingMemory { format: "Parquet", limit })))
}

/// The lengths of texts. Each text follows its length.
fn texts_of(mut texts: &[u8]) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        let (length, rest) = texts.split_first_chunk()?;
        let length = u32::from_le_bytes(*length);
        texts = rest.get(length as usize..)?;
        Some(length)
    })
}

/// Small numbers of `bits` bits each, as Parquet stores levels and indices: runs that repeat one number, and
/// runs of packed numbers.
struct Levels<'a> {
    bytes: &'a [u8],
    bits: u32,
    /// How many numbers are left in this run. `run` is the repeated number; `None` for packed numbers.
    left: u64,
    number: Option<u32>,
    packed: &'a [u8],
    /// The bit at which the next packed number begins.
    at: usize,
}

impl<'a> Levels<'a> {
    fn new(bytes: &'a [u8], bits: u32) -> Self {
        Self { bytes, bits: bits.min(u32::BITS), left: 0, number: None, packed: &[], at: 0 }
    }
}

impl Iterator for Levels<'_> {
    type Item = u32;

    fn next(&mut self) -> Option<u32> {
        while self.left == 0 {
            let header = varint(&mut self.bytes)?;
            let is_packed = header & 1 == 1;
            let bits = u64::from(self.bits);
            let length = if is_packed { (header >> 1) * bits } else { bits.div_ceil(8) };
            let (run, rest) = self.bytes.split_at_checked(usize::try_from(length).ok()?)?;
            self.bytes = rest;
            (self.packed, self.at) = (run, 0);
            self.left = if is_packed { (header >> 1) * 8 } else { header >> 1 };
            self.number = (!is_packed).then(|| run.iter().rev().fold(0, |number, &byte| number << 8 | u32::from(byte)));
        }
        self.left -= 1;
        self.number.or_else(|| {
            let bit = |at: usize| u32::from(self.packed[at / 8] >> (at % 8) & 1);
            let number = (0..self.bits).map(|place| bit(self.at + place as usize) << place).sum();
            self.at += self.bits as usize;
            Some(number)
        })
    }
}

impl Iterator for BoundedPages {
    type Item = Result<Page>;

    fn next(&mut self) -> Option<Self::Item> {
        self.get_next_page().transpose()
    }
}

impl PageReader for BoundedPages {
    fn get_next_page(&mut self) -> Result<Option<Page>> {
        let page = self.pages.get_next_page()?;
        page.iter().try_for_each(|page| self.check(page))?;
        Ok(page)
    }

    fn peek_next_page(&mut self) -> Result<Option<PageMetadata>> {
        self.pages.peek_next_page()
    }

    fn skip_next_page(&mut self) -> Result<()> {
        self.pages.skip_next_page()
    }

    fn at_record_boundary(&mut self) -> Result<bool> {
        self.pages.at_record_boundary()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_runs_of_one_number_or_packed() {
        let levels = |bytes: &[u8], bits| Levels::new(bytes, bits).collect::<Vec<_>>();
        assert_eq!(levels(&[2, 0, 6, 1], 1), [0, 1, 1, 1]);
        assert_eq!(levels(&[3, 0b1110_1100, 4, 1], 1), [0, 0, 1, 1, 0, 1, 1, 1, 1, 1]);
        assert_eq!(levels(&[3, 0b1000_1000, 0b0101_0101, 0b0001_1110], 3)[..4], [0, 1, 6, 2]);
        assert_eq!(levels(&[0, 9, 9, 2, 0x34, 0x12], 13), [0x1234]);
        assert_eq!(Levels::new(&[0x80, 0x89, 0x7a, 1], 1).count(), 1_000_000);
        for cut in [&[][..], &[3], &[2], &[0x80]] {
            assert_eq!(Levels::new(cut, 1).next(), None);
        }
        assert_eq!(levels(&[4], 0), [0, 0]);
    }

    #[test]
    fn the_sizes_of_a_page_are_in_its_header() {
        assert_eq!(sizes_of(&[0x15, 0, 0x15, 0x80, 0x02, 0x15, 0x14, 0x2c]), Some((128, 10)));
        for odd in [&[0x15, 0, 0x15, 1, 0x15, 2][..], &[0x15, 0, 0x25, 2, 0x15, 2], &[0x15, 0, 0x15, 0x80], &[]] {
            assert_eq!(sizes_of(odd), None);
        }
    }

    #[test]
    fn the_lengths_of_texts_stand_before_them() {
        assert_eq!(texts_of(b"\x02\0\0\0ab\x03\0\0\0abc\0\0\0\0").collect::<Vec<_>>(), [2, 3, 0]);
        assert_eq!(texts_of(b"\xff\xff\xff\xffab").count(), 0);
    }

    struct NoPages;

    impl Iterator for NoPages {
        type Item = Result<Page>;

        fn next(&mut self) -> Option<Self::Item> {
            None
        }
    }

    impl PageReader for NoPages {
        fn get_next_page(&mut self) -> Result<Option<Page>> {
            Ok(None)
        }

        fn peek_next_page(&mut self) -> Result<Option<PageMetadata>> {
            Ok(None)
        }

        fn skip_next_page(&mut self) -> Result<()> {
            Ok(())
        }
    }

    /// One row with a list can lie in many pages, and copies the values of all.
    #[test]
    fn a_row_counts_the_values_of_all_its_pages() {
        let column = |limit: u64| BoundedPages {
            pages: Box::new(NoPages),
            repeated: 1,
            defined: 0,
            has_texts: true,
            dictionary: Vec::new(),
            element: 10,
            row: 0,
            rows: 0,
            batch: 0,
            limit,
        };
        let text = [&100u32.to_le_bytes()[..], &[b'x'; 100]].concat();
        // A page begins a row, or goes on with it.
        let mut taken = column(1000);
        let mut page = |starts: bool| taken.check_values([&[2, u8::from(!starts)], &[]], &text, 1, Encoding::PLAIN);
        assert!((0..12).all(|_| page(true).is_ok()));
        assert!((0..8).all(|_| page(false).is_ok()));
        assert!(page(false).is_err());
        // Rows that are decoded at a time, each of a short list.
        let mut taken = column(20_000);
        let mut page = || taken.check_values([&[0xa0, 6, 0], &[]], &[], 400, Encoding::PLAIN);
        assert!(page().is_ok() && page().is_err());
    }
}
