//! Functions: the scalar ones of the allow-list, and the aggregates.

use sqlparser::ast;

use super::coerce::together;
use super::quantile::is_quantile;
use super::{Binder, Bound, cast_to, no_subquery};
use crate::error::{TypeError, Unsupported, short};
use crate::expr::canonical::canonical;
use crate::frontend::clauses::no;
use crate::frontend::limits;
use crate::frontend::names;
use crate::frontend::rewrite::TOTAL_OF_ALL;
use crate::frontend::settings::PER_GROUP;
use crate::plan::aggregate::Aggregate;
use crate::{Binary, Expr, Function, SqlError, Type, Unary, Value};

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
        if let Some(over) = over {
            if name == TOTAL_OF_ALL {
                let total = self.total("sum", call, over)?;
                self.aggregates.iter().for_each(|all| all.borrow_mut().take_all());
                return Ok(total);
            }
            return self.total(&name, call, over);
        }
        if !within_group.is_empty() && !is_quantile(&name) {
            return Err(no("WITHIN GROUP", "it stands after PERCENTILE_CONT and PERCENTILE_DISC"));
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
        let named = list.args.iter().find_map(|arg| match arg {
            ast::FunctionArg::Named { name, .. } => Some(name.value.to_lowercase()),
            _ => None,
        });
        if let Some(named) = named.filter(|name| name.starts_with("contribution_bounds_per_")) {
            return Err(Unsupported::form(&short(&named), PER_GROUP));
        }
        match name.as_str() {
            "min" | "max" | "bool_and" | "bool_or" | "every" if self.totals.is_some() => {
                self.aggregate(&name, call, list, filter.as_deref())
            }
            "count" | "sum" | "avg" => self.aggregate(&name, call, list, filter.as_deref()),
            // Noise is added anyhow.
            "approx_count_distinct" | "approx_distinct" if list.duplicate_treatment.is_none() => {
                let mut list = list.clone();
                list.duplicate_treatment = Some(ast::DuplicateTreatment::Distinct);
                self.aggregate("count", call, &list, filter.as_deref())
            }
            "countif" | "count_if" | "sumif" | "sum_if" | "avgif" | "avg_if" => {
                self.aggregate_if(&name, call, list, filter.as_deref())
            }
            "variance" | "var_samp" | "var_pop" | "stddev" | "stddev_samp" | "stddev_pop"
            | "covar_pop" | "covar_samp" | "corr" => {
                self.spread(&name, call, list, filter.as_deref())
            }
            name if is_quantile(name) => self.quantile(name, call, list),
            _ if filter.is_some() => {
                Err(Unsupported::form(call, "FILTER follows aggregates alone"))
            }
            "approx_quantiles" | "approx_top_k" => {
                let function = name.to_uppercase();
                Err(Unsupported::Function { function, instead: QUANTILES }.into())
            }
            "mode" | "array_agg" | "string_agg" | "bool_and" | "bool_or" | "every" => {
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
        filter: Option<&ast::Expr>,
    ) -> Result<Bound, SqlError> {
        use ast::{FunctionArg as A, FunctionArgExpr as E};
        let upper = name.to_uppercase();
        if let Some(totals) = self.totals {
            return self.unit_total(totals, name, call, list, filter);
        }
        let Some(aggregates) = self.aggregates else {
            return Err(Unsupported::AggregateIn { function: upper, clause: self.clause }.into());
        };
        let distinct = matches!(list.duplicate_treatment, Some(ast::DuplicateTreatment::Distinct));
        let within = Binder { aggregates: None, aliases: &[], clause: "an aggregate", ..*self };
        let unit = self.rows.unit_column();
        let filter = filter.map(|filter| within.condition(filter)).transpose()?;
        // What a condition leaves out is NULL, and counts nowhere.
        let kept = |expr: Expr| match &filter {
            Some(filter) => Expr::Case { branches: vec![(filter.clone(), expr)], otherwise: None },
            None => expr,
        };
        let aggregate = match list.args.as_slice() {
            [A::Unnamed(E::Wildcard)] if name == "count" && !distinct => {
                match canonical(limits::checked(kept(Expr::Literal(Value::Int(1))))?) {
                    Expr::Literal(Value::Null) => return Err(TypeError::CountOfNull.into()),
                    expr if expr.never_null(unit) => Aggregate::Rows,
                    expr => Aggregate::Present(expr),
                }
            }
            // The parts of a unit, as a row of them or one after the other.
            arguments
                if name == "count"
                    && distinct
                    && filter.is_none()
                    && within.are_parts(arguments)? =>
            {
                Aggregate::Units
            }
            [A::Unnamed(E::Expr(argument))] => {
                let bound = within.bind(argument)?;
                let kind = bound.kind;
                let expr = canonical(limits::checked(kept(bound.expr))?);
                if distinct {
                    if name != "count" {
                        let (function, written) = (upper, short(argument));
                        return Err(Unsupported::Distinct { function, written }.into());
                    }
                    match kind {
                        None => return Err(TypeError::CountOfNull.into()),
                        _ if expr == Expr::Literal(Value::Null) => {
                            return Err(TypeError::CountOfNull.into());
                        }
                        _ if !unit.is_empty() && expr == Expr::Column(unit.to_owned()) => {
                            Aggregate::Units
                        }
                        Some(kind) => Aggregate::Distinct { expr, kind },
                    }
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
                        let counted = expr.clone();
                        Aggregate::Average { expr, counted, written }
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

    /// Whether arguments are the parts of the unit, all of them and nothing else.
    fn are_parts(&self, arguments: &[ast::FunctionArg]) -> Result<bool, SqlError> {
        use ast::{FunctionArg as A, FunctionArgExpr as E};
        if self.rows.parts.is_empty() {
            return Ok(false);
        }
        let written: Option<Vec<&ast::Expr>> = match arguments {
            [A::Unnamed(E::Expr(ast::Expr::Tuple(all)))] => Some(all.iter().collect()),
            all => all
                .iter()
                .map(|one| match one {
                    A::Unnamed(E::Expr(one)) => Some(one),
                    _ => None,
                })
                .collect(),
        };
        let Some(written) = written.filter(|all| all.len() == self.rows.parts.all().len()) else {
            return Ok(false);
        };
        let bound = written.into_iter().map(|one| Ok(self.bind(one)?.canonical()?.expr));
        Ok(self.rows.parts.are(&bound.collect::<Result<Vec<_>, SqlError>>()?))
    }

    /// `SUM(COUNT(*)) OVER ()`: an aggregate over all groups together. There is no other window.
    fn total(
        &self,
        name: &str,
        call: &ast::Function,
        over: &ast::WindowType,
    ) -> Result<Bound, SqlError> {
        use ast::{FunctionArg as A, FunctionArgExpr as E};
        let window = || no("OVER (window functions)", "write GROUP BY with COUNT, SUM or AVG");
        let ast::WindowType::WindowSpec(spec) = over else { return Err(window()) };
        let is_whole = spec.window_name.is_none()
            && spec.partition_by.is_empty()
            && spec.order_by.is_empty()
            && spec.window_frame.is_none();
        let ast::FunctionArguments::List(list) = &call.args else { return Err(window()) };
        let ([A::Unnamed(E::Expr(argument))], true, "sum") = (&*list.args, is_whole, name) else {
            return Err(window());
        };
        let is_plain = call.filter.is_none()
            && call.null_treatment.is_none()
            && call.within_group.is_empty()
            && list.duplicate_treatment.is_none()
            && list.clauses.is_empty();
        let (Some(aggregates), "SELECT", true) = (self.aggregates, self.clause, is_plain) else {
            return Err(window());
        };
        match self.bind(argument)?.expr {
            Expr::Measure(of) if aggregates.borrow().is_sum(of) => {
                let total = aggregates.borrow_mut().index(Aggregate::Total(of));
                Ok(Bound::new(Expr::Measure(total), Type::Float))
            }
            _ => Err(Unsupported::form(
                call,
                "OVER () takes the sum of a COUNT or SUM over all groups, such as \
                 SUM(COUNT(*)) OVER ()",
            )),
        }
    }

    /// COUNTIF and its kin: an aggregate with its condition as the last argument.
    fn aggregate_if(
        &self,
        name: &str,
        call: &ast::Function,
        list: &ast::FunctionArgumentList,
        filter: Option<&ast::Expr>,
    ) -> Result<Bound, SqlError> {
        use ast::{FunctionArg as A, FunctionArgExpr as E};
        let mut list = list.clone();
        let condition = match list.args.pop() {
            Some(A::Unnamed(E::Expr(condition))) if filter.is_none() => condition,
            _ => return Err(Unsupported::form(call, "write COUNT(*) FILTER (WHERE …)")),
        };
        let plain = match &name[..3] {
            "sum" => "sum",
            "avg" => "avg",
            _ => "count",
        };
        if plain == "count" && list.args.is_empty() && list.duplicate_treatment.is_none() {
            list.args.push(A::Unnamed(E::Wildcard));
        } else if plain == "count" || list.args.len() != 1 {
            let instead = "write COUNTIF(condition) or SUMIF(x, condition)";
            return Err(Unsupported::form(call, instead));
        }
        self.aggregate(plain, call, &list, Some(&condition))
    }

    fn scalar(&self, name: &str, arguments: &[&ast::Expr]) -> Result<Bound, SqlError> {
        let function = match (name, arguments) {
            ("date_part" | "date_trunc", _) => return self.dated(name, arguments),
            ("date_diff" | "datediff", _) => return self.date_diff(name, arguments),
            ("safe_divide", [one, by]) => return self.ratio(one, by),
            ("date_add" | "date_sub", _) => return self.date_add(name, arguments),
            ("date_bin", _) => return self.date_bin(arguments),
            ("to_char", _) => return self.to_char(arguments),
            ("regexp_like" | "regexp_contains", _) => return self.regexp_like(name, arguments),
            ("extract", _) => {
                return Err(no("EXTRACT with a comma", "write EXTRACT(MONTH FROM x)"));
            }
            (
                "year" | "quarter" | "month" | "week" | "day" | "hour" | "minute" | "second"
                | "dayofyear" | "isoyear" | "isodow",
                [one],
            ) => return self.part(name, one),
            ("date", [one]) => return cast_to(self.bind(one)?, Type::Date, &short(*one)),
            ("mod", [one, by]) => return self.modulo(one, by),
            ("log", [one]) => return self.typed(Function::Log10, name, &[*one]),
            ("log", [base, one]) => {
                let [one, base] = [one, base]
                    .map(|one| self.typed(Function::Ln, name, &[*one]).map(|bound| bound.expr));
                let (one, base) = (Box::new(one?), Box::new(base?));
                return Ok(Bound::new(Expr::Binary(Binary::Divide, one, base), Type::Float));
            }
            ("if" | "iif", [condition, one, other]) => {
                return self.chosen(condition, one, Some(other));
            }
            ("if" | "iif", [condition, one]) => return self.chosen(condition, one, None),
            ("nvl" | "ifnull", [_, _]) => Function::Coalesce,
            ("concat", [_, ..]) => return self.concat(arguments),
            (super::BETWEEN_SYMMETRIC, [one, low, high]) => {
                return self.symmetric(one, low, high);
            }
            (name, _) => match Function::named(name) {
                Some(function) => function,
                None => return Err(unknown(name)),
            },
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
            (Function::ConcatWith, [between, _, ..]) => {
                let mut all = vec![self.text(between, "CONCAT_WS")?];
                for argument in &arguments[1..] {
                    all.push(self.written_out(argument)?);
                }
                Ok(Bound::new(Expr::Call(function, all), Type::Text))
            }
            _ => self.typed(function, name, arguments),
        }
    }

    /// SAFE_DIVIDE: a quotient that is no whole number, NULL where the divisor is zero.
    fn ratio(&self, one: &ast::Expr, by: &ast::Expr) -> Result<Bound, SqlError> {
        let float = |one: &ast::Expr| {
            self.number(one, "SAFE_DIVIDE")?.coerced(Type::Float, &short(one)).map(|one| one.expr)
        };
        let (one, by) = (Box::new(float(one)?), Box::new(float(by)?));
        Ok(Bound::new(Expr::Binary(Binary::Divide, one, by), Type::Float))
    }

    /// A function whose arguments have types of their own.
    pub(super) fn typed(
        &self,
        function: Function,
        name: &str,
        arguments: &[&ast::Expr],
    ) -> Result<Bound, SqlError> {
        let upper = name.to_uppercase();
        let wrong = || {
            let instead = usage(&upper, function);
            TypeError::Arguments { function: upper.clone(), given: arguments.len(), instead }
        };
        let (types, least) = function.takes().ok_or_else(wrong)?;
        if !(least..=types.len()).contains(&arguments.len()) {
            return Err(wrong().into());
        }
        let mut all = Vec::new();
        for (argument, kind) in arguments.iter().zip(types) {
            all.push(match kind {
                Type::Text => self.text(argument, &upper)?,
                Type::Int => self.int(argument, &upper)?,
                Type::Float => {
                    self.number(argument, &upper)?.coerced(Type::Float, &short(argument))?.expr
                }
                _ => self.moment(argument, &upper)?,
            });
        }
        Ok(Bound { expr: Expr::Call(function, all), kind: function.result() })
    }

    /// IF.
    fn chosen(
        &self,
        condition: &ast::Expr,
        one: &ast::Expr,
        other: Option<&&ast::Expr>,
    ) -> Result<Bound, SqlError> {
        let condition = self.condition(condition)?;
        let mut results = vec![(self.bind(one)?, short(one))];
        if let Some(other) = other {
            results.push((self.bind(other)?, short(*other)));
        }
        let (mut results, kind) = together(results)?;
        let otherwise = results.split_off(1).pop().map(Box::new);
        let branches = results.into_iter().map(|result| (condition.clone(), result)).collect();
        Ok(Bound { expr: Expr::Case { branches, otherwise }, kind })
    }

    /// CONCAT: the texts that are not NULL, one after the other.
    fn concat(&self, arguments: &[&ast::Expr]) -> Result<Bound, SqlError> {
        let mut all = vec![Expr::Literal(Value::Text(String::new()))];
        for argument in arguments {
            all.push(self.written_out(argument)?);
        }
        Ok(Bound::new(Expr::Call(Function::ConcatWith, all), Type::Text))
    }

    /// Anything as CONCAT writes it: truths are `t` and `f` there.
    fn written_out(&self, one: &ast::Expr) -> Result<Expr, SqlError> {
        let bound = self.bind(one)?;
        if bound.kind != Some(Type::Bool) {
            return cast_to(bound, Type::Text, &short(one)).map(|bound| bound.expr);
        }
        let letter = |letter: &str| Expr::Literal(Value::Text(letter.to_owned()));
        let no = Expr::Unary(Unary::Not, Box::new(bound.expr.clone()));
        let branches = vec![(bound.expr, letter("t")), (no, letter("f"))];
        limits::checked(Expr::Case { branches, otherwise: None })
    }

    pub(super) fn rounded(
        &self,
        function: Function,
        one: &ast::Expr,
        field: &ast::CeilFloorKind,
    ) -> Result<Bound, SqlError> {
        match field {
            ast::CeilFloorKind::DateTimeField(ast::DateTimeField::NoDateTime) => {
                self.typed(function, &function.to_string(), &[one])
            }
            _ => Err(no(
                "FLOOR or CEIL with two arguments",
                "write FLOOR(x * 100) / 100, or DATE_TRUNC for dates",
            )),
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
        if let (Some(from), None) = (from, count)
            && self.bind(from)?.kind == Some(Type::Text)
        {
            return Err(no(
                "SUBSTRING with a regular expression",
                "write SUBSTRING(x FROM 1 FOR 3), or SPLIT_PART(x, ',', 1)",
            ));
        }
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
}

/// How a function is written.
fn usage(name: &str, function: Function) -> String {
    match function {
        Function::Least | Function::Greatest | Function::Coalesce | Function::NullIf => {
            format!("{name}(x, y)")
        }
        Function::ConcatWith => format!("{name}(',', x, y)"),
        function => match function.takes() {
            None => format!("{name}(x)"),
            Some((types, least)) => {
                let with = |count: usize| {
                    let types = types.iter().take(count).map(ToString::to_string);
                    format!("{name}({})", types.collect::<Vec<_>>().join(", "))
                };
                let all: Vec<String> = (least..=types.len()).map(with).collect();
                all.join(" or ")
            }
        },
    }
}

/// Arguments that are nothing but expressions.
pub(super) fn plain<'a>(
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

/// What to write in place of a function that there is not.
fn unknown(name: &str) -> SqlError {
    let instead = match name {
        "timestampdiff" | "timestamp_diff" | "age" | "months_between" => {
            "write a - b for the days between two dates, EXTRACT(EPOCH FROM a - b) for the seconds \
             between two timestamps"
        }
        "dateadd" | "timestampadd" | "add_months" | "adddate" | "subdate" => {
            "write x + INTERVAL '3 days'"
        }
        "dayname" => "write TO_CHAR(x, 'FMDay')",
        "monthname" => "write TO_CHAR(x, 'FMMonth')",
        "strftime" | "date_format" | "format_date" | "format_timestamp" => {
            "write TO_CHAR(x, 'YYYY-MM')"
        }
        "weekday" | "dayofweek" => "write EXTRACT(DOW FROM x), from 0 for Sunday, or ISODOW",
        "to_date" | "to_timestamp" | "parse_date" | "strptime" | "str_to_date" => {
            "write CAST(x AS DATE) or CAST(x AS TIMESTAMP) for texts such as '2024-01-31 10:00'"
        }
        "to_number" => "write CAST(x AS DOUBLE PRECISION)",
        "convert_timezone" | "timezone" => {
            "write x AT TIME ZONE 'UTC' AT TIME ZONE INTERVAL '2 hours'"
        }
        "contains" => "write POSITION(y IN x) > 0, or x LIKE '%…%'",
        "ends_with" | "endswith" | "startswith" => "write STARTS_WITH(x, y), or x LIKE '%…'",
        "log2" => "write LOG(2, x)",
        "cbrt" => "write POWER(x, 1.0 / 3)",
        "square" => "write x * x",
        "regexp_replace" | "regexp_substr" | "regexp_extract" | "regexp_match"
        | "regexp_matches" | "regexp_count" | "translate" => {
            "write x ~ 'expression' for whether it matches, or REPLACE, SPLIT_PART and SUBSTRING"
        }
        "decode" | "choose" => "write CASE x WHEN … THEN … END",
        "nvl2" => "write CASE WHEN x IS NOT NULL THEN … ELSE … END",
        "isnull" => "write x IS NULL, or COALESCE(x, y)",
        "try_cast" | "safe_cast" | "convert" => "write CAST(x AS …)",
        "div0" => "write x / y, which is NULL where y is 0",
        "div" => "write x / y, which is whole for ints",
        "bucket" | "ntile" | "histogram" => "write WIDTH_BUCKET(x, low, high, n)",
        "time_bucket" => "write DATE_BIN(INTERVAL '15 minutes', x, TIMESTAMP '2000-01-01')",
        _ => return Unsupported::NoFunction { name: short(&name) }.into(),
    };
    Unsupported::Function { function: name.to_uppercase(), instead }.into()
}

const QUANTILES: &str = "write PERCENTILE_CONT(ARRAY[0.25, 0.5, 0.75]) WITHIN GROUP (ORDER BY x), which is a column for \
                         each";
const AGGREGATES: &str = "eke answers COUNT, SUM, AVG, VARIANCE, STDDEV, COVAR, CORR, MEDIAN, PERCENTILE_CONT, \
                          MIN and MAX";

/// What would come out differently from one moment to the next.
fn clock(name: &str) -> Result<(), SqlError> {
    const CLOCKS: &str = "now current_date current_time current_timestamp localtime localtimestamp \
        today clock_timestamp statement_timestamp transaction_timestamp timeofday";
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
