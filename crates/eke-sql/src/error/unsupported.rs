//! SQL that eke does not answer.

use std::fmt::Display;

use super::{SqlError, short};

/// The functions besides the aggregates.
const FUNCTIONS: &str = "abs, floor, ceil, round, sqrt, ln, exp, least, greatest, coalesce, nullif, lower, \
                         upper, trim, length, substring, extract, date_part and date_trunc";

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
        "Several tables in FROM are a join, which is not supported: ask about one table; joins \
         with public tables come later"
    )]
    SeveralTables,
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
    /// A SELECT of keys that does not say which.
    #[error(
        "SELECT of keys alone is answered for the largest: write ORDER BY with a COUNT or SUM, \
         DESC and LIMIT, without HAVING and OFFSET, or add COUNT, SUM or AVG to SELECT"
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
    /// An aggregate where none may stand.
    #[error(
        "{function} cannot stand in {clause}: {}",
        if *clause == "a subquery" {
            "aggregate in the outermost SELECT"
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
    /// DISTINCT of something else than units.
    #[error(
        "{function}(DISTINCT {written}) is not supported: only COUNT(DISTINCT {unit}), which \
         counts units"
    )]
    Distinct {
        /// The aggregate.
        function: String,
        /// What it is of.
        written: String,
        /// The column of units.
        unit: String,
    },
    /// ROUND of an aggregate.
    #[error(
        "ROUND of an aggregate is not supported in SELECT: write {written} by itself; it is shown \
         in as many digits as its noise leaves"
    )]
    RoundedAggregate {
        /// The aggregate.
        written: String,
    },
    /// A function that takes a number of digits elsewhere.
    #[error("{function} here: write {instead}")]
    Digits {
        /// The function, and how many arguments it takes.
        function: &'static str,
        /// What to write instead.
        instead: &'static str,
    },
    /// A pattern that is not written out.
    #[error("LIKE `{written}` is not supported: the pattern must be a constant text")]
    Pattern {
        /// The pattern.
        written: String,
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
        "There is no part `{part}` of a date: there are year, quarter, month, day, dow, hour, \
         minute and second"
    )]
    Part {
        /// The part.
        part: String,
    },
    /// A length of time that moments are not cut to.
    #[error(
        "There is no DATE_TRUNC to `{part}`: there are year, quarter, month, week, day, hour and \
         minute"
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
    pub(crate) fn form(written: &impl Display, instead: impl Into<String>) -> SqlError {
        Self::Form { written: short(written), instead: instead.into() }.into()
    }
}
