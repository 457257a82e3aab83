//! The inputs: the Federalist papers of `data-samples/`, and inputs meant to be slow.

use std::fs;
use std::path::Path;

/// The first `size` bytes of the papers, one after the other.
pub fn english(size: usize) -> Vec<u8> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../data-samples/federalist");
    let mut paths: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let papers: Vec<u8> = paths.iter().flat_map(|path| fs::read(path).unwrap()).collect();
    papers.into_iter().cycle().take(size).collect()
}

pub fn texts(size: usize) -> Vec<(&'static str, Vec<u8>)> {
    let letters = |letter: &dyn Fn(u64) -> u64| (0..size as u64).map(|i| b'a' + letter(i) as u8).collect();
    vec![
        ("English", english(size)),
        ("random letters", letters(&|i| mix(i) % 26)),
        ("one letter", vec![b'x'; size]),
        ("one letter, in lines", (0..size).map(|i| if i % 80 == 79 { b'\n' } else { b'x' }).collect()),
        ("period 2", letters(&|i| i % 2)),
        ("period 7", letters(&|i| i % 7)),
        ("period 90", letters(&|i| mix(i % 90) % 26)),
        ("two letters", letters(&|i| mix(i) % 2)),
        ("spaces", vec![b' '; size]),
        ("newlines", vec![b'\n'; size]),
    ]
}

/// Words of other languages and scripts, drawn evenly.
pub fn scripts(size: usize) -> Vec<(&'static str, Vec<u8>)> {
    const WORDS: [(&str, &str, &str); 5] = [
        (
            "English",
            " ",
            "the of and to a in that is was he for it with as his on be at by I this had not are but from",
        ),
        (
            "English and a few accents",
            " ",
            "the of and to a in that is was he for it with as his on be at by I this had \
            not are but from or have an they which one you were all her she there would their we him been has when café",
        ),
        (
            "French",
            " ",
            "de la le et les des en un du une que est pour qui dans a par plus pas au sur ne se ce il sont \
            avec son été être même après où très à deux déjà siècle première société année général français œuvre",
        ),
        (
            "Russian",
            " ",
            "и в не на я быть он с что а по это она этот к но они мы весь который из у то за свой что от со \
            для о же ты все если люди время да год человек только мочь один такой дело жизнь первый очень два день",
        ),
        (
            "Chinese",
            "",
            "的 一 是 不 了 在 人 有 我 他 这 个 们 中 来 上 大 为 和 国 地 到 以 说 时 要 就 出 会 可 也 \
            你 对 生 能 而 子 那 得 于 着 下 自 之 年 过 发 后 作 里 用 道 行 所 然 家 种 事 成 方 多 经 么 去 法 学 ， 。",
        ),
    ];
    let text = |(name, separator, words): (&'static str, &str, &str)| {
        let words: Vec<&str> = words.split_whitespace().collect();
        let mut text = String::new();
        let mut i = 0;
        while text.len() < size {
            text.push_str(words[mix(i) as usize % words.len()]);
            text.push_str(if mix(i) >> 60 == 0 { "\n" } else { separator });
            i += 1;
        }
        (name, text.into_bytes())
    };
    WORDS.into_iter().map(text).collect()
}

pub fn hashes(count: u64) -> Vec<(&'static str, Vec<u64>)> {
    vec![
        ("random", (0..count).map(mix).collect()),
        ("constant", vec![5; count as usize]),
        ("ascending", (0..count).collect()),
        ("descending", (0..count).rev().collect()),
        ("period 2", (0..count).map(|i| i % 2).collect()),
        ("period 7", (0..count).map(|i| mix(i % 7)).collect()),
        ("period 90", (0..count).map(|i| mix(i % 90)).collect()),
        ("rising for 150", (0..count).map(|i| i % 150).collect()),
        ("rising for 30", (0..count).map(|i| i % 30).collect()),
        ("three values", (0..count).map(|i| mix(i) % 3).collect()),
        ("rising by and large", (0..count).map(|i| (i << 20) + mix(i) % (50 << 20)).collect()),
        ("the same, spread out", (0..count).map(|i| (i << 44) + mix(i) % (50 << 44)).collect()),
        ("ascending, spread out", (0..count).map(|i| i << 44).collect()),
    ]
}

fn mix(i: u64) -> u64 {
    let z = i.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
