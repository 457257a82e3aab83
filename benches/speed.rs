//! Measures the speed of each stage, of all stages together, and of the database.
//!
//! `cargo bench` runs everything in less than three minutes; `cargo bench -- winnow` runs one group. The
//! benchmarks make their text themselves, the same on every run: words drawn by Zipf's law, and the sample
//! papers with some words replaced. Throughput is in bytes of text for normalising, fingerprinting and
//! ingesting, and in k-grams for hashing and winnowing.

use std::fmt::Write as _;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::time::Duration;

use criterion::{BatchSize, BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use fpdb::kgram::KgramHasher;
use fpdb::normalize::{FrontEnd, Symbols, language_of};
use fpdb::winnow::Winnower;
use fpdb::{
    Database, DatabaseWriter, Fingerprinter, Fingerprints, IngestOptions, Mode, Profile, QueryOptions, QuerySource,
    Selection, Source, Task, Unit, WordRule,
};

const TEXT: usize = 1 << 20;
const PIECE: usize = 32 << 10;
const FILES: usize = 800;
const FILE: usize = 40_000;
const QUERY: usize = 10_000;

criterion_group! {
    name = speed;
    config = Criterion::default().warm_up_time(Duration::from_millis(500)).measurement_time(Duration::from_secs(2));
    targets = normalise, tokens, hash, winnow, fingerprint, ingest, query, batch
}
criterion_main!(speed);

/// Measures turning bytes into symbols.
fn normalise(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("normalise");
    let english = zipf(ENGLISH, " ", TEXT, 1);
    let texts = [
        ("char/English", FrontEnd::chars(), english.clone()),
        ("char/papers", FrontEnd::chars(), papers().concat()),
        ("char/French", FrontEnd::chars(), zipf(FRENCH, " ", TEXT, 2)),
        ("char/Russian", FrontEnd::chars(), zipf(RUSSIAN, " ", TEXT, 3)),
        ("char/Chinese", FrontEnd::chars(), zipf(CHINESE, "", TEXT, 4)),
        ("word/English", FrontEnd::words(WordRule::Letters), english.clone()),
        ("word/French", FrontEnd::words(WordRule::Letters), zipf(FRENCH, " ", TEXT, 2)),
        ("word/English, UAX 29", FrontEnd::words(WordRule::Unicode), english.clone()),
        ("byte", FrontEnd::bytes(), english),
    ];
    for (name, mut front_end, text) in texts {
        let mut symbols = Symbols::new();
        group.throughput(Throughput::Bytes(text.len() as u64));
        group.bench_function(name, |bencher| {
            bencher.iter(|| {
                for piece in text.as_bytes().chunks(PIECE) {
                    front_end.feed(piece, &mut symbols);
                    symbols.discard_front(symbols.len());
                }
                front_end.finish(&mut symbols)
            });
        });
    }
}

/// Measures turning source code into tokens. The file of each language repeats its sample up to 1 MiB.
fn tokens(criterion: &mut Criterion) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/samples/code");
    let files = std::fs::read_dir(folder).expect("the samples").map(|entry| entry.expect("a sample").path());
    let mut files: Vec<_> =
        files.filter(|path| path.extension().is_some_and(|extension| extension != "tokens")).collect();
    files.sort();
    let mut group = criterion.benchmark_group("tokens");
    group.sample_size(10);
    let mut front_end = FrontEnd::tokens();
    let mut symbols = Symbols::new();
    for path in files {
        let name = path.to_string_lossy().into_owned();
        let sample = std::fs::read_to_string(&path).expect("a sample");
        let language = language_of(&name, sample.as_bytes());
        let document = many_times(&sample);
        group.throughput(Throughput::Bytes(document.len() as u64));
        group.bench_function(language.map_or("none", |language| language.name()), |bencher| {
            bencher.iter(|| {
                symbols.clear();
                front_end.begin(language);
                front_end.feed(document.as_bytes(), &mut symbols);
                front_end.finish(&mut symbols)
            });
        });
    }
}

/// Repeats a source file up to `TEXT` bytes, with other digits in each copy. Lines that are valid only at the
/// beginning of a file, such as imports, appear once.
fn many_times(source: &str) -> String {
    const FIRST: [&str; 5] = ["#!", "<?php", "package ", "import ", "using "];
    // Go's imports are one block, which ends with a line `)`.
    let (head, rest) = source.split_once("\n)\n").filter(|(head, _)| head.contains("import (")).unwrap_or(("", source));
    let mut text = if head.is_empty() { String::new() } else { format!("{head}\n)\n") };
    text.push_str(rest);
    let lines: Vec<&str> = rest.lines().filter(|line| !FIRST.iter().any(|first| line.starts_with(first))).collect();
    for copy in (1..=9).cycle() {
        if text.len() >= TEXT {
            break;
        }
        for line in &lines {
            let other = |c: char| match c {
                '1'..='9' => char::from(b'1' + (c as u8 - b'1' + copy) % 9),
                c => c,
            };
            text.extend(line.chars().map(other));
            text.push('\n');
        }
    }
    text
}

/// Measures turning symbols into k-gram hashes.
fn hash(criterion: &mut Criterion) {
    let mut values = symbol_values();
    values.truncate(values.len() / PIECE * PIECE);
    let mut group = criterion.benchmark_group("hash");
    group.throughput(Throughput::Elements(values.len() as u64));
    let mut hasher = KgramHasher::new(50);
    let mut hashes = Vec::new();
    group.bench_function("k 50", |bencher| {
        bencher.iter(|| {
            hasher.reset();
            for end in (PIECE..=values.len()).step_by(PIECE) {
                hashes.clear();
                hasher.feed(&values[..end], end - PIECE, &mut hashes);
                black_box(&hashes);
            }
        });
    });
}

/// Measures turning hashes into fingerprints, also with the inputs that cause the most work.
fn winnow(criterion: &mut Criterion) {
    let mut hashes = Vec::new();
    KgramHasher::new(50).feed(&symbol_values(), 0, &mut hashes);
    let count = hashes.len() as u64;
    let step = u64::MAX / count;
    let inputs: [(&str, Vec<u64>); 6] = [
        ("constant", vec![7; hashes.len()]),
        ("ascending", (0..count).map(|i| i * step).collect()),
        ("descending", (0..count).map(|i| (count - i) * step).collect()),
        ("period 10", (0..hashes.len()).map(|i| hashes[i % 10]).collect()),
        ("period 150", (0..hashes.len()).map(|i| hashes[i % 150]).collect()),
        ("text", hashes),
    ];
    let mut group = criterion.benchmark_group("winnow");
    group.throughput(Throughput::Elements(count));
    let mut winnower = Winnower::new(Selection::Robust, 100);
    let mut selected = Vec::new();
    for (name, hashes) in inputs {
        group.bench_function(format!("w 100/{name}"), |bencher| {
            bencher.iter(|| {
                for piece in hashes.chunks(PIECE) {
                    selected.clear();
                    winnower.feed(piece, &mut selected);
                    black_box(&selected);
                }
                winnower.finish(&mut selected);
            });
        });
    }
}

/// Measures turning bytes into fingerprints with their places.
fn fingerprint(criterion: &mut Criterion) {
    let text = zipf(ENGLISH, " ", TEXT, 1);
    let mut group = criterion.benchmark_group("fingerprint");
    group.throughput(Throughput::Bytes(text.len() as u64));
    let code = Profile::new(Unit::Char, WordRule::Letters, 23, 17, Selection::Robust).expect("a valid profile");
    let named = |name| (name, Profile::named(name).expect("a named profile"));
    for (name, profile) in [named("text"), named("prose"), named("words"), named("bytes"), ("k 23, w 17", code)] {
        let mut fingerprinter = Fingerprinter::new(&profile);
        let mut fingerprints = Fingerprints::new();
        group.bench_function(name, |bencher| {
            bencher.iter(|| {
                fingerprints.clear();
                fingerprinter.feed(text.as_bytes(), &mut fingerprints);
                fingerprinter.finish(&mut fingerprints).expect("a text")
            });
        });
    }
}

/// Measures ingesting a folder of files into a new database, the final commit included.
fn ingest(criterion: &mut Criterion) {
    let folder = Folder::new();
    let mut group = criterion.benchmark_group("ingest");
    group.throughput(Throughput::Bytes(folder.bytes));
    group.sample_size(10).measurement_time(Duration::from_secs(5));
    for name in ["text", "words"] {
        let profile = Profile::named(name).expect("a named profile");
        for threads in [1, 2] {
            group.bench_function(BenchmarkId::new(name, format!("{threads} threads")), |bencher| {
                bencher.iter_batched(
                    || tempfile::tempdir().expect("a folder for the database"),
                    |place| {
                        let database = folder.ingest(&place.path().join("db"), &profile, threads);
                        // Closing and deleting are not measured.
                        (database, place)
                    },
                    BatchSize::PerIteration,
                );
            });
        }
    }
}

/// Measures 1,000 queries of 1 kB of stored text without passages: one call for each query, and one call for
/// all.
fn batch(criterion: &mut Criterion) {
    let folder = Folder::new();
    let place = tempfile::tempdir().expect("a folder for the database");
    let database = folder.ingest(&place.path().join("db"), &Profile::named("words").expect("a named profile"), 2);
    let sources: Vec<QuerySource> = (0..1000)
        .map(|number| {
            let text = std::fs::read_to_string(folder.path(number % FILES)).expect("a file of the folder");
            QuerySource::text(text.chars().skip(number).take(1000).collect::<String>())
        })
        .collect();
    let options = QueryOptions::default().passages(false);
    let mut group = criterion.benchmark_group("1,000 queries");
    group.sample_size(10);
    for (name, together) in [("one by one", 1), ("one batch", sources.len())] {
        group.bench_function(name, |bencher| {
            bencher.iter(|| {
                for some in sources.chunks(together) {
                    database.query_each(some, &options, &Task::new()).expect("valid options");
                }
            });
        });
    }
}

/// Measures a query with a document of 10 kB. The first half of its text is stored.
fn query(criterion: &mut Criterion) {
    let folder = Folder::new();
    let place = tempfile::tempdir().expect("a folder for the database");
    let suspect = place.path().join("suspect.txt");
    let stored = std::fs::read_to_string(folder.path(FILES / 2)).expect("a file of the folder");
    std::fs::write(&suspect, stored[..QUERY / 2].to_owned() + &zipf(ENGLISH, " ", QUERY / 2, 99)).expect("a query");
    let source = [QuerySource::File(suspect)];
    let mut group = criterion.benchmark_group("query");
    for name in ["text", "prose"] {
        let profile = Profile::named(name).expect("a named profile");
        let database = folder.ingest(&place.path().join(name), &profile, 2);
        for (mode, n) in [(Mode::Containment, None), (Mode::Resemblance, Some(128))] {
            for passages in [false, true] {
                let options = QueryOptions::default().mode(mode).n(n).passages(passages);
                let with = if passages { ", passages" } else { "" };
                group.bench_function(format!("{name}/{mode:?}{with}"), |bencher| {
                    bencher.iter(|| database.query_each(&source, &options, &Task::new()).expect("valid options"));
                });
            }
        }
    }
}

/// Files like those of an archive: new text, and papers with a word replaced here and there.
struct Folder {
    place: tempfile::TempDir,
    bytes: u64,
}

impl Folder {
    fn new() -> Self {
        let place = tempfile::tempdir().expect("a folder for the files");
        let papers = papers().concat();
        let words: Vec<&str> = papers.split_inclusive(' ').collect();
        let mut folder = Self { place, bytes: 0 };
        for index in 0..FILES {
            let mut random = Random(index as u64);
            let mut text = zipf(ENGLISH, " ", FILE / 2, 1000 + index as u64);
            let mut next = random.below(words.len());
            while text.len() < FILE {
                let replaced = random.below(40) == 0;
                text.push_str(if replaced { "otherwise " } else { words[next] });
                next = (next + 1) % words.len();
            }
            std::fs::write(folder.path(index), &text).expect("a file written");
            folder.bytes += text.len() as u64;
        }
        folder
    }

    fn path(&self, index: usize) -> PathBuf {
        self.place.path().join(format!("{index:04}.txt"))
    }

    fn ingest(&self, place: &Path, profile: &Profile, threads: usize) -> DatabaseWriter {
        let database = Database::builder().threads(threads).create(place, profile).expect("a new database");
        let options = IngestOptions::default();
        let sources = [Source::Path(self.place.path().to_owned())];
        let summary = database.ingest_sources(&sources, &options, &Task::new()).expect("an ingest");
        assert_eq!(summary.added, FILES as u64);
        database
    }
}

/// The sample papers.
fn papers() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("data-samples/federalist");
    let mut paths: Vec<_> =
        std::fs::read_dir(&folder).expect("the samples are there").flatten().map(|entry| entry.path()).collect();
    paths.sort();
    paths.iter().map(|path| std::fs::read_to_string(path).expect("the samples are text files")).collect()
}

fn symbol_values() -> Vec<u64> {
    let mut symbols = Symbols::new();
    let mut front_end = FrontEnd::chars();
    front_end.feed(zipf(ENGLISH, " ", TEXT, 1).as_bytes(), &mut symbols);
    front_end.finish(&mut symbols);
    symbols.values().to_vec()
}

/// Draws words up to `bytes` bytes, or slightly more. The i-th word of the list has a probability
/// proportional to about 1/i.
fn zipf(words: &str, separator: &str, bytes: usize, seed: u64) -> String {
    let words: Vec<&str> = words.split_whitespace().collect();
    let mut random = Random(seed);
    let mut text = String::with_capacity(bytes + 100);
    let (mut in_sentence, mut in_line) = (0, 0);
    while text.len() < bytes {
        // The logarithm of the rank is uniform.
        let rank = (words.len() as f64).powf(random.unit()) as usize;
        let word = words[rank.min(words.len()) - 1];
        in_sentence += 1;
        in_line += word.chars().count() + 1;
        let end = match random.below(12) {
            0 if in_sentence > 5 => {
                in_sentence = 0;
                "."
            }
            1 => ",",
            _ => "",
        };
        let space = if in_line > 72 {
            in_line = 0;
            "\n"
        } else {
            separator
        };
        // Writing to a String cannot fail.
        let _ = write!(text, "{word}{end}{space}");
    }
    let cut = (bytes..).find(|&cut| text.is_char_boundary(cut)).unwrap_or(bytes);
    text.truncate(cut);
    text
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

    fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.unit() * bound as f64) as usize
    }
}

const ENGLISH: &str = "the of and to a in that is was he for it with as his on be at by I this had not are but from or \
    have an they which one you were her all she there would their we him been has when who will more no if out so said \
    what up its about into than them can only other new some could time these two may then do first any my now such \
    like our over man me even most made after also did many before must through back years where much your way well \
    down should because each just those people how too little state good very make world still own see men work long \
    get here between both life being under never day same another know while last might us great old year off come \
    since against go came right used take three states himself few house use during without again place American \
    around however home small found Mrs thought went say part once general high upon school every don't does got \
    united left number course war until always away something fact though water less public put think almost hand \
    enough far took head yet government system better set told nothing night end why called didn't eyes find going \
    look asked later knew point next program city business give group toward young let room days president side \
    social given present several order national possible rather second face per among form important often things \
    looked early white case John large big need within felt children along saw best church ever least power \
    development light thing seemed family interest want members mind country area others done turned although open \
    God service certain kind problem began different door thus help means sense whole matter perhaps itself it's York \
    times law human line above name example action company hands local show five history whether gave either today act";

const FRENCH: &str = "de la le et les des en un du une que est pour qui dans a par plus pas au sur ne se ce il sont \
    avec son aux été être cette ou comme même ont sa fait ses mais était après années où très sous là à deux déjà \
    siècle entre première tout depuis également selon création société année pays général égalité été français \
    système différents période région état développement intérêt élèves considéré près présence président où \
    université créé célèbre numéro théâtre rôle âge côté façon français évêque château île forêt œuvre sœur naïf \
    garçon leçon reçu ça voilà hôpital intérieur dernière matière manière père mère frère problème modèle";

const RUSSIAN: &str = "и в не на я быть он с что а по это она этот к но они мы весь который из у то за свой что от со \
    для о же ты все если люди время да год человек только мочь один такой дело жизнь первый очень два день новый рука \
    какой наш даже другой где работа слово место лицо друг глаз теперь тоже ничто сделать сила сейчас вопрос страна \
    мир случай ребёнок голова под её ещё большой последний дом город вода стоять понять думать знать хотеть говорить";

const CHINESE: &str = "的 一 是 不 了 在 人 有 我 他 这 个 们 中 来 上 大 为 和 国 地 到 以 说 时 要 就 出 会 可 也 \
    你 对 生 能 而 子 那 得 于 着 下 自 之 年 过 发 后 作 里 用 道 行 所 然 家 种 事 成 方 多 经 么 去 法 学 如 都 同 现 \
    当 没 动 面 起 看 定 天 分 还 进 好 小 部 其 些 主 样 理 心 她 本 前 开 但 因 只 从 想 实 日 军 者 意 无 力 它 与 长 \
    把 机 十 民 第 公 此 已 工 使 情 明 性 知 全 三 又 关 点 正 业 外 将 两 高 间 由 问 很 最 重 并 物 手 应 战 向 头 文";
