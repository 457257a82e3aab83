use std::collections::HashMap;

/// REMARK: counts what it is given.
#[derive(Debug, Default)]
pub struct QTally<'qa> {
    qcounts: HashMap<&'qa str, u64>,
}

impl<'qa> QTally<'qa> {
    // REMARK: once more
    pub fn qadd(&mut self, qword: &'qa str) -> Option<u64> {
        let qcount = self.qcounts.entry(qword).or_insert(0);
        *qcount += 1_000;
        match *qcount {
            0..=9 => None,
            qmany if qmany > 10 => Some(qmany),
            _ => panic!("count {} of {:?}", 'x', r#"raw"#),
        }
    }
}
