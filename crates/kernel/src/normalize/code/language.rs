//! Detects the language of a document by its name and its first bytes. The result depends on nothing else.

use crate::document::Language;
use crate::normalize::is_wide_text;

/// File name extensions, in lower case, without the dot. For `h` the contents decide.
const EXTENSIONS: [(Language, &[&str]); 17] = [
    (Language::Bash, &["sh", "bash", "ksh", "zsh"]),
    (Language::C, &["c", "h"]),
    (Language::Cpp, &["cc", "cpp", "cxx", "c++", "hh", "hpp", "hxx", "h++", "ipp", "tpp", "inl"]),
    (Language::CSharp, &["cs", "csx"]),
    (Language::Go, &["go"]),
    (Language::Java, &["java"]),
    (Language::JavaScript, &["js", "mjs", "cjs", "jsx"]),
    (Language::Kotlin, &["kt", "kts"]),
    (Language::Php, &["php", "php3", "php4", "php5", "phtml"]),
    (Language::Python, &["py", "pyi", "pyw"]),
    (Language::Ruby, &["rb", "rake", "gemspec", "ru"]),
    (Language::Rust, &["rs"]),
    (Language::Scala, &["scala", "sbt"]),
    (Language::Sql, &["sql", "ddl"]),
    (Language::Swift, &["swift"]),
    (Language::Tsx, &["tsx"]),
    (Language::TypeScript, &["ts", "mts", "cts"]),
];

/// Interpreters that a first line may name, without version.
const INTERPRETERS: [(Language, &[&str]); 8] = [
    (Language::Bash, &["sh", "bash", "dash", "ksh", "zsh"]),
    (Language::JavaScript, &["node", "nodejs"]),
    (Language::Kotlin, &["kotlin"]),
    (Language::Php, &["php"]),
    (Language::Python, &["python", "pypy"]),
    (Language::Ruby, &["ruby"]),
    (Language::Scala, &["scala"]),
    (Language::TypeScript, &["deno", "ts-node"]),
];

/// Words that show that a header is C++.
const CPP_WORDS: [&[u8]; 9] = [
    b"namespace ",
    b"template<",
    b"template <",
    b"typename ",
    b"virtual ",
    b"public:",
    b"private:",
    b"protected:",
    b"std::",
];

/// The language of the document `name`, by its extension or by the interpreter in its first line. `head`
/// holds the first few thousand bytes of the document, or all. `None` if neither shows the language.
#[must_use]
pub fn language_of(name: &str, head: &[u8]) -> Option<Language> {
    // A byte order mark may precede the first line. In UTF-16, only ASCII characters count here.
    let head = head.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(head);
    let ascii: Vec<u8>;
    let head = if is_wide_text(head) {
        ascii = head.iter().copied().filter(|byte| !matches!(byte, 0 | 0xFE | 0xFF)).collect();
        &ascii
    } else {
        head
    };
    let file = name.rsplit(['/', '!', '#']).next().unwrap_or_default();
    let extension = file.rsplit_once('.').map_or(String::new(), |(_, extension)| extension.to_ascii_lowercase());
    let named = EXTENSIONS.iter().find(|(_, extensions)| extensions.contains(&&*extension));
    match named {
        // Qt translation files are XML with this extension.
        Some((Language::TypeScript, _)) if head.trim_ascii_start().starts_with(b"<") => None,
        Some((Language::C, _)) if extension == "h" => {
            let is_cpp = CPP_WORDS.iter().any(|word| memchr::memmem::find(head, word).is_some());
            Some(if is_cpp { Language::Cpp } else { Language::C })
        }
        Some((language, _)) => Some(*language),
        None => interpreter(head),
    }
}

/// The language of the interpreter in the first line: `#!/usr/bin/python3`, `#!/usr/bin/env -S node --flag`.
fn interpreter(head: &[u8]) -> Option<Language> {
    let line = head.strip_prefix(b"#!")?.split(|byte| matches!(byte, b'\n' | b'\r')).next()?;
    let mut words = str::from_utf8(line).ok()?.split_ascii_whitespace();
    let mut program = words.next()?.rsplit('/').next()?;
    if program == "env" {
        program = words.find(|word| !word.starts_with('-') && !word.contains('='))?.rsplit('/').next()?;
    }
    let program = program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    INTERPRETERS.iter().find(|(_, programs)| programs.contains(&program)).map(|(language, _)| *language)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_the_language_and_first_lines_where_they_do_not() {
        for (name, head, expected) in [
            ("a/b/Main.java", "", Some(Language::Java)),
            ("SHOUT.PY", "", Some(Language::Python)),
            ("a.zip!dir/x.rs", "", Some(Language::Rust)),
            ("x.h", "#define A 1\nint f(void);\n", Some(Language::C)),
            ("x.h", "namespace a {\n", Some(Language::Cpp)),
            ("x.ts", "let a = 1;", Some(Language::TypeScript)),
            ("x.ts", "<?xml version='1.0'?><TS/>", None),
            ("tool", "#!/usr/bin/env python3.11\n", Some(Language::Python)),
            ("tool", "#!/usr/bin/env -S A=1 node --x\n", Some(Language::JavaScript)),
            ("tool", "#!/bin/sh", Some(Language::Bash)),
            ("tool", "#! /usr/bin/perl\n", None),
            ("readme.txt", "some words", None),
            ("java", "", None),
            ("", "", None),
        ] {
            assert_eq!(language_of(name, head.as_bytes()), expected, "{name} {head}");
            let wide =
                |mark: &str| format!("{mark}{head}").encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<_>>();
            let other = [format!("\u{FEFF}{head}").into_bytes(), wide("\u{FEFF}"), wide("")];
            other.iter().for_each(|head| assert_eq!(language_of(name, head), expected, "{name} {head:?}"));
            assert_eq!(language_of(name, head.replace('\n', "\r\u{E9}").as_bytes()), expected, "{name} {head}");
        }
    }

    #[test]
    fn every_language_has_an_extension_of_its_own() {
        for language in Language::ALL {
            let (_, extensions) = EXTENSIONS.iter().find(|(other, _)| *other == language).expect("an entry");
            for extension in *extensions {
                assert_eq!(language_of(&format!("x.{extension}"), b""), Some(language));
            }
        }
    }
}
