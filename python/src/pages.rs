//! Pages: the documents of one commit, a page at a time.

use std::sync::{Arc, Mutex};

use fpdb::{DocId, DocumentInfo};
use pyo3::prelude::*;

use crate::errors::{poisoned, raise};
use crate::opened::{Opened, Pinned};
use crate::rows::{Answers, Rows};

/// The documents of one commit, page by page.
#[pyclass(frozen, module = "fpdb._native")]
pub(crate) struct NativePages {
    pinned: Pinned,
    /// The smallest number on the next page. `None` after the largest possible number.
    next: Mutex<Option<DocId>>,
}

impl NativePages {
    /// All documents, from the first on.
    pub(crate) fn new(opened: &Arc<Opened>) -> PyResult<Self> {
        Ok(Self { pinned: opened.pin()?, next: Mutex::new(Some(DocId(0))) })
    }

    /// The next documents. Empty after the last one.
    pub(crate) fn read(&self, most: usize) -> PyResult<Vec<DocumentInfo>> {
        let handle = self.pinned.handle()?;
        let mut next = self.next.lock().map_err(|_| poisoned())?;
        let Some(first) = *next else { return Ok(Vec::new()) };
        let page = handle.database().documents_from(first, most).map_err(raise)?;
        if let Some(last) = page.last() {
            *next = last.id.0.checked_add(1).map(DocId);
        }
        Ok(page)
    }
}

#[pymethods]
impl NativePages {
    fn next_page(&self, py: Python<'_>, most: usize) -> PyResult<Rows> {
        Ok(Rows::new(Answers::Document(py.detach(|| self.read(most))?)))
    }
}
