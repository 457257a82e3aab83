//! JSON lines: one object for each answer or row.

use std::io::{self, Write};

use super::format::{Format, Sink};
use crate::render::{Answer, escape_json};

pub(super) struct Json;

impl Format for Json {
    fn answer(&mut self, answer: &dyn Answer, to: &mut Sink) -> io::Result<()> {
        if to.terminal {
            // On a terminal, characters that are invisible or control the terminal are escaped. The meaning
            // of the JSON stays the same.
            let mut json = Vec::new();
            answer.json(&mut json)?;
            to.lines.write_all(escape_json(&String::from_utf8_lossy(&json)).as_bytes())?;
        } else {
            answer.json(&mut to.lines)?;
        }
        to.lines.write_all(b"\n")
    }
}
