//! What an expression looks like: how large it is, what it takes, what type it has, whether it can be NULL.

use crate::{Binary, Expr, Function, Type, Unary};

impl Expr {
    /// The expressions right below it.
    #[must_use]
    pub fn children(&self) -> Vec<&Self> {
        match self {
            Self::Literal(_) | Self::Column(_) | Self::Key(_) | Self::Measure(_) => Vec::new(),
            Self::Unary(_, one)
            | Self::Cast(one, _)
            | Self::In(one, _)
            | Self::Like { text: one, .. } => vec![one],
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
            Self::Cast(one, of) => Self::Cast(boxed(one), of),
            Self::In(one, values) => Self::In(boxed(one), values),
            Self::Like { text, pattern, ignore_case } => {
                Self::Like { text: boxed(text), pattern, ignore_case }
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

    /// How many nodes it has; each constant of a list is one.
    #[must_use]
    pub fn size(&self) -> usize {
        let own = match self {
            Self::In(_, values) => 1 + values.len(),
            _ => 1,
        };
        own + self.children().into_iter().map(Self::size).sum::<usize>()
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
        fn collect<'a>(expr: &'a Expr, into: &mut Vec<&'a str>) {
            if let Expr::Column(name) = expr {
                into.push(name);
            }
            for child in expr.children() {
                collect(child, into);
            }
        }
        let mut columns = Vec::new();
        collect(self, &mut columns);
        columns.sort_unstable();
        columns.dedup();
        columns
    }

    /// Its type, where `column` says those of columns. None for what is always NULL. Measures are floats; a
    /// key's type is not known here.
    #[must_use]
    pub fn kind(&self, column: &dyn Fn(&str) -> Option<Type>) -> Option<Type> {
        match self {
            Self::Literal(value) => value.kind(),
            Self::Column(name) => column(name),
            Self::Key(_) => None,
            Self::Measure(_) => Some(Type::Float),
            Self::Unary(Unary::Negate, one) => one.kind(column),
            Self::Unary(..) | Self::In(..) | Self::Like { .. } => Some(Type::Bool),
            Self::Binary(operator, left, right) => match operator {
                Binary::Add
                | Binary::Subtract
                | Binary::Multiply
                | Binary::Divide
                | Binary::Remainder => left.kind(column).or_else(|| right.kind(column)),
                Binary::Concat => Some(Type::Text),
                _ => Some(Type::Bool),
            },
            Self::Case { branches, otherwise } => branches
                .iter()
                .map(|(_, result)| result)
                .chain(otherwise.as_deref())
                .find_map(|result| result.kind(column)),
            Self::Cast(_, of) => Some(*of),
            Self::Call(function, arguments) => match function.result() {
                Some(of) => Some(of),
                None => arguments.iter().find_map(|argument| argument.kind(column)),
            },
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
                let arithmetic = matches!(
                    operator,
                    Binary::Add
                        | Binary::Subtract
                        | Binary::Multiply
                        | Binary::Divide
                        | Binary::Remainder
                );
                !arithmetic && never(left) && never(right)
            }
            Self::Case { branches, otherwise } => {
                branches.iter().all(|(_, result)| never(result))
                    && otherwise.as_deref().is_some_and(never)
            }
            Self::In(one, values) => {
                never(one) && values.iter().all(|value| value.kind().is_some())
            }
            Self::Like { text, .. } => never(text),
            Self::Call(Function::Coalesce | Function::Least | Function::Greatest, arguments) => {
                arguments.iter().any(never)
            }
            _ => false,
        }
    }
}

impl Function {
    /// The type of its result; none if it is that of its arguments.
    pub(crate) fn result(self) -> Option<Type> {
        Some(match self {
            Self::Abs | Self::Least | Self::Greatest | Self::Coalesce | Self::NullIf => {
                return None;
            }
            Self::Floor | Self::Ceil | Self::Round | Self::Sqrt | Self::Ln | Self::Exp => {
                Type::Float
            }
            Self::Lower | Self::Upper | Self::Trim | Self::Substring => Type::Text,
            Self::Length
            | Self::Year
            | Self::Quarter
            | Self::Month
            | Self::Day
            | Self::DayOfWeek
            | Self::Hour
            | Self::Minute
            | Self::Second => Type::Int,
            Self::StartOfYear
            | Self::StartOfQuarter
            | Self::StartOfMonth
            | Self::StartOfWeek
            | Self::StartOfDay
            | Self::StartOfHour
            | Self::StartOfMinute => Type::Timestamp,
        })
    }

    /// The least and the greatest that a part of a moment can be.
    pub(crate) fn range(self) -> Option<(i64, i64)> {
        Some(match self {
            Self::Year => (-9999, 9999),
            Self::Quarter => (1, 4),
            Self::Month => (1, 12),
            Self::Day => (1, 31),
            Self::DayOfWeek => (0, 6),
            Self::Hour => (0, 23),
            Self::Minute | Self::Second => (0, 59),
            _ => return None,
        })
    }
}
