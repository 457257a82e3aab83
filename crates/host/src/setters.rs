//! Setters: a caller builds options from the default by setting single fields. All fields can be read, and
//! later versions may add fields.

use crate::error::{Error, Result};

/// Generates a setter for each listed public field of an options type.
#[macro_export]
macro_rules! setters {
    ($($name:ident: $kind:ty),* $(,)?) => { $(
        #[doc = concat!("The same, with another [`", stringify!($name), "`](Self#structfield.", stringify!($name), ").")]
        #[must_use]
        pub fn $name(mut self, $name: $kind) -> Self {
            self.$name = $name;
            self
        }
    )* };
}

pub use setters;

/// Checks an option that is a share of 1.
///
/// # Errors
/// [`Error::InvalidParameter`] if `share` is above 1 or not a number, or if `allowed` is false.
pub fn check_share(name: &'static str, share: f64, allowed: bool, expected: &'static str) -> Result<()> {
    if allowed && share <= 1.0 {
        return Ok(());
    }
    Err(Error::InvalidParameter { name, value: share.to_string(), expected })
}
