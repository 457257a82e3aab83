//! Is the k-gram hash as good as a random function, in the bits that are compared?
//!
//! ```text
//! cargo run --release -p measure --bin hash_quality               # 10^7 k-grams, some seconds
//! cargo run --release -p measure --bin hash_quality -- 100000000  # 10^8, 800 MB
//! ```
//!
//! Each line has the measured value, the value for a random function, the difference in standard deviations,
//! and `ok` or `FAR` (more than 4; for densities also more than 1%). The status is 1 if a line is FAR.
//!
//! A collision is a pair of distinct k-grams with one hash. Among n hashes of b bits, n(n-1)/2 / 2^b
//! collisions are expected, with the square root of that as standard deviation (Poisson). Whole hashes
//! collide too rarely to count, so collisions of their top bits and of their bottom bits are counted too.

use std::path::Path;
use std::process::ExitCode;

use fpdb::Selection;
use fpdb::kgram::{KgramHasher, hash_kgram};
use fpdb::normalize::{FrontEnd, Symbols};
use fpdb::winnow::Winnower;
use rayon::slice::ParallelSliceMut;

/// Length of the random text, as in section 5.1 of the winnowing paper.
const RANDOM_TEXT: usize = 8_000_000;

fn main() -> ExitCode {
    let count = match std::env::args().nth(1).map_or(Ok(10_000_000), |count| count.parse::<usize>()) {
        Ok(count) if count >= 100_000 => count,
        _ => {
            eprintln!("usage: hash_quality [NUMBER OF K-GRAMS, 100000 or more]");
            return ExitCode::from(2);
        }
    };
    let mut page = Page { far: 0 };
    println!("{:<52} {:>14} {:>16} {:>7}", "what", "measured", "expected", "z");
    densities(&mut page);
    random_text(&mut page, count);
    exhaustive(&mut page, count);
    structured(&mut page);
    thue_morse(&mut page);
    ExitCode::from(u8::from(page.far > 0))
}

/// Measures the share of hashes selected from random text: 2/(w+1), or 1/p, is expected.
fn densities(page: &mut Page) {
    let mut random = Random(1);
    let letters = values(FrontEnd::chars(), &random.letters(RANDOM_TEXT));
    let bytes: Vec<u8> = (0..RANDOM_TEXT).map(|_| random.next() as u8).collect();
    let bytes = values(FrontEnd::bytes(), &bytes);
    for (unit, values) in [("letters", &letters), ("bytes", &bytes)] {
        let settings = [(50, 100), (50, 10), (50, 1000), (25, 20), (23, 17), (8, 100), (256, 100), (5, 2)];
        for (k, w) in settings {
            for selection in [Selection::Robust, Selection::Plain] {
                density(page, unit, values, k, w, selection, 2.0 / f64::from(w + 1));
            }
        }
        density(page, unit, values, 50, 1, Selection::Mod(50), 1.0 / 50.0);
        density(page, unit, values, 50, 1, Selection::Mod(64), 1.0 / 64.0);
        let (w, p) = (100, 22);
        let expected = 1.0 / p as f64 + (1.0 - 1.0 / p as f64).powi(w);
        density(page, unit, values, 50, w as u32, Selection::SafeMod(p), expected);
    }
    // Symbols with little entropy, and k-grams just long enough to repeat rarely in one window.
    for (unit, alphabet, k) in [("a and b", &b"ab"[..], 23), ("a and b", b"ab", 50), ("a, c, g and t", b"acgt", 12)] {
        let text: Vec<u8> = (0..RANDOM_TEXT).map(|_| alphabet[random.next() as usize % alphabet.len()]).collect();
        let values = values(FrontEnd::chars(), &text);
        for w in [10, 100] {
            density(page, unit, &values, k, w, Selection::Robust, 2.0 / f64::from(w + 1));
        }
        density(page, unit, &values, k, 1, Selection::Mod(64), 1.0 / 64.0);
    }
}

fn density(page: &mut Page, unit: &str, values: &[u64], k: u32, w: u32, selection: Selection, expected: f64) {
    let hashes = hashes_of(k, values);
    let mut winnower = Winnower::new(selection, w);
    let mut selected = Vec::new();
    let mut count = 0;
    for piece in hashes.chunks(4096) {
        winnower.feed(piece, &mut selected);
        count += selected.len();
        selected.clear();
    }
    winnower.finish(&mut selected);
    count += selected.len();
    let density = count as f64 / hashes.len() as f64;
    let what = format!("density, random {unit}, {selection}, k {k}, w {w}");
    // Selections are more evenly spaced than chance selections (`mod`), so this is an upper bound of the
    // deviation.
    let sigma = (expected / hashes.len() as f64).sqrt();
    let off = (density / expected - 1.0).abs() > 0.01 && w <= 100;
    page.line(&what, &format!("{density:.6}"), &format!("{expected:.6}"), (density - expected) / sigma, off);
}

/// Measures k-grams of one long random text. With k = 50, no two of them are equal.
fn random_text(page: &mut Page, count: usize) {
    let mut hasher = KgramHasher::new(50);
    let mut random = Random(2);
    let (mut front_end, mut symbols) = (FrontEnd::chars(), Symbols::new());
    let (mut hashes, mut hashed) = (Vec::with_capacity(count + (1 << 20)), 0);
    while hashes.len() < count {
        front_end.feed(&random.letters(1 << 18), &mut symbols);
        hasher.feed(symbols.values(), hashed, &mut hashes);
        symbols.discard_front(symbols.len().saturating_sub(50));
        hashed = symbols.len();
    }
    hashes.truncate(count);
    uniformity(page, "random letters, k 50", &hashes);
    collisions(page, "random letters, k 50", &mut hashes);
}

/// Measures all strings of a kind. A hash that is a plain sum of table values would fail this test.
fn exhaustive(page: &mut Page, most: usize) {
    let letters = values(FrontEnd::chars(), b"abcdefghijklmnopqrstuvwxyz");
    let bytes = values(FrontEnd::bytes(), &(0..=255).collect::<Vec<u8>>());
    let words = values(FrontEnd::words(fpdb::WordRule::Letters), &federalist());
    let words = distinct(&words);
    let cube = (most as f64).cbrt() as usize;
    let all = [
        ("all strings of a and b", &letters[..2], 23.min(most.ilog2())),
        ("all strings of 0 and 1 as bytes", &bytes[48..50], 23.min(most.ilog2())),
        ("all strings of a, c, g and t", &values(FrontEnd::chars(), b"acgt"), 11.min(most.ilog(4))),
        ("all strings of 10 digits", &values(FrontEnd::chars(), b"0123456789"), 7.min(most.ilog10())),
        ("all strings of 26 letters", &letters[..], 5.min(most.ilog(26))),
        ("all strings of 256 bytes", &bytes[..], 3.min(most.ilog(256))),
        ("all trigrams of words", &words[..words.len().min(cube)], 3),
    ];
    for (what, alphabet, k) in all {
        let what = format!("{what}, k {k}");
        let mut hashes = Vec::new();
        let mut digits = vec![0; k as usize];
        let mut string = vec![alphabet[0]; k as usize];
        loop {
            hashes.push(hash_kgram(&string));
            let Some(place) = digits.iter().rposition(|&digit| digit + 1 < alphabet.len()) else { break };
            digits[place] += 1;
            digits[place + 1..].fill(0);
            for index in place..digits.len() {
                string[index] = alphabet[digits[index]];
            }
        }
        uniformity(page, &what, &hashes);
        collisions(page, &what, &mut hashes);
    }
}

/// Measures k-grams that differ little from each other.
fn structured(page: &mut Page) {
    // Natural text: each k-gram, with every other letter in each place.
    let text = values(FrontEnd::chars(), &federalist());
    let letters = values(FrontEnd::chars(), b"abcdefghijklmnopqrstuvwxyz");
    let mut hashes = Vec::new();
    for kgram in text.chunks_exact(50).step_by(10).take(1500) {
        let mut changed = kgram.to_vec();
        for place in 0..kgram.len() {
            for &letter in letters.iter().filter(|&&letter| letter != kgram[place]) {
                changed[place] = letter;
                hashes.push(hash_kgram(&changed));
            }
            changed[place] = kgram[place];
        }
    }
    let what = "one-letter changes of natural text, k 50";
    uniformity(page, what, &hashes);
    collisions(page, what, &mut hashes);

    // Natural text as it is.
    let mut hashes = distinct(&hashes_of(50, &text));
    uniformity(page, "natural text, k 50", &hashes);
    collisions(page, "natural text, k 50", &mut hashes);

    // The words have different first letters, so that no two orders give the same text.
    let words = ["we", "the", "people", "of", "united", "states", "in", "order", "form", "a"];
    let words: Vec<Vec<u64>> = words.iter().map(|word| values(FrontEnd::chars(), word.as_bytes())).collect();
    permuted(page, "ten words in every order", &words);
    let rows: Vec<Vec<u64>> = text.chunks_exact(16).take(10).map(<[u64]>::to_vec).collect();
    permuted(page, "ten rows of 16 letters in every order", &rows);
    for size in [4, 16, 64] {
        let blocks = [&text[..size], &text[size..2 * size]];
        sequences(page, &format!("16 blocks of {size}, each one of two"), 16, &blocks);
    }
}

fn permuted(page: &mut Page, what: &str, parts: &[Vec<u64>]) {
    let mut order: Vec<usize> = (0..parts.len()).collect();
    let mut hashes = Vec::new();
    loop {
        hashes.push(hash_kgram(&order.iter().flat_map(|&part| &parts[part]).copied().collect::<Vec<u64>>()));
        // The next order in the dictionary's sense.
        let Some(descent) = order.windows(2).rposition(|pair| pair[0] < pair[1]) else { break };
        let successor = order.iter().rposition(|&part| part > order[descent]).unwrap_or(descent);
        order.swap(descent, successor);
        order[descent + 1..].reverse();
    }
    uniformity(page, what, &hashes);
    collisions(page, what, &mut hashes);
}

fn sequences(page: &mut Page, what: &str, length: usize, blocks: &[&[u64]; 2]) {
    let sequence = |bits: usize| (0..length).flat_map(move |place| blocks[bits >> place & 1]).copied();
    let mut hashes: Vec<u64> = (0..1 << length).map(|bits| hash_kgram(&sequence(bits).collect::<Vec<u64>>())).collect();
    uniformity(page, what, &hashes);
    collisions(page, what, &mut hashes);
}

/// The worst strings for a polynomial modulo 2^64: a Thue-Morse word, and the same word with its two letters
/// exchanged. Their difference is a multiple of (B - 1)(B^2 - 1)(B^4 - 1)... Each factor holds one more 2 than
/// the one before, so words of 1024 letters collide for any B. Shorter words must not collide.
fn thue_morse(page: &mut Page) {
    let letters = values(FrontEnd::chars(), b"ab");
    for k in [64, 128, 256, 512, 1024_usize] {
        let word = |flip: usize| (0..k).map(|i| letters[(i.count_ones() as usize + flip) & 1]).collect::<Vec<u64>>();
        let collide = hash_kgram(&word(0)) == hash_kgram(&word(1));
        let expected = k >= 1024;
        let say = |collide| if collide { "one hash" } else { "two hashes" };
        let what = format!("Thue-Morse word and its opposite, k {k}");
        page.line(&what, say(collide), say(expected), 0.0, collide != expected);
    }
}

/// The chi-square of the highest, the middle and the lowest byte: 255 expected, standard deviation sqrt(2 *
/// 255).
fn uniformity(page: &mut Page, what: &str, hashes: &[u64]) {
    for (byte, shift) in [("high", 56), ("middle", 28), ("low", 0)] {
        let mut counts = [0_u64; 256];
        for hash in hashes {
            counts[usize::from((hash >> shift) as u8)] += 1;
        }
        let mean = hashes.len() as f64 / 256.0;
        let chi_square: f64 = counts.iter().map(|&count| (count as f64 - mean).powi(2) / mean).sum();
        let z = (chi_square - 255.0) / 510_f64.sqrt();
        page.line(&format!("{byte} byte, {what}"), &format!("{chi_square:.1}"), "255", z, false);
    }
}

/// Measures pairs of equal hashes among distinct k-grams.
fn collisions(page: &mut Page, what: &str, hashes: &mut [u64]) {
    let n = hashes.len() as f64;
    hashes.par_sort_unstable();
    count_collisions(page, what, n, hashes, "top", &[64, 52, 48, 44, 40, 36, 32]);
    // Reversing the bits makes the bottom bits the top bits.
    for hash in hashes.iter_mut() {
        *hash = hash.reverse_bits();
    }
    hashes.par_sort_unstable();
    count_collisions(page, what, n, hashes, "bottom", &[52, 48, 44, 40, 36, 32]);
}

fn count_collisions(page: &mut Page, what: &str, n: f64, sorted: &[u64], end: &str, widths: &[u32]) {
    for &bits in widths {
        let expected = n * (n - 1.0) / 2.0 / 2_f64.powi(bits as i32);
        let pairs = |group: &[u64]| group.len() as u64 * (group.len() as u64 - 1) / 2;
        let found: u64 = sorted.chunk_by(|a, b| a >> (64 - bits) == b >> (64 - bits)).map(pairs).sum();
        // If hardly any collisions are expected, prints a line only if there are some.
        if expected < 1.0 && found == 0 && bits < 64 {
            continue;
        }
        let expected_text = if expected < 0.01 { format!("{expected:.1e}") } else { format!("{expected:.2}") };
        let bits_text = if bits == 64 { "64 bits".to_owned() } else { format!("{end} {bits} bits") };
        // A Poisson variable with a small mean is skewed; this transform is nearly normal (Anscombe 1948).
        let z = 2.0 * ((found as f64 + 0.375).sqrt() - (expected + 0.375).sqrt());
        let what = format!("pairs, {bits_text}, {what}");
        page.line(&what, &found.to_string(), &expected_text, z, false);
    }
}

/// Prints the lines and counts those that are FAR.
struct Page {
    far: u32,
}

impl Page {
    fn line(&mut self, what: &str, measured: &str, expected: &str, z: f64, off: bool) {
        let far = off || z.abs() > 4.0;
        self.far += u32::from(far);
        println!("{what:<60} {measured:>14} {expected:>14} {z:>+7.1} {}", if far { "FAR" } else { "ok" });
    }
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

    fn letters(&mut self, count: usize) -> Vec<u8> {
        (0..count).map(|_| b'a' + ((u128::from(self.next()) * 26) >> 64) as u8).collect()
    }
}

fn values(mut front_end: FrontEnd, text: &[u8]) -> Vec<u64> {
    let mut symbols = Symbols::new();
    front_end.feed(text, &mut symbols);
    front_end.finish(&mut symbols);
    symbols.values().to_vec()
}

fn hashes_of(k: u32, values: &[u64]) -> Vec<u64> {
    let mut hashes = Vec::new();
    KgramHasher::new(k).feed(values, 0, &mut hashes);
    hashes
}

fn distinct(hashes: &[u64]) -> Vec<u64> {
    let mut hashes = hashes.to_vec();
    hashes.par_sort_unstable();
    hashes.dedup();
    hashes
}

/// The sample papers, one after the other.
fn federalist() -> Vec<u8> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("data-samples/federalist");
    let mut paths: Vec<_> =
        std::fs::read_dir(&folder).expect("the samples are there").flatten().map(|entry| entry.path()).collect();
    paths.sort();
    paths.iter().flat_map(|path| std::fs::read(path).expect("the samples are text files")).collect()
}
