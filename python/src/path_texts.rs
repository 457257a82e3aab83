//! Path texts: a column of texts, or of lists and structs in which a path leads to texts, such as the
//! messages of chats. Paths mean the same as in the library, so that a table and a Parquet file give the same
//! documents.

use std::borrow::Cow;
use std::ops::Range;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, OffsetSizeTrait};
use arrow_buffer::ArrowNativeType as _;
use arrow_schema::DataType;
use fpdb::{TextPath, TextStep};

use crate::arrow_input::Texts;

/// The texts of a column.
pub(crate) enum PathTexts {
    /// The values are the texts.
    Here(Texts),
    /// Structs, and the texts in one of their fields.
    Field(ArrayRef, Box<PathTexts>),
    /// Lists, and the texts in their elements.
    Each(ArrayRef, Box<PathTexts>),
    /// Several columns of a table.
    Columns(Vec<PathTexts>),
}

impl PathTexts {
    /// True if the path leads to texts in a column of this type.
    pub(crate) fn fit(kind: &DataType, steps: &[TextStep]) -> bool {
        use DataType as T;
        match (kind, steps.split_first()) {
            (kind, None) => Texts::fit(kind),
            (T::Null, Some(_)) => true,
            (T::Struct(fields), Some((TextStep::Field(name), steps))) => {
                fields.find(name).is_some_and(|(_, field)| Self::fit(field.data_type(), steps))
            }
            (
                T::List(element)
                | T::LargeList(element)
                | T::FixedSizeList(element, _)
                | T::ListView(element)
                | T::LargeListView(element),
                Some((TextStep::Each, steps)),
            ) => Self::fit(element.data_type(), steps),
            _ => false,
        }
    }

    /// The texts of a column whose type [fits](Self::fit).
    pub(crate) fn new(array: &ArrayRef, steps: &[TextStep]) -> Self {
        Self::within(array, steps).unwrap_or_else(|| Self::Here(Texts::new(array)))
    }

    /// The joined texts of several columns.
    pub(crate) fn all(mut columns: Vec<Self>) -> Self {
        if columns.len() == 1 { columns.remove(0) } else { Self::Columns(columns) }
    }

    /// The texts inside a column. `None` at the end of the path, and for a column of type null, which has no
    /// inner values.
    fn within(array: &ArrayRef, steps: &[TextStep]) -> Option<Self> {
        let (step, steps) = steps.split_first()?;
        let below = |values: &ArrayRef| Box::new(Self::new(values, steps));
        Some(match step {
            TextStep::Field(name) => Self::Field(array.clone(), below(array.as_struct_opt()?.column_by_name(name)?)),
            TextStep::Each => Self::Each(array.clone(), below(elements(array)?)),
        })
    }

    /// The text of a row: borrowed, or joined from the texts that the path leads to. `None` if there is no
    /// text.
    pub(crate) fn get(&self, row: usize) -> Option<Cow<'_, [u8]>> {
        if let Self::Here(texts) = self {
            return texts.get(row).map(Cow::Borrowed);
        }
        let mut joined = None;
        self.join(row, &mut joined);
        joined.map(Cow::Owned)
    }

    fn join(&self, row: usize, joined: &mut Option<Vec<u8>>) {
        match self {
            Self::Here(texts) => {
                if let Some(text) = texts.get(row) {
                    TextPath::join(joined, text.to_vec());
                }
            }
            Self::Columns(columns) => columns.iter().for_each(|column| column.join(row, joined)),
            Self::Field(array, below) if !array.is_null(row) => below.join(row, joined),
            Self::Each(array, below) if !array.is_null(row) => {
                range(array, row).for_each(|element| below.join(element, joined));
            }
            Self::Field(..) | Self::Each(..) => {}
        }
    }
}

/// The elements of all lists of a column.
fn elements(lists: &ArrayRef) -> Option<&ArrayRef> {
    Some(match lists.data_type() {
        DataType::List(_) => lists.as_list::<i32>().values(),
        DataType::LargeList(_) => lists.as_list::<i64>().values(),
        DataType::FixedSizeList(..) => lists.as_fixed_size_list().values(),
        DataType::ListView(_) => lists.as_list_view::<i32>().values(),
        DataType::LargeListView(_) => lists.as_list_view::<i64>().values(),
        _ => return None,
    })
}

/// The range of a row's elements among the elements of all lists.
fn range(lists: &ArrayRef, row: usize) -> Range<usize> {
    fn list<O: OffsetSizeTrait>(lists: &ArrayRef, row: usize) -> Range<usize> {
        let offsets = lists.as_list::<O>().value_offsets();
        offsets[row].as_usize()..offsets[row + 1].as_usize()
    }
    fn view<O: OffsetSizeTrait>(lists: &ArrayRef, row: usize) -> Range<usize> {
        let lists = lists.as_list_view::<O>();
        let start = lists.value_offsets()[row].as_usize();
        start..start + lists.value_sizes()[row].as_usize()
    }
    match lists.data_type() {
        DataType::List(_) => list::<i32>(lists, row),
        DataType::LargeList(_) => list::<i64>(lists, row),
        DataType::ListView(_) => view::<i32>(lists, row),
        DataType::LargeListView(_) => view::<i64>(lists, row),
        _ => {
            let lists = lists.as_fixed_size_list();
            let start = lists.value_offset_at(row);
            start..start + lists.value_length().as_usize()
        }
    }
}
