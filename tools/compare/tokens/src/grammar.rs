//! The meaning of the parts of a syntax tree: the class of each kind of node of a language.
//!
//! The sixteen grammars have many authors, but mostly use similar names for similar kinds of nodes. So the
//! class follows from the name of the kind, or else from the tables in this file. Each name is looked up once
//! per language, and then by number. SQL has no grammar, because each database has its own. It has only
//! keywords for the lexer.

use std::collections::HashSet;

use crate::class;
use kernel::Language;

/// The class of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    /// A comment, an import or layout. It makes no symbols.
    Skip,
    /// A name. All names are the same symbol.
    Name,
    /// One symbol. Its value is its text without embedded code.
    Literal,
    /// A fixed part of a literal: a quote, a run of characters, an escape.
    Part,
    /// One symbol with this value: a keyword, an operator or a mark.
    Fixed(u64),
    /// Text that the grammar does not parse, such as the body of a macro.
    Opaque,
    /// A node whose children are visited. If it has none, its text decides its class.
    Inner,
}

/// Words that grammars hide in rules with names of their own, although each word is its own symbol.
const RESERVED: [&str; 20] = [
    "void", "bool", "boolean", "char", "int", "float", "double", "byte", "string", "object", "this", "super", "self",
    "true", "false", "True", "False", "null", "nil", "None",
];

/// The keywords, types and operators of SQL that most databases share, in lower case.
const SQL: &str = "add all alter and any as asc autoincrement auto_increment begin between bigint blob boolean by cascade \
    case cast char character check collate column commit constraint create cross current current_date current_time \
    current_timestamp cursor database date datetime decimal declare default deferrable delete desc distinct do double \
    drop each else elsif end escape except exec execute exists explain fetch filter first following for foreign from \
    full function grant group having if ilike in increment index inner insert instead int integer intersect interval \
    into is join key language last lateral left like limit loop match materialized merge natural next no not null nulls \
    numeric of offset on only or order outer over partition preceding precision primary procedure range real recursive \
    references rename replace restrict return returning returns revoke right rollback row rows savepoint schema select \
    sequence set similar smallint some start table temp temporary text then time timestamp to transaction trigger \
    truncate unbounded union unique update using values varchar view when where while window with zone \
    <> != >= <= || :: := =>";

/// The grammar of a language, with the classes of its kinds of nodes.
pub(super) struct Grammar {
    pub(super) language: Language,
    /// `None` if the lexer alone reads the language.
    pub(super) parser: Option<tree_sitter::Language>,
    classes: Vec<Class>,
    /// Keywords, operators and marks, each as it is written.
    fixed: HashSet<Box<str>>,
}

impl Grammar {
    pub(super) fn new(language: Language) -> Self {
        let parser = match language {
            Language::C => Some(tree_sitter_c::LANGUAGE),
            Language::Cpp => Some(tree_sitter_cpp::LANGUAGE),
            Language::Java => Some(tree_sitter_java::LANGUAGE),
            Language::Python => Some(tree_sitter_python::LANGUAGE),
            Language::JavaScript => Some(tree_sitter_javascript::LANGUAGE),
            Language::TypeScript => Some(tree_sitter_typescript::LANGUAGE_TYPESCRIPT),
            Language::Tsx => Some(tree_sitter_typescript::LANGUAGE_TSX),
            Language::Go => Some(tree_sitter_go::LANGUAGE),
            Language::Rust => Some(tree_sitter_rust::LANGUAGE),
            Language::CSharp => Some(tree_sitter_c_sharp::LANGUAGE),
            Language::Ruby => Some(tree_sitter_ruby::LANGUAGE),
            Language::Php => Some(tree_sitter_php::LANGUAGE_PHP),
            Language::Kotlin => Some(tree_sitter_kotlin_ng::LANGUAGE),
            Language::Swift => Some(tree_sitter_swift::LANGUAGE),
            Language::Scala => Some(tree_sitter_scala::LANGUAGE),
            Language::Bash => Some(tree_sitter_bash::LANGUAGE),
            Language::Sql => None,
        };
        let parser = parser.map(tree_sitter::Language::new);
        let mut classes = Vec::new();
        let mut fixed: HashSet<Box<str>> = RESERVED.into_iter().map(Box::from).collect();
        if language == Language::Sql {
            fixed.extend(SQL.split_ascii_whitespace().map(Box::from));
        }
        if let Some(parser) = &parser {
            for id in (0..=u16::MAX).take(parser.node_kind_count()) {
                let kind = parser.node_kind_for_id(id).unwrap_or_default();
                let named = parser.node_kind_is_named(id);
                classes.push(class_of(language, kind, named));
                if !named && parser.node_kind_is_visible(id) {
                    fixed.insert(kind.into());
                }
            }
        }
        Self { language, parser, classes, fixed }
    }

    /// The class of a kind of node, by its number. The number of error nodes is higher than the numbers of
    /// all kinds.
    pub(super) fn class(&self, kind: u16) -> Class {
        self.classes.get(usize::from(kind)).copied().unwrap_or(Class::Inner)
    }

    /// True if the grammar has a keyword, an operator or a mark with this spelling.
    pub(super) fn is_fixed(&self, text: &str) -> bool {
        self.fixed.contains(text)
    }
}

fn class_of(language: Language, kind: &str, named: bool) -> Class {
    if !named {
        return if class::is_layout(kind) { Class::Skip } else { Class::Fixed(class::value_of_text(kind)) };
    }
    match kind {
        _ if kind.ends_with("comment") => Class::Skip,
        // Layout, the line that names the interpreter, and the delimiters of here-documents.
        "marginalia" | "line_continuation" | "hash_bang_line" | "shebang" | "shebang_line" | "shebang_directive"
        | "heredoc_start" | "heredoc_beginning" | "heredoc_end" | "php_tag" | "php_end_tag" => Class::Skip,
        // Parts that nearly all documents of a language share, whoever wrote them.
        "import" if language == Language::Kotlin => Class::Skip,
        // In Scala, this node may contain the whole program.
        "package_clause" if language == Language::Go => Class::Skip,
        "import_declaration"
        | "import_statement"
        | "import_from_statement"
        | "future_import_statement"
        | "package_declaration"
        | "package_header"
        | "preproc_include"
        | "use_declaration"
        | "extern_crate_declaration"
        | "using_directive"
        | "namespace_use_declaration" => Class::Skip,
        "scoped_identifier"
        | "qualified_identifier"
        | "nested_identifier"
        | "scoped_type_identifier"
        | "nested_type_identifier"
        | "stable_identifier"
        | "stable_type_identifier"
        | "identifiers" => Class::Inner,
        // In Swift and Scala, an identifier may have parts.
        "identifier" if language == Language::Swift => Class::Inner,
        // Scala's operators.
        "operator_identifier" => Class::Inner,
        _ if kind.ends_with("identifier") || kind.ends_with("identifier_pattern") => Class::Name,
        "name"
        | "constant"
        | "instance_variable"
        | "class_variable"
        | "global_variable"
        | "variable_name"
        | "special_variable_name"
        | "label"
        | "statement_label"
        | "metavariable"
        | "simple_symbol"
        | "hash_key_symbol"
        | "xml_name"
        | "lifetime" => Class::Name,
        "string"
        | "string_literal"
        | "raw_string_literal"
        | "encapsed_string"
        | "heredoc_body"
        | "nowdoc_body"
        | "nowdoc_string"
        | "raw_string"
        | "ansi_c_string"
        | "template_string"
        | "template_literal_type"
        | "interpreted_string_literal"
        | "verbatim_string_literal"
        | "interpolated_string_expression"
        | "interpolated_string"
        | "line_string_literal"
        | "multi_line_string_literal"
        | "multiline_string_literal"
        | "bare_string"
        | "bare_symbol"
        | "delimited_symbol"
        | "subshell"
        | "shell_command_expression"
        | "regex"
        | "regex_literal"
        | "system_lib_string"
        | "jsx_text"
        | "xml_text"
        | "xml_string"
        | "xml_cdata"
            if !matches!(
                (language, kind),
                (Language::Bash, "subshell") | (Language::Scala, "interpolated_string_expression")
            ) =>
        {
            Class::Literal
        }
        "character_literal" | "char_literal" | "rune_literal" => Class::Literal,
        "character" if language == Language::Ruby => Class::Literal,
        "number"
        | "number_literal"
        | "integer"
        | "float"
        | "integer_literal"
        | "float_literal"
        | "real_literal"
        | "floating_point_literal"
        | "imaginary_literal"
        | "int_literal"
        | "hex_literal"
        | "oct_literal"
        | "bin_literal"
        | "unsigned_literal"
        | "long_literal"
        | "rational"
        | "complex"
        | "user_defined_literal" => Class::Literal,
        "raw_str_interpolation" => Class::Inner,
        "escape_sequence"
        | "character"
        | "format_specifier"
        | "type_conversion"
        | "escape_interpolation"
        | "interpolation_start"
        | "interpolation_quote"
        | "interpolation_brace"
        | "html_character_reference"
        | "regex_pattern"
        | "regex_flags"
        | "raw_string_delimiter"
        | "str_escaped_char"
        | "string_literal_encoding" => Class::Part,
        _ if kind.ends_with("_fragment")
            || kind.ends_with("_content")
            || kind.starts_with("raw_str")
            || kind.ends_with("_str_text")
            || kind.starts_with("string_") =>
        {
            Class::Part
        }
        "preproc_arg" | "text" => Class::Opaque,
        _ => Class::Inner,
    }
}
