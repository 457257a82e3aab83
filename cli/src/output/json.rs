//! JSON lines: one object for each answer or row.

use std::io::{self, Write};

use super::format::{Format, Sink};
use crate::render::{Answer, escape_json};

pub(super) struct Json;

impl Format for Json {
    fn answer(&mut self, answer: &dyn Answer, to: &mut Sink) -> io::Result<()> {
        if to.terminal {
            // The same JSON, without characters that command a terminal or are invisible there.
            let mut json = Vec::new();
            answer.json(&mut json)?;
            to.lines.write_all(escape_json(&String::from_utf8_lossy(&json)).as_bytes())?;
        } else {
            answer.json(&mut to.lines)?;
        }
        to.lines.write_all(b"\n")
    }
}
