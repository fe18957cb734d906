//! The cells of Arrow arrays as JSON.
//!
//! Dates and instants are texts (`2020-05-01`, RFC 3339 in UTC), bytes are in base64, decimals are
//! numbers if a double holds all their digits, and texts otherwise.

use arrow_array::cast::AsArray as _;
use arrow_array::types::{
    Date32Type, Date64Type, Decimal32Type, Decimal64Type, Decimal128Type, Decimal256Type,
    DecimalType, Float16Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
    TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType,
    TimestampSecondType, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef, downcast_dictionary_array};
use arrow_schema::{DataType, Field, TimeUnit};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value as Json};
use varve_model::value::Uuid;

use crate::dates::utc;
use crate::numbers::{real, whole_or_real};
use crate::records::RECORD_BYTES_MAX;

const MILLIS_OF_DAY: i64 = 86_400_000;
const NANOS_OF_DAY: i128 = 86_400_000_000_000;

/// Whether cells of this type can be read.
pub(crate) fn is_read(data_type: &DataType) -> bool {
    use DataType as T;
    match data_type {
        T::Null | T::Boolean | T::Date32 | T::Date64 => true,
        T::Float16 | T::Float32 | T::Float64 => true,
        T::Utf8 | T::LargeUtf8 | T::Utf8View => true,
        T::Binary | T::LargeBinary | T::BinaryView | T::FixedSizeBinary(_) => true,
        T::Timestamp(..) => true,
        T::Decimal32(..) | T::Decimal64(..) | T::Decimal128(..) | T::Decimal256(..) => true,
        T::List(field) | T::LargeList(field) | T::FixedSizeList(field, _) => {
            is_read(field.data_type())
        }
        T::ListView(field) | T::LargeListView(field) => is_read(field.data_type()),
        T::Struct(fields) => fields.iter().all(|field| is_read(field.data_type())),
        T::Dictionary(_, values) => is_read(values),
        other => other.is_integer(),
    }
}

/// Bytes of a value in memory, without its text.
const VALUE_BYTES: usize = size_of::<Json>();

/// Takes bytes from those that a row may still have.
fn take(left: &mut usize, bytes: usize) -> Result<(), String> {
    let rest = left.checked_sub(bytes);
    *left = rest.ok_or_else(|| format!("a row of more than {RECORD_BYTES_MAX} bytes"))?;
    Ok(())
}

/// A cell of a row that may have `left` more bytes.
pub(crate) fn cell(array: &ArrayRef, row: usize, left: &mut usize) -> Result<Json, String> {
    use DataType as T;
    take(left, VALUE_BYTES)?;
    // An array of nulls alone has no marks of nulls.
    if array.is_null(row) || *array.data_type() == T::Null {
        return Ok(Json::Null);
    }
    Ok(match array.data_type() {
        T::Boolean => Json::from(array.as_boolean().value(row)),
        T::Int8 => Json::from(array.as_primitive::<Int8Type>().value(row)),
        T::Int16 => Json::from(array.as_primitive::<Int16Type>().value(row)),
        T::Int32 => Json::from(array.as_primitive::<Int32Type>().value(row)),
        T::Int64 => Json::from(array.as_primitive::<Int64Type>().value(row)),
        T::UInt8 => Json::from(array.as_primitive::<UInt8Type>().value(row)),
        T::UInt16 => Json::from(array.as_primitive::<UInt16Type>().value(row)),
        T::UInt32 => Json::from(array.as_primitive::<UInt32Type>().value(row)),
        T::UInt64 => Json::from(array.as_primitive::<UInt64Type>().value(row)),
        T::Float16 => single(array.as_primitive::<Float16Type>().value(row).to_f32()),
        T::Float32 => single(array.as_primitive::<Float32Type>().value(row)),
        T::Float64 => real(array.as_primitive::<Float64Type>().value(row)),
        T::Utf8 => text(array.as_string::<i32>().value(row), left)?,
        T::LargeUtf8 => text(array.as_string::<i64>().value(row), left)?,
        T::Utf8View => text(array.as_string_view().value(row), left)?,
        T::Binary => bytes(array.as_binary::<i32>().value(row), left)?,
        T::LargeBinary => bytes(array.as_binary::<i64>().value(row), left)?,
        T::BinaryView => bytes(array.as_binary_view().value(row), left)?,
        T::FixedSizeBinary(_) => bytes(array.as_fixed_size_binary().value(row), left)?,
        T::Decimal32(..) => decimal::<Decimal32Type>(array, row),
        T::Decimal64(..) => decimal::<Decimal64Type>(array, row),
        T::Decimal128(..) => decimal::<Decimal128Type>(array, row),
        T::Decimal256(..) => decimal::<Decimal256Type>(array, row),
        T::Date32 => date(i64::from(array.as_primitive::<Date32Type>().value(row)))?,
        T::Date64 => {
            let millis = array.as_primitive::<Date64Type>().value(row);
            date(millis.div_euclid(MILLIS_OF_DAY))?
        }
        T::Timestamp(unit, _) => instant(array, *unit, row)?,
        T::List(_) => list(&array.as_list::<i32>().value(row), left)?,
        T::LargeList(_) => list(&array.as_list::<i64>().value(row), left)?,
        T::ListView(_) => list(&array.as_list_view::<i32>().value(row), left)?,
        T::LargeListView(_) => list(&array.as_list_view::<i64>().value(row), left)?,
        T::FixedSizeList(..) => list(&array.as_fixed_size_list().value(row), left)?,
        T::Struct(fields) => {
            let members = fields.iter().zip(array.as_struct().columns());
            let members =
                members.map(|(field, of)| Ok((field.name().clone(), cell(of, row, left)?)));
            Json::Object(members.collect::<Result<Map<_, _>, String>>()?)
        }
        T::Dictionary(..) => of_dictionary(array, row, left)?,
        other => return Err(format!("its type {other} is not read")),
    })
}

/// Whether the cells of a column are UUIDs.
pub(crate) fn is_uuid(field: &Field) -> bool {
    let name = field.metadata().get("ARROW:extension:name");
    name.is_some_and(|name| name == "arrow.uuid")
        && *field.data_type() == DataType::FixedSizeBinary(16)
}

/// A UUID as text.
pub(crate) fn uuid(array: &ArrayRef, row: usize) -> Json {
    let bytes = array.as_fixed_size_binary().value(row);
    match <[u8; 16]>::try_from(bytes) {
        Ok(bytes) if array.is_valid(row) => {
            Json::from(Uuid(u128::from_be_bytes(bytes)).to_string())
        }
        _ => Json::Null,
    }
}

fn decimal<T: DecimalType>(array: &ArrayRef, row: usize) -> Json {
    whole_or_real(&array.as_primitive::<T>().value_as_string(row))
}

/// A number of 32 bits with the fewest digits that identify it.
fn single(number: f32) -> Json {
    match number.is_finite() {
        true => real(number.to_string().parse().unwrap_or(f64::from(number))),
        false => real(f64::from(number)),
    }
}

fn text(value: &str, left: &mut usize) -> Result<Json, String> {
    take(left, value.len())?;
    Ok(Json::from(value))
}

fn bytes(value: &[u8], left: &mut usize) -> Result<Json, String> {
    take(left, value.len())?;
    Ok(Json::from(STANDARD.encode(value)))
}

fn date(days: i64) -> Result<Json, String> {
    let at = utc(i128::from(days) * NANOS_OF_DAY);
    let at = at.ok_or_else(|| format!("{days} days since 1970 are out of range"))?;
    Ok(Json::from(at.date().to_string()))
}

fn instant(array: &ArrayRef, unit: TimeUnit, row: usize) -> Result<Json, String> {
    let (count, nanos) = match unit {
        TimeUnit::Second => (
            array.as_primitive::<TimestampSecondType>().value(row),
            1_000_000_000,
        ),
        TimeUnit::Millisecond => (
            array.as_primitive::<TimestampMillisecondType>().value(row),
            1_000_000,
        ),
        TimeUnit::Microsecond => (
            array.as_primitive::<TimestampMicrosecondType>().value(row),
            1_000,
        ),
        TimeUnit::Nanosecond => (
            array.as_primitive::<TimestampNanosecondType>().value(row),
            1,
        ),
    };
    let at = utc(i128::from(count) * nanos);
    let at = at.ok_or_else(|| format!("the instant {count} is out of range"))?;
    Ok(Json::from(format!("{at}Z")))
}

fn list(members: &ArrayRef, left: &mut usize) -> Result<Json, String> {
    let members = (0..members.len()).map(|at| cell(members, at, left));
    members.collect::<Result<Vec<_>, _>>().map(Json::Array)
}

fn of_dictionary(array: &ArrayRef, row: usize, left: &mut usize) -> Result<Json, String> {
    downcast_dictionary_array!(
        array => match array.key(row) {
            Some(key) => cell(array.values(), key, left),
            None => Ok(Json::Null),
        },
        other => Err(format!("its type {other} is not read"))
    )
}
