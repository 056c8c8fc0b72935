//! What an expression looks like: how large it is, how much work, what it takes, what type it has,
//! whether it can be NULL.

use std::collections::BTreeSet;

use crate::expr::display::Part;
use crate::expr::number;
use crate::expr::pattern::Pattern;
use crate::expr::regex::Regex;
use crate::frontend::limits;
use crate::{Binary, Expr, Function, Type, Unary, Value};

impl Expr {
    /// The expressions right below it.
    #[must_use]
    pub fn children(&self) -> Vec<&Self> {
        match self {
            Self::Literal(_) | Self::Column(_) | Self::Key(_) | Self::Measure(_) => Vec::new(),
            Self::Unary(_, one)
            | Self::Cast(one, _)
            | Self::In(one, _)
            | Self::Like { text: one, .. }
            | Self::Regex { text: one, .. }
            | Self::Shift { moment: one, .. } => vec![one],
            Self::Binary(_, left, right) => vec![left, right],
            Self::Case { branches, otherwise } => branches
                .iter()
                .flat_map(|(condition, result)| [condition, result])
                .chain(otherwise.as_deref())
                .collect(),
            Self::Call(_, arguments) => arguments.iter().collect(),
        }
    }

    /// The same with other expressions right below it.
    #[must_use]
    pub fn map_children(self, mut to: impl FnMut(Self) -> Self) -> Self {
        let mut boxed = |one: Box<Self>| Box::new(to(*one));
        match self {
            leaf @ (Self::Literal(_) | Self::Column(_) | Self::Key(_) | Self::Measure(_)) => leaf,
            Self::Unary(operator, one) => Self::Unary(operator, boxed(one)),
            Self::Cast(one, kind) => Self::Cast(boxed(one), kind),
            Self::In(one, values) => Self::In(boxed(one), values),
            Self::Like { text, pattern, ignore_case } => {
                Self::Like { text: boxed(text), pattern, ignore_case }
            }
            Self::Regex { text, pattern, syntax } => {
                Self::Regex { text: boxed(text), pattern, syntax }
            }
            Self::Shift { moment, months, micros } => {
                Self::Shift { moment: boxed(moment), months, micros }
            }
            Self::Binary(operator, left, right) => {
                let left = boxed(left);
                Self::Binary(operator, left, boxed(right))
            }
            Self::Case { branches, otherwise } => Self::Case {
                branches: branches
                    .into_iter()
                    .map(|(condition, result)| (to(condition), to(result)))
                    .collect(),
                otherwise: otherwise.map(|one| Box::new(to(*one))),
            },
            Self::Call(function, arguments) => {
                Self::Call(function, arguments.into_iter().map(to).collect())
            }
        }
    }

    /// How many nodes it has. Each constant of a list is one, and a text counts for more the longer
    /// it is: one more for every 256 bytes.
    #[must_use]
    pub fn size(&self) -> usize {
        let own = match self {
            Self::Literal(value) => weight(value),
            Self::In(_, values) => 1 + values.iter().map(weight).sum::<usize>(),
            Self::Like { pattern, .. } | Self::Regex { pattern, .. } => {
                1 + pattern.len() / limits::NODE_BYTES
            }
            _ => 1,
        };
        own + self.children().into_iter().map(Self::size).sum::<usize>()
    }

    /// How many times it goes through a text, character by character, to have its value for one
    /// row: what it takes beyond a little for each node. Patterns go through it once for every 64
    /// characters of theirs. `column` says the types of columns.
    pub(crate) fn passes(&self, column: &dyn Fn(&str) -> Option<Type>) -> usize {
        let own = match self {
            Self::Like { pattern, ignore_case, .. } => Pattern::passes(pattern, *ignore_case),
            Self::Binary(Binary::Concat, ..) => 1,
            Self::In(one, _) | Self::Cast(one, _) => {
                usize::from(one.kind(column) == Some(Type::Text))
            }
            Self::Regex { pattern, syntax, .. } => Regex::passes(pattern, *syntax),
            Self::Call(function, arguments) => function.passes(arguments.len()),
            _ => 0,
        };
        own + self.children().into_iter().map(|child| child.passes(column)).sum::<usize>()
    }

    /// How deep its JSON is. A reader of JSON takes 128 levels.
    pub(crate) fn depth(&self) -> usize {
        let own = match self {
            Self::Case { .. } => 4,
            Self::Call(..) => 3,
            _ => 2,
        };
        own + self.children().into_iter().map(Self::depth).max().unwrap_or(0)
    }

    /// Whether some expression in it, itself included, is such a one.
    pub(crate) fn any(&self, test: &dyn Fn(&Self) -> bool) -> bool {
        test(self) || self.children().into_iter().any(|child| child.any(test))
    }

    /// The columns it takes, sorted and distinct.
    #[must_use]
    pub fn columns(&self) -> Vec<&str> {
        let mut columns = BTreeSet::new();
        let mut left = vec![self];
        while let Some(expr) = left.pop() {
            if let Self::Column(name) = expr {
                columns.insert(name.as_str());
            }
            left.extend(expr.children());
        }
        columns.into_iter().collect()
    }

    /// Its type, where `column` says those of columns. None for what is always NULL. Measures are
    /// floats; a key's type is not known here.
    #[must_use]
    pub fn kind(&self, column: &dyn Fn(&str) -> Option<Type>) -> Option<Type> {
        match self {
            Self::Literal(value) => value.kind(),
            Self::Column(name) => column(name),
            Self::Key(_) => None,
            Self::Measure(_) => Some(Type::Float),
            Self::Unary(Unary::Negate, one) => one.kind(column),
            Self::Unary(..) | Self::In(..) | Self::Like { .. } | Self::Regex { .. } => {
                Some(Type::Bool)
            }
            Self::Shift { .. } => Some(Type::Timestamp),
            Self::Binary(Binary::Concat, ..) => Some(Type::Text),
            Self::Binary(operator, left, right) if operator.is_arithmetic() => {
                left.kind(column).or_else(|| right.kind(column))
            }
            Self::Binary(..) => Some(Type::Bool),
            Self::Case { branches, otherwise } => branches
                .iter()
                .map(|(_, result)| result)
                .chain(otherwise.as_deref())
                .find_map(|result| result.kind(column)),
            Self::Cast(_, kind) => Some(*kind),
            Self::Call(function, arguments) => match function.result() {
                Some(kind) => Some(kind),
                None => arguments.iter().find_map(|argument| argument.kind(column)),
            },
        }
    }

    /// Whether it can be NULL though no column in it is: by a CASE that ends without ELSE, a NULL
    /// that is written out, `nullif`, a division by what may be zero, a root or a logarithm, a text
    /// that is no number. Numbers and moments beyond all bounds are left aside.
    pub(crate) fn makes_null(&self, column: &dyn Fn(&str) -> Option<Type>) -> bool {
        let makes = |expr: &Self| expr.makes_null(column);
        let below = || self.children().into_iter().any(makes);
        match self {
            Self::Literal(value) => *value == Value::Null,
            Self::Column(_) | Self::Key(_) | Self::Measure(_) => false,
            Self::Unary(Unary::IsNull | Unary::IsTrue | Unary::IsFalse, _) => false,
            Self::Unary(Unary::Not | Unary::Negate, _)
            | Self::Like { .. }
            | Self::Regex { .. }
            | Self::Shift { .. } => below(),
            Self::Binary(Binary::Divide | Binary::Remainder, _, by) => {
                let zero = match &**by {
                    Self::Literal(Value::Int(int)) => *int == 0,
                    Self::Literal(Value::Float(float)) => float.abs() <= 0.0,
                    _ => true,
                };
                zero || below()
            }
            Self::Binary(..) => below(),
            // A condition that is NULL does not hold, and makes nothing NULL.
            Self::Case { branches, otherwise } => {
                branches.iter().any(|(_, result)| makes(result))
                    || otherwise.as_deref().is_none_or(makes)
            }
            Self::Cast(one, to) => {
                (one.kind(column) == Some(Type::Text) && *to != Type::Text) || makes(one)
            }
            Self::In(one, values) => values.contains(&Value::Null) || makes(one),
            Self::Call(function, arguments) => match function {
                Function::Coalesce | Function::Least | Function::Greatest => {
                    arguments.iter().all(makes)
                }
                Function::NullIf
                | Function::Sqrt
                | Function::Ln
                | Function::Log10
                | Function::Power => true,
                Function::ConcatWith => arguments.first().is_some_and(makes),
                Function::Substring => {
                    let count = |one: &Self| matches!(one, Self::Literal(Value::Int(0..)));
                    arguments.get(2).is_some_and(|one| !count(one)) || below()
                }
                Function::SplitPart => {
                    let place =
                        |one: &Self| matches!(one, Self::Literal(Value::Int(place)) if *place != 0);
                    arguments.get(2).is_none_or(|one| !place(one)) || below()
                }
                Function::WidthBucket => self.buckets().is_none() || below(),
                _ => below(),
            },
        }
    }

    /// Whether grouping by it tells units apart: it is the unit column, or that in another form.
    pub(crate) fn tells_units(&self, unit_column: &str) -> bool {
        let tells = |expr: &Self| expr.tells_units(unit_column);
        let constant = |expr: &Self| matches!(expr, Self::Literal(_));
        match self {
            Self::Column(name) => name == unit_column,
            Self::Unary(Unary::Negate, one) | Self::Shift { moment: one, .. } => tells(one),
            // A day has many moments in it, and other casts keep apart what was.
            Self::Cast(one, to) => *to != Type::Date && *to != Type::Bool && tells(one),
            Self::Binary(Binary::Concat, left, right) => tells(left) || tells(right),
            Self::Binary(Binary::Add | Binary::Subtract | Binary::Multiply, left, right) => {
                (tells(left) && constant(right)) || (constant(left) && tells(right))
            }
            Self::Case { branches, otherwise } => {
                branches.iter().any(|(_, result)| tells(result))
                    || otherwise.as_deref().is_some_and(tells)
            }
            Self::Call(Function::Coalesce | Function::NullIf, arguments) => {
                arguments.first().is_some_and(tells)
            }
            Self::Call(Function::AddDays | Function::Repeat, arguments) => {
                arguments.first().is_some_and(tells) && arguments.iter().skip(1).all(constant)
            }
            Self::Call(
                Function::Lower
                | Function::Upper
                | Function::Trim
                | Function::LeftTrim
                | Function::RightTrim
                | Function::Initcap
                | Function::Reverse
                | Function::LeftPad
                | Function::RightPad
                | Function::ConcatWith
                | Function::Seconds,
                arguments,
            ) => arguments.iter().any(tells),
            _ => false,
        }
    }

    /// Whether it is never NULL, for rows that take part: those have a unit.
    pub(crate) fn never_null(&self, unit_column: &str) -> bool {
        let never = |expr: &Self| expr.never_null(unit_column);
        match self {
            Self::Literal(value) => value.kind().is_some(),
            Self::Column(name) => name == unit_column,
            Self::Unary(Unary::IsNull | Unary::IsTrue | Unary::IsFalse, _) => true,
            Self::Unary(Unary::Not, one) => never(one),
            Self::Binary(operator, left, right) => {
                !operator.is_arithmetic() && never(left) && never(right)
            }
            Self::Case { branches, otherwise } => {
                branches.iter().all(|(_, result)| never(result))
                    && otherwise.as_deref().is_some_and(never)
            }
            Self::In(one, values) => {
                never(one) && values.iter().all(|value| value.kind().is_some())
            }
            Self::Like { text, .. } | Self::Regex { text, .. } => never(text),
            Self::Call(Function::Coalesce | Function::Least | Function::Greatest, arguments) => {
                arguments.iter().any(never)
            }
            _ => false,
        }
    }
}

impl Expr {
    /// How many buckets a `width_bucket` has, if that is constant and there are some whatever the
    /// row holds.
    pub(crate) fn buckets(&self) -> Option<i64> {
        let Self::Call(Function::WidthBucket, arguments) = self else { return None };
        let [_, Self::Literal(Value::Float(low)), Self::Literal(Value::Float(high)), count] =
            arguments.as_slice()
        else {
            return None;
        };
        match count {
            Self::Literal(Value::Int(count)) => {
                number::width_bucket(*low, *low, *high, *count).map(|_| *count)
            }
            _ => None,
        }
    }
}

/// What a constant counts for.
fn weight(value: &Value) -> usize {
    match value {
        Value::Text(text) => 1 + text.len() / limits::NODE_BYTES,
        _ => 1,
    }
}

impl Function {
    /// The type of its result; none if it is that of its arguments.
    #[must_use]
    pub fn result(self) -> Option<Type> {
        Some(match self {
            Self::Abs | Self::Least | Self::Greatest | Self::Coalesce | Self::NullIf => {
                return None;
            }
            Self::Floor
            | Self::Ceil
            | Self::Round
            | Self::Trunc
            | Self::Sign
            | Self::Power
            | Self::Sqrt
            | Self::Ln
            | Self::Log10
            | Self::Exp
            | Self::Seconds => Type::Float,
            Self::Lower
            | Self::Upper
            | Self::Trim
            | Self::LeftTrim
            | Self::RightTrim
            | Self::Substring
            | Self::Left
            | Self::Right
            | Self::Replace
            | Self::SplitPart
            | Self::LeftPad
            | Self::RightPad
            | Self::Reverse
            | Self::Repeat
            | Self::Initcap
            | Self::ConcatWith
            | Self::ToChar => Type::Text,
            Self::StartsWith => Type::Bool,
            Self::AddDays => Type::Date,
            Self::DateBin => Type::Timestamp,
            function => match function.part() {
                Some(Part::Start(_)) => Type::Timestamp,
                Some(Part::Extract(_)) | None => Type::Int,
            },
        })
    }

    /// The types of its arguments, and how many of the first of them it needs; none for functions
    /// of any number of arguments, or of any one type.
    #[must_use]
    pub fn takes(self) -> Option<(&'static [Type], usize)> {
        use Type::{Date, Float, Int, Text, Timestamp};
        Some(match self {
            Self::Abs
            | Self::Least
            | Self::Greatest
            | Self::Coalesce
            | Self::NullIf
            | Self::ConcatWith => return None,
            Self::Floor
            | Self::Ceil
            | Self::Sign
            | Self::Sqrt
            | Self::Ln
            | Self::Log10
            | Self::Exp => (&[Float], 1),
            Self::Round | Self::Trunc => (&[Float, Int], 1),
            Self::Power => (&[Float, Float], 2),
            Self::WidthBucket => (&[Float, Float, Float, Int], 4),
            Self::Lower | Self::Upper | Self::Length | Self::Reverse | Self::Initcap => {
                (&[Text], 1)
            }
            Self::Trim | Self::LeftTrim | Self::RightTrim => (&[Text, Text], 1),
            Self::Substring => (&[Text, Int, Int], 2),
            Self::Left | Self::Right | Self::Repeat => (&[Text, Int], 2),
            Self::Replace => (&[Text, Text, Text], 3),
            Self::SplitPart => (&[Text, Text, Int], 3),
            Self::Position | Self::StartsWith => (&[Text, Text], 2),
            Self::LeftPad | Self::RightPad => (&[Text, Int, Text], 2),
            Self::ToChar => (&[Timestamp, Text], 2),
            Self::DateBin => (&[Int, Timestamp, Timestamp], 3),
            Self::AddDays => (&[Date, Int], 2),
            Self::DaysBetween => (&[Date, Date], 2),
            Self::Seconds => (&[Timestamp, Timestamp], 1),
            _ => (&[Timestamp], 1),
        })
    }

    /// How many times it goes through texts, with this many arguments.
    fn passes(self, arguments: usize) -> usize {
        match self {
            Self::Lower | Self::Upper | Self::Initcap => limits::OTHER_CASE,
            Self::Length
            | Self::Substring
            | Self::Left
            | Self::Right
            | Self::Reverse
            | Self::Repeat
            | Self::StartsWith => 1,
            Self::LeftPad | Self::RightPad | Self::Position => 2,
            Self::Trim | Self::LeftTrim | Self::RightTrim if arguments < 2 => 1,
            // Characters are looked for among others.
            Self::Trim | Self::LeftTrim | Self::RightTrim => limits::OTHER_CASE,
            Self::Replace | Self::SplitPart => 3,
            Self::ConcatWith => arguments,
            _ => 0,
        }
    }

    /// The least and the greatest that a part of a moment can be.
    pub(crate) fn range(self) -> Option<(i64, i64)> {
        Some(match self {
            Self::Year => (-9999, 9999),
            Self::Quarter => (1, 4),
            Self::Month => (1, 12),
            Self::Day => (1, 31),
            Self::DayOfWeek => (0, 6),
            Self::IsoDayOfWeek => (1, 7),
            Self::DayOfYear => (1, 366),
            Self::Week => (1, 53),
            Self::IsoYear => (-10_000, 10_000),
            Self::Hour => (0, 23),
            Self::Minute | Self::Second => (0, 59),
            _ => return None,
        })
    }
}
