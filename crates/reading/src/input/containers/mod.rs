//! Containers: finds the documents in a container. There is one reader per kind. All read streams, except zip
//! and Parquet. These have their directory at the end, so they are read from files.

#[cfg(feature = "warc")]
mod arc;
mod bad_beginning;
#[cfg(feature = "warc")]
mod http;
mod json_lines;
mod json_text;
mod lines;
pub(crate) mod mail;
mod mbox;
mod member;
#[cfg(feature = "parquet")]
mod parquet;
mod read_at;
mod tar;
mod text_path;
#[cfg(feature = "warc")]
mod warc;
#[cfg(feature = "zip")]
mod zip;

use std::fs::File;
use std::io::Read;

use crate::input::decompress::meter::Meter;
use crate::recognise::Container;
use fpdb_host::error::{Error, Result};
pub use json_text::JsonText;
pub use member::RecordFields;
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
            let mut file = tempfile::tempfile().map_err(Error::io("create a file in", std::env::temp_dir()))?;
            std::io::copy(input, &mut file).map_err(|error| meter.error(container.name(), error))?;
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
