//! Text for people: legible without colour, numbers grouped, sizes in words.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::fmt::Write;

use fpdb::{DocumentInfo, IngestSummary, Location, Match, Measure, Passage, QueryAnswer, Unit, Weight};
use fpdb_kernel::hex;

use super::dedup::numbered;
use super::escape::escape_terminal;
use super::folder::{common_folder, in_folder, name_in};
use super::metadata::{dated, kept, labels};
use super::numbers::{count, grouped, moment, percent, size};
use super::style::Style;

/// The result of an ingest.
pub(crate) fn ingest_page(summary: &IngestSummary) -> String {
    let dry_run = if summary.dry_run { "dry run: " } else { "" };
    let mut parts = vec![format!("{dry_run}{} added", count(summary.added, "document"))];
    for (number, what) in [
        (summary.replaced, "replaced"),
        (summary.boilerplate, "of these boilerplate"),
        (summary.unchanged, "unchanged"),
        (summary.made_boilerplate, "boilerplate from now on"),
        (summary.kept, "changed but kept as stored"),
        (summary.renamed, "renamed"),
        (summary.pruned, "removed (their files no longer exist)"),
        (summary.removed, "removed (no longer in their containers, or kept out)"),
        (summary.identical, "identical to another document"),
        (summary.failures, "failed"),
    ] {
        if number > 0 {
            parts.push(format!("{} {what}", grouped(number)));
        }
    }
    if summary.skips > 0 {
        let kept_out = match summary.kept_out {
            0 => String::new(),
            kept_out => format!(", {} of these kept out", grouped(kept_out)),
        };
        parts.push(format!("{} skipped{kept_out} (--verbose names them)", grouped(summary.skips)));
    }
    let mut page = format!("{}\n", parts.join(", "));
    for name in &summary.removed_names {
        let _ = writeln!(page, "removed: {}", escape_terminal(name));
    }
    let unlisted = (summary.removed + summary.pruned).saturating_sub(summary.removed_names.len() as u64);
    if summary.dry_run && unlisted > 0 {
        let _ = writeln!(page, "removed: {} more (--verbose lists them)", grouped(unlisted));
    }
    if summary.bytes > 0 {
        let rate = if summary.seconds > 0.0 {
            format!(", {}/s", size((summary.bytes as f64 / summary.seconds) as u64))
        } else {
            String::new()
        };
        let _ = writeln!(
            page,
            "{}, {}, {} in {:.1} s{rate}",
            size(summary.bytes),
            count(summary.symbols, "symbol"),
            count(summary.fingerprints, "fingerprint"),
            summary.seconds
        );
    }
    if summary.undecodable > 0 {
        let _ = writeln!(
            page,
            "{} in {} could not be decoded and were dropped",
            count(summary.undecodable, "byte sequence"),
            count(summary.undecodable_documents, "document")
        );
    }
    page
}

/// Maximum number of names that a message shows.
pub(crate) const NAMES_SHOWN: usize = 3;

/// The first of `all` names.
pub(crate) fn first_names(names: &[String], all: u64) -> String {
    let shown = names.iter().take(NAMES_SHOWN).map(|name| escape_terminal(name)).collect::<Vec<_>>().join(", ");
    if all > NAMES_SHOWN as u64 { format!("{shown}, ... (--verbose lists them)") } else { shown }
}

/// Up to 10 of `all` names, and the number of the others.
pub(crate) fn names_and_more(names: &[String], all: u64) -> String {
    const SHOWN: usize = 10;
    let shown: Vec<_> = names.iter().take(SHOWN).map(|name| escape_terminal(name)).collect();
    match all.saturating_sub(shown.len() as u64) {
        0 => shown.join(", "),
        more => format!("{} and {} more", shown.join(", "), grouped(more)),
    }
}

/// Returns the lines of text to show with a passage of a match at this location of its document.
pub(crate) type ExcerptLines<'a> = &'a mut dyn FnMut(&Match, &Location) -> Vec<String>;

/// Maximum number of documents that are shown for a submission.
pub(super) const FILES_SHOWN: usize = 3;

/// The answer to one query.
pub(crate) fn query_page(answer: &QueryAnswer, times: bool, style: Style, excerpts: ExcerptLines<'_>) -> String {
    let query = &answer.query;
    let files = match (query.files, query.files_unread) {
        (0, _) => String::new(),
        (files, 0) => count(files, "file") + ", ",
        (files, unread) => format!("{} ({} more cannot be read), ", count(files, "file"), grouped(unread)),
    };
    let mut page = format!(
        "{}  {files}{}, {}, {} at window {}\n",
        style.strong(&escape_terminal(&query.name)),
        size(query.bytes),
        count(query.symbols, "symbol"),
        count(query.fingerprints, "fingerprint"),
        query.window
    );
    let by_submission = query.files > 0 || answer.matches.iter().any(|found| !found.files.is_empty());
    let unit = if by_submission { "submission" } else { "document" };
    let of = if answer.looked_up < query.fingerprints {
        format!("the {} smallest fingerprints", grouped(answer.looked_up))
    } else {
        count(answer.looked_up, "fingerprint")
    };
    if answer.looked_up > 0 {
        let _ = writeln!(
            page,
            "  {} of {of} found ({}){}",
            grouped(answer.found),
            percent(answer.corpus_containment),
            match answer.compared {
                0 => format!(", in {}", count(answer.matching_documents, unit)),
                _ => String::new(),
            }
        );
    }
    if answer.compared > 0 {
        let _ = writeln!(
            page,
            "  {} compared, passages in {}",
            count(answer.compared, "document"),
            count(answer.matching_documents, unit)
        );
    }
    if let Some(text) = answer.text.as_ref().filter(|text| text.looked_up > 0) {
        let _ = writeln!(
            page,
            "  {} of {} found as written ({})",
            grouped(text.found),
            count(text.looked_up, "fingerprint"),
            percent(text.corpus_containment)
        );
    }
    if answer.below > 0 {
        let _ = writeln!(page, "  {} below --min-score", count(answer.below, unit));
    }
    if answer.documents_left_out > 0 {
        let _ = writeln!(page, "  {} left out by --where", count(answer.documents_left_out, "document"));
    }
    if answer.boilerplate > 0 {
        let _ = writeln!(page, "  {} ignored as boilerplate", count(answer.boilerplate, "fingerprint"));
    }
    if answer.common > 0 {
        let _ = writeln!(page, "  {} left out as common", count(answer.common, "fingerprint"));
    }
    if answer.quoted > 0 {
        let _ = writeln!(page, "  {} ignored as quoted", count(answer.quoted, "fingerprint"));
    }
    if answer.phrases > 0 {
        let _ = writeln!(page, "  {} ignored as phrases", count(answer.phrases, "fingerprint"));
    }
    if let Some(disguised) = &query.disguised {
        let file = disguised.file.as_ref().map(|file| escape_terminal(file));
        let place = match (file, disguised.extracted) {
            (Some(file), true) => format!(" of the text of {file}"),
            (Some(file), false) => format!(" of {file}"),
            (None, extracted) => of_text(extracted).to_owned(),
        };
        let _ = writeln!(
            page,
            "  warning: {} words look like others and do not match them, such as {} at byte {}{place} (look-alike \
             letters of another alphabet, or zero-width spaces)",
            grouped(disguised.words),
            escape_terminal(&disguised.example),
            grouped(disguised.start)
        );
    }
    let is_in_text = answer.text.as_ref().is_some_and(|text| text.fingerprints > 0);
    let k = answer.profile.k();
    if answer.is_too_short() && query.files > 0 {
        let _ = writeln!(page, "  too short: no file has {k} symbols (k), so only identical files match");
    } else if answer.is_too_short() {
        let _ = writeln!(page, "  too short: it has fewer than {k} symbols (k), so only identical documents match");
    } else if let Some(t) = answer.profile.with_window(query.window).ok().and_then(|profile| profile.guarantee())
        && query.symbols < t
        && query.files == 0
        && !is_in_text
    {
        let _ = writeln!(page, "  shorter than the {t} symbols that are surely found: matches may be missing");
    }
    if answer.matches.is_empty() {
        let _ = writeln!(page, "  no match");
        return page;
    }
    let shown = answer.matches.iter().flat_map(|found| std::iter::once(found).chain(&found.files));
    let folder = common_folder(shown.map(|found| found.document.as_str()), style);
    let estimated = answer.matches.iter().any(|found| found.interval.is_some());
    let weighted = answer.weight != Weight::None;
    // Two versions of one document have the same name, so their numbers are shown.
    let mut names = HashMap::<&str, u64>::new();
    for found in &answer.matches {
        *names.entry(&found.document).or_default() += 1;
    }
    // Beside each measure of the structure stands the same measure of the text as written.
    let text = if answer.text.is_some() { "    as text" } else { "" };
    let _ = writeln!(
        page,
        "  {}{:>11}{text}  {:>11}{text}  {:>11}{text}{}  document{}",
        if weighted { "      score  " } else { "" },
        "containment",
        "of document",
        "resemblance",
        if estimated { "  95% interval  " } else { "" },
        in_folder(&folder)
    );
    let row = |page: &mut String, found: &Match, is_file: bool| {
        let interval = match found.interval {
            Some([low, high]) => format!("  {:>6}-{:<6} ", percent(low), percent(high)),
            None if estimated => "  exact         ".to_owned(),
            None => String::new(),
        };
        let share = |measure: Measure, share: f64| {
            let about = if found.estimated.contains(&measure) { "~" } else { "" };
            format!("{about}{}", percent(share))
        };
        let as_text = |measure: Measure, of_text: Option<f64>| {
            of_text.map_or_else(String::new, |of_text| format!("  {:>9}", share(measure, of_text)))
        };
        let score = if weighted { format!("{:>11}  ", share(Measure::Score, found.score)) } else { String::new() };
        let _ = writeln!(
            page,
            "  {score}{:>11}{}  {:>11}{}  {:>11}{}{interval}  {}{}{}{}{}",
            share(Measure::Containment, found.containment),
            as_text(Measure::Containment, found.text_containment),
            share(Measure::DocumentContainment, found.document_containment),
            as_text(Measure::DocumentContainment, found.text_document_containment),
            share(Measure::Resemblance, found.resemblance),
            as_text(Measure::Resemblance, found.text_resemblance),
            if is_file {
                // In a pair of files, the containment is that of the first file in the second.
                let of =
                    found.query.as_ref().map_or(String::new(), |query| format!("{} in ", escape_terminal(&query.name)));
                format!("  {of}{}", name_in(&found.document, &folder))
            } else {
                let number = names[found.document.as_str()] > 1;
                style.strong(&name_in(&found.document, &folder)) + &numbered(found.id, number)
            },
            labels(&found.metadata),
            if found.identical && found.files.is_empty() { "  (identical)" } else { "" },
            without_boilerplate(found),
            if times { dated(found) } else { String::new() }
        );
        let kept = kept(&found.metadata);
        if !kept.is_empty() {
            let _ = writeln!(page, "{}", style.faint(&format!("      {kept}")));
        }
    };
    for found in &answer.matches {
        row(&mut page, found, false);
        passages(&mut page, query.extracted, found, answer.profile.unit(), style, excerpts);
        for file in found.files.iter().take(FILES_SHOWN) {
            row(&mut page, file, true);
            let is_query_extracted = file.query.as_ref().map_or(query.extracted, |query| query.extracted);
            passages(&mut page, is_query_extracted, file, answer.profile.unit(), style, excerpts);
        }
        let more = found.files.len().saturating_sub(FILES_SHOWN) as u64 + found.files_left_out;
        if more > 0 {
            let what = if query.files > 0 { "more pair" } else { "more document" };
            let line = format!("      {} (--format json shows ten)", count(more, what));
            let _ = writeln!(page, "{}", style.faint(&line));
        }
    }
    let more = answer.matching_documents.saturating_sub(answer.matches.len() as u64);
    if more > 0 {
        let _ = writeln!(page, "  {} not shown (--top N shows more)", count(more, &format!("more {unit}")));
    }
    page
}

/// The containment without boilerplate, if it is another: a whole copy is a small share if most is a handout.
fn without_boilerplate(found: &Match) -> String {
    let Some(own) = found.without_boilerplate else { return String::new() };
    let own_text = own.text_containment.map_or(String::new(), |share| format!(", as text {}", percent(share)));
    if (own.containment, own.text_containment) == (found.containment, found.text_containment) {
        return String::new();
    }
    format!("  (without boilerplate {}{own_text})", percent(own.containment))
}

/// Maximum number of passages that are shown for a match. Other formats show all.
const PASSAGES_SHOWN: usize = 10;

/// Adds the longest passages to a page, in the order of the query; for source code, the longest passage
/// first.
fn passages(
    page: &mut String,
    is_query_extracted: bool,
    found: &Match,
    unit: Unit,
    style: Style,
    excerpts: ExcerptLines<'_>,
) {
    let (of_query, of_document) = (of_text(is_query_extracted), of_text(found.extracted));
    let mut ordered: Vec<&Passage> = found.passages.iter().collect();
    ordered.sort_by_key(|passage| Reverse(passage.symbols));
    ordered.truncate(PASSAGES_SHOWN);
    if unit != Unit::Token {
        ordered.sort_by_key(|passage| (passage.query.start, passage.document.start));
    }
    for passage in ordered {
        let (query, document) = (&passage.query, &passage.document);
        let line = format!(
            "      {} = {}, bytes {}-{}{of_query} = {}-{}{of_document}, {}",
            place(query),
            place(document),
            query.start,
            query.end,
            document.start,
            document.end,
            count(passage.symbols, "symbol"),
        );
        let agreement = match passage.agreement {
            Some(1.0) => String::new(),
            Some(share) => format!(", {} agree", percent(share)),
            None => ", inferred".to_owned(),
        };
        let line = line + &agreement + &names(passage, unit);
        let _ = writeln!(page, "{}", style.faint(&line));
        for line in excerpts(found, document) {
            let _ = writeln!(page, "{line}");
        }
    }
    if let Some(more) = found.passages.len().checked_sub(PASSAGES_SHOWN).filter(|&more| more > 0) {
        let line = format!("      {} (--format json shows all)", count(more as u64, "shorter passage"));
        let _ = writeln!(page, "{}", style.faint(&line));
    }
    if let Some(why) = found.inferred.as_ref().filter(|_| !found.passages.is_empty()) {
        let _ = writeln!(page, "{}", style.faint(&format!("      passages are inferred from fingerprints: {why}")));
    }
}

/// A remark if offsets count the bytes of the extracted text.
pub(super) fn of_text(is_extracted: bool) -> &'static str {
    if is_extracted { " of its text" } else { "" }
}

/// For source code, states whether a passage is the same text, or the same structure with other names.
fn names(passage: &Passage, unit: Unit) -> String {
    match (passage.agreement, passage.same_names) {
        _ if unit != Unit::Token => String::new(),
        (None, _) => String::new(),
        // The words and marks that agree are the same text; the others differ.
        (Some(agreement), None) if passage.as_written && agreement < 1.0 => ", text as written".to_owned(),
        (Some(_), None | Some(1.0)) => ", same text".to_owned(),
        (Some(_), Some(0.0)) => ", same structure, other names".to_owned(),
        (Some(_), Some(share)) => format!(", same structure, {} of the names", percent(share)),
    }
}

/// The pages, if there are any, and the lines of a location.
pub(super) fn place(at: &Location) -> String {
    let range = |unit: &str, [first, last]: [u64; 2]| match first == last {
        true => format!("{unit} {first}"),
        false => format!("{unit}s {first}-{last}"),
    };
    let pages = at.pages.map_or(String::new(), |pages| range("page", pages) + ", ");
    pages + &range("line", at.lines)
}

/// One document of a list.
pub(crate) fn document_line(document: &DocumentInfo, folder: &str, style: Style) -> String {
    format!(
        "{:>10}  {:>9}  {}{}{}\n",
        size(document.bytes),
        grouped(document.fingerprints),
        style.strong(&escape_terminal(&document.name[folder.len()..])),
        labels(&document.metadata),
        if document.boilerplate { "  (boilerplate)" } else { "" }
    )
}

/// All facts about a document.
pub(crate) fn document_page(document: &DocumentInfo, style: Style) -> String {
    let mut page = format!("{}\n", style.strong(&escape_terminal(&document.name)));
    let mut row = |name: &str, value: String| {
        let _ = writeln!(page, "  {:<13} {}", escape_terminal(name), escape_terminal(&value));
    };
    row("number", document.id.to_string());
    row("read from", document.source.clone().unwrap_or_else(|| "standard input".into()));
    if let Some(seconds) = document.modified {
        row("file changed", moment(seconds));
    }
    row("bytes", grouped(document.bytes));
    row("format", document.format.clone());
    if document.extracted {
        row("offsets", "count bytes and lines of the extracted text".into());
    }
    row("lines", grouped(document.lines));
    row("encoding", document.encoding.clone());
    if document.undecodable > 0 {
        row("undecodable", count(document.undecodable, "sequence"));
    }
    row("symbols", grouped(document.symbols));
    row("fingerprints", format!("{}, {} distinct", grouped(document.fingerprints), grouped(document.distinct)));
    row("digest", format!("{} (XXH3-128)", hex::encode(&document.digest)));
    if document.boilerplate {
        row("boilerplate", "never a match; what it holds is ignored in others".into());
    }
    for (name, value) in &document.metadata {
        row(name, value.clone());
    }
    for name in &document.identical_to {
        row("identical to", name.clone());
    }
    page
}
