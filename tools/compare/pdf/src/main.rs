//! Prints the text that a crate extracts from a PDF file: `compare-pdf pdf-extract|pdf_oxide FILE`.

use std::error::Error;
use std::io::Write;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, library, file] = &arguments[..] else { return Err("usage: compare-pdf pdf-extract|pdf_oxide FILE".into()) };
    let bytes = std::fs::read(file)?;
    let text = match library.as_str() {
        "pdf-extract" => pdf_extract::extract_text_from_mem(&bytes)?,
        "pdf_oxide" => {
            let document = pdf_oxide::PdfDocument::from_bytes(bytes)?;
            let pages = 0..document.page_count()?;
            pages.map(|page| document.extract_text(page)).collect::<Result<Vec<_>, _>>()?.join("\n")
        }
        other => return Err(format!("no library is called {other}").into()),
    };
    std::io::stdout().write_all(text.as_bytes())?;
    Ok(())
}
