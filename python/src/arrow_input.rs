//! Arrow input: tables and columns of any object that has the Arrow PyCapsule interface, without pyarrow and
//! without a copy.

use arrow_array::cast::AsArray;
use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema, from_ffi};
use arrow_array::ffi_stream::{ArrayStreamReader, FFI_ArrowArrayStream};
use arrow_array::types::{
    Date32Type, Date64Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
    TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType, UInt8Type,
    UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayReader as _, ArrayRef, make_array};
use arrow_schema::{ArrowError, DataType, Field, TimeUnit};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use crate::errors::exception;

/// Arrays that come one after the other. They are requested without the interpreter's lock, which a producer
/// in Python takes itself.
pub(crate) enum Arrays {
    Stream(ArrayStreamReader),
    One { array: Option<ArrayRef>, field: Field },
}

/// True if an object has the Arrow PyCapsule interface.
pub(crate) fn is_arrow(object: &Bound<'_, PyAny>) -> PyResult<bool> {
    Ok(object.hasattr("__arrow_c_stream__")? || object.hasattr("__arrow_c_array__")?)
}

fn failed(error: &ArrowError) -> PyErr {
    exception("ParameterError", &format!("the Arrow data cannot be used: {error}"), None)
}

impl Arrays {
    /// The arrays of an object.
    pub(crate) fn of(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        if object.hasattr("__arrow_c_stream__")? {
            let capsule = object.call_method0("__arrow_c_stream__")?.cast_into::<PyCapsule>()?;
            let pointer = capsule.pointer_checked(Some(c"arrow_array_stream"))?.cast::<FFI_ArrowArrayStream>();
            // SAFETY: by the protocol, a capsule of this name holds a stream. The stream is moved out, and is
            // marked as released in the capsule.
            let stream = unsafe { FFI_ArrowArrayStream::from_raw(pointer.as_ptr()) };
            return ArrayStreamReader::try_new(stream).map(Self::Stream).map_err(|error| failed(&error));
        }
        if object.hasattr("__arrow_c_array__")? {
            let capsules = object.call_method0("__arrow_c_array__")?;
            let schema = capsules.get_item(0)?.cast_into::<PyCapsule>()?;
            let array = capsules.get_item(1)?.cast_into::<PyCapsule>()?;
            let schema = schema.pointer_checked(Some(c"arrow_schema"))?.cast::<FFI_ArrowSchema>();
            let array = array.pointer_checked(Some(c"arrow_array"))?.cast::<FFI_ArrowArray>();
            // SAFETY: by the protocol, capsules of these names hold a schema and an array. The capsules live
            // as long as this function. The array is moved out, and is marked as released in its capsule.
            let (array, schema) = unsafe { (FFI_ArrowArray::from_raw(array.as_ptr()), schema.as_ref()) };
            let field = Field::try_from(schema).map_err(|error| failed(&error))?;
            // SAFETY: the array has this schema, because both come from one object.
            let data = unsafe { from_ffi(array, schema) }.map_err(|error| failed(&error))?;
            return Ok(Self::One { array: Some(make_array(data)), field });
        }
        let kind = object.get_type().name()?;
        Err(pyo3::exceptions::PyTypeError::new_err(format!(
            "{kind} is no Arrow data: it has neither __arrow_c_stream__ nor __arrow_c_array__"
        )))
    }

    /// The type of the arrays. For a table, it is the type of a struct.
    pub(crate) fn field(&self) -> &Field {
        match self {
            Self::Stream(reader) => reader.field(),
            Self::One { field, .. } => field,
        }
    }

    /// The next array.
    pub(crate) fn next(&mut self) -> PyResult<Option<ArrayRef>> {
        match self {
            Self::Stream(reader) => reader.next().transpose().map_err(|error| failed(&error)),
            Self::One { array, .. } => Ok(array.take()),
        }
    }
}

/// A column. Its values may be in dictionaries, also nested ones.
#[derive(Clone)]
enum Column {
    Plain(ArrayRef),
    /// Keys, and the values that they stand for. Both are converted once, because a conversion for each row
    /// would take long.
    Dictionary {
        array: ArrayRef,
        keys: Vec<usize>,
        values: Box<Column>,
    },
}

impl Column {
    fn new(array: &ArrayRef) -> Self {
        match array.as_any_dictionary_opt() {
            Some(dictionary) => {
                let values = Self::new(dictionary.values());
                let keys = if dictionary.values().is_empty() { Vec::new() } else { dictionary.normalized_keys() };
                Self::Dictionary { array: array.clone(), keys, values: Box::new(values) }
            }
            None => Self::Plain(array.clone()),
        }
    }

    fn len(&self) -> usize {
        match self {
            Self::Plain(array) | Self::Dictionary { array, .. } => array.len(),
        }
    }

    /// The array that holds the value of a row, and the index of the value in it. `None` if the value is
    /// null.
    fn place(&self, row: usize) -> Option<(&ArrayRef, usize)> {
        match self {
            Self::Plain(array) => (!array.is_null(row)).then_some((array, row)),
            Self::Dictionary { array, .. } if array.is_null(row) => None,
            Self::Dictionary { keys, values, .. } => values.place(*keys.get(row)?),
        }
    }
}

/// A column of texts.
pub(crate) struct Texts(Column);

impl Texts {
    /// True if a column of this type holds texts.
    pub(crate) fn fit(kind: &DataType) -> bool {
        match kind {
            DataType::Utf8
            | DataType::LargeUtf8
            | DataType::Utf8View
            | DataType::Binary
            | DataType::LargeBinary
            | DataType::BinaryView
            | DataType::Null => true,
            DataType::Dictionary(_, values) => Self::fit(values),
            _ => false,
        }
    }

    /// True if a column of this type holds strings, and not bytes.
    pub(crate) fn are_strings(kind: &DataType) -> bool {
        match kind {
            DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => true,
            DataType::Dictionary(_, values) => Self::are_strings(values),
            _ => false,
        }
    }

    /// The texts of a column whose type [fits](Self::fit).
    pub(crate) fn new(array: &ArrayRef) -> Self {
        Self(Column::new(array))
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// The text of a row; `None` if the row is null.
    pub(crate) fn get(&self, row: usize) -> Option<&[u8]> {
        let (array, row) = self.0.place(row)?;
        match array.data_type() {
            DataType::Utf8 => Some(array.as_string::<i32>().value(row).as_bytes()),
            DataType::LargeUtf8 => Some(array.as_string::<i64>().value(row).as_bytes()),
            DataType::Utf8View => Some(array.as_string_view().value(row).as_bytes()),
            DataType::Binary => Some(array.as_binary::<i32>().value(row)),
            DataType::LargeBinary => Some(array.as_binary::<i64>().value(row)),
            DataType::BinaryView => Some(array.as_binary_view().value(row)),
            _ => None,
        }
    }
}

/// True if values of this type can be kept as metadata.
pub(crate) fn is_plain(kind: &DataType) -> bool {
    match kind {
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View | DataType::Null | DataType::Boolean => true,
        DataType::Date32 | DataType::Date64 | DataType::Timestamp(_, _) => true,
        DataType::Float32 | DataType::Float64 => true,
        DataType::Dictionary(_, values) => is_plain(values),
        kind => kind.is_integer(),
    }
}

/// A column whose values can be kept as metadata: its type is [plain](is_plain).
#[derive(Clone)]
pub(crate) struct Values(Column);

impl Values {
    pub(crate) fn new(array: &ArrayRef) -> Self {
        Self(Column::new(array))
    }

    /// The value of a row as text; `None` if the value is null.
    pub(crate) fn get(&self, row: usize) -> Option<String> {
        let (array, row) = self.0.place(row)?;
        plain(array, row)
    }
}

/// The text of a value that is neither null nor in a dictionary. It has the form in which the program keeps a
/// value of a Parquet file.
fn plain(array: &ArrayRef, row: usize) -> Option<String> {
    macro_rules! number {
        ($kind:ty) => {
            array.as_primitive::<$kind>().value(row).to_string()
        };
    }
    macro_rules! float {
        ($kind:ty) => {{
            let value = array.as_primitive::<$kind>().value(row);
            if !(1e-15..=1e19).contains(&value) {
                format!("{value:E}")
            } else if value.trunc() == value {
                format!("{value}.0")
            } else {
                value.to_string()
            }
        }};
    }
    macro_rules! milliseconds {
        ($kind:ty) => {
            array.as_primitive::<$kind>().value_as_datetime(row)?.format("%Y-%m-%d %H:%M:%S%.3f +00:00").to_string()
        };
    }
    Some(match array.data_type() {
        DataType::Utf8 => array.as_string::<i32>().value(row).to_owned(),
        DataType::LargeUtf8 => array.as_string::<i64>().value(row).to_owned(),
        DataType::Utf8View => array.as_string_view().value(row).to_owned(),
        DataType::Boolean => array.as_boolean().value(row).to_string(),
        DataType::Int8 => number!(Int8Type),
        DataType::Int16 => number!(Int16Type),
        DataType::Int32 => number!(Int32Type),
        DataType::Int64 => number!(Int64Type),
        DataType::UInt8 => number!(UInt8Type),
        DataType::UInt16 => number!(UInt16Type),
        DataType::UInt32 => number!(UInt32Type),
        DataType::UInt64 => number!(UInt64Type),
        DataType::Float32 => float!(Float32Type),
        DataType::Float64 => float!(Float64Type),
        DataType::Date32 => array.as_primitive::<Date32Type>().value_as_date(row)?.to_string(),
        DataType::Date64 => array.as_primitive::<Date64Type>().value_as_date(row)?.to_string(),
        DataType::Timestamp(TimeUnit::Second, _) => milliseconds!(TimestampSecondType),
        DataType::Timestamp(TimeUnit::Millisecond, _) => milliseconds!(TimestampMillisecondType),
        DataType::Timestamp(TimeUnit::Microsecond, _) => {
            let time = array.as_primitive::<TimestampMicrosecondType>().value_as_datetime(row)?;
            time.format("%Y-%m-%d %H:%M:%S%.6f +00:00").to_string()
        }
        DataType::Timestamp(TimeUnit::Nanosecond, _) => number!(TimestampNanosecondType),
        _ => return None,
    })
}
