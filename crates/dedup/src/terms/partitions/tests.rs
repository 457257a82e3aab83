//! Tests of the partitions: their memory, and how often their records are read.

use super::*;

const DOCUMENTS: u32 = 2000;
const FINGERPRINTS: u32 = 200;

/// Packs the sets of some documents. Returns the sets, and the maximum bytes of sets packed at once.
fn packed(threads: usize, memory: u64) -> (Vec<u8>, u64) {
    let folder = tempfile::tempdir().unwrap();
    let temp = TempSpace::new(folder.path()).unwrap();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    pool.install(|| {
        let extents = vec![Extent::new(FINGERPRINTS, 0); DOCUMENTS as usize];
        let partitions = Partitions::new(&extents, (&temp, memory));
        let mut writer = partitions.writer();
        for ordinal in 0..FINGERPRINTS {
            for rank in 0..DOCUMENTS {
                let other = (rank / 2 * 2) ^ (ordinal % 2);
                let postings = [(rank, ordinal)];
                let key = u64::from(other) << 32 | u64::from(ordinal * 7 % FINGERPRINTS);
                writer.put(key, HashHolders { postings: &postings, df: 2 }).unwrap();
            }
        }
        writer.finish().unwrap();
        let is_active = |rank: Rank, _: u32| !rank.is_multiple_of(3);
        let mut packing = partitions.packing(&is_active);
        let (mut all, mut most, mut end) = (Vec::new(), 0, 0);
        while let Some(some) = packing.some().unwrap() {
            let mut bytes = 0;
            for (ranks_end, packed) in some {
                assert!(ranks_end > end);
                end = ranks_end;
                bytes += packed.held();
                packed.write(&mut all);
            }
            most = most.max(bytes);
        }
        assert_eq!(end, DOCUMENTS);
        (all, most)
    })
}

#[test]
fn sets_are_packed_within_the_memory_whatever_the_number_of_threads() {
    let (expected, _) = packed(1, 1 << 30);
    for (threads, memory) in [(64, 1 << 20), (64, 1 << 16), (2, 1 << 20), (64, 1 << 26)] {
        let (all, most) = packed(threads, memory);
        assert!(all == expected, "{threads} threads, {memory} bytes");
        assert!(most <= memory / 4, "{threads} threads, {memory} bytes: {most}");
    }
}

/// To divide a partition, each record is read twice, for any number of parts. Later the record is read once
/// more, with its part.
#[test]
fn a_partition_is_divided_once() {
    let folder = tempfile::tempdir().unwrap();
    let temp = TempSpace::new(folder.path()).unwrap();
    let first = 1000;
    let in_memory = vec![(0..50).map(|document| [document | AGAIN, 1, 2, 3]).collect::<Vec<Record>>()];
    let records: Vec<Record> = (0..5000).map(|number| [number * 7 % 100, number, 0, 0]).collect();
    let file = Arc::new(temp.file().unwrap());
    write_at(&file, &records, 0, &temp).unwrap();
    let written = Written { in_memory, file: Some(file), first: 0, in_file: 5000 };
    let partition = Partition { ranks: first..first + 101, written: Mutex::new(written) };
    let room = 170;
    let mut parts = partition.parts((room * SORTING_BYTES.1, u64::MAX), &temp).unwrap();
    assert!(parts.len() >= 30, "{}", parts.len());
    let mut end = first;
    for part in &mut parts {
        assert_eq!(part.ranks.start, end);
        end = part.ranks.end;
        let (start, mut visited) = (part.ranks.start, Vec::new());
        part.written()
            .for_each(&temp, |&[rank, ordinal, high, _]| visited.push((start + rank, ordinal, high)))
            .unwrap();
        assert!(visited.len() as u64 <= room && part.written().in_memory.is_empty());
        for (rank, ordinal, high) in visited {
            let document = (rank & !AGAIN) - first;
            let fits = if rank & AGAIN > 0 { document < 50 && high == 2 } else { ordinal * 7 % 100 == document };
            assert!(fits && part.ranks.contains(&(rank & !AGAIN)));
        }
    }
    assert_eq!(end, first + 101);
    assert_eq!(parts.iter_mut().map(|part| part.written().len()).sum::<u64>(), 5050);
}

/// Parts are on disk, so a partition that is in memory is not divided if it fits there.
#[test]
fn only_what_has_no_room_is_divided() {
    let folder = tempfile::tempdir().unwrap();
    let temp = TempSpace::new(folder.path()).unwrap();
    let partition = |documents: u32| {
        let records: Vec<Record> = (0..100).map(|number| [number % documents, number, 0, 0]).collect();
        let written = Written { in_memory: vec![records], ..Written::default() };
        Partition { ranks: 0..documents, written: Mutex::new(written) }
    };
    let bytes = 100 * SORTING_BYTES.0;
    for (documents, memory, expected) in [(10, bytes, 1), (10, bytes - 1, 10), (1, 0, 1)] {
        assert_eq!(partition(documents).parts((10 * SORTING_BYTES.1, memory), &temp).unwrap().len(), expected);
    }
}
