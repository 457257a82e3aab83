//! Makes the reader of a format optional, because it needs libraries of its own.

/// Returns the reader's result. Without the feature, returns the error that names the feature.
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
