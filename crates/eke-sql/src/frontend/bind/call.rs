//! Functions: the scalar ones of the allow-list, and the aggregates.

use sqlparser::ast;

use super::coerce::together;
use super::{Binder, Bound};
use crate::error::{line, quote};
use crate::expr::canonical::canonical;
use crate::frontend::names;
use crate::plan::aggregate::Aggregate;
use crate::{Expr, Function, SqlError, Type, Value};

/// What there is, for refusals.
const FUNCTIONS: &str = "abs, floor, ceil, round, sqrt, ln, exp, least, greatest, coalesce, nullif, lower, \
                         upper, trim, length, substring, extract, date_part and date_trunc";

impl Binder<'_> {
    pub(super) fn function(&self, call: &ast::Function) -> Result<Bound, SqlError> {
        let ast::Function {
            name,
            uses_odbc_syntax,
            parameters,
            args,
            filter,
            null_treatment,
            over,
            within_group,
        } = call;
        let written = names::simple(name).map(|ident| ident.value.to_lowercase());
        let Some(name) = written else {
            return Err(SqlError::unsupported(format!(
                "There is no function {}: there are COUNT, SUM and AVG, and {FUNCTIONS}",
                quote(name)
            )));
        };
        if over.is_some() {
            return Err(SqlError::unsupported(
                "OVER (window functions) is not supported: write GROUP BY with COUNT, SUM or AVG",
            ));
        }
        if filter.is_some() {
            return Err(SqlError::unsupported(
                "FILTER is not supported: write COUNT(CASE WHEN … THEN 1 END), or SUM(CASE WHEN … THEN x END)",
            ));
        }
        if !within_group.is_empty() {
            return Err(SqlError::unsupported(
                "WITHIN GROUP is not supported: eke answers COUNT, SUM and AVG",
            ));
        }
        if *uses_odbc_syntax
            || null_treatment.is_some()
            || *parameters != ast::FunctionArguments::None
        {
            return Err(SqlError::unsupported(format!(
                "{} is not supported: write the function with its arguments in parentheses and nothing else",
                quote(call)
            )));
        }
        clock(&name)?;
        let list = match args {
            ast::FunctionArguments::List(list) => list,
            ast::FunctionArguments::None => {
                return Err(SqlError::unsupported(format!(
                    "{} is not supported: write a constant",
                    quote(call)
                )));
            }
            ast::FunctionArguments::Subquery(_) => {
                return Err(SqlError::unsupported(
                    "Subqueries inside expressions are not supported: write constants, or a subquery in FROM",
                ));
            }
        };
        if !list.clauses.is_empty() {
            return Err(SqlError::unsupported(format!(
                "{} is not supported: nothing but arguments goes into the parentheses, no ORDER BY, LIMIT or \
                 NULL treatment",
                quote(call)
            )));
        }
        match name.as_str() {
            "count" | "sum" | "avg" => self.aggregate(&name, call, list),
            "min" | "max" | "median" | "mode" | "stddev" | "stddev_pop" | "stddev_samp"
            | "variance" | "var_pop" | "var_samp" | "array_agg" | "string_agg"
            | "percentile_cont" | "percentile_disc" | "approx_distinct" | "bool_and"
            | "bool_or" | "every" | "corr" => Err(SqlError::unsupported(format!(
                "{} is not supported: eke answers COUNT, SUM and AVG",
                name.to_uppercase()
            ))),
            _ if list.duplicate_treatment.is_some() => Err(SqlError::unsupported(format!(
                "{} is not supported: DISTINCT and ALL stand only in COUNT",
                quote(call)
            ))),
            _ => self.scalar(&name, &plain(list, call)?),
        }
    }

    fn aggregate(
        &self,
        name: &str,
        call: &ast::Function,
        list: &ast::FunctionArgumentList,
    ) -> Result<Bound, SqlError> {
        use ast::{FunctionArg as A, FunctionArgExpr as E};
        let upper = name.to_uppercase();
        let Some(aggregates) = self.aggregates else {
            let instead = if self.clause == "a subquery" {
                "aggregate in the outermost SELECT"
            } else {
                "aggregates stand in SELECT, HAVING and ORDER BY, by themselves"
            };
            return Err(SqlError::unsupported(format!(
                "{upper} cannot stand in {}: {instead}",
                self.clause
            )));
        };
        let distinct = matches!(list.duplicate_treatment, Some(ast::DuplicateTreatment::Distinct));
        let within = Binder { aggregates: None, aliases: &[], clause: "an aggregate", ..*self };
        let unit = self.rows.unit_column();
        let aggregate = match list.args.as_slice() {
            [A::Unnamed(E::Wildcard)] if name == "count" && !distinct => Aggregate::Rows,
            [A::Unnamed(E::Expr(argument))] => {
                let bound = within.bind(argument)?;
                let of = bound.of;
                let expr = canonical(bound.expr);
                if distinct {
                    if name != "count" || expr != Expr::Column(unit.to_owned()) {
                        return Err(SqlError::unsupported(format!(
                            "{upper}(DISTINCT {}) is not supported: only COUNT(DISTINCT {}), which counts units",
                            line(&argument.to_string(), 60),
                            crate::expr::display::identifier(unit)
                        )));
                    }
                    Aggregate::Units
                } else if name == "count" {
                    if expr == Expr::Literal(Value::Null) {
                        return Err(SqlError::types(
                            "COUNT of what is always NULL is always 0: write COUNT(*) to count rows",
                        ));
                    }
                    if expr.never_null(unit) { Aggregate::Rows } else { Aggregate::Present(expr) }
                } else {
                    match of {
                        Some(Type::Int | Type::Float) => {}
                        Some(of) => {
                            return Err(SqlError::types(format!(
                                "{} is {of}: {upper} needs a number",
                                quote(argument)
                            )));
                        }
                        None => {
                            return Err(SqlError::types(format!(
                                "{} is always NULL: {upper} needs a number",
                                quote(argument)
                            )));
                        }
                    }
                    let written = line(&argument.to_string(), 60);
                    if name == "sum" {
                        Aggregate::Sum { expr, written }
                    } else {
                        Aggregate::Average { expr, written }
                    }
                }
            }
            _ => {
                return Err(SqlError::unsupported(format!(
                    "{} is not supported: {upper} takes one argument{}",
                    quote(call),
                    if name == "count" { ", or COUNT(*)" } else { "" }
                )));
            }
        };
        Ok(Bound::new(Expr::Measure(aggregates.borrow_mut().index(aggregate)), Type::Float))
    }

    fn scalar(&self, name: &str, arguments: &[&ast::Expr]) -> Result<Bound, SqlError> {
        let function = match name {
            "abs" => Function::Abs,
            "floor" => Function::Floor,
            "ceil" | "ceiling" => Function::Ceil,
            "round" => Function::Round,
            "sqrt" => Function::Sqrt,
            "ln" => Function::Ln,
            "exp" => Function::Exp,
            "least" => Function::Least,
            "greatest" => Function::Greatest,
            "coalesce" => Function::Coalesce,
            "nullif" => Function::NullIf,
            "lower" => Function::Lower,
            "upper" => Function::Upper,
            "trim" | "btrim" => Function::Trim,
            "length" | "char_length" | "character_length" => Function::Length,
            "substr" | "substring" => Function::Substring,
            "date_part" | "date_trunc" => return self.dated(name, arguments),
            "extract" => {
                return Err(SqlError::unsupported(
                    "EXTRACT with a comma is not supported: write EXTRACT(MONTH FROM x)",
                ));
            }
            _ => {
                return Err(SqlError::unsupported(format!(
                    "There is no function {}: there are COUNT, SUM and AVG, and {FUNCTIONS}",
                    quote(&name)
                )));
            }
        };
        match (function, arguments) {
            (Function::Least | Function::Greatest | Function::Coalesce, [_, ..])
            | (Function::NullIf, [_, _]) => {
                let mut all = Vec::new();
                for argument in arguments {
                    all.push((self.bind(argument)?, quote(argument)));
                }
                let (all, of) = together(all)?;
                Ok(Bound { expr: Expr::Call(function, all), of })
            }
            (Function::Abs, [one]) => {
                let one = self.number(one, "ABS")?;
                Ok(Bound { expr: Expr::Call(function, vec![one.expr]), of: one.of })
            }
            (Function::Round, [one, digits]) => Err(self.round_to(one, digits)),
            (Function::Substring, [one, from]) => self.substring(one, Some(from), None),
            (Function::Substring, [one, from, count]) => {
                self.substring(one, Some(from), Some(count))
            }
            (
                Function::Floor
                | Function::Ceil
                | Function::Round
                | Function::Sqrt
                | Function::Ln
                | Function::Exp,
                [one],
            ) => self.float(function, one),
            (Function::Lower | Function::Upper | Function::Trim | Function::Length, [one]) => {
                let text = self.text(one, &name.to_uppercase())?;
                let of = if function == Function::Length { Type::Int } else { Type::Text };
                Ok(Bound::new(Expr::Call(function, vec![text]), of))
            }
            _ => Err(SqlError::types(format!(
                "{} does not take {} arguments",
                name.to_uppercase(),
                arguments.len()
            ))),
        }
    }

    /// What to write in place of ROUND with two arguments.
    fn round_to(&self, one: &ast::Expr, digits: &ast::Expr) -> SqlError {
        let is_aggregate = self.bind(one).is_ok_and(|one| matches!(one.expr, Expr::Measure(_)));
        if is_aggregate && self.clause == "SELECT" {
            return SqlError::unsupported(format!(
                "ROUND of an aggregate is not supported in SELECT: write {} by itself; it is shown \
                 in as many digits as its noise leaves",
                line(&one.to_string(), 60)
            ));
        }
        let tens = match digits.to_string().as_str() {
            "0" => return SqlError::unsupported("ROUND takes one argument here: write ROUND(x)"),
            "1" => ("10", "one digit"),
            "3" => ("1000", "three digits"),
            _ => ("100", "two digits"),
        };
        SqlError::unsupported(format!(
            "ROUND takes one argument here: write ROUND(x * {0}) / {0} for {1}",
            tens.0, tens.1
        ))
    }

    fn float(&self, function: Function, one: &ast::Expr) -> Result<Bound, SqlError> {
        let one = self
            .number(one, &function.to_string().to_uppercase())?
            .coerced(Type::Float, &quote(one))?;
        Ok(Bound::new(Expr::Call(function, vec![one.expr]), Type::Float))
    }

    pub(super) fn rounded(
        &self,
        function: Function,
        one: &ast::Expr,
        field: &ast::CeilFloorKind,
    ) -> Result<Bound, SqlError> {
        match field {
            ast::CeilFloorKind::DateTimeField(ast::DateTimeField::NoDateTime) => {
                self.float(function, one)
            }
            _ => Err(SqlError::unsupported(
                "FLOOR and CEIL take one argument here: write FLOOR(x * 100) / 100, or DATE_TRUNC for dates",
            )),
        }
    }

    /// A text.
    pub(super) fn text(&self, one: &ast::Expr, operator: &str) -> Result<Expr, SqlError> {
        let bound = self.bind(one)?;
        match bound.of {
            None | Some(Type::Text) => Ok(bound.expr),
            Some(of) => Err(SqlError::types(format!(
                "{} is {of}: {operator} needs text; write CAST({} AS TEXT)",
                quote(one),
                line(&one.to_string(), 60)
            ))),
        }
    }

    fn int(&self, one: &ast::Expr, operator: &str) -> Result<Expr, SqlError> {
        let bound = self.bind(one)?;
        match bound.of {
            None | Some(Type::Int) => Ok(bound.expr),
            Some(of) => {
                Err(SqlError::types(format!("{} is {of}: {operator} needs an int", quote(one))))
            }
        }
    }

    pub(super) fn substring(
        &self,
        one: &ast::Expr,
        from: Option<&ast::Expr>,
        count: Option<&ast::Expr>,
    ) -> Result<Bound, SqlError> {
        let mut arguments = vec![self.text(one, "SUBSTRING")?];
        arguments.push(match from {
            Some(from) => self.int(from, "SUBSTRING")?,
            None => Expr::Literal(Value::Int(1)),
        });
        if let Some(count) = count {
            arguments.push(self.int(count, "SUBSTRING")?);
        }
        Ok(Bound::new(Expr::Call(Function::Substring, arguments), Type::Text))
    }

    /// DATE_PART and DATE_TRUNC.
    fn dated(&self, name: &str, arguments: &[&ast::Expr]) -> Result<Bound, SqlError> {
        let [field, one] = arguments else {
            return Err(SqlError::types(format!(
                "{} takes two arguments: 'month' and a date or timestamp, for example",
                name.to_uppercase()
            )));
        };
        let Some(Value::Text(field)) = self.bind(field)?.constant() else {
            return Err(SqlError::unsupported(format!(
                "{} needs a constant such as 'month' as its first argument",
                name.to_uppercase()
            )));
        };
        if name == "date_part" {
            return self.part(&field, one);
        }
        let function = match field.to_lowercase().as_str() {
            "year" => Function::StartOfYear,
            "quarter" => Function::StartOfQuarter,
            "month" => Function::StartOfMonth,
            "week" => Function::StartOfWeek,
            "day" => Function::StartOfDay,
            "hour" => Function::StartOfHour,
            "minute" => Function::StartOfMinute,
            _ => {
                return Err(SqlError::unsupported(format!(
                    "There is no DATE_TRUNC to {}: there are year, quarter, month, week, day, hour and minute",
                    quote(&field)
                )));
            }
        };
        let moment = self.moment(one, "DATE_TRUNC")?;
        Ok(Bound::new(Expr::Call(function, vec![moment]), Type::Timestamp))
    }

    /// A part of a moment.
    pub(super) fn part(&self, field: &str, one: &ast::Expr) -> Result<Bound, SqlError> {
        let function = match field.to_lowercase().as_str() {
            "year" => Function::Year,
            "quarter" => Function::Quarter,
            "month" => Function::Month,
            "day" => Function::Day,
            "dow" | "dayofweek" => Function::DayOfWeek,
            "hour" => Function::Hour,
            "minute" => Function::Minute,
            "second" => Function::Second,
            _ => {
                return Err(SqlError::unsupported(format!(
                    "There is no part {} of a date: there are year, quarter, month, day, dow, hour, minute and \
                     second",
                    quote(&field)
                )));
            }
        };
        let moment = self.moment(one, "EXTRACT")?;
        Ok(Bound::new(Expr::Call(function, vec![moment]), Type::Int))
    }

    fn moment(&self, one: &ast::Expr, operator: &str) -> Result<Expr, SqlError> {
        let bound = self.bind(one)?;
        match bound.of {
            None | Some(Type::Date | Type::Timestamp) => {
                bound.coerced(Type::Timestamp, &quote(one)).map(|bound| bound.expr)
            }
            Some(of) => Err(SqlError::types(format!(
                "{} is {of}: {operator} needs a date or a timestamp",
                quote(one)
            ))),
        }
    }
}

/// Arguments that are nothing but expressions.
fn plain<'a>(
    list: &'a ast::FunctionArgumentList,
    call: &ast::Function,
) -> Result<Vec<&'a ast::Expr>, SqlError> {
    list.args
        .iter()
        .map(|argument| match argument {
            ast::FunctionArg::Unnamed(ast::FunctionArgExpr::Expr(expr)) => Ok(expr),
            _ => Err(SqlError::unsupported(format!(
                "{} is not supported: arguments have no names and no *",
                quote(call)
            ))),
        })
        .collect()
}

/// What would come out differently from one moment to the next.
fn clock(name: &str) -> Result<(), SqlError> {
    match name {
        "now"
        | "current_date"
        | "current_time"
        | "current_timestamp"
        | "localtime"
        | "localtimestamp"
        | "today"
        | "clock_timestamp"
        | "statement_timestamp"
        | "transaction_timestamp"
        | "timeofday"
        | "age" => Err(SqlError::unsupported(format!(
            "{} is not supported: the answer would change with the clock; write the date or timestamp out",
            name.to_uppercase()
        ))),
        "random" | "rand" | "uuid" | "gen_random_uuid" | "uuid_generate_v4" | "setseed" => {
            Err(SqlError::unsupported(format!(
                "{} is not supported: the answer would change every time; eke adds its own noise",
                name.to_uppercase()
            )))
        }
        _ => Ok(()),
    }
}
