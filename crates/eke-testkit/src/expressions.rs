//! Random rows and well-typed expressions over a table `trips`, whose columns are of all types.

use eke_sql::{Binary, Expr, Function, Leaf, Syntax, Type, Unary, Value};
use proptest::prelude::*;
use proptest::sample::select;

fn text(text: &str) -> Value {
    Value::Text(text.to_owned())
}

const TYPES: [Type; 6] =
    [Type::Bool, Type::Int, Type::Float, Type::Text, Type::Date, Type::Timestamp];

/// The columns of `trips`.
pub const COLUMNS: [(&str, Type); 8] = [
    ("paid", Type::Bool),
    ("stops", Type::Int),
    ("fare", Type::Float),
    ("tip", Type::Float),
    ("city", Type::Text),
    ("zone", Type::Text),
    ("day", Type::Date),
    ("started", Type::Timestamp),
];

/// Regular expressions of every syntax.
const REGEXES: [(&str, Syntax); 7] = [
    ("^D.*t$", Syntax::Posix),
    ("[0-9]{1,3}|a+", Syntax::Posix),
    (r"^\s*\W", Syntax::Posix),
    ("", Syntax::Posix),
    ("(delft|ß)", Syntax::PosixIgnoreCase),
    ("%(e|a_){1,2}%", Syntax::Similar),
    ("[^a-z ]*", Syntax::Similar),
];

/// What a leaf is in a row: the value of its column, or NULL.
#[must_use]
pub fn look(row: &[Value], leaf: Leaf<'_>) -> Value {
    let place = COLUMNS.iter().position(|(name, _)| leaf == Leaf::Column(name));
    place.map_or(Value::Null, |place| row[place].clone())
}

/// A row of `trips`, in the order of [`COLUMNS`], with NULLs and odd values in it.
pub fn row() -> impl Strategy<Value = Vec<Value>> {
    COLUMNS.map(|(_, of)| value(of, true)).to_vec()
}

/// A value of a type, or NULL; the odd ones often. Constants are those that SQL can write.
fn value(of: Type, data: bool) -> BoxedStrategy<Value> {
    let some = match of {
        Type::Bool => any::<bool>().prop_map(Value::Bool).boxed(),
        Type::Int => prop_oneof![
            select(vec![0, 1, -1, 2, 3, 7, i64::MAX, i64::MIN, 1 << 53]).prop_map(Value::Int),
            any::<i64>().prop_map(Value::Int),
        ]
        .boxed(),
        Type::Float if data => prop_oneof![
            select(vec![0.0, -0.0, 0.5, -0.5, 1.5, 2.0, 1e308, f64::INFINITY, f64::NAN, 9.3e18])
                .prop_map(Value::Float),
            any::<f64>().prop_map(Value::Float),
        ]
        .boxed(),
        Type::Float => prop_oneof![
            select(vec![0.0, 0.5, -0.5, 1.5, 2.0, 1e308, 5e-324, 9.3e18]).prop_map(Value::Float),
            (-1e6..1e6).prop_map(Value::float),
        ]
        .boxed(),
        Type::Text => prop_oneof![
            select(vec![
                "",
                "Delft",
                " Leiden ",
                "12",
                "-1.5e3",
                "TRUE",
                "2024-02-29",
                "a%_\\",
                "ǅß",
                "'"
            ])
            .prop_map(text),
            "\\PC{0,5}".prop_map(|t| text(&t)),
            // About as long as texts get, and what does not fit as a whole.
            (select(vec!["a", "ß", "ΐ", "🦀", " ", "7"]), 1_000..4_300usize)
                .prop_map(move |(of, many)| text(&of.repeat(if data { many } else { many / 999 }))),
        ]
        .boxed(),
        Type::Date if data => any::<i32>().prop_map(Value::Date).boxed(),
        Type::Date => (-700_000..2_900_000).prop_map(Value::Date).boxed(),
        Type::Timestamp if data => any::<i64>().prop_map(Value::Timestamp).boxed(),
        Type::Timestamp => {
            (-60_000_000_000_000_000i64..250_000_000_000_000_000).prop_map(Value::Timestamp).boxed()
        }
    };
    prop_oneof![1 => Just(Value::Null), 9 => some].boxed()
}

fn leaf(of: Type) -> BoxedStrategy<Expr> {
    let columns: Vec<Expr> = COLUMNS
        .iter()
        .filter(|(_, own)| *own == of)
        .map(|(name, _)| Expr::Column((*name).to_owned()))
        .collect();
    prop_oneof![2 => select(columns), 1 => value(of, false).prop_map(Expr::Literal)].boxed()
}

/// Expressions of each type, in the order of [`TYPES`]. Levels are built once, on the one below.
type Level = Vec<BoxedStrategy<Expr>>;

/// An expression of a type, of at most this many levels.
pub fn expr(of: Type, depth: u32) -> BoxedStrategy<Expr> {
    pick(&levels(depth), of)
}

fn levels(depth: u32) -> Level {
    let leaves: Level = TYPES.map(leaf).to_vec();
    (0..depth).fold(leaves, |below, _| TYPES.map(|of| larger(of, &below)).to_vec())
}

fn pick(level: &Level, of: Type) -> BoxedStrategy<Expr> {
    let place = TYPES.iter().position(|own| *own == of).expect("a type");
    level[place].clone()
}

fn larger(of: Type, below: &Level) -> BoxedStrategy<Expr> {
    let sub = |of| pick(below, of);
    let whichever = |from: &[Type]| {
        proptest::strategy::Union::new(from.iter().map(|of| pick(below, *of)).collect::<Vec<_>>())
    };
    let unary = |operator, of| sub(of).prop_map(move |one| Expr::Unary(operator, Box::new(one)));
    let binary = |operators: &[Binary], of| {
        (select(operators.to_vec()), sub(of), sub(of))
            .prop_map(|(operator, a, b)| Expr::Binary(operator, Box::new(a), Box::new(b)))
    };
    let call = |functions: &[Function], of| {
        (select(functions.to_vec()), sub(of))
            .prop_map(|(function, one)| Expr::Call(function, vec![one]))
    };
    // Functions whose arguments have types of their own, with as few or as many as they take.
    let typed = |functions: &[Function]| {
        proptest::strategy::Union::new(functions.iter().flat_map(|&function| {
            let (kinds, least) = function.takes().expect("arguments with types of their own");
            (least..=kinds.len()).map(move |many| {
                let arguments: Vec<_> = kinds[..many].iter().map(|of| sub(*of)).collect();
                arguments.prop_map(move |all| Expr::Call(function, all)).boxed()
            })
        }))
    };
    let few = || {
        prop_oneof![(-5i64..9).boxed(), select(vec![i64::MIN, i64::MAX, 330, -330, 4_096]).boxed()]
    };
    let counted = |function: Function, of| {
        (sub(of), few()).prop_map(move |(one, count)| {
            Expr::Call(function, vec![one, Expr::Literal(Value::Int(count))])
        })
    };
    let cast = |from: &[Type]| whichever(from).prop_map(move |one| Expr::Cast(Box::new(one), of));
    let case = (
        prop::collection::vec((sub(Type::Bool), sub(of)), 1..3),
        prop::option::of(sub(of).prop_map(Box::new)),
    )
        .prop_map(|(branches, otherwise)| Expr::Case { branches, otherwise });
    let several = (
        select(vec![Function::Least, Function::Greatest, Function::Coalesce]),
        prop::collection::vec(sub(of), 1..4),
    )
        .prop_map(|(function, arguments)| Expr::Call(function, arguments));
    let null_if = (sub(of), sub(of)).prop_map(|(a, b)| Expr::Call(Function::NullIf, vec![a, b]));
    let common = prop_oneof![leaf(of), case, several, null_if];
    let arithmetic =
        [Binary::Add, Binary::Subtract, Binary::Multiply, Binary::Divide, Binary::Remainder];
    let comparison = [
        Binary::Equal,
        Binary::NotEqual,
        Binary::Less,
        Binary::LessOrEqual,
        Binary::Greater,
        Binary::GreaterOrEqual,
    ];
    let own = match of {
        Type::Bool => prop_oneof![
            (select(vec![Unary::Not, Unary::IsTrue, Unary::IsFalse]), sub(Type::Bool))
                .prop_map(|(operator, one)| Expr::Unary(operator, Box::new(one))),
            whichever(&TYPES).prop_map(|one| Expr::Unary(Unary::IsNull, Box::new(one))),
            binary(&[Binary::And, Binary::Or], Type::Bool),
            proptest::strategy::Union::new(TYPES.map(|of| binary(&comparison, of))),
            proptest::strategy::Union::new(TYPES.map(|of| {
                (sub(of), prop::collection::vec(value(of, false), 1..4))
                    .prop_map(|(one, values)| Expr::In(Box::new(one), values))
            })),
            (sub(Type::Text), select(vec!["%", "D%", "_e%t", r"a\%_", ""]), any::<bool>())
                .prop_map(|(text, pattern, ignore_case)| Expr::Like {
                    text: Box::new(text),
                    pattern: pattern.to_owned(),
                    ignore_case
                }),
            (sub(Type::Text), select(REGEXES.to_vec())).prop_map(|(text, (pattern, syntax))| {
                Expr::Regex { text: Box::new(text), pattern: pattern.to_owned(), syntax }
            }),
            typed(&[Function::StartsWith]),
            cast(&[Type::Text]),
        ]
        .boxed(),
        Type::Int => prop_oneof![
            unary(Unary::Negate, Type::Int),
            binary(&arithmetic, Type::Int),
            call(&[Function::Abs], Type::Int),
            typed(&[
                Function::Length,
                Function::Position,
                Function::WidthBucket,
                Function::DaysBetween
            ]),
            (sub(Type::Float), value(Type::Float, false), value(Type::Float, false), few())
                .prop_map(|(one, low, high, count)| {
                    let [low, high, count] = [low, high, Value::Int(count)].map(Expr::Literal);
                    Expr::Call(Function::WidthBucket, vec![one, low, high, count])
                }),
            call(
                &[
                    Function::Year,
                    Function::IsoDayOfWeek,
                    Function::DayOfYear,
                    Function::Week,
                    Function::IsoYear,
                    Function::Quarter,
                    Function::Month,
                    Function::Day,
                    Function::DayOfWeek,
                    Function::Hour,
                    Function::Minute,
                    Function::Second
                ],
                Type::Timestamp
            ),
            cast(&[Type::Bool, Type::Float, Type::Text]),
        ]
        .boxed(),
        Type::Float => prop_oneof![
            unary(Unary::Negate, Type::Float),
            binary(&arithmetic, Type::Float),
            call(
                &[
                    Function::Abs,
                    Function::Floor,
                    Function::Ceil,
                    Function::Round,
                    Function::Trunc,
                    Function::Sign,
                    Function::Sqrt,
                    Function::Ln,
                    Function::Log10,
                    Function::Exp
                ],
                Type::Float
            ),
            typed(&[Function::Power, Function::Round, Function::Trunc, Function::Seconds]),
            counted(Function::Round, Type::Float),
            counted(Function::Trunc, Type::Float),
            cast(&[Type::Int, Type::Text]),
        ]
        .boxed(),
        Type::Text => prop_oneof![
            binary(&[Binary::Concat], Type::Text),
            typed(&[
                Function::Lower,
                Function::Upper,
                Function::Initcap,
                Function::Trim,
                Function::LeftTrim,
                Function::RightTrim,
                Function::Substring,
                Function::Left,
                Function::Right,
                Function::Replace,
                Function::SplitPart,
                Function::LeftPad,
                Function::RightPad,
                Function::Reverse,
                Function::Repeat
            ]),
            counted(Function::Left, Type::Text),
            counted(Function::Right, Type::Text),
            counted(Function::Repeat, Type::Text),
            counted(Function::LeftPad, Type::Text),
            prop::collection::vec(sub(Type::Text), 2..5)
                .prop_map(|all| Expr::Call(Function::ConcatWith, all)),
            (
                sub(Type::Timestamp),
                select(vec!["YYYY-MM-DD HH24:MI:SS.US", "FMMonth Dy HH12 pm", "IYYY IW DDD Q", ""])
            )
                .prop_map(|(one, pattern)| {
                    Expr::Call(Function::ToChar, vec![one, Expr::Literal(text(pattern))])
                }),
            cast(&[Type::Bool, Type::Int, Type::Float, Type::Date, Type::Timestamp]),
        ]
        .boxed(),
        Type::Date => prop_oneof![
            cast(&[Type::Text, Type::Timestamp]),
            typed(&[Function::AddDays]),
            counted(Function::AddDays, Type::Date),
        ]
        .boxed(),
        Type::Timestamp => prop_oneof![
            call(
                &[
                    Function::StartOfYear,
                    Function::StartOfQuarter,
                    Function::StartOfMonth,
                    Function::StartOfWeek,
                    Function::StartOfDay,
                    Function::StartOfHour,
                    Function::StartOfMinute,
                    Function::StartOfSecond
                ],
                Type::Timestamp
            ),
            (
                sub(Type::Timestamp),
                -30..30,
                select(vec![0i64, 1, -1, 1_500_000, 60_000_000, -3_600_000_000, 86_400_000_000])
            )
                .prop_map(|(moment, months, micros)| Expr::Shift {
                    moment: Box::new(moment),
                    months,
                    micros
                }),
            (
                select(vec![1i64, 900_000_000, 86_400_000_000]),
                sub(Type::Timestamp),
                sub(Type::Timestamp)
            )
                .prop_map(|(stride, one, origin)| {
                    Expr::Call(
                        Function::DateBin,
                        vec![Expr::Literal(Value::Int(stride)), one, origin],
                    )
                }),
            cast(&[Type::Text, Type::Date]),
        ]
        .boxed(),
    };
    prop_oneof![1 => common, 2 => own].boxed()
}

/// An expression of any type, of at most this many levels.
pub fn any_expr(depth: u32) -> impl Strategy<Value = (Type, Expr)> {
    let level = levels(depth);
    proptest::strategy::Union::new(
        TYPES.map(|of| pick(&level, of).prop_map(move |expr| (of, expr))),
    )
}
