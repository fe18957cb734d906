//! Points and their distances.

use super::{Function, Returns, Types, bad_value};
use crate::error::{Outcome, argument_error};
use crate::expression::Frame;
use crate::value::{Map, Point, Value};

const POINT: Types = Types::POINT;
const FLOAT: Returns = Returns::One(Types::FLOAT);
/// The mean radius of the earth, in metres.
const EARTH: f64 = 6_378_140.0;

pub(super) const TABLE: &[Function] = &[
    Function::new("point", &[Types::MAP], Returns::One(POINT), point),
    Function::new("point.distance", &[POINT, POINT], FLOAT, distance),
    Function::new("distance", &[POINT, POINT], FLOAT, distance),
    Function::new(
        "point.withinBBox",
        &[POINT, POINT, POINT],
        Returns::One(Types::BOOLEAN),
        within_box,
    ),
];

fn point(values: &[Value], _: &Frame<'_>) -> Outcome<Value> {
    let [Value::Map(map)] = values else {
        return Err(bad_value("MAP", values.first()));
    };
    let invalid = |message: &str| argument_error("InvalidArgumentValue", message);
    if map.iter().any(|(_, value)| value.is_null()) {
        return Ok(Value::Null);
    }
    let (x, longitude) = (number(map, "x")?, number(map, "longitude")?);
    let (y, latitude) = (number(map, "y")?, number(map, "latitude")?);
    let (z, height) = (number(map, "z")?, number(map, "height")?);
    let (first, second, third, is_named) = match (x, y, longitude, latitude) {
        (Some(x), Some(y), ..) => (x, y, z, false),
        (_, _, Some(longitude), Some(latitude)) => (longitude, latitude, height.or(z), true),
        _ => return Err(invalid("a point needs x and y, or longitude and latitude")),
    };
    if ![first, second, third.unwrap_or(0.0)]
        .iter()
        .all(|one| one.is_finite())
    {
        return Err(invalid("the coordinates of a point are finite"));
    }
    let named = match (map.get("srid"), map.get("crs")) {
        (Some(Value::Integer(srid)), _) => Some(*srid),
        (None, Some(Value::String(name))) => Some(match name.to_lowercase().as_str() {
            "wgs-84" => 4326,
            "wgs-84-3d" => 4979,
            "cartesian" => 7203,
            "cartesian-3d" => 9157,
            _ => return Err(invalid("there is no such coordinate system")),
        }),
        (None, None) => None,
        _ => return Err(invalid("srid is an INTEGER, crs a STRING")),
    };
    let geographic = named.map_or(is_named, |srid| matches!(srid, 4326 | 4979));
    let srid = match (geographic, third.is_some()) {
        (true, false) => 4326,
        (true, true) => 4979,
        (false, false) => 7203,
        (false, true) => 9157,
    };
    if named.is_some_and(|named| named != i64::from(srid)) {
        return Err(invalid("the coordinates do not fit the coordinate system"));
    }
    if geographic && !(-90.0..=90.0).contains(&second) {
        return Err(invalid("latitude is -90 to 90"));
    }
    let x = match geographic && !(-180.0..=180.0).contains(&first) {
        true => round_the_earth(first),
        false => first,
    };
    Ok(Value::Point(Box::new(Point {
        srid,
        x,
        y: second,
        z: third,
    })))
}

/// A longitude beyond the 180th meridian, from -180 to 180.
fn round_the_earth(longitude: f64) -> f64 {
    let inside = (longitude + 180.0).rem_euclid(360.0) - 180.0;
    match inside == -180.0 && longitude > 0.0 {
        true => 180.0,
        false => inside,
    }
}

#[expect(clippy::cast_precision_loss, reason = "coordinates are floats")]
fn number(map: &Map, key: &str) -> Outcome<Option<f64>> {
    match map.get(key) {
        None => Ok(None),
        Some(Value::Float(number)) => Ok(Some(*number)),
        Some(Value::Integer(number)) => Ok(Some(*number as f64)),
        other => Err(bad_value("INTEGER or FLOAT", other)),
    }
}

/// The distance in metres, or in the units of a Cartesian system; null between systems.
fn distance(values: &[Value], _: &Frame<'_>) -> Outcome<Value> {
    let [Value::Point(from), Value::Point(to)] = values else {
        let wrong = values.iter().find(|one| !matches!(one, Value::Point(_)));
        return Err(bad_value("POINT", wrong));
    };
    if from.srid != to.srid {
        return Ok(Value::Null);
    }
    let up = to.z.unwrap_or(0.0) - from.z.unwrap_or(0.0);
    if !matches!(from.srid, 4326 | 4979) {
        return Ok(Value::Float((to.x - from.x).hypot(to.y - from.y).hypot(up)));
    }
    let half = |from: f64, to: f64| ((to - from).to_radians() / 2.0).sin().powi(2);
    let cosines = from.y.to_radians().cos() * to.y.to_radians().cos();
    let square = half(from.y, to.y) + cosines * half(from.x, to.x);
    let middle = (from.z.unwrap_or(0.0) + to.z.unwrap_or(0.0)) / 2.0;
    let ground = 2.0 * (EARTH + middle) * square.sqrt().clamp(0.0, 1.0).asin();
    Ok(Value::Float(ground.hypot(up)))
}

/// Whether a point lies between two corners, edges included; null between systems. A box of
/// longitudes may cross the 180th meridian.
fn within_box(values: &[Value], _: &Frame<'_>) -> Outcome<Value> {
    let [Value::Point(point), Value::Point(low), Value::Point(high)] = values else {
        let wrong = values
            .iter()
            .find(|value| !matches!(value, Value::Point(_)));
        return Err(bad_value("POINT", wrong));
    };
    if point.srid != low.srid || point.srid != high.srid {
        return Ok(Value::Null);
    }
    let across = matches!(point.srid, 4326 | 4979) && low.x > high.x;
    let x = match across {
        true => point.x >= low.x || point.x <= high.x,
        false => (low.x..=high.x).contains(&point.x),
    };
    let height = |point: &Point| point.z.unwrap_or(0.0);
    let inside = x
        && (low.y..=high.y).contains(&point.y)
        && (height(low)..=height(high)).contains(&height(point));
    Ok(Value::Boolean(inside))
}
