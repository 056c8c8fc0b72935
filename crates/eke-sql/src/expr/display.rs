//! Expressions as text to read: SQL, but for keys and measures of an answer.

use std::fmt;

use crate::expr::civil;
use crate::{Binary, Expr, Function, Syntax, Type, Unary, Value};

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("NULL"),
            Self::Bool(truth) => f.write_str(if *truth { "TRUE" } else { "FALSE" }),
            Self::Int(int) => write!(f, "{int}"),
            Self::Float(float) => write!(f, "{float:?}"),
            Self::Text(text) if text.contains(char::is_control) => {
                f.write_str("E'")?;
                for c in text.chars() {
                    match c {
                        '\'' => f.write_str("''")?,
                        '\\' => f.write_str("\\\\")?,
                        c if c.is_control() => write!(f, "\\u{:04X}", u32::from(c))?,
                        c => write!(f, "{c}")?,
                    }
                }
                f.write_str("'")
            }
            Self::Text(text) => write!(f, "'{}'", text.replace('\'', "''")),
            Self::Date(days) => match civil::date_to_text(i64::from(*days)) {
                Some(text) => write!(f, "DATE '{text}'"),
                None => write!(f, "DATE 'day {days}'"),
            },
            Self::Timestamp(micros) => match civil::timestamp_to_text(*micros) {
                Some(text) => write!(f, "TIMESTAMP '{text}'"),
                None => write!(f, "TIMESTAMP 'microsecond {micros}'"),
            },
        }
    }
}

impl fmt::Display for Expr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Literal(value) => write!(f, "{value}"),
            Self::Column(name) => f.write_str(&identifier(name)),
            Self::Key(index) => write!(f, "key {}", index + 1),
            Self::Measure(index) => write!(f, "measure {}", index + 1),
            Self::Unary(operator, one) => {
                let one = Operand(one);
                match operator {
                    Unary::Not => write!(f, "NOT {one}"),
                    Unary::Negate => write!(f, "-{one}"),
                    Unary::IsNull => write!(f, "{one} IS NULL"),
                    Unary::IsTrue => write!(f, "{one} IS TRUE"),
                    Unary::IsFalse => write!(f, "{one} IS FALSE"),
                }
            }
            Self::Binary(operator @ (Binary::And | Binary::Or), ..) => {
                // A run of one operator is written without parentheses, whatever its shape.
                for (place, term) in self.terms(*operator).into_iter().enumerate() {
                    if place > 0 {
                        write!(f, " {operator} ")?;
                    }
                    write!(f, "{}", Operand(term))?;
                }
                Ok(())
            }
            Self::Binary(operator, left, right) => {
                write!(f, "{} {operator} {}", Operand(left), Operand(right))
            }
            Self::Case { branches, otherwise } => {
                f.write_str("CASE")?;
                for (condition, result) in branches {
                    write!(f, " WHEN {condition} THEN {result}")?;
                }
                if let Some(otherwise) = otherwise {
                    write!(f, " ELSE {otherwise}")?;
                }
                f.write_str(" END")
            }
            Self::Cast(one, kind) => write!(f, "CAST({one} AS {})", type_name(*kind)),
            Self::In(one, values) => write!(f, "{} IN ({})", Operand(one), list(values)),
            Self::Like { text, pattern, ignore_case } => {
                let word = if *ignore_case { "ILIKE" } else { "LIKE" };
                write!(f, "{} {word} {}", Operand(text), Value::Text(pattern.clone()))
            }
            Self::Regex { text, pattern, syntax } => {
                write!(f, "{} {syntax} {}", Operand(text), Value::Text(pattern.clone()))
            }
            Self::Shift { moment, months, micros } => {
                write!(f, "{} + {}", Operand(moment), Interval { months: *months, micros: *micros })
            }
            Self::Call(function, arguments) => match (function, arguments.as_slice()) {
                (Function::AddDays, [day, more]) => {
                    write!(f, "{} + {}", Operand(day), Operand(more))
                }
                (Function::DaysBetween, [to, from]) => {
                    write!(f, "{} - {}", Operand(to), Operand(from))
                }
                (Function::Seconds, [one]) => write!(f, "EXTRACT(EPOCH FROM {one})"),
                (Function::Seconds, [to, from]) => {
                    write!(f, "EXTRACT(EPOCH FROM {} - {})", Operand(to), Operand(from))
                }
                (Function::DateBin, [Self::Literal(Value::Int(micros)), one, origin]) => {
                    let stride = Interval { months: 0, micros: *micros };
                    write!(f, "date_bin({stride}, {one}, {origin})")
                }
                (function, [one]) => match function.part() {
                    Some(Part::Extract(part)) => write!(f, "EXTRACT({part} FROM {one})"),
                    Some(Part::Start(part)) => write!(f, "date_trunc('{part}', {one})"),
                    None => write!(f, "{function}({one})"),
                },
                _ => write!(f, "{function}({})", list(arguments)),
            },
        }
    }
}

impl Expr {
    /// The operands of a run of one operator, from left to right.
    pub(crate) fn terms(&self, operator: Binary) -> Vec<&Self> {
        let mut terms = Vec::new();
        let mut left = vec![self];
        while let Some(expr) = left.pop() {
            match expr {
                Self::Binary(own, one, other) if *own == operator => {
                    left.extend([&**other, &**one]);
                }
                term => terms.push(term),
            }
        }
        terms
    }
}

impl fmt::Display for Binary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Add => "+",
            Self::Subtract => "-",
            Self::Multiply => "*",
            Self::Divide => "/",
            Self::Remainder => "%",
            Self::Equal => "=",
            Self::NotEqual => "<>",
            Self::Less => "<",
            Self::LessOrEqual => "<=",
            Self::Greater => ">",
            Self::GreaterOrEqual => ">=",
            Self::And => "AND",
            Self::Or => "OR",
            Self::Concat => "||",
        })
    }
}

impl fmt::Display for Syntax {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Posix => "~",
            Self::PosixIgnoreCase => "~*",
            Self::Similar => "SIMILAR TO",
        })
    }
}

/// A length of time as SQL writes it: in the largest unit that it is whole in.
struct Interval {
    months: i32,
    micros: i64,
}

impl fmt::Display for Interval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const UNITS: [(i64, &str); 5] = [
            (86_400_000_000, "days"),
            (3_600_000_000, "hours"),
            (60_000_000, "minutes"),
            (1_000_000, "seconds"),
            (1, "microseconds"),
        ];
        f.write_str("INTERVAL '")?;
        if self.months != 0 {
            write!(f, "{} months", self.months)?;
        }
        if self.micros != 0 || self.months == 0 {
            let blank = if self.months == 0 { "" } else { " " };
            let unit = UNITS.iter().find(|(micros, _)| self.micros % micros == 0);
            let (micros, unit) = unit.unwrap_or(&(1, "microseconds"));
            write!(f, "{blank}{} {unit}", self.micros / micros)?;
        }
        f.write_str("'")
    }
}

/// What functions are called in SQL: first as they are shown.
const NAMES: [(Function, &[&str]); 37] = [
    (Function::Abs, &["abs"]),
    (Function::Floor, &["floor"]),
    (Function::Ceil, &["ceil", "ceiling"]),
    (Function::Round, &["round"]),
    (Function::Trunc, &["trunc", "truncate"]),
    (Function::Sign, &["sign"]),
    (Function::Power, &["power", "pow"]),
    (Function::Sqrt, &["sqrt"]),
    (Function::Ln, &["ln"]),
    (Function::Log10, &["log10"]),
    (Function::Exp, &["exp"]),
    (Function::WidthBucket, &["width_bucket"]),
    (Function::Least, &["least"]),
    (Function::Greatest, &["greatest"]),
    (Function::Coalesce, &["coalesce"]),
    (Function::NullIf, &["nullif"]),
    (Function::Lower, &["lower", "lcase"]),
    (Function::Upper, &["upper", "ucase"]),
    (Function::Initcap, &["initcap"]),
    (Function::Trim, &["trim", "btrim"]),
    (Function::LeftTrim, &["ltrim"]),
    (Function::RightTrim, &["rtrim"]),
    (Function::Length, &["length", "len", "char_length", "character_length"]),
    (Function::Substring, &["substring", "substr"]),
    (Function::Left, &["left"]),
    (Function::Right, &["right"]),
    (Function::Replace, &["replace"]),
    (Function::SplitPart, &["split_part"]),
    (Function::Position, &["strpos", "instr"]),
    (Function::StartsWith, &["starts_with"]),
    (Function::LeftPad, &["lpad"]),
    (Function::RightPad, &["rpad"]),
    (Function::Reverse, &["reverse"]),
    (Function::Repeat, &["repeat"]),
    (Function::ConcatWith, &["concat_ws"]),
    (Function::ToChar, &["to_char"]),
    (Function::DateBin, &["date_bin"]),
];

/// What a function does with a moment.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Part<'a> {
    Extract(&'a str),
    Start(&'a str),
}

const PARTS: [(Function, Part<'static>); 20] = [
    (Function::Year, Part::Extract("YEAR")),
    (Function::Quarter, Part::Extract("QUARTER")),
    (Function::Month, Part::Extract("MONTH")),
    (Function::Day, Part::Extract("DAY")),
    (Function::DayOfWeek, Part::Extract("DOW")),
    (Function::IsoDayOfWeek, Part::Extract("ISODOW")),
    (Function::DayOfYear, Part::Extract("DOY")),
    (Function::Week, Part::Extract("WEEK")),
    (Function::IsoYear, Part::Extract("ISOYEAR")),
    (Function::Hour, Part::Extract("HOUR")),
    (Function::Minute, Part::Extract("MINUTE")),
    (Function::Second, Part::Extract("SECOND")),
    (Function::StartOfYear, Part::Start("year")),
    (Function::StartOfQuarter, Part::Start("quarter")),
    (Function::StartOfMonth, Part::Start("month")),
    (Function::StartOfWeek, Part::Start("week")),
    (Function::StartOfDay, Part::Start("day")),
    (Function::StartOfHour, Part::Start("hour")),
    (Function::StartOfMinute, Part::Start("minute")),
    (Function::StartOfSecond, Part::Start("second")),
];

impl Function {
    /// The function of a name in small letters.
    pub(crate) fn named(name: &str) -> Option<Self> {
        NAMES.iter().find(|(_, names)| names.contains(&name)).map(|(function, _)| *function)
    }

    /// The function that does this with a moment.
    pub(crate) fn of_part(part: Part<'_>) -> Option<Self> {
        PARTS.iter().find(|(_, own)| *own == part).map(|(function, _)| *function)
    }

    /// What it does with a moment, if it is a function of one.
    pub(crate) fn part(self) -> Option<Part<'static>> {
        PARTS.iter().find(|(own, _)| *own == self).map(|(_, part)| *part)
    }
}

impl fmt::Display for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.part() {
            Some(Part::Extract(part)) => write!(f, "extract {part}"),
            Some(Part::Start(part)) => write!(f, "date_trunc {part}"),
            None => {
                let named = NAMES.iter().find(|(own, _)| own == self);
                f.write_str(named.map_or("", |(_, names)| names[0]))
            }
        }
    }
}

/// An operand: in parentheses unless it reads as one thing.
struct Operand<'a>(&'a Expr);

impl fmt::Display for Operand<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Expr::Unary(..)
            | Expr::Binary(..)
            | Expr::In(..)
            | Expr::Like { .. }
            | Expr::Regex { .. }
            | Expr::Shift { .. }
            | Expr::Call(Function::AddDays | Function::DaysBetween, _) => write!(f, "({})", self.0),
            plain => write!(f, "{plain}"),
        }
    }
}

/// A name as SQL writes it: quoted unless it is plain.
pub(crate) fn identifier(name: &str) -> String {
    // A parameter that stays open.
    if let Some(parameter) = name.strip_prefix('\0') {
        return parameter.to_owned();
    }
    let plain = !name.is_empty()
        && !name.starts_with(|c: char| c.is_ascii_digit())
        && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
    if plain { name.to_owned() } else { format!("\"{}\"", name.replace('"', "\"\"")) }
}

fn type_name(kind: Type) -> &'static str {
    match kind {
        Type::Bool => "BOOLEAN",
        Type::Int => "BIGINT",
        Type::Float => "DOUBLE PRECISION",
        Type::Text => "TEXT",
        Type::Date => "DATE",
        Type::Timestamp => "TIMESTAMP",
    }
}

/// With commas between.
pub(crate) fn list(items: &[impl fmt::Display]) -> String {
    items.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}
