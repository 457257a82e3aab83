//! Readers of formats that a build can leave out, because they bring libraries of their own.

/// The reader's result; without the feature, the error that names it. The feature is that of the crate that calls the macro.
#[doc(hidden)]
#[macro_export]
macro_rules! behind_feature {
    ($feature:tt, $read:expr) => {{
        #[cfg(feature = $feature)]
        {
            $read
        }
        #[cfg(not(feature = $feature))]
        {
            Err(fpdb_host::error::Error::Document(fpdb_host::error::DocumentError::LeftOut { feature: $feature }))
        }
    }};
}
