//! Setters: options are built by naming what differs from the default. Their fields can be read, and grow in number.

use crate::error::{Error, Result};

/// For each public field of some options a method that sets it.
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

/// Checks an option that is a share.
///
/// # Errors
/// [`Error::InvalidParameter`] for a number above 1, or not `allowed`, and for no number.
pub fn check_share(name: &'static str, share: f64, allowed: bool, expected: &'static str) -> Result<()> {
    if allowed && share <= 1.0 {
        return Ok(());
    }
    Err(Error::InvalidParameter { name, value: share.to_string(), expected })
}
