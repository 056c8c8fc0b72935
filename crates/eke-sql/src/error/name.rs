//! Names that mean nothing, or several things.

use std::fmt;

use super::line;

/// Why a name does not say what is meant.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NameError {
    /// There is nothing of that name.
    #[error("{}", unknown(*what, name, sought, near.as_deref(), known))]
    Unknown {
        /// What it should be the name of.
        what: Named,
        /// As it is written.
        name: String,
        /// Where it was looked for.
        sought: Sought,
        /// The name that looks most like it, if one does.
        near: Option<String>,
        /// The first names that there are, and one more than are shown if there are more.
        known: Vec<String>,
    },
    /// Several have that name, and differ in case.
    #[error(
        "There are several {} `{name}`: give each a name of its own, or quote the one you mean",
        what.plural()
    )]
    Several {
        /// What they are.
        what: Named,
        /// As it is written.
        name: String,
    },
    /// Several have that same name.
    #[error("There are several {} `{name}`: give each a name of its own", what.plural())]
    Twice {
        /// What they are.
        what: Named,
        /// Their name.
        name: String,
    },
    /// More than a table and a column.
    #[error("`{name}` has too many dots: write {instead}")]
    TooManyDots {
        /// As it is written.
        name: String,
        /// What to write.
        instead: &'static str,
    },
    /// A number that is no item of SELECT.
    #[error("{clause} {number} is no item of SELECT: there are {items}")]
    NoItem {
        /// The clause that it stands in.
        clause: &'static str,
        /// As it is written.
        number: String,
        /// How many items there are.
        items: usize,
    },
    /// An alias with more columns than there are.
    #[error("`{alias}` has {columns} columns, and {named} are named")]
    MoreColumns {
        /// The alias.
        alias: String,
        /// How many columns there are.
        columns: usize,
        /// How many it names.
        named: usize,
    },
    /// A value that no parameter takes.
    #[error(
        "There are values for {given} parameters, and the question does not use `${number}`: use \
         it in WHERE, or give fewer values"
    )]
    Unused {
        /// The parameter.
        number: usize,
        /// How many values there are.
        given: usize,
    },
    /// A parameter without a value.
    #[error(
        "The question uses `${number}`, and there {}: give a value for each parameter",
        if *given == 1 { "is 1 value given".to_owned() } else { format!("are {given} values given") }
    )]
    NoValue {
        /// The parameter.
        number: usize,
        /// How many values there are.
        given: usize,
    },
}

/// Where a name was looked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sought {
    /// Everywhere.
    Anywhere,
    /// In the FROM of the question.
    From,
    /// In a table, or a subquery that has this name.
    In(String),
}

/// What has a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Named {
    /// A table.
    Table,
    /// A column of a table or a subquery.
    Column,
    /// A name that the question gives to an item of SELECT.
    Alias,
    /// A query of WITH.
    Cte,
}

impl Named {
    fn plural(self) -> String {
        format!("{self}{}", if self == Self::Alias { "es" } else { "s" })
    }
}

impl fmt::Display for Named {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Table => "table",
            Self::Column => "column",
            Self::Alias => "alias",
            Self::Cte => "CTE",
        })
    }
}

/// How many names are listed where none is like the one that is written.
pub(crate) const LISTED: usize = 20;

fn unknown(
    what: Named,
    name: &str,
    sought: &Sought,
    near: Option<&str>,
    known: &[String],
) -> String {
    let hint = match near {
        Some(near) => format!("did you mean `{near}`?"),
        None if known.is_empty() => format!("there are no {}", what.plural()),
        None => {
            let more = if known.len() > LISTED { ", …" } else { "" };
            let listed = known[..known.len().min(LISTED)].join(", ");
            format!("the {} are {listed}{more}", what.plural())
        }
    };
    let place = match sought {
        Sought::Anywhere => String::new(),
        Sought::From => " in FROM".to_owned(),
        Sought::In(table) => format!(" in `{table}`"),
    };
    line(&format!("There is no {what} `{name}`{place}: {hint}"), 600)
}
