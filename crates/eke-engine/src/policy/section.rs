//! The text of a policy, read by its tables and keys, each of which knows its line.
//!
//! A [`Section`] has no key that it does not know: making one checks that. What cannot be read is
//! an error in words of the policy, never in those of a parser.

use std::cell::RefCell;
use std::path::{Path, PathBuf};

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::PolicyError;
use super::error::quoted;
use super::name::suggestion;

/// What is called by names that may have dots in them.
const NAMED: [&str; 4] = ["unit", "tier", "analyst", "circle"];

/// A policy's text and where its lines begin.
pub(super) struct Page {
    path: PathBuf,
    /// Where every line after the first begins.
    starts: Vec<usize>,
    /// What is wrong so far.
    wrong: RefCell<Vec<PolicyError>>,
}

impl Page {
    pub(super) fn new(text: &str, path: &Path) -> Self {
        let starts = text.match_indices('\n').map(|(at, _)| at + 1).collect();
        Self { path: path.to_owned(), starts, wrong: RefCell::new(Vec::new()) }
    }

    /// What was read, if it could be; what is wrong with it is kept, and reading goes on.
    pub(super) fn keep<T>(&self, read: Result<T, PolicyError>) -> Option<T> {
        read.map_err(|error| self.wrong.borrow_mut().push(error)).ok()
    }

    /// Keeps all errors; the first one of them is returned.
    pub(super) fn none_of(
        &self,
        mut errors: impl Iterator<Item = PolicyError>,
    ) -> Result<(), PolicyError> {
        let first = errors.next();
        errors.for_each(|error| self.wrong.borrow_mut().push(error));
        first.map_or(Ok(()), Err)
    }

    /// An error that follows from one that was reported elsewhere.
    pub(super) fn told_elsewhere(&self) -> PolicyError {
        self.wrong(0, "")
    }

    /// Everything that is wrong, in the order of the file.
    pub(super) fn all_wrong(&self) -> Result<(), PolicyError> {
        let mut errors = self.wrong.take();
        errors.retain(|error| error.line() != Some(0));
        PolicyError::all(errors)
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// The line that a byte is on, counted from one.
    pub(super) fn line(&self, at: usize) -> usize {
        self.starts.partition_point(|start| *start <= at) + 1
    }

    pub(super) fn wrong(&self, line: usize, problem: impl Into<String>) -> PolicyError {
        PolicyError::Wrong { path: self.path.clone(), line, problem: problem.into() }
    }
}

/// A table of the policy, such as `[unit.rider]` or `budget = { … }`.
#[derive(Clone, Copy)]
pub(super) struct Section<'p> {
    page: &'p Page,
    table: &'p DeTable<'p>,
    line: usize,
}

impl<'p> Section<'p> {
    /// The whole file.
    pub(super) fn all(page: &'p Page, table: &'p DeTable<'p>) -> Self {
        Self { page, table, line: 1 }
    }

    /// The same, with no keys but those.
    pub(super) fn with_only(self, known: &[&str], title: &str) -> Result<Self, PolicyError> {
        let dotted = NAMED.iter().any(|kind| title.starts_with(&format!("[{kind}.")));
        let unknown = self.fields().into_iter().filter(|field| !known.contains(&field.name));
        let wrong = unknown.map(|field| {
            let mut instead = suggestion(field.name, known, &format!("{title} has"));
            if dotted && matches!(field.value, DeValue::Table(_)) {
                instead.push_str("; put quotes around a name with a dot in it");
            }
            field.wrong(format!("unknown key {}: {instead}", quoted(field.name)))
        });
        self.page.none_of(wrong).map(|()| self)
    }

    pub(super) fn page(&self) -> &'p Page {
        self.page
    }

    /// The line of its name.
    pub(super) fn line(&self) -> usize {
        self.line
    }

    /// An error on the line of its name.
    pub(super) fn wrong(&self, problem: impl Into<String>) -> PolicyError {
        self.page.wrong(self.line, problem)
    }

    /// What it has, in the order of the file.
    pub(super) fn fields(&self) -> Vec<Field<'p>> {
        let mut fields: Vec<_> = self
            .table
            .iter()
            .map(|(name, value)| (name.span().start, Field::new(self.page, name, value)))
            .collect();
        fields.sort_by_key(|(at, _)| *at);
        fields.into_iter().map(|(_, field)| field).collect()
    }

    pub(super) fn get(&self, name: &str) -> Option<Field<'p>> {
        let (name, value) = self.table.get_key_value(name)?;
        Some(Field::new(self.page, name, value))
    }

    /// What it must have. The problem says what to write.
    pub(super) fn require(&self, name: &str, problem: &str) -> Result<Field<'p>, PolicyError> {
        self.get(name).ok_or_else(|| self.wrong(problem))
    }

    /// Its tables of a kind that have names, as `[unit.rider]` has; none if it has no such kind.
    pub(super) fn named(&self, kind: &str) -> Result<Vec<Field<'p>>, PolicyError> {
        let Some(field) = self.get(kind) else { return Ok(Vec::new()) };
        let table = match field.value {
            DeValue::Table(table) => table,
            value => {
                return Err(field.wrong(format!(
                    "`{kind}` must be a table, not {}: write [{kind}.NAME], with a name of your own",
                    found(value)
                )));
            }
        };
        let named = Section { page: self.page, table, line: field.line };
        let wrong = named.fields().into_iter().filter_map(|field| match field.value {
            DeValue::Table(_) => None,
            DeValue::Array(_) => Some(field.wrong(format!(
                "{} is a list: write [{kind}.NAME] once for every {kind}, in single brackets",
                quoted(field.name)
            ))),
            _ => Some(field.wrong(format!(
                "{} stands under [{kind}], which needs a name: write it under [{kind}.NAME]",
                quoted(field.name)
            ))),
        });
        self.page.none_of(wrong)?;
        Ok(named.fields())
    }
}

/// A key of the policy and what it is set to.
#[derive(Clone, Copy)]
pub(super) struct Field<'p> {
    page: &'p Page,
    name: &'p str,
    value: &'p DeValue<'p>,
    line: usize,
}

impl<'p> Field<'p> {
    fn new(
        page: &'p Page,
        name: &'p Spanned<std::borrow::Cow<'p, str>>,
        value: &'p Spanned<DeValue<'p>>,
    ) -> Self {
        let line = page.line(name.span().start);
        Self { page, name: name.get_ref(), value: value.get_ref(), line }
    }

    pub(super) fn name(&self) -> &'p str {
        self.name
    }

    pub(super) fn line(&self) -> usize {
        self.line
    }

    pub(super) fn page(&self) -> &'p Page {
        self.page
    }

    /// An error on its line.
    pub(super) fn wrong(&self, problem: impl Into<String>) -> PolicyError {
        self.page.wrong(self.line, problem)
    }

    fn must_be(&self, what: &str, instead: &str) -> PolicyError {
        let found = found(self.value);
        self.wrong(format!("{} must be {what}, not {found}: write {instead}", quoted(self.name)))
    }

    /// The table it is set to, with no keys but those. The title is what messages call it, the
    /// example what they tell people to write.
    pub(super) fn section(
        &self,
        known: &[&str],
        title: &str,
        example: &str,
    ) -> Result<Section<'p>, PolicyError> {
        self.table(example)?.with_only(known, title)
    }

    /// The table it is set to, whose keys are names of the steward's.
    pub(super) fn table(&self, example: &str) -> Result<Section<'p>, PolicyError> {
        let DeValue::Table(table) = self.value else {
            return Err(self.must_be("a table", example));
        };
        Ok(Section { page: self.page, table, line: self.line })
    }

    /// A text that is not empty.
    /// Whether it is a table.
    pub(super) fn is_table(&self) -> bool {
        matches!(self.value, DeValue::Table(_))
    }

    /// What it says, if it is a text.
    pub(super) fn as_text(&self) -> Option<&'p str> {
        match self.value {
            DeValue::String(text) => Some(text),
            _ => None,
        }
    }

    pub(super) fn text(&self, example: &str) -> Result<&'p str, PolicyError> {
        match self.value {
            DeValue::String(text) if text.is_empty() => {
                Err(self.wrong(format!("{} is empty: write {example}", quoted(self.name))))
            }
            DeValue::String(text) => Ok(text),
            _ => Err(self.must_be("a text", example)),
        }
    }

    pub(super) fn boolean(&self) -> Result<bool, PolicyError> {
        match self.value {
            DeValue::Boolean(is) => Ok(*is),
            _ => Err(self.must_be("true or false", "it without quotes")),
        }
    }

    /// A decimal as it was written, for a type that checks its range.
    pub(super) fn decimal(&self, example: &str) -> Result<&'p str, PolicyError> {
        match self.value {
            DeValue::Integer(integer) if integer.radix() == 10 => Ok(integer.as_str()),
            DeValue::Float(float) => Ok(float.as_str()),
            _ => Err(self.must_be("a number", &format!("it like {example}"))),
        }
    }

    /// A finite number.
    pub(super) fn number(&self, example: &str) -> Result<f64, PolicyError> {
        let text = self.decimal(example)?;
        match text.parse::<f64>() {
            Ok(number) if number.is_finite() => Ok(number + 0.0),
            _ => Err(self.wrong(format!(
                "{} must be finite, not {}: write a number such as {example}",
                quoted(self.name),
                quoted(text)
            ))),
        }
    }

    /// A count of at least one.
    pub(super) fn count(&self, example: &str) -> Result<u32, PolicyError> {
        let DeValue::Integer(integer) = self.value else {
            let instead = format!("a number such as {example}");
            return Err(self.must_be("a whole number", &instead));
        };
        let (shown, name) = (quoted(&integer.to_string()), quoted(self.name));
        let beyond = if integer.as_str().starts_with('-') { i128::MIN } else { i128::MAX };
        let count = i128::from_str_radix(integer.as_str(), integer.radix()).unwrap_or(beyond);
        if count < 1 {
            return Err(self.wrong(format!(
                "{name} must be at least 1, not {shown}: write a number such as {example}"
            )));
        }
        u32::try_from(count).map_err(|_| {
            self.wrong(format!(
                "{name} must be at most {}, not {shown}: write a number such as {example}",
                u32::MAX
            ))
        })
    }

    /// What is in the list that it is set to.
    pub(super) fn list(&self, example: &str) -> Result<Vec<&'p DeValue<'p>>, PolicyError> {
        match self.value {
            DeValue::Array(array) => Ok(array.iter().map(Spanned::get_ref).collect()),
            _ => Err(self.must_be("a list", example)),
        }
    }
}

/// What a value is, in words.
pub(super) fn found(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "a text",
        DeValue::Integer(integer) if integer.radix() != 10 => "a number in another base",
        DeValue::Integer(_) => "a whole number",
        DeValue::Float(_) => "a decimal number",
        DeValue::Boolean(_) => "true or false",
        DeValue::Datetime(_) => "a date or time",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    }
}
