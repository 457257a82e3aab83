//! `fpdb rm`: removes documents.

use fpdb::{DocId, DocumentInfo, Error, NamePrefix, Removal};

use crate::cli::output::{print, summary};
use crate::cli::printer::Printer;
use crate::cli::render::{count, escape_terminal, size};
use crate::cli::resolved::{database, output};
use crate::cli::run_status::RunStatus;
use crate::cli::typed::{Global, OutputFormat, RmArgs};

pub(crate) fn run(global: &Global, args: &RmArgs, printer: &Printer) -> anyhow::Result<RunStatus> {
    output::only(global, "rm", &[OutputFormat::Human, OutputFormat::Json])?;
    if !(args.prefixes.is_empty() && args.fields.is_empty()) {
        return by_selection(global, args, printer);
    }
    let database = database::open_writer(global, printer)?;
    let mut unknown_names = Vec::new();
    let mut ids: Vec<DocId> = args.ids.iter().copied().map(DocId).collect();
    for name in &args.names {
        match database.documents_named(name) {
            Ok(versions) => {
                if versions.len() > 1 {
                    printer.note(&format!("{name}: all {} documents of this name", versions.len()));
                }
                ids.extend(versions.iter().map(|document| document.id));
            }
            Err(error @ Error::NoSuchDocument { .. }) => unknown_names.push((name, error)),
            Err(error) => return Err(error.into()),
        }
    }
    let mut removal = database.remove_numbers(&ids)?;
    removal.unknown_names = unknown_names.iter().map(|(name, _)| (*name).clone()).collect();
    if global.format == OutputFormat::Json {
        summary(global, &removal)?;
    }
    if removal.removed > 0 {
        printer.note(&format!("{} removed; `fpdb compact` frees the space", count(removal.removed, "document")));
    }
    if args.ignore_missing {
        let numbers = removal.unknown_ids.iter().map(ToString::to_string);
        for name in removal.unknown_names.iter().cloned().chain(numbers) {
            printer.detail(&format!("{name}: no stored document, ignored"));
        }
        return Ok(RunStatus::Done);
    }
    for (name, error) in &unknown_names {
        printer.failure(name, error);
    }
    for id in &removal.unknown_ids {
        printer.failure(&id.to_string(), &Error::NoSuchNumber { number: id.0 });
    }
    Ok(if unknown_names.is_empty() && removal.unknown_ids.is_empty() { RunStatus::Done } else { RunStatus::Incomplete })
}

/// Names that a dry run shows.
const SHOWN: usize = 10;

/// Documents of one commit: their records are held until it is made.
const AT_ONCE: usize = 100_000;

/// Removes the documents that prefixes and values select, or says how many they are.
fn by_selection(global: &Global, args: &RmArgs, printer: &Printer) -> anyhow::Result<RunStatus> {
    let selected;
    let mut removal;
    if args.yes {
        let database = database::open_writer(global, printer)?;
        selected = SelectedDocuments::of(&database, args)?;
        removal = Removal::default();
        for ids in selected.ids.chunks(AT_ONCE) {
            removal.removed += database.remove_numbers(ids)?.removed;
        }
    } else {
        selected = SelectedDocuments::of(&database::open(global)?, args)?;
        removal = Removal::default();
    }
    let documents = selected.ids.len() as u64;
    removal.selected = Some(documents);
    removal.unmatched = selected.unmatched;
    if global.format == OutputFormat::Json {
        summary(global, &removal)?;
    } else if !args.yes {
        let names: String = selected.names.iter().map(|name| format!("{}\n", escape_terminal(name))).collect();
        let more = documents.saturating_sub(SHOWN as u64);
        let more = if more > 0 { format!("... and {more} more\n") } else { String::new() };
        print(global, &format!("{names}{more}{}, {}\n", count(documents, "document"), size(selected.bytes)))?;
    }
    if args.yes && removal.removed > 0 {
        printer.note(&format!("{} removed; `fpdb compact` frees the space", count(removal.removed, "document")));
    }
    if !args.yes && documents > 0 {
        printer.note("a dry run: nothing was removed; --yes does it");
    }
    for unmatched in &removal.unmatched {
        let told = format!("no stored document has {unmatched}");
        if args.ignore_missing { printer.detail(&told) } else { printer.error(&anyhow::anyhow!(told)) }
    }
    Ok(if removal.unmatched.is_empty() || args.ignore_missing { RunStatus::Done } else { RunStatus::Incomplete })
}

/// The documents that prefixes and values select.
#[derive(Default)]
struct SelectedDocuments {
    ids: Vec<DocId>,
    bytes: u64,
    /// The first of their names.
    names: Vec<String>,
    /// The prefixes and values that no document has.
    unmatched: Vec<String>,
}

impl SelectedDocuments {
    fn of(database: &fpdb::Database, args: &RmArgs) -> anyhow::Result<Self> {
        let prefixes: Vec<NamePrefix> = args.prefixes.iter().map(|prefix| NamePrefix::new(prefix)).collect();
        let (mut fits, mut has) = (vec![false; prefixes.len()], vec![false; args.fields.len()]);
        let mut selected = Self::default();
        database.for_each_document(|document: DocumentInfo| {
            let mut named = prefixes.is_empty();
            for (prefix, fits) in prefixes.iter().zip(&mut fits) {
                let is_one = prefix.fits(&document.name).is_some();
                named |= is_one;
                *fits |= is_one;
            }
            let mut said = true;
            for ((key, value), has) in args.fields.iter().zip(&mut has) {
                let is_one = document.metadata.get(key) == Some(value);
                said &= is_one;
                *has |= is_one;
            }
            if named && said {
                selected.ids.push(document.id);
                selected.bytes += document.bytes;
                if selected.names.len() < SHOWN {
                    selected.names.push(document.name);
                }
            }
            anyhow::Ok(())
        })?;
        let prefixes = args.prefixes.iter().zip(fits).filter(|(_, fits)| !fits);
        let fields = args.fields.iter().zip(has).filter(|(_, has)| !has);
        let prefixes = prefixes.map(|(prefix, _)| format!("a name that begins with {prefix}"));
        selected.unmatched = prefixes.chain(fields.map(|((key, value), _)| format!("{key}={value}"))).collect();
        Ok(selected)
    }
}
