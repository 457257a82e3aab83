//! The Python module `fpdb._native`: converts values, waits for work and exchanges Arrow data. It makes no
//! decisions. The public part of the package is in `py_src/fpdb/`.

#![deny(clippy::undocumented_unsafe_blocks)]

mod arrow_input;
mod arrow_output;
mod asked;
mod care;
mod comparison;
mod database;
mod errors;
mod feed;
mod fingerprints;
mod forked;
mod opened;
mod options;
mod pages;
mod path_texts;
mod report;
mod rows;
mod staging;
mod stream;
mod waiting;
mod workers;

use pyo3::prelude::*;

/// The engine behind the package `fpdb`.
#[pymodule]
mod _native {
    use pyo3::prelude::*;

    #[pymodule_export]
    use super::care::{backup, backups, merge, restore, verify};
    #[pymodule_export]
    use super::comparison::diff;
    #[pymodule_export]
    use super::database::NativeDatabase;
    #[pymodule_export]
    use super::feed::text_columns;
    #[pymodule_export]
    use super::fingerprints::{NativeFingerprints, fingerprint};
    #[pymodule_export]
    use super::options::profile;
    #[pymodule_export]
    use super::pages::NativePages;
    #[pymodule_export]
    use super::report::write_report;
    #[pymodule_export]
    use super::rows::Rows;
    #[pymodule_export]
    use super::serve_documents;
    #[pymodule_export]
    use super::staging::{NativeMapper, NativeStaging, StagedBatches};
    #[pymodule_export]
    use super::stream::RowStream;
    #[pymodule_export]
    use super::waiting::StopToken;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}

/// Reads documents for the process at the other end of standard input, until that process closes it.
#[pyfunction]
fn serve_documents(py: Python<'_>) -> PyResult<()> {
    py.detach(fpdb::serve_documents).map_err(errors::raise)
}
