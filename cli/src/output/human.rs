//! Text for people.

use std::io::{self, Write};

use super::format::{Format, Sink};
use crate::render::{Answer, Style};

pub(super) struct Human {
    pub(super) style: Style,
    pub(super) quiet: bool,
}

impl Format for Human {
    fn heading(&mut self, _: &[&str], lines: &str, to: &mut Sink) -> io::Result<()> {
        self.for_people(lines, to)
    }

    fn answer(&mut self, answer: &dyn Answer, to: &mut Sink) -> io::Result<()> {
        if self.quiet && answer.is_chatty() {
            return Ok(());
        }
        to.lines.write_all(answer.human(self.style).as_bytes())
    }

    fn for_people(&mut self, lines: &str, to: &mut Sink) -> io::Result<()> {
        to.lines.write_all(lines.as_bytes())
    }
}
