//! Code that the measuring programs share: documents of random words, and a meter of time, memory and bytes
//! written. Linux only.

use std::error::Error;
use std::fs;
use std::path::Path;
use std::time::Instant;

/// The outcome of a measurement.
pub type Outcome<T> = Result<T, Box<dyn Error + Send + Sync>>;

/// Number of words in a document.
pub const WORDS: usize = 1000;

/// Number of words in the vocabulary.
const VOCABULARY: usize = 1 << 16;

/// The cost of a phase.
pub struct Cost {
    /// Wall time.
    pub seconds: f64,
    /// Processor time of all threads, in seconds.
    pub cpu: f64,
    /// Maximum resident memory, in bytes.
    pub peak: u64,
    /// Bytes that went to the disk.
    pub written: u64,
    /// Bytes that were read from files, from the disk or the system's cache.
    pub read: u64,
}

impl Cost {
    /// The cost of both phases together.
    pub fn and(&self, other: &Self) -> Self {
        Self {
            seconds: self.seconds + other.seconds,
            cpu: self.cpu + other.cpu,
            peak: self.peak.max(other.peak),
            written: self.written + other.written,
            read: self.read + other.read,
        }
    }
}

/// Measures a phase.
pub struct Meter {
    start: Instant,
    cpu: f64,
    written: u64,
    read: u64,
}

impl Meter {
    /// Begins a phase.
    pub fn start() -> Outcome<Self> {
        // Forgets the peak so far.
        fs::write("/proc/self/clear_refs", "5")?;
        Ok(Self {
            start: Instant::now(),
            cpu: cpu()?,
            written: field("/proc/self/io", "write_bytes:")?,
            read: field("/proc/self/io", "rchar:")?,
        })
    }

    /// Ends the phase.
    pub fn stop(self) -> Outcome<Cost> {
        Ok(Cost {
            seconds: self.start.elapsed().as_secs_f64(),
            cpu: cpu()? - self.cpu,
            peak: field("/proc/self/status", "VmHWM:")? * 1024,
            written: field("/proc/self/io", "write_bytes:")? - self.written,
            read: field("/proc/self/io", "rchar:")? - self.read,
        })
    }
}

/// Processor time of this process so far, in seconds.
pub fn cpu() -> Outcome<f64> {
    let line = fs::read_to_string("/proc/self/stat")?;
    let (_, fields) = line.rsplit_once(')').ok_or("the system does not tell")?;
    // User and system time, in hundredths of a second.
    let ticks: Vec<u64> = fields.split_whitespace().skip(11).take(2).map(str::parse).collect::<Result<_, _>>()?;
    Ok(ticks.iter().sum::<u64>() as f64 / 100.0)
}

fn field(path: &str, name: &str) -> Outcome<u64> {
    let text = fs::read_to_string(path)?;
    let line = text.lines().find_map(|line| line.strip_prefix(name)).ok_or("the system does not tell")?;
    Ok(line.split_whitespace().next().ok_or("the system does not tell")?.parse()?)
}

/// Writes the documents with these numbers, 1,000 in a folder; returns their bytes.
pub fn write_documents(folder: &Path, vocabulary: &[String], numbers: std::ops::Range<usize>) -> Outcome<u64> {
    let mut bytes = 0;
    for number in numbers {
        let inside = folder.join(format!("{:05}", number / 1000));
        fs::create_dir_all(&inside)?;
        let text = text(vocabulary, number);
        bytes += text.len() as u64;
        fs::write(inside.join(format!("{number:08}.txt")), text)?;
    }
    Ok(bytes)
}

/// The text of a document: always the same for a number.
pub fn text(vocabulary: &[String], number: usize) -> String {
    let mut random = Random(number as u64 + 1);
    let mut text = String::with_capacity(WORDS * 7);
    for word in 0..WORDS {
        text.push_str(&vocabulary[random.below(VOCABULARY)]);
        text.push(if word % 12 == 11 { '\n' } else { ' ' });
    }
    text
}

/// Words of 2 to 9 letters.
pub fn vocabulary() -> Vec<String> {
    let mut random = Random(0);
    let word = |_| (0..2 + random.below(8)).map(|_| char::from(b'a' + random.below(26) as u8)).collect();
    (0..VOCABULARY).map(word).collect()
}

/// SplitMix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, bound: usize) -> usize {
        (((self.next() >> 32) * bound as u64) >> 32) as usize
    }
}
