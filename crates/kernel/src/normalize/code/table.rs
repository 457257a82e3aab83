//! The table of languages: the [`Rules`] of each language.

use super::rules::{Apostrophe, BlockComments, Code, Dialect, Escape, Import, Numbers, Prefix, Quote, Rules};
use crate::document::Language;

/// The mark that begins a comment up to the end of the line.
#[must_use]
pub fn line_comment(language: Language) -> &'static str {
    rules(language).line_comments[0]
}

pub(super) fn rules(language: Language) -> &'static Rules {
    match language {
        Language::Bash => &BASH,
        Language::C => &C,
        Language::Cpp => &CPP,
        Language::CSharp => &C_SHARP,
        Language::Go => &GO,
        Language::Java => &JAVA,
        Language::JavaScript => &JAVASCRIPT,
        Language::Kotlin => &KOTLIN,
        Language::Php => &PHP,
        Language::Python => &PYTHON,
        Language::Ruby => &RUBY,
        Language::Rust => &RUST,
        Language::Scala => &SCALA,
        Language::Sql => &SQL,
        Language::Swift => &SWIFT,
        Language::Tsx => &TSX,
        Language::TypeScript => &TYPESCRIPT,
    }
}

const fn quote(open: &'static str) -> Quote {
    Quote { open, lines: false, escape: Escape::Backslash, code: Code::None }
}

const fn long_quote(open: &'static str) -> Quote {
    Quote { lines: true, ..quote(open) }
}

const DOUBLE: Quote = quote("\"");
const SINGLE: Quote = quote("'");
const TRIPLE: Quote = long_quote("\"\"\"");

/// Rules shared by most languages with the syntax of C.
const BASE: Rules = Rules {
    keywords: "",
    soft_keywords: "",
    member_keywords: "",
    operands: "true false null this super",
    marks: "!= %= && &= *= ++ += -- -= -> /= << <<= <= == >= ^= || |=",
    operator_characters: "",
    line_comments: &["//"],
    block_comments: BlockComments::Plain,
    quotes: &[DOUBLE],
    prefixes: &[],
    apostrophe: Apostrophe::Character,
    numbers: Numbers { leading_point: true, trailing_point: true, apostrophes: false },
    imports: &[],
    ignores_case: false,
    dollar_names: false,
    escaped_names: false,
    regex: false,
    dialect: Dialect::Plain,
};

/// `shell.rs` decides the role of words.
static BASH: Rules = Rules {
    keywords: "case declare do done elif else esac export fi for function if in local readonly select then typeset unset \
        until while",
    operands: "",
    marks: "&& &> &>> ;& ;; ;;& <& <( << <<- <<< >& >( >> >| [[ ]] |& || == != =~ += -= *= /= ++ -- <= >= ** %=",
    line_comments: &["#"],
    block_comments: BlockComments::None,
    quotes: &[
        Quote { open: "\"", lines: true, escape: Escape::Backslash, code: Code::Shell },
        Quote { open: "'", lines: true, escape: Escape::None, code: Code::None },
    ],
    apostrophe: Apostrophe::Quote,
    dialect: Dialect::Shell,
    ..BASE
};

const C_KEYWORDS: &str = "_Alignas _Alignof _Atomic _Generic _Nonnull _Noreturn __alignof __alignof__ __asm __asm__ \
    __attribute __attribute__ __based __cdecl __clrcall __declspec __except __extension__ __fastcall __finally __forceinline \
    __inline __inline__ __leave __restrict__ __stdcall __thiscall __thread __try __unaligned __vectorcall __volatile__ \
    _alignof _unaligned alignas alignof asm auto break case const constexpr continue default defined do else enum extern for \
    goto if inline long noreturn offsetof register restrict return short signed sizeof static struct switch thread_local \
    typedef union unsigned volatile while \
    void bool char int float double size_t ssize_t ptrdiff_t intptr_t uintptr_t charptr_t nullptr_t max_align_t \
    int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t char8_t char16_t char32_t char64_t";

static C: Rules = Rules {
    keywords: C_KEYWORDS,
    operands: "true false NULL nullptr",
    marks: "!= %= && &= *= ++ += -- -= -> ... /= :: << <<= <= == >= >> >>= ^= || |= ##",
    prefixes: &[("L", Prefix::Plain), ("u", Prefix::Plain), ("U", Prefix::Plain), ("u8", Prefix::Plain)],
    escaped_names: true,
    dialect: Dialect::C,
    ..BASE
};

static CPP: Rules = Rules {
    keywords: "_Alignas _Alignof _Atomic _Generic _Nonnull _Noreturn __alignof __alignof__ __asm __asm__ __attribute \
        __attribute__ __based __cdecl __clrcall __declspec __except __extension__ __fastcall __finally __forceinline __inline \
        __inline__ __leave __restrict__ __stdcall __thiscall __thread __try __unaligned __vectorcall __volatile__ _alignof \
        _unaligned alignas alignof and and_eq asm auto bitand bitor break case catch class co_await co_return co_yield compl \
        concept const consteval constexpr constinit continue decltype default defined delete do else enum explicit extern \
        final for friend goto if inline long mutable namespace new noexcept noreturn not not_eq offsetof operator or or_eq \
        override private protected public register requires restrict return short signed sizeof static static_assert struct \
        switch template thread_local throw try typedef typename union unsigned using virtual volatile while xor xor_eq \
        void bool char int float double size_t ssize_t ptrdiff_t intptr_t uintptr_t charptr_t nullptr_t max_align_t \
        int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t char8_t char16_t char32_t char64_t",
    member_keywords: "template operator delete new",
    operands: "true false NULL nullptr this",
    marks: "!= %= && &= *= ++ += -- -= -> ->* .* ... /= :: << <<= <= <=> == >= >>= ^= || |= ##",
    prefixes: &[
        ("L", Prefix::Plain),
        ("u", Prefix::Plain),
        ("U", Prefix::Plain),
        ("u8", Prefix::Plain),
        ("R", Prefix::Delimiter),
        ("LR", Prefix::Delimiter),
        ("uR", Prefix::Delimiter),
        ("UR", Prefix::Delimiter),
        ("u8R", Prefix::Delimiter),
    ],
    numbers: Numbers { leading_point: true, trailing_point: true, apostrophes: true },
    escaped_names: true,
    dialect: Dialect::C,
    ..BASE
};

static C_SHARP: Rules = Rules {
    keywords: "__makeref __reftype __refvalue abstract as async await base break case catch checked class const continue \
        default delegate do else enum event explicit extern finally fixed for foreach goto if implicit in interface internal \
        is lock namespace new operator out override params private protected public readonly ref return sealed sizeof \
        stackalloc static struct switch throw try typeof unchecked unsafe using virtual volatile while \
        void bool byte sbyte char decimal double float int uint nint nuint long ulong short ushort object string var dynamic \
        get set",
    soft_keywords: "add alias ascending by descending equals file from global group init into join let notnull on \
        orderby partial record remove required scoped select unmanaged when where with yield and or not",
    operands: "true false null this base",
    marks: "!= %= && &= *= ++ += -- -= -> .. /= :: << <<= <= == => >= >>= >>>= ?? ??= ^= || |=",
    imports: &[("using", Import::Using)],
    numbers: Numbers { leading_point: true, trailing_point: false, apostrophes: false },
    escaped_names: true,
    dialect: Dialect::CSharp,
    ..BASE
};

static GO: Rules = Rules {
    keywords: "break case chan const continue default defer else fallthrough for func go goto if interface map range return \
        select struct switch type var",
    operands: "true false nil iota",
    marks: "!= %= && &= &^ &^= *= ++ += -- -= ... /= := <- << <<= <= == >= >> >>= ^= || |=",
    quotes: &[DOUBLE, Quote { escape: Escape::None, ..long_quote("`") }],
    imports: &[("import", Import::Line), ("package", Import::Line)],
    ..BASE
};

static JAVA: Rules = Rules {
    keywords: "abstract assert break byte case catch char class continue default do double else enum extends final finally \
        float for if implements instanceof int interface long native new private protected public return short static \
        strictfp switch synchronized throw throws transient try void volatile while boolean",
    soft_keywords: "exports module open opens permits provides record requires sealed to transitive uses when with yield",
    member_keywords: "class new",
    operands: "true false null this super",
    marks: "!= %= && &= *= ++ += -- -= -> ... /= :: << <<= <= == >= >>= >>>= @interface ^= || |=",
    quotes: &[TRIPLE, DOUBLE],
    imports: &[("import", Import::Semicolon), ("package", Import::Semicolon)],
    dollar_names: true,
    escaped_names: true,
    ..BASE
};

const JS_KEYWORDS: &str = "await break case catch class const continue debugger default delete do else export extends finally \
    for function if import in instanceof let new return switch throw try typeof var void while with yield";
const JS_SOFT: &str = "as async from get of set static using";
const JS_OPERANDS: &str = "true false null undefined this super";
const JS_MARKS: &str = "!= !== %= && &&= &= ** **= *= ++ += -- -= ... /= << <<= <= == === => >= >> >>= >>> >>>= ?. ?? ??= ^= \
    || ||= |=";
const JS_QUOTES: &[Quote] = &[DOUBLE, SINGLE, Quote { code: Code::DollarBrace, ..long_quote("`") }];
const JS_IMPORTS: &[(&str, Import)] = &[("import", Import::Module)];

static JAVASCRIPT: Rules = Rules {
    keywords: JS_KEYWORDS,
    soft_keywords: JS_SOFT,
    operands: JS_OPERANDS,
    marks: JS_MARKS,
    dialect: Dialect::JavaScript,
    ..JS_BASE
};

/// Rules shared by JavaScript and TypeScript.
const JS_BASE: Rules = Rules {
    quotes: JS_QUOTES,
    apostrophe: Apostrophe::Quote,
    imports: JS_IMPORTS,
    dollar_names: true,
    escaped_names: true,
    regex: true,
    ..BASE
};

const TS_SOFT: &str = "as async from get of set static using abstract accessor asserts declare global implements \
    infer interface is keyof module namespace override private protected public readonly satisfies type unique";
const TS_OPERANDS: &str =
    "true false null undefined this super any boolean never number object string symbol unknown void";

static TYPESCRIPT: Rules = Rules { dialect: Dialect::TypeScript, ..TS_BASE };

static TSX: Rules = Rules { dialect: Dialect::JavaScript, ..TS_BASE };

const TS_BASE: Rules =
    Rules { keywords: TS_KEYWORDS, soft_keywords: TS_SOFT, operands: TS_OPERANDS, marks: TS_MARKS, ..JS_BASE };

const TS_KEYWORDS: &str = "await break case catch class const continue debugger default delete do else enum export extends finally \
    for function if import in instanceof let new return switch throw try typeof var while with yield";
const TS_MARKS: &str = "!= !== %= && &&= &= ** **= *= ++ += -- -= ... /= << <<= <= == === => >= >>= >>>= ?. ?? ??= ^= \
    || ||= |=";

static KOTLIN: Rules = Rules {
    keywords: "as break class continue do else for fun if in interface is object return throw try typealias val var when \
        while get set catch",
    soft_keywords: "abstract actual annotation by companion const crossinline data enum expect external final finally \
        import infix init inline inner internal lateinit noinline open operator out override private protected public \
        reified sealed suspend tailrec value vararg where",
    member_keywords: "class",
    operands: "true false null this super",
    marks: "!! != !== %= && *= ++ += -- -= -> .. ..< /= :: <= == === >= ?. ?: ||",
    block_comments: BlockComments::Nested,
    quotes: &[
        Quote { code: Code::DollarBrace, escape: Escape::None, ..TRIPLE },
        Quote { code: Code::DollarBrace, ..DOUBLE },
    ],
    numbers: Numbers { leading_point: true, trailing_point: false, apostrophes: false },
    imports: &[("import", Import::Line), ("package", Import::Line)],
    dialect: Dialect::Kotlin,
    ..BASE
};

static PHP: Rules = Rules {
    keywords: "abstract and array as bool break callable case catch class clone const continue declare default do echo else \
        elseif enddeclare endfor endforeach endif endswitch endwhile exit extends final finally float fn for foreach function \
        global goto if implements include include_once instanceof insteadof int interface iterable list mixed namespace \
        new or print private protected public readonly require require_once return static strict_types string switch throw trait try \
        unset use void while xor yield",
    soft_keywords: "enum match from",
    operands: "true false null self parent",
    marks: "!= !== %= && &= ** **= *= ++ += -- -= -> ... .= /= :: << <<= <= <=> <> == === => >= >> >>= ?-> ?? ??= ^= \
        || |= |>",
    line_comments: &["//", "#"],
    quotes: &[
        Quote { code: Code::Php, ..long_quote("\"") },
        long_quote("'"),
        Quote { code: Code::Php, ..long_quote("`") },
    ],
    apostrophe: Apostrophe::Quote,
    imports: &[("use", Import::Semicolon)],
    ignores_case: true,
    dialect: Dialect::Php,
    ..BASE
};

static PYTHON: Rules = Rules {
    keywords: "and as assert async await break class continue def del elif else except finally for from global if import in is \
        lambda nonlocal not or pass raise return try while with yield",
    soft_keywords: "case match",
    operands: "True False None",
    marks: "!= %= &= ** **= *= += -= -> // //= /= := << <<= <= <> == >= >> >>= @= ^= |= ...",
    line_comments: &["#"],
    block_comments: BlockComments::None,
    quotes: &[TRIPLE, long_quote("'''"), DOUBLE, SINGLE],
    prefixes: PYTHON_PREFIXES,
    apostrophe: Apostrophe::Quote,
    imports: &[("import", Import::Line), ("from", Import::Line)],
    dialect: Dialect::Python,
    ..BASE
};

/// The prefixes of Python's strings, in lower case. Capitals mean the same.
const PYTHON_PREFIXES: &[(&str, Prefix)] = &[
    ("r", Prefix::Plain),
    ("b", Prefix::Plain),
    ("u", Prefix::Plain),
    ("br", Prefix::Plain),
    ("rb", Prefix::Plain),
    ("f", Prefix::Code),
    ("fr", Prefix::Code),
    ("rf", Prefix::Code),
    ("t", Prefix::Code),
    ("tr", Prefix::Code),
    ("rt", Prefix::Code),
];

static RUBY: Rules = Rules {
    keywords: "BEGIN END alias and begin break case class def defined? do else elsif end ensure for if in module next not or \
        redo rescue retry return then undef unless until when while yield",
    member_keywords: "",
    operands: "true false nil self end super",
    marks: "!= !~ %= && &&= &. &= ** **= *= += -= -> .. ... /= :: << <<= <= <=> == === => =~ >= >> >>= ^= || ||= |=",
    line_comments: &["#"],
    block_comments: BlockComments::None,
    quotes: &[
        Quote { code: Code::Hash, ..long_quote("\"") },
        long_quote("'"),
        Quote { code: Code::Hash, ..long_quote("`") },
    ],
    apostrophe: Apostrophe::Quote,
    numbers: Numbers { leading_point: false, trailing_point: false, apostrophes: false },
    regex: true,
    dialect: Dialect::Ruby,
    ..BASE
};

static RUST: Rules = Rules {
    keywords: "_ as async await break const continue dyn else enum extern fn for if impl in let loop match mod move mut pub \
        ref return static struct trait type unsafe use where while yield \
        u8 i8 u16 i16 u32 i32 u64 i64 u128 i128 isize usize f32 f64 bool str char",
    soft_keywords: "default union raw macro_rules",
    member_keywords: "await",
    operands: "true false self super crate",
    marks: "!= %= && &= *= += -= -> .. ... ..= /= :: << <<= <= == => >= >>= ^= || |=",
    block_comments: BlockComments::Nested,
    quotes: &[long_quote("\"")],
    prefixes: &[
        ("b", Prefix::Plain),
        ("c", Prefix::Plain),
        ("r", Prefix::Hashes),
        ("br", Prefix::Hashes),
        ("cr", Prefix::Hashes),
    ],
    apostrophe: Apostrophe::Lifetime,
    numbers: Numbers { leading_point: false, trailing_point: true, apostrophes: false },
    imports: &[("use", Import::Semicolon)],
    // `$` begins names in macros.
    dollar_names: true,
    dialect: Dialect::Rust,
    ..BASE
};

static SCALA: Rules = Rules {
    keywords: "_ abstract case catch class def do else extends final finally for forSome given if implicit lazy macro match new \
        object override package private protected return sealed throw trait try type val var while with yield",
    soft_keywords: "as derives end enum export extension inline opaque open then transparent using",
    member_keywords: "type",
    operands: "true false null this super",
    marks: "",
    operator_characters: "!#%&*+-/:<=>?@\\^|~",
    block_comments: BlockComments::Nested,
    quotes: &[Quote { escape: Escape::None, ..TRIPLE }, DOUBLE],
    numbers: Numbers { leading_point: true, trailing_point: false, apostrophes: false },
    imports: &[("import", Import::Line)],
    dialect: Dialect::Scala,
    ..BASE
};

/// Keywords and types that most databases share.
static SQL: Rules = Rules {
    keywords: "add all alter and any as asc autoincrement auto_increment begin between bigint blob boolean by cascade \
        case cast char character check collate column commit constraint create cross current current_date current_time \
        current_timestamp cursor database date datetime decimal declare default deferrable delete desc distinct do double \
        drop each else elsif end escape except exec execute exists explain fetch filter first following for foreign from \
        full function grant group having if ilike in increment index inner insert instead int integer intersect interval \
        into is join key language last lateral left like limit loop match materialized merge natural next no not null nulls \
        numeric of offset on only or order outer over partition preceding precision primary procedure range real recursive \
        references rename replace restrict return returning returns revoke right rollback row rows savepoint schema select \
        sequence set similar smallint some start table temp temporary text then time timestamp to transaction trigger \
        truncate unbounded union unique update using values varchar view when where while window with zone \
        void bool float byte string object this super self",
    operands: "true false null nil none",
    marks: "<> != >= <= || :: := =>",
    line_comments: &["--"],
    quotes: &[Quote { escape: Escape::Either, ..SINGLE }, Quote { escape: Escape::Either, ..DOUBLE }, quote("`")],
    apostrophe: Apostrophe::Quote,
    ignores_case: true,
    dollar_names: true,
    dialect: Dialect::Sql,
    ..BASE
};

static SWIFT: Rules = Rules {
    keywords: "associatedtype as borrowing break case catch class consuming continue convenience default defer deinit do each else \
        enum extension fallthrough fileprivate final for func guard if import in indirect init inout internal is lazy let \
        mutating nonisolated nonmutating open operator override precedencegroup private protocol public repeat required rethrows \
        return some static struct subscript switch throw throws try typealias unowned var weak where while yield",
    soft_keywords: "actor any async await didSet dynamic get infix macro optional postfix prefix set willSet",
    operands: "true false nil self super",
    marks: "!= !== %= && &+ &- &* &= *= += -= -> ... ..< /= << <<= <= == === >= >> >>= ?? ^= || |=",
    block_comments: BlockComments::Nested,
    quotes: &[Quote { code: Code::Backslash, ..TRIPLE }, Quote { code: Code::Backslash, ..DOUBLE }],
    numbers: Numbers { leading_point: false, trailing_point: false, apostrophes: false },
    imports: &[("import", Import::Line)],
    // `$` begins the names of arguments of closures.
    dollar_names: true,
    dialect: Dialect::Swift,
    ..BASE
};
