//! Functions: the scalar ones of the allow-list, and the aggregates.

use sqlparser::ast;

use super::coerce::together;
use super::{Binder, Bound, no_subquery};
use crate::error::{TypeError, Unsupported, short};
use crate::expr::canonical::canonical;
use crate::expr::display::Part;
use crate::frontend::clauses::no;
use crate::frontend::names;
use crate::plan::aggregate::Aggregate;
use crate::{Expr, Function, SqlError, Type, Value};

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
            return Err(Unsupported::NoFunction { name: short(name) }.into());
        };
        if over.is_some() {
            return Err(no("OVER (window functions)", "write GROUP BY with COUNT, SUM or AVG"));
        }
        if filter.is_some() {
            return Err(no(
                "FILTER",
                "write COUNT(CASE WHEN … THEN 1 END), or SUM(CASE WHEN … THEN x END)",
            ));
        }
        if !within_group.is_empty() {
            return Err(no("WITHIN GROUP", AGGREGATES));
        }
        if *uses_odbc_syntax
            || null_treatment.is_some()
            || *parameters != ast::FunctionArguments::None
        {
            return Err(Unsupported::form(
                call,
                "write the function with its arguments in parentheses and nothing else",
            ));
        }
        clock(&name)?;
        let list = match args {
            ast::FunctionArguments::List(list) => list,
            ast::FunctionArguments::None => {
                return Err(Unsupported::form(call, "write a constant"));
            }
            ast::FunctionArguments::Subquery(_) => return Err(no_subquery()),
        };
        if !list.clauses.is_empty() {
            return Err(Unsupported::form(
                call,
                "nothing but arguments goes into the parentheses, no ORDER BY, LIMIT or NULL \
                 treatment",
            ));
        }
        match name.as_str() {
            "count" | "sum" | "avg" => self.aggregate(&name, call, list),
            "min" | "max" | "median" | "mode" | "stddev" | "stddev_pop" | "stddev_samp"
            | "variance" | "var_pop" | "var_samp" | "array_agg" | "string_agg"
            | "percentile_cont" | "percentile_disc" | "approx_distinct" | "bool_and"
            | "bool_or" | "every" | "corr" => {
                let function = name.to_uppercase();
                Err(Unsupported::Function { function, instead: AGGREGATES }.into())
            }
            _ if list.duplicate_treatment.is_some() => {
                Err(Unsupported::form(call, "DISTINCT and ALL stand only in COUNT"))
            }
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
            return Err(Unsupported::AggregateIn { function: upper, clause: self.clause }.into());
        };
        let distinct = matches!(list.duplicate_treatment, Some(ast::DuplicateTreatment::Distinct));
        let within = Binder { aggregates: None, aliases: &[], clause: "an aggregate", ..*self };
        let unit = self.rows.unit_column();
        let aggregate = match list.args.as_slice() {
            [A::Unnamed(E::Wildcard)] if name == "count" && !distinct => Aggregate::Rows,
            [A::Unnamed(E::Expr(argument))] => {
                let bound = within.bind(argument)?;
                let kind = bound.kind;
                let expr = canonical(bound.expr);
                if distinct {
                    if name != "count" || expr != Expr::Column(unit.to_owned()) {
                        return Err(Unsupported::Distinct {
                            function: upper,
                            written: short(argument),
                            unit: short(&crate::expr::display::identifier(unit)),
                        }
                        .into());
                    }
                    Aggregate::Units
                } else if name == "count" {
                    if expr == Expr::Literal(Value::Null) {
                        return Err(TypeError::CountOfNull.into());
                    }
                    if expr.never_null(unit) { Aggregate::Rows } else { Aggregate::Present(expr) }
                } else {
                    if !matches!(kind, Some(Type::Int | Type::Float)) {
                        return Err(TypeError::needs(argument, kind, &upper, "a number"));
                    }
                    let written = short(argument);
                    if name == "sum" {
                        Aggregate::Sum { expr, written }
                    } else {
                        Aggregate::Average { expr, written }
                    }
                }
            }
            _ => {
                let or = if name == "count" { ", or COUNT(*)" } else { "" };
                return Err(Unsupported::form(call, format!("{upper} takes one argument{or}")));
            }
        };
        Ok(Bound::new(Expr::Measure(aggregates.borrow_mut().index(aggregate)), Type::Float))
    }

    fn scalar(&self, name: &str, arguments: &[&ast::Expr]) -> Result<Bound, SqlError> {
        let function = match name {
            "date_part" | "date_trunc" => return self.dated(name, arguments),
            "extract" => return Err(no("EXTRACT with a comma", "write EXTRACT(MONTH FROM x)")),
            name => Function::named(name)
                .ok_or_else(|| Unsupported::NoFunction { name: short(&name) })?,
        };
        match (function, arguments) {
            (Function::Least | Function::Greatest | Function::Coalesce, [_, ..])
            | (Function::NullIf, [_, _]) => {
                let mut all = Vec::new();
                for argument in arguments {
                    all.push((self.bind(argument)?, short(argument)));
                }
                let (all, kind) = together(all)?;
                Ok(Bound { expr: Expr::Call(function, all), kind })
            }
            (Function::Abs, [one]) => {
                let one = self.number(one, "ABS")?;
                Ok(Bound { expr: Expr::Call(function, vec![one.expr]), kind: one.kind })
            }
            (Function::Round, [one, digits]) => Err(self.round_to(one, digits)),
            (Function::Substring, [one, from]) => self.substring(one, Some(from), None),
            (Function::Substring, [one, from, count]) => {
                self.substring(one, Some(from), Some(count))
            }
            (Function::Lower | Function::Upper | Function::Trim | Function::Length, [one]) => {
                let text = self.text(one, &name.to_uppercase())?;
                Ok(Bound { expr: Expr::Call(function, vec![text]), kind: function.result() })
            }
            (function, [one]) if function.result() == Some(Type::Float) => {
                self.float(function, one)
            }
            _ => {
                let function = name.to_uppercase();
                Err(TypeError::Arguments { function, given: arguments.len() }.into())
            }
        }
    }

    /// What to write in place of ROUND with two arguments.
    fn round_to(&self, one: &ast::Expr, digits: &ast::Expr) -> SqlError {
        let is_aggregate = self.bind(one).is_ok_and(|one| matches!(one.expr, Expr::Measure(_)));
        if is_aggregate && self.clause == "SELECT" {
            return Unsupported::RoundedAggregate { written: short(one) }.into();
        }
        let instead = match digits.to_string().as_str() {
            "0" => "ROUND(x)",
            "1" => "ROUND(x * 10) / 10 for one digit",
            "3" => "ROUND(x * 1000) / 1000 for three digits",
            _ => "ROUND(x * 100) / 100 for two digits",
        };
        Unsupported::Digits { function: "ROUND takes one argument", instead }.into()
    }

    fn float(&self, function: Function, one: &ast::Expr) -> Result<Bound, SqlError> {
        let one = self
            .number(one, &function.to_string().to_uppercase())?
            .coerced(Type::Float, &short(one))?;
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
            _ => Err(Unsupported::Digits {
                function: "FLOOR and CEIL take one argument",
                instead: "FLOOR(x * 100) / 100, or DATE_TRUNC for dates",
            }
            .into()),
        }
    }

    /// A text.
    pub(super) fn text(&self, one: &ast::Expr, operator: &str) -> Result<Expr, SqlError> {
        let bound = self.bind(one)?;
        match bound.kind {
            None | Some(Type::Text) => Ok(bound.expr),
            kind => {
                let instead = Some(format!("write CAST({} AS TEXT)", short(one)));
                let (written, taker) = (short(one), operator.to_owned());
                Err(TypeError::Needs { written, kind, taker, needs: "text", instead }.into())
            }
        }
    }

    fn int(&self, one: &ast::Expr, operator: &str) -> Result<Expr, SqlError> {
        let bound = self.bind(one)?;
        match bound.kind {
            None | Some(Type::Int) => Ok(bound.expr),
            kind => Err(TypeError::needs(one, kind, operator, "an int")),
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
            return Err(TypeError::TwoArguments { function: name.to_uppercase() }.into());
        };
        let Some(Value::Text(field)) = self.bind(field)?.constant() else {
            return Err(Unsupported::OpenPart { function: name.to_uppercase() }.into());
        };
        if name == "date_part" {
            return self.part(&field, one);
        }
        let function = Function::of_part(Part::Start(&field.to_lowercase()))
            .ok_or_else(|| Unsupported::Truncated { part: short(&field) })?;
        let moment = self.moment(one, "DATE_TRUNC")?;
        Ok(Bound::new(Expr::Call(function, vec![moment]), Type::Timestamp))
    }

    /// A part of a moment.
    pub(super) fn part(&self, field: &str, one: &ast::Expr) -> Result<Bound, SqlError> {
        let part = match field.to_lowercase().as_str() {
            "dayofweek" => "DOW".to_owned(),
            part => part.to_ascii_uppercase(),
        };
        let function = Function::of_part(Part::Extract(&part))
            .ok_or_else(|| Unsupported::Part { part: short(&field) })?;
        let moment = self.moment(one, "EXTRACT")?;
        Ok(Bound::new(Expr::Call(function, vec![moment]), Type::Int))
    }

    fn moment(&self, one: &ast::Expr, operator: &str) -> Result<Expr, SqlError> {
        let bound = self.bind(one)?;
        match bound.kind {
            None | Some(Type::Date | Type::Timestamp) => {
                bound.coerced(Type::Timestamp, &short(one)).map(|bound| bound.expr)
            }
            kind => Err(TypeError::needs(one, kind, operator, "a date or a timestamp")),
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
            _ => Err(Unsupported::form(call, "arguments have no names and no *")),
        })
        .collect()
}

const AGGREGATES: &str = "eke answers COUNT, SUM and AVG";

/// What would come out differently from one moment to the next.
fn clock(name: &str) -> Result<(), SqlError> {
    const CLOCKS: &str = "now current_date current_time current_timestamp localtime localtimestamp \
        today clock_timestamp statement_timestamp transaction_timestamp timeofday age";
    let instead = match name {
        "random" | "rand" | "uuid" | "gen_random_uuid" | "uuid_generate_v4" | "setseed" => {
            "the answer would change every time; eke adds its own noise"
        }
        name if CLOCKS.split_whitespace().any(|clock| clock == name) => {
            "the answer would change with the clock; write the date or timestamp out"
        }
        _ => return Ok(()),
    };
    Err(Unsupported::Function { function: name.to_uppercase(), instead }.into())
}
