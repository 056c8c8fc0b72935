//! SQL that eke does not answer.

use std::fmt::Display;

use super::{SqlError, short};

/// The functions besides the aggregates.
const FUNCTIONS: &str = "abs, sign, floor, ceil, round, trunc, mod, sqrt, power, ln, log, exp, width_bucket, \
                         least, greatest, coalesce, nullif, if, lower, upper, initcap, trim, length, substring, left, \
                         right, concat, concat_ws, replace, split_part, position, starts_with, lpad, rpad, repeat, \
                         reverse, regexp_like, extract, date_part, date_trunc, date_bin and to_char";

/// Which part of a question eke does not answer, and what to write instead. What is `written` is as
/// the question has it, shortened.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Unsupported {
    /// A part of SQL.
    #[error("{what} is not supported: {instead}")]
    Feature {
        /// What it is called.
        what: &'static str,
        /// What to do instead, or why there is none.
        instead: &'static str,
    },
    /// Parts of SQL that go together.
    #[error("{what} are not supported: {instead}")]
    Features {
        /// What they are called.
        what: &'static str,
        /// What to do instead, or why there are none.
        instead: &'static str,
    },
    /// An expression or an item of a form that is not taken.
    #[error("`{written}` is not supported: {instead}")]
    Form {
        /// What it is.
        written: String,
        /// What to write instead.
        instead: String,
    },
    /// A statement that is no query.
    #[error("{word} is not supported: {instead}")]
    Statement {
        /// Its first word.
        word: String,
        /// What to do instead.
        instead: &'static str,
    },
    /// A function that SQL has and eke has not.
    #[error("{function} is not supported: {instead}")]
    Function {
        /// Its name.
        function: String,
        /// What to write instead, or why there is none.
        instead: &'static str,
    },
    /// A function that there is not.
    #[error("There is no function `{name}`: there are COUNT, SUM and AVG, and {FUNCTIONS}")]
    NoFunction {
        /// As it is written.
        name: String,
    },
    /// An operator.
    #[error("The operator `{operator}` is not supported: {instead}")]
    Operator {
        /// The operator.
        operator: String,
        /// What there is instead.
        instead: &'static str,
    },
    /// A constant.
    #[error(
        "The constant `{written}` is not supported: write a number, 'text', TRUE, FALSE, NULL, \
         DATE '…' or TIMESTAMP '…'"
    )]
    Constant {
        /// The constant.
        written: String,
    },
    /// More than one statement.
    #[error("Only one statement is answered at a time: ask the others by themselves")]
    SeveralStatements,
    /// A statement in the place of a SELECT.
    #[error("Only SELECT is answered: rows are not changed here")]
    NotSelect,
    /// A clause or a hint of another dialect.
    #[error(
        "Only SELECT … FROM … WHERE … GROUP BY … HAVING … is supported: take other clauses and \
         hints out"
    )]
    OtherClause,
    /// No table.
    #[error("There is no FROM: say which table the question is about, SELECT … FROM table")]
    NoFrom,
    /// Several tables.
    #[error(
        "Several tables in FROM are a join without its condition: write FROM a JOIN b ON a.x = b.x"
    )]
    SeveralTables,
    /// A join that keeps rows of a public table that nobody matches.
    #[error(
        "{join} would keep rows of `{table}` that match nobody, and each of them would tell that: \
         write FROM {private} LEFT JOIN {table}, or JOIN; public keys are answered without rows too"
    )]
    JoinKeepsPublic {
        /// The join.
        join: &'static str,
        /// The public table.
        table: String,
        /// The private one.
        private: String,
    },
    /// Rows of two private tables that are not held together by their unit.
    #[error(
        "`{left}` and `{right}` are private, and their rows meet by the unit alone: write \
         {}.{left_unit} = {}.{right_unit}, and further conditions with AND; by another key \
         a row would be of two units",
        if left == right { "a" } else { left },
        if left == right { "b" } else { right }
    )]
    NotByUnit {
        /// One of them.
        left: String,
        /// The other one.
        right: String,
        /// The column of its units.
        left_unit: String,
        /// The column of the other's.
        right_unit: String,
    },
    /// Rows of private tables that meet by something else than all parts of the unit.
    #[error(
        "`{left}` and `{right}` are private, and their rows meet by the unit alone, which is \
         ({left_unit}) in the one and ({right_unit}) in the other: write an equality for each of \
         them in this order, and further conditions with AND; by another key a row would be of two \
         units"
    )]
    NotByParts {
        /// One of them.
        left: String,
        /// The other one.
        right: String,
        /// The parts of its units.
        left_unit: String,
        /// The parts of the other's.
        right_unit: String,
    },
    /// Rows of private tables that do not say alike which unit they belong to.
    #[error(
        "`{left}` and `{right}` do not tell units apart in the same way: to be joined, both need as \
         many unit columns, and the same unit_period and unit_zone; ask about one of them"
    )]
    OtherParts {
        /// One of them.
        left: String,
        /// The other one.
        right: String,
    },
    /// Rows of private tables of different units.
    #[error(
        "`{left}` and `{right}` are about different units, `{left_unit}` and `{right_unit}`: a row \
         of both would be of two; ask about one of them, or about tables of one unit"
    )]
    OtherUnits {
        /// One of them.
        left: String,
        /// The other one.
        right: String,
        /// The unit of the one.
        left_unit: String,
        /// The unit of the other.
        right_unit: String,
    },
    /// Rows of several tables, where each row is a unit.
    #[error(
        "Rows of `{table}` cannot be brought together with others: each of them is a unit of its \
         own; ask about `{table}` alone"
    )]
    RowsAlone {
        /// The table.
        table: String,
    },
    /// A subquery of a private table that does not give the unit.
    #[error(
        "The subquery over `{table}` does not select its unit: add {unit} to its SELECT, so that \
         rows can meet by it"
    )]
    SubqueryWithoutUnit {
        /// The table.
        table: String,
        /// The column of its units.
        unit: String,
    },
    /// NOT IN with rows of a private table that is not about the unit.
    #[error(
        "`{written}` NOT IN a subquery over `{table}` is not supported, since a NULL among its rows \
         would decide: write NOT EXISTS with the equality and that of both units"
    )]
    NotInOfRows {
        /// What is looked for.
        written: String,
        /// The table.
        table: String,
    },
    /// A branch of UNION ALL that is nobody's.
    #[error(
        "UNION ALL with `{table}` is not supported, since it is public: its rows are nobody's; take \
         that branch out"
    )]
    UnionOfPublic {
        /// The table.
        table: String,
    },
    /// A join where each row is a unit.
    #[error(
        "A join of `{private}` with `{table}` is not supported: each row of `{private}` is a unit, \
         which counts once, and a join may make several rows of it; write CASE for what the table \
         says"
    )]
    JoinOfRows {
        /// The private table.
        private: String,
        /// The public one.
        table: String,
    },
    /// A join of two public tables.
    #[error(
        "A join that begins with two public tables, `{left}` and `{right}`, is not supported: begin \
         FROM with the private table and join them one by one"
    )]
    JoinOfPublic {
        /// One of them.
        left: String,
        /// The other one.
        right: String,
    },
    /// A join by no equality.
    #[error(
        "The join with `{table}` has no equality of a column of each side: write ON a.x = b.x, and \
         further conditions with AND"
    )]
    JoinWithoutEquality {
        /// The public table.
        table: String,
    },
    /// Something else than a table or a subquery.
    #[error(
        "`{written}` in FROM is not supported: ask about a table of the policy, or a subquery over \
         it"
    )]
    From {
        /// What it is.
        written: String,
    },
    /// A function that gives a table.
    #[error("The table function `{name}` is not supported: ask about a table of the policy")]
    TableFunction {
        /// Its name.
        name: String,
    },
    /// What another dialect writes beside a table.
    #[error(
        "Hints, versions and partitions of `{table}` are not supported: write the table's name \
         alone"
    )]
    TableHints {
        /// The table.
        table: String,
    },
    /// A table that needs no budget.
    #[error(
        "`{table}` is public: it can be read directly, without a budget; ask about a private table"
    )]
    PublicTable {
        /// The table.
        table: String,
    },
    /// `SELECT *`.
    #[error("SELECT * would show rows: write COUNT(*), SUM or AVG, and the keys of GROUP BY")]
    SelectStar,
    /// `*` in an expression.
    #[error("* stands for columns only in COUNT(*) and in subqueries: name the columns")]
    Star,
    /// A SELECT that is of rows.
    #[error("SELECT without an aggregate would show rows: write COUNT, SUM or AVG")]
    NoAggregate,
    /// A SELECT of keys that values decide about, and not by picking the largest.
    #[error(
        "SELECT of keys alone, by values that are not shown, is answered for the largest: write \
         ORDER BY with a COUNT or SUM, DESC and LIMIT, without HAVING and OFFSET, or add COUNT, \
         SUM or AVG to SELECT; without values it lists the keys"
    )]
    KeysAlone,
    /// An item of SELECT that is of rows.
    #[error(
        "`{item}` is neither a key nor an aggregate, and would show rows: add it to GROUP BY, or \
         put it into COUNT, SUM or AVG"
    )]
    ShowsRows {
        /// The item.
        item: String,
    },
    /// A column where an answer is meant.
    #[error(
        "`{column}` in {clause} is neither a key of GROUP BY nor inside an aggregate: add it to \
         one of them"
    )]
    OfRows {
        /// The column.
        column: String,
        /// The clause that it stands in.
        clause: &'static str,
    },
    /// A constant where a key or an order is meant.
    #[error(
        "{clause} `{written}` is a constant: write a column, an expression or the number of an \
         item of SELECT"
    )]
    ByConstant {
        /// The clause that it stands in.
        clause: &'static str,
        /// The constant.
        written: String,
    },
    /// A number of rows that is not written out.
    #[error("{clause} `{written}` is not supported: write a whole number")]
    RowCount {
        /// LIMIT or OFFSET.
        clause: &'static str,
        /// What it is.
        written: String,
    },
    /// An aggregate as a key.
    #[error("GROUP BY {written} is an aggregate: group by columns and expressions over them")]
    KeyOfAggregate {
        /// The key.
        written: String,
    },
    /// A key that tells units apart.
    #[error(
        "GROUP BY {written} makes a group of every unit, and what is about one of them is not \
         shown: group by what many units have in common; COUNT(DISTINCT {unit}) counts units"
    )]
    KeyOfUnits {
        /// The key.
        written: String,
        /// The column of units.
        unit: String,
    },
    /// A subquery whose groups could be of several units.
    #[error(
        "GROUP BY or DISTINCT inside a subquery needs {unit} among its keys: without it a row would \
         be of many units; write GROUP BY {unit}, …, or aggregate in the outermost SELECT"
    )]
    GroupsWithoutUnit {
        /// The column of units.
        unit: String,
    },
    /// A subquery whose groups are of one person, and of several periods that are units each.
    #[error(
        "GROUP BY or DISTINCT inside a subquery needs {period} among its keys: {person} in each \
         period is a unit of its own, and a row over several periods would be of several units; \
         write GROUP BY {person}, {period}"
    )]
    GroupsAcrossPeriods {
        /// What names a person.
        person: String,
        /// The start of the period.
        period: String,
    },
    /// A subquery that groups rows that are units.
    #[error(
        "GROUP BY or DISTINCT inside a subquery is not supported for `{table}`: each of its rows is \
         a unit, so there are none to bring together; aggregate in the outermost SELECT"
    )]
    GroupsOfRows {
        /// The table.
        table: String,
    },
    /// An aggregate where none may stand.
    #[error(
        "{function} cannot stand in {clause}: {}",
        if *clause == "a subquery" {
            "aggregate in the outermost SELECT, or write GROUP BY with the unit's column"
        } else {
            "aggregates stand in SELECT, HAVING and ORDER BY, by themselves"
        }
    )]
    AggregateIn {
        /// The aggregate.
        function: String,
        /// Where it stands.
        clause: &'static str,
    },
    /// Different values that are added up.
    #[error(
        "{function}(DISTINCT {written}) is not supported: COUNT(DISTINCT {written}) counts \
         different values, and {function}({written}) is over all rows; to take each value of a \
         unit once, write {function} over a subquery with GROUP BY of the unit and the value"
    )]
    Distinct {
        /// The aggregate.
        function: String,
        /// What it is of.
        written: String,
    },
    /// A pattern that is not written out.
    #[error("The pattern `{written}` is not supported: it must be a constant text")]
    Pattern {
        /// The pattern.
        written: String,
    },
    /// A regular expression that has something else in it.
    #[error(
        "The regular expression `{written}` has {part}: write it with characters, . [] () | * + ? \
         {{m,n}} ^ $ \\d \\w \\s, or LIKE"
    )]
    Regex {
        /// The expression.
        written: String,
        /// What is not taken.
        part: &'static str,
    },
    /// A pattern of TO_CHAR that has something else in it.
    #[error(
        "TO_CHAR has no field `{part}`: there are YYYY YY IYYY Q MM Month Mon WW W IW DDD DD Day Dy D ID \
         HH24 HH12 AM MI SS MS US and FM before one; put other letters into double quotes"
    )]
    Format {
        /// The part of the pattern.
        part: String,
    },
    /// The difference of two moments.
    #[error(
        "`{left}` - `{right}` is no number: write EXTRACT(EPOCH FROM a - b) for seconds, or \
         CAST(a AS DATE) - CAST(b AS DATE) for days"
    )]
    Difference {
        /// The later moment.
        left: String,
        /// The earlier one.
        right: String,
    },
    /// A time zone that is not a constant offset.
    #[error(
        "AT TIME ZONE `{written}` is not supported: write 'UTC', or how far the zone is ahead of it, \
         such as INTERVAL '2 hours'"
    )]
    Zone {
        /// The zone.
        written: String,
    },
    /// A zone that moments are in, or should be shown in: which of the two is not clear.
    #[error(
        "A timestamp here has no time zone: write {written} AT TIME ZONE 'UTC' AT TIME ZONE {zone}, \
         first the zone that it is in, then the other"
    )]
    OneZone {
        /// The moment.
        written: String,
        /// The zone.
        zone: String,
    },
    /// What the parser and SQL read differently.
    #[error(
        "What follows IS DISTINCT FROM is not clear without parentheses: write (a IS DISTINCT FROM \
         b) AND …"
    )]
    UnclearDistinct,
    /// DATE_PART or DATE_TRUNC of a part that is not written out.
    #[error("{function} needs a constant such as 'month' as its first argument")]
    OpenPart {
        /// The function.
        function: String,
    },
    /// A part of a date that there is not.
    #[error(
        "There is no part `{part}` of a date: there are year, quarter, month, week, day, doy, dow, \
         isodow, isoyear, hour, minute, second and epoch"
    )]
    Part {
        /// The part.
        part: String,
    },
    /// A length of time that moments are not cut to.
    #[error(
        "There is no DATE_TRUNC to `{part}`: there are year, quarter, month, week, day, hour, \
         minute and second"
    )]
    Truncated {
        /// The length of time.
        part: String,
    },
    /// A parameter where none are given.
    #[error("Parameters such as `{name}` are for `eke watch`: write the constant itself")]
    Parameter {
        /// The parameter.
        name: String,
    },
    /// A parameter that does not choose rows.
    #[error("`{name}` stands in {clause}: parameters choose rows, and stand in WHERE alone")]
    ParameterIn {
        /// The parameter.
        name: String,
        /// Where it stands.
        clause: &'static str,
    },
}

impl Unsupported {
    /// A form that is not taken, and what to write instead.
    pub(crate) fn form(written: &(impl Display + ?Sized), instead: impl Into<String>) -> SqlError {
        Self::Form { written: short(written), instead: instead.into() }.into()
    }
}
