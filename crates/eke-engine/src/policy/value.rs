//! Values that a policy lists: TOML's, as eke's.

use eke_sql::{Type, Value, scalar};
use toml::de::DeValue;
use toml::value::Datetime;

use super::section::found;

/// The largest integer below which every integer is a double.
pub(super) const EXACT: i64 = 1 << 53;

/// A value of the policy, of the type that its writing has. What is wrong with it if it is none.
pub(super) fn read(value: &DeValue<'_>) -> Result<Value, String> {
    match value {
        DeValue::Boolean(is) => Ok(Value::Bool(*is)),
        DeValue::String(text) => Ok(Value::Text(text.to_string())),
        DeValue::Integer(integer) => i64::from_str_radix(integer.as_str(), integer.radix())
            .map(Value::Int)
            .map_err(|_| "has an integer of more than 64 bits: leave it out".into()),
        DeValue::Float(float) => match float.as_str().parse::<f64>() {
            Ok(number) if number.is_finite() => Ok(Value::float(number)),
            _ => Err("has a number that is not finite: leave it out".into()),
        },
        DeValue::Datetime(moment) => read_moment(moment),
        DeValue::Array(_) | DeValue::Table(_) => {
            Err(format!("has {} in it: write texts, numbers, dates, true or false", found(value)))
        }
    }
}

/// The value as one of that type, if it is one: integers are floats, and days begin at midnight.
pub(super) fn fit(value: &Value, kind: Type) -> Option<Value> {
    match (value, kind) {
        (Value::Int(int), Type::Float) if int.abs_diff(0) <= EXACT.unsigned_abs() => {
            Some(Value::float(scalar::float_of_int(*int)))
        }
        (Value::Date(days), Type::Timestamp) => scalar::midnight(*days).map(Value::Timestamp),
        _ if value.kind() == Some(kind) => Some(value.clone()),
        _ => None,
    }
}

fn read_moment(moment: &Datetime) -> Result<Value, String> {
    if moment.offset.is_some() {
        return Err(format!(
            "has {moment}, a time with a zone: write it without one, as the column has it"
        ));
    }
    if moment.date.is_none() {
        return Err(format!("has {moment}, a time without a day: write the day before it"));
    }
    let text = moment.to_string();
    let found = match moment.time {
        None => scalar::date_of_text(&text).map(Value::Date),
        Some(time) if time.nanosecond.unwrap_or(0) % 1000 != 0 => None,
        Some(_) => scalar::timestamp_of_text(&text).map(Value::Timestamp),
    };
    found.ok_or_else(|| format!("has {moment}, which no timestamp is: write at most six decimals"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(toml: &str) -> Result<Value, String> {
        read(DeValue::parse(toml).unwrap().get_ref())
    }

    #[test]
    fn values_are_what_toml_says() {
        let cases = [
            ("true", Value::Bool(true)),
            ("0x10", Value::Int(16)),
            ("-9223372036854775808", Value::Int(i64::MIN)),
            ("-0.0", Value::Float(0.0)),
            ("'Delft'", Value::Text("Delft".into())),
            ("1970-01-01", Value::Date(0)),
            ("1969-12-31", Value::Date(-1)),
            ("2000-02-29", Value::Date(11_016)),
            ("2000-03-01", Value::Date(11_017)),
            ("2100-03-01", Value::Date(47_541)),
            ("0000-01-01", Value::Date(-719_528)),
            ("9999-12-31", Value::Date(2_932_896)),
            ("2026-11-16T08:47:22.000001", Value::Timestamp(1_794_818_842_000_001)),
            ("1969-12-31 23:59:59.999999", Value::Timestamp(-1)),
        ];
        for (toml, expected) in cases {
            assert_eq!(value(toml), Ok(expected), "{toml}");
        }
        for toml in ["9223372036854775808", "nan", "inf", "1e999", "[1]", "{ a = 1 }"] {
            assert!(value(toml).is_err(), "{toml}");
        }
        for toml in ["08:00:00", "2026-11-16T08:47:22Z", "2026-11-16T08:47:22.0000001"] {
            assert!(value(toml).is_err(), "{toml}");
        }
        assert!(DeValue::parse("2026-02-29").is_err());
    }

    #[test]
    fn integers_fit_floats_and_days_fit_timestamps() {
        assert_eq!(fit(&Value::Int(3), Type::Float), Some(Value::Float(3.0)));
        assert_eq!(
            fit(&Value::Int(EXACT), Type::Float),
            Some(Value::Float(9_007_199_254_740_992.0))
        );
        assert_eq!(fit(&Value::Int(EXACT + 1), Type::Float), None);
        assert_eq!(fit(&Value::Int(i64::MIN), Type::Float), None);
        assert_eq!(fit(&Value::Date(1), Type::Timestamp), Some(Value::Timestamp(86_400_000_000)));
        assert_eq!(fit(&Value::Float(3.0), Type::Int), None);
        assert_eq!(fit(&Value::Text("3".into()), Type::Int), None);
        assert_eq!(fit(&Value::Timestamp(0), Type::Date), None);
    }
}
