//! Setters: options are built by naming what differs from the default. Their fields can be read, and grow in number.

/// For each public field of some options a method that sets it.
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

pub(crate) use setters;
