//! Containers: finds the documents in a container. There is one reader per kind. All read streams, except the
//! readers of zip and Parquet. These formats have their directory at the end, so their readers need files.

#[cfg(feature = "warc")]
mod arc;
mod bad_beginning;
#[cfg(feature = "warc")]
mod http;
mod json_lines;
mod json_text;
mod json_values;
mod lines;
pub(crate) mod mail;
mod mbox;
mod member;
#[cfg(feature = "parquet")]
mod parquet;
#[cfg(feature = "parquet")]
mod parquet_deltas;
#[cfg(feature = "parquet")]
mod parquet_memory;
mod tar;
mod text_path;
#[cfg(feature = "warc")]
mod warc;
#[cfg(feature = "zip")]
mod zip;

use std::fs::File;
use std::io::{self, Read, Write};

use crate::input::decompress::meter::Meter;
use crate::input::temporary;
use crate::recognise::Container;
use fpdb_host::error::Result;
pub use json_text::JsonText;
pub use member::RecordFields;
pub(crate) use member::zip_path;
pub(crate) use member::{Member, MemberContent, Members};
use member::{printable, tidy};
pub use text_path::{TextPath, TextStep, is_joined};

/// Reads a container from a stream. Zip and Parquet are first copied to an unnamed temporary file.
pub(crate) fn read_stream(
    container: Container,
    input: &mut dyn Read,
    fields: &RecordFields,
    meter: &Meter<'_>,
    members: &mut dyn Members,
) -> Result<()> {
    match container {
        Container::Tar => tar::read(input, meter, members),
        Container::JsonLines => json_lines::read(input, fields, meter, members),
        Container::Warc => behind_feature!("warc", warc::read(input, meter, members)),
        Container::Arc => behind_feature!("warc", arc::read(input, meter, members)),
        Container::Mbox => mbox::read(input, meter, members),
        Container::Zip | Container::Parquet => {
            let file = temporary::create()?;
            io::copy(input, &mut TemporaryCopy { file: &file, meter })
                .map_err(|error| meter.error(container.name(), error))?;
            match container {
                Container::Zip => behind_feature!("zip", zip::read(&file, true, meter, members)),
                _ => behind_feature!("parquet", parquet::read(file, true, fields, meter, members)),
            }
        }
    }
}

/// Reads a container from a file, from its start.
pub(crate) fn read_file(
    container: Container,
    mut file: File,
    fields: &RecordFields,
    meter: &Meter<'_>,
    members: &mut dyn Members,
) -> Result<()> {
    match container {
        Container::Zip => behind_feature!("zip", zip::read(&file, false, meter, members)),
        Container::Parquet => behind_feature!("parquet", parquet::read(file, false, fields, meter, members)),
        _ => read_stream(container, &mut file, fields, meter, members),
    }
}

/// A temporary file that receives a container. A failure to write this file is reported as such, not as
/// damaged content of the container.
struct TemporaryCopy<'a, W> {
    file: W,
    meter: &'a Meter<'a>,
}

impl<W: Write> Write for TemporaryCopy<'_, W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes).map_err(|error| match error.kind() {
            io::ErrorKind::Interrupted => error,
            _ => self.meter.keep(temporary::failed("write a file in")(error)),
        })
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::extract::InputLimits;
    use crate::input::decompress::meter::Exactly;
    use fpdb_host::error::{DocumentError, Error, StoreFailure};
    use fpdb_host::stop::StopToken;

    /// A disk without room.
    struct Full;

    impl Write for Full {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::StorageFull.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_full_disk_is_told_from_a_damaged_container() {
        let stop = StopToken::new();
        let meter = Meter::new(InputLimits::default(), None, &stop, &|_| {});
        let copied = io::copy(&mut &b"PK"[..], &mut TemporaryCopy { file: Full, meter: &meter });
        let error = meter.error("zip", copied.unwrap_err());
        assert!(
            matches!(&error, Error::Io { source, .. } if StoreFailure::of_io(source) == StoreFailure::NoSpace),
            "{error}"
        );
        let mut damaged = Exactly { input: &b"PK"[..], left: 3 };
        let copied = io::copy(&mut damaged, &mut TemporaryCopy { file: io::sink(), meter: &meter });
        let error = meter.error("zip", copied.unwrap_err());
        assert!(matches!(error, Error::Document(DocumentError::Undecodable { .. })), "{error}");
    }
}
