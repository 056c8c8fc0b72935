//! Every operator and function, on ordinary and on special values.

use eke_engine::testing::compute;
use eke_sql::Binary::{
    Add, And, Concat, Divide, Equal, Greater, GreaterOrEqual, Less, LessOrEqual, Multiply,
    NotEqual, Or, Remainder, Subtract,
};
use eke_sql::Function::{
    Abs, Ceil, Coalesce, Exp, Floor, Greatest, Least, Length, Ln, Lower, NullIf, Round, Sqrt,
    Substring, Trim, Upper,
};
use eke_sql::Unary::{IsFalse, IsNull, IsTrue, Negate, Not};
use eke_sql::Value::{Bool, Date, Float, Int, Null, Timestamp};
use eke_sql::{Binary, Expr, Function, Type, Unary, Value};

use crate::rows::files::text;

/// The value of an expression of columns with these values, and again of constants.
fn value(expr: &dyn Fn(&[Expr]) -> Expr, values: &[Value]) -> Value {
    let constants: Vec<_> = values.iter().cloned().map(Expr::Literal).collect();
    let constant = compute(&expr(&constants), &[], &[vec![], vec![]]).unwrap().0;
    assert_eq!(constant[0], constant[1]);
    let known: Vec<_> = values.iter().filter_map(Value::kind).collect();
    let default = known.first().copied().unwrap_or(Type::Int);
    let name = |index: usize| format!("c{index}");
    let columns: Vec<_> = values
        .iter()
        .enumerate()
        .map(|(index, value)| (name(index), value.kind().unwrap_or(default)))
        .collect();
    let exprs: Vec<_> = (0..values.len()).map(|index| Expr::Column(name(index))).collect();
    let nulls = vec![Null; values.len()];
    let rows = [nulls, values.to_vec()];
    if let Ok((column, _)) = compute(&expr(&exprs), &columns, &rows) {
        assert_eq!(column[1], constant[0], "{values:?}");
    } else {
        // A NULL of a guessed type does not fit everywhere.
        assert!(values.contains(&Null), "{values:?}");
    }
    constant[0].clone()
}

fn binary(operator: Binary, a: Value, b: Value) -> Value {
    let expr =
        move |e: &[Expr]| Expr::Binary(operator, Box::new(e[0].clone()), Box::new(e[1].clone()));
    value(&expr, &[a, b])
}

fn unary(operator: Unary, a: Value) -> Value {
    value(&move |e: &[Expr]| Expr::Unary(operator, Box::new(e[0].clone())), &[a])
}

fn call(function: Function, arguments: &[Value]) -> Value {
    value(&move |e: &[Expr]| Expr::Call(function, e.to_vec()), arguments)
}

fn cast(a: Value, to: Type) -> Value {
    value(&move |e: &[Expr]| Expr::Cast(Box::new(e[0].clone()), to), &[a])
}

const INF: f64 = f64::INFINITY;

#[test]
fn arithmetic_is_null_where_it_has_no_result() {
    let cases = [
        (Add, Int(1), Int(2), Int(3)),
        (Add, Int(i64::MAX), Int(1), Null),
        (Add, Int(1), Null, Null),
        (Subtract, Int(i64::MIN), Int(1), Null),
        (Multiply, Int(i64::MIN), Int(-1), Null),
        (Multiply, Int(1 << 32), Int(1 << 31), Null),
        (Divide, Int(-7), Int(2), Int(-3)),
        (Divide, Int(1), Int(0), Null),
        (Divide, Int(i64::MIN), Int(-1), Null),
        (Remainder, Int(-7), Int(2), Int(-1)),
        (Remainder, Int(7), Int(-2), Int(1)),
        (Remainder, Int(7), Int(0), Null),
        (Remainder, Int(i64::MIN), Int(-1), Int(0)),
        (Add, Float(0.5), Float(0.25), Float(0.75)),
        (Add, Float(1e308), Float(1e308), Float(INF)),
        (Add, Float(INF), Float(-INF), Null),
        (Subtract, Float(INF), Float(INF), Null),
        (Multiply, Float(INF), Float(0.0), Null),
        (Multiply, Float(-1.0), Float(0.0), Float(0.0)),
        (Divide, Float(1.0), Float(0.0), Null),
        (Divide, Float(0.0), Float(0.0), Null),
        (Divide, Float(INF), Float(INF), Null),
        (Divide, Float(-1.0), Float(INF), Float(0.0)),
        (Divide, Float(1.0), Float(-4.0), Float(-0.25)),
        (Remainder, Float(-7.5), Float(2.0), Float(-1.5)),
        (Remainder, Float(INF), Float(2.0), Null),
        (Remainder, Float(2.0), Float(0.0), Null),
        (Remainder, Float(2.0), Float(INF), Float(2.0)),
        (Remainder, Float(-2.0), Float(2.0), Float(0.0)),
    ];
    for (operator, a, b, expected) in cases {
        let found = binary(operator, a.clone(), b.clone());
        assert_eq!(found, expected, "{a:?} {operator:?} {b:?}");
    }
    let cases = [(Int(5), Int(-5)), (Int(i64::MIN), Null), (Float(0.0), Float(0.0)), (Null, Null)];
    for (a, expected) in cases {
        assert_eq!(unary(Negate, a), expected);
    }
}

#[test]
fn comparisons_are_by_value_and_null_if_a_side_is() {
    let pairs = [
        (Int(i64::MIN), Int(i64::MAX)),
        (Float(-INF), Float(-1e308)),
        (Float(0.0), Float(5e-324)),
        (Float(1.0), Float(INF)),
        (text(""), text("a")),
        (text("Z"), text("a")),
        (text("a"), text("é")),
        (text("a long text, longer than a view"), text("a long text, longer than another")),
        (Bool(false), Bool(true)),
        (Date(i32::MIN), Date(0)),
        (Timestamp(-1), Timestamp(0)),
    ];
    for (a, b) in pairs {
        let all = [
            (Equal, false, true, false),
            (NotEqual, true, false, true),
            (Less, true, false, false),
            (LessOrEqual, true, true, false),
            (Greater, false, false, true),
            (GreaterOrEqual, false, true, true),
        ];
        for (operator, less, same, more) in all {
            assert_eq!(
                binary(operator, a.clone(), b.clone()),
                Bool(less),
                "{a:?} {operator:?} {b:?}"
            );
            assert_eq!(binary(operator, a.clone(), a.clone()), Bool(same), "{a:?} {operator:?}");
            assert_eq!(
                binary(operator, b.clone(), a.clone()),
                Bool(more),
                "{b:?} {operator:?} {a:?}"
            );
            assert_eq!(binary(operator, a.clone(), Null), Null);
            assert_eq!(binary(operator, Null, Null), Null);
        }
    }
    // There is one zero, and NaN is NULL.
    assert_eq!(binary(Equal, Float(-0.0), Float(0.0)), Bool(true));
    assert_eq!(unary(IsNull, Float(f64::NAN)), Bool(true));
}

#[test]
fn logic_has_three_values() {
    let (t, f, n) = (Bool(true), Bool(false), Null);
    let cases = [
        (&t, &t, &t, &t),
        (&t, &f, &f, &t),
        (&t, &n, &n, &t),
        (&f, &f, &f, &f),
        (&f, &n, &f, &n),
        (&n, &n, &n, &n),
    ];
    for (a, b, and, or) in cases {
        for (a, b) in [(a, b), (b, a)] {
            assert_eq!(binary(And, a.clone(), b.clone()), *and, "{a:?} and {b:?}");
            assert_eq!(binary(Or, a.clone(), b.clone()), *or, "{a:?} or {b:?}");
        }
    }
    for (a, not, is_true, is_false, is_null) in
        [(&t, &f, true, false, false), (&f, &t, false, true, false), (&n, &n, false, false, true)]
    {
        assert_eq!(unary(Not, a.clone()), *not);
        assert_eq!(unary(IsTrue, a.clone()), Bool(is_true));
        assert_eq!(unary(IsFalse, a.clone()), Bool(is_false));
        assert_eq!(unary(IsNull, a.clone()), Bool(is_null));
    }
    let among = |a: Value, values: &[Value]| {
        value(&|e: &[Expr]| Expr::In(Box::new(e[0].clone()), values.to_vec()), &[a])
    };
    assert_eq!(among(Int(1), &[Int(1), Null]), Bool(true));
    assert_eq!(among(Int(2), &[Int(1), Null]), Null);
    assert_eq!(among(Int(2), &[Int(1)]), Bool(false));
    assert_eq!(among(Null, &[Int(1)]), Null);
    assert_eq!(among(Float(-0.0), &[Float(0.0)]), Bool(true));
    assert_eq!(among(text("b"), &[text("a"), text("b")]), Bool(true));
    assert_eq!(among(Date(3), &[Date(4)]), Bool(false));
}

#[test]
fn casts_give_null_where_there_is_no_such_value() {
    let cases = [
        (Float(2.5), Type::Int, Int(3)),
        (Float(-2.5), Type::Int, Int(-3)),
        (Float(9.3e18), Type::Int, Null),
        (Float(INF), Type::Int, Null),
        (Int(i64::MAX), Type::Float, Float(9_223_372_036_854_775_807.0)),
        (text(" 12 "), Type::Int, Int(12)),
        (text("12.5"), Type::Int, Null),
        (text("12.5"), Type::Float, Float(12.5)),
        (text("NaN"), Type::Float, Null),
        (text("inf"), Type::Float, Null),
        (text("-0"), Type::Float, Float(0.0)),
        (text(""), Type::Float, Null),
        (text("T"), Type::Bool, Bool(true)),
        (text("maybe"), Type::Bool, Null),
        (Bool(true), Type::Int, Int(1)),
        (Bool(false), Type::Text, text("false")),
        (Int(-5), Type::Text, text("-5")),
        (Float(0.1), Type::Text, text("0.1")),
        (Float(1e21), Type::Text, text("1000000000000000000000")),
        (Float(-INF), Type::Text, text("-inf")),
        (Date(0), Type::Text, text("1970-01-01")),
        (Date(i32::MAX), Type::Text, Null),
        (Date(-1), Type::Timestamp, Timestamp(-86_400_000_000)),
        (Date(i32::MAX), Type::Timestamp, Null),
        (Timestamp(-1), Type::Date, Date(-1)),
        (Timestamp(i64::MIN), Type::Date, Date(-106_751_992)),
        (Timestamp(1), Type::Text, text("1970-01-01 00:00:00.000001")),
        (text("1970-01-02"), Type::Date, Date(1)),
        (text("1970-01-32"), Type::Date, Null),
        (text("1970-01-01 00:00:01.5"), Type::Timestamp, Timestamp(1_500_000)),
        (Null, Type::Float, Null),
        (Int(1), Type::Date, Null),
    ];
    for (a, to, expected) in cases {
        assert_eq!(cast(a.clone(), to), expected, "{a:?} as {to}");
    }
}

#[test]
fn functions_are_total() {
    let cases: Vec<(Function, Vec<Value>, Value)> = vec![
        (Abs, vec![Int(-5)], Int(5)),
        (Abs, vec![Int(i64::MIN)], Null),
        (Abs, vec![Float(-INF)], Float(INF)),
        (Floor, vec![Float(-0.5)], Float(-1.0)),
        (Ceil, vec![Float(-0.5)], Float(0.0)),
        (Round, vec![Float(-0.5)], Float(-1.0)),
        (Round, vec![Float(0.49)], Float(0.0)),
        (Round, vec![Float(INF)], Float(INF)),
        (Sqrt, vec![Float(4.0)], Float(2.0)),
        (Sqrt, vec![Float(-4.0)], Null),
        (Ln, vec![Float(1.0)], Float(0.0)),
        (Ln, vec![Float(0.0)], Null),
        (Ln, vec![Float(-1.0)], Null),
        (Ln, vec![Float(INF)], Float(INF)),
        (Exp, vec![Float(0.0)], Float(1.0)),
        (Exp, vec![Float(1e9)], Float(INF)),
        (Exp, vec![Float(-INF)], Float(0.0)),
        (Least, vec![Null, Int(3), Int(2)], Int(2)),
        (Greatest, vec![Int(3), Null, Int(2)], Int(3)),
        (Greatest, vec![text("a"), text("b"), Null], text("b")),
        (Least, vec![Null, Null], Null),
        (Coalesce, vec![Null, Float(1.0), Float(2.0)], Float(1.0)),
        (Coalesce, vec![Null], Null),
        (NullIf, vec![Int(1), Int(1)], Null),
        (NullIf, vec![Int(1), Int(2)], Int(1)),
        (NullIf, vec![Int(1), Null], Int(1)),
        (Lower, vec![text("ÀÉß")], text("àéß")),
        (Upper, vec![text("àéß")], text("ÀÉSS")),
        (Trim, vec![text("  a b\t ")], text("a b\t")),
        (Length, vec![text("né")], Int(2)),
        (Length, vec![Null], Null),
        (Substring, vec![text("héllo"), Int(2)], text("éllo")),
        (Substring, vec![text("héllo"), Int(2), Int(2)], text("él")),
        (Substring, vec![text("héllo"), Int(0), Int(2)], text("h")),
        (Substring, vec![text("héllo"), Int(-5)], text("héllo")),
        (Substring, vec![text("héllo"), Int(9)], text("")),
        (Substring, vec![text("héllo"), Int(1), Int(-1)], Null),
        (Substring, vec![text("héllo"), Int(i64::MIN), Int(i64::MAX)], text("")),
        (Substring, vec![text("héllo"), Int(i64::MAX), Int(i64::MAX)], text("")),
        (Substring, vec![text("héllo"), Int(i64::MIN)], text("héllo")),
        (Function::Left, vec![text("héllo"), Int(2)], text("hé")),
        (Function::Right, vec![text("héllo"), Int(i64::MIN)], text("")),
        (Function::Repeat, vec![text("é"), Int(i64::MAX)], text(&"é".repeat(2_048))),
        (Function::Replace, vec![text("aXbX"), text("X"), text("")], text("ab")),
        (Function::SplitPart, vec![text("a,b"), text(","), Int(0)], Null),
        (Function::SplitPart, vec![text("a,b"), text(","), Int(-1)], text("b")),
        (Function::Position, vec![text("éa"), text("a")], Int(2)),
        (Function::StartsWith, vec![text("éa"), text("é")], Bool(true)),
        (Function::LeftPad, vec![text("a"), Int(3), text("xy")], text("xya")),
        (Function::RightPad, vec![text("a"), Int(3)], text("a  ")),
        (Function::ConcatWith, vec![text(","), text("a"), Null, text("b")], text("a,b")),
        (Function::ConcatWith, vec![Null, text("a")], Null),
        (Function::Trim, vec![text("xax"), text("x")], text("a")),
        (Function::Power, vec![Float(0.0), Float(-1.0)], Null),
        (Round, vec![Float(1.005), Int(2)], Float(1.01)),
        (Function::Trunc, vec![Float(-1.9), Null], Null),
        (Function::WidthBucket, vec![Float(3.0), Float(0.0), Float(4.0), Int(4)], Int(4)),
        (Function::WidthBucket, vec![Float(3.0), Float(0.0), Float(0.0), Int(4)], Null),
        (Function::AddDays, vec![Date(i32::MAX), Int(1)], Null),
        (Function::DaysBetween, vec![Date(i32::MAX), Date(i32::MIN)], Int(u32::MAX.into())),
        (Function::Seconds, vec![Timestamp(1_500_000)], Float(1.5)),
        (Function::Seconds, vec![Timestamp(0), Timestamp(500_000)], Float(-0.5)),
        (Function::DateBin, vec![Int(10), Timestamp(-1), Timestamp(0)], Timestamp(-10)),
        (Function::DateBin, vec![Int(0), Timestamp(-1), Timestamp(0)], Null),
        (Function::Year, vec![Timestamp(-1)], Int(1969)),
        (Function::Hour, vec![Timestamp(i64::MAX)], Null),
        (Function::StartOfDay, vec![Timestamp(-1)], Timestamp(-86_400_000_000)),
        (Function::StartOfWeek, vec![Timestamp(i64::MIN)], Null),
    ];
    for (function, arguments, expected) in cases {
        assert_eq!(call(function, &arguments), expected, "{function:?} {arguments:?}");
    }
    assert_eq!(binary(Concat, text("a"), text("é")), text("aé"));
    assert_eq!(binary(Concat, text("a"), Null), Null);
}

#[test]
fn conditions_take_the_first_that_is_true() {
    let case = |when: Value, then: Value, otherwise: Option<Value>| {
        let otherwise = otherwise.map(|value| Box::new(Expr::Literal(value)));
        let expr = |e: &[Expr]| Expr::Case {
            branches: vec![
                (e[0].clone(), Expr::Literal(then.clone())),
                (Expr::Unary(IsNull, Box::new(e[0].clone())), Expr::Literal(text("null"))),
            ],
            otherwise: otherwise.clone(),
        };
        value(&expr, &[when])
    };
    assert_eq!(case(Bool(true), text("yes"), None), text("yes"));
    assert_eq!(case(Bool(true), Null, Some(text("no"))), Null);
    assert_eq!(case(Bool(false), text("yes"), Some(text("no"))), text("no"));
    assert_eq!(case(Bool(false), text("yes"), None), Null);
    let by_condition = |when: Expr| Expr::Case {
        branches: vec![(when, Expr::Literal(Int(1)))],
        otherwise: Some(Box::new(Expr::Literal(Int(2)))),
    };
    let null = Expr::Cast(Box::new(Expr::Literal(Null)), Type::Bool);
    assert_eq!(compute(&by_condition(null), &[], &[vec![]]).unwrap().0, [Int(2)]);
}

#[test]
fn every_function_takes_every_value_or_is_refused_before() {
    let values = [
        Null,
        Bool(true),
        Int(i64::MIN),
        Int(-1),
        Int(i64::MAX),
        Float(-INF),
        Float(5e-324),
        Float(f64::NAN),
        text(""),
        text("né"),
        Date(i32::MIN),
        Date(i32::MAX),
        Timestamp(i64::MIN),
        Timestamp(i64::MAX),
    ];
    let functions = [
        Abs,
        Floor,
        Ceil,
        Round,
        Sqrt,
        Ln,
        Exp,
        Least,
        Greatest,
        Coalesce,
        NullIf,
        Lower,
        Upper,
        Trim,
        Length,
        Substring,
        Function::Year,
        Function::Quarter,
        Function::Month,
        Function::Day,
        Function::DayOfWeek,
        Function::Hour,
        Function::Minute,
        Function::Second,
        Function::StartOfYear,
        Function::StartOfQuarter,
        Function::StartOfMonth,
        Function::StartOfWeek,
        Function::StartOfDay,
        Function::StartOfHour,
        Function::StartOfMinute,
    ];
    let operators = [
        Add,
        Subtract,
        Multiply,
        Divide,
        Remainder,
        Equal,
        NotEqual,
        Less,
        LessOrEqual,
        Greater,
        GreaterOrEqual,
        And,
        Or,
        Concat,
    ];
    let types = [Type::Bool, Type::Int, Type::Float, Type::Text, Type::Date, Type::Timestamp];
    let literal = |value: &Value| Expr::Literal(value.clone());
    let (mut computed, mut refused) = (0, 0);
    let mut check = |expr: &Expr| match compute(expr, &[], &[vec![]]) {
        Ok((values, kind)) => {
            computed += 1;
            assert!(values[0].kind().is_none() || values[0].kind() == kind, "{expr:?}");
            let whole = !matches!(values[0], Float(v) if v.is_nan() || v.to_bits() == 1 << 63);
            assert!(whole, "{expr:?}");
        }
        Err(_) => refused += 1,
    };
    for a in &values {
        for function in functions {
            check(&Expr::Call(function, vec![literal(a)]));
            check(&Expr::Call(function, vec![]));
            for b in &values {
                check(&Expr::Call(function, vec![literal(a), literal(b)]));
                check(&Expr::Call(function, vec![literal(a), literal(b), literal(b)]));
            }
        }
        for operator in operators {
            for b in &values {
                check(&Expr::Binary(operator, Box::new(literal(a)), Box::new(literal(b))));
            }
        }
        for to in types {
            check(&Expr::Cast(Box::new(literal(a)), to));
        }
        for operator in [Not, Negate, IsNull, IsTrue, IsFalse] {
            check(&Expr::Unary(operator, Box::new(literal(a))));
        }
        check(&Expr::In(Box::new(literal(a)), values.to_vec()));
        check(&Expr::Like {
            text: Box::new(literal(a)),
            pattern: "%".to_owned(),
            ignore_case: true,
        });
    }
    assert!(computed > 1_000 && refused > 1_000, "{computed} {refused}");
}
