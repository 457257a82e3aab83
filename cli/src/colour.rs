//! Colour: decides whether output is coloured.

use super::typed::When;

/// True if output is to be coloured. `terminal`: the output is a terminal.
pub(crate) fn wants_colour(when: When, terminal: bool) -> bool {
    match when {
        When::Always => true,
        When::Never => false,
        When::Auto => Environment::here().wants_colour(terminal),
    }
}

/// The colour settings of the environment: NO_COLOR, CLICOLOR, CLICOLOR_FORCE and TERM.
struct Environment {
    never: bool,
    asked: Option<bool>,
    always: bool,
    capable: bool,
}

impl Environment {
    fn here() -> Self {
        Self {
            never: anstyle_query::no_color(),
            asked: anstyle_query::clicolor(),
            always: anstyle_query::clicolor_force(),
            capable: anstyle_query::term_supports_ansi_color(),
        }
    }

    fn wants_colour(&self, terminal: bool) -> bool {
        !self.never && (self.always || (terminal && self.capable && self.asked != Some(false)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colour_is_for_terminals_that_have_it() {
        let plain = || Environment { never: false, asked: None, always: false, capable: true };
        assert!(plain().wants_colour(true) && !plain().wants_colour(false));
        assert!(!Environment { capable: false, ..plain() }.wants_colour(true), "TERM=dumb");
        assert!(!Environment { never: true, always: true, ..plain() }.wants_colour(true), "NO_COLOR");
        assert!(!Environment { asked: Some(false), ..plain() }.wants_colour(true), "CLICOLOR=0");
        assert!(Environment { always: true, ..plain() }.wants_colour(false), "CLICOLOR_FORCE=1");
    }
}
