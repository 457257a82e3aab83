//! Compares the tokens that fpdb's lexers make from real sources with the leaves of the trees that
//! tree-sitter's grammars make from them. Prints for each language two shares: of the k-grams of the lexer
//! that the grammar makes too, and of those of the grammar that the lexer makes too.
//!
//! usage: compare-tokens FOLDER... : reads all files in a known language below the folders, up to 100 kB
//! each.
//!        compare-tokens --differences FILE... : prints the places at which the two differ, with their text.

mod class;
mod grammar;
mod lexer;
mod tree;

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use grammar::Grammar;
use kernel::Language;
use kernel::normalize::{FrontEnd, Symbols, language_of};
use tree::Found;

/// k of the profile `code`.
const K: usize = 7;

type Tokens = Vec<(u64, std::ops::Range<usize>)>;

fn parsed(grammar: &Grammar, text: &str) -> Option<Tokens> {
    let mut parser = tree_sitter::Parser::new();
    parser.set_language(grammar.parser.as_ref()?).ok()?;
    let tree = parser.parse(text, None)?;
    let mut tokens = Vec::new();
    tree::walk(&tree, text, grammar, &mut |found, range| match found {
        Found::Token(value) => tokens.push((value, range)),
        Found::Text => {
            lexer::Lexer::default().lex(grammar, text, range, &mut |value, range| tokens.push((value, range)));
        }
    });
    Some(tokens)
}

/// The tokens, and the shortest time of five runs that made them.
fn lexed(front_end: &mut FrontEnd, language: Language, text: &str) -> (Tokens, Duration) {
    let mut symbols = Symbols::new();
    let mut shortest = Duration::MAX;
    front_end.begin(Some(language));
    for _ in 0..5 {
        let before = Instant::now();
        symbols.clear();
        front_end.feed(text.as_bytes(), &mut symbols);
        front_end.finish(&mut symbols);
        shortest = shortest.min(before.elapsed());
    }
    let range = |i| symbols.start(i) as usize..symbols.end(i) as usize;
    (symbols.values().iter().enumerate().map(|(i, &value)| (value, range(i))).collect(), shortest)
}

fn kgrams(tokens: &Tokens) -> HashMap<Vec<u64>, i64> {
    let mut counts = HashMap::new();
    for window in tokens.windows(K) {
        *counts.entry(window.iter().map(|token| token.0).collect()).or_default() += 1;
    }
    counts
}

#[derive(Default)]
struct Row {
    files: usize,
    bytes: usize,
    parsed: usize,
    lexed: usize,
    both: i64,
    of_parsed: i64,
    of_lexed: i64,
    parsing: Duration,
    lexing: Duration,
}

fn files(path: &Path, out: &mut Vec<PathBuf>) {
    if path.is_dir() {
        let mut entries: Vec<_> = std::fs::read_dir(path).into_iter().flatten().flatten().map(|e| e.path()).collect();
        entries.sort();
        entries.iter().for_each(|entry| files(entry, out));
    } else {
        out.push(path.to_path_buf());
    }
}

fn differences(text: &str, name: &str, parsed: &Tokens, lexed: &Tokens) {
    let (mut a, mut b) = (0, 0);
    let show = |token: &(u64, std::ops::Range<usize>)| {
        format!("{}{:?}", if token.0 == class::NAME { "NAME" } else { "" }, &text[token.1.clone()])
    };
    while a < parsed.len() || b < lexed.len() {
        if a < parsed.len() && b < lexed.len() && parsed[a].0 == lexed[b].0 && parsed[a].1.start == lexed[b].1.start {
            (a, b) = (a + 1, b + 1);
            continue;
        }
        let (from_a, from_b) = (a, b);
        // Continues to the next token that is equal in both.
        loop {
            let (x, y) = (parsed.get(a), lexed.get(b));
            match (x, y) {
                (Some(x), Some(y)) if x.0 == y.0 && x.1.start == y.1.start => break,
                (Some(x), Some(y)) if x.1.start < y.1.start => a += 1,
                (Some(x), Some(y)) if x.1.start > y.1.start => b += 1,
                (Some(_), Some(_)) => (a, b) = (a + 1, b + 1),
                (Some(_), None) => a += 1,
                (None, Some(_)) => b += 1,
                (None, None) => break,
            }
        }
        let join = |tokens: &[(u64, std::ops::Range<usize>)]| tokens.iter().take(6).map(show).collect::<Vec<_>>().join(" ");
        let at = parsed.get(from_a).or(lexed.get(from_b)).map_or(0, |token| token.1.start);
        let at = at.min(lexed.get(from_b).map_or(at, |token| token.1.start));
        let line = text[..at].rfind('\n').map_or(0, |at| at + 1);
        let line = text[line..].lines().next().unwrap_or_default().trim();
        println!("{}\t=>\t{}\t|| {} {}", join(&parsed[from_a..a]), join(&lexed[from_b..b]), name, line.chars().take(110).collect::<String>());
    }
}

fn main() {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    let shows = arguments.first().is_some_and(|first| first == "--differences");
    if shows {
        arguments.remove(0);
    }
    let mut all = Vec::new();
    arguments.iter().for_each(|argument| files(Path::new(argument), &mut all));
    let mut rows: BTreeMap<&str, Row> = BTreeMap::new();
    let mut grammars: HashMap<Language, Grammar> = HashMap::new();
    let mut front_end = FrontEnd::tokens();
    for path in all {
        let Ok(text) = std::fs::read_to_string(&path) else { continue };
        let name = path.to_string_lossy();
        let Some(language) = language_of(&name, &text.as_bytes()[..text.len().min(4096)]) else { continue };
        if text.len() > 100_000 {
            continue;
        }
        let grammar = grammars.entry(language).or_insert_with(|| Grammar::new(language));
        let before = Instant::now();
        let Some(parsed) = parsed(grammar, &text) else { continue };
        let parsing = before.elapsed();
        let (lexed, lexing) = lexed(&mut front_end, language, &text);
        if shows {
            differences(&text, &name, &parsed, &lexed);
            continue;
        }
        let (a, b) = (kgrams(&parsed), kgrams(&lexed));
        let both: i64 = a.iter().map(|(gram, &count)| count.min(b.get(gram).copied().unwrap_or(0))).sum();
        let row = rows.entry(language.name()).or_default();
        row.files += 1;
        row.bytes += text.len();
        row.parsed += parsed.len();
        row.lexed += lexed.len();
        row.both += both;
        row.of_parsed += a.values().sum::<i64>();
        row.of_lexed += b.values().sum::<i64>();
        row.parsing += parsing;
        row.lexing += lexing;
    }
    if shows {
        return;
    }
    println!("| language | files | kB | tokens, parsed | lexed | of the parser's k-grams | of the lexer's | MB/s, parser | lexer |");
    println!("|---|--:|--:|--:|--:|--:|--:|--:|--:|");
    for (language, row) in rows {
        let share = |of: i64| 100.0 * row.both as f64 / of.max(1) as f64;
        let speed = |time: Duration| row.bytes as f64 / 1e6 / time.as_secs_f64().max(1e-9);
        println!(
            "| {language} | {} | {} | {} | {} | {:.1}% | {:.1}% | {:.1} | {:.0} |",
            row.files,
            row.bytes / 1000,
            row.parsed,
            row.lexed,
            share(row.of_parsed),
            share(row.of_lexed),
            speed(row.parsing),
            speed(row.lexing)
        );
    }
}
