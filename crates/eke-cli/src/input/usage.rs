//! Wrong arguments, said in one sentence.

use std::error::Error;
use std::process::ExitCode;

use clap::error::{ContextKind, ContextValue, ErrorKind};

use crate::Failure;

/// Prints help where help was asked for, and otherwise one sentence.
pub(crate) fn report(error: &clap::Error) -> ExitCode {
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            // If even help cannot be printed there is nobody to tell.
            let _ = error.print();
            ExitCode::SUCCESS
        }
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            let _ = error.print();
            ExitCode::from(2)
        }
        _ => {
            eprintln!("eke: {}", sentence(error));
            ExitCode::from(2)
        }
    }
}

/// Wrong usage, in the words of an error.
#[expect(clippy::needless_pass_by_value, reason = "it is for map_err")]
pub(crate) fn usage(error: impl ToString) -> Failure {
    Failure::Usage(error.to_string())
}

fn sentence(error: &clap::Error) -> String {
    let told = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.clone()),
        Some(ContextValue::Strings(texts)) => Some(texts.join(", ")),
        _ => None,
    };
    let argument = told(ContextKind::InvalidArg).unwrap_or_default();
    // `--rho <R>` is how it is written in help; here its name will do.
    let argument = argument
        .strip_suffix('>')
        .map_or(&*argument, |option| option.split_once(" <").map_or(&*argument, |(name, _)| name));
    let value = told(ContextKind::InvalidValue).unwrap_or_default();
    match error.kind() {
        // Our own parsers say what is wrong and what to do.
        ErrorKind::ValueValidation => {
            error.source().map_or_else(|| first_line(error), ToString::to_string)
        }
        ErrorKind::InvalidValue if value.is_empty() => {
            format!("`{argument}` needs a value after it")
        }
        ErrorKind::InvalidValue => {
            let known = told(ContextKind::ValidValue).unwrap_or_default();
            format!("`{value}` is not a value of `{argument}`: write one of {known}")
        }
        ErrorKind::WrongNumberOfValues => match error.get(ContextKind::ExpectedNumValues) {
            Some(ContextValue::Number(number)) => {
                format!("`{argument}` needs {number} values after it")
            }
            _ => first_line(error),
        },
        ErrorKind::UnknownArgument => match told(ContextKind::SuggestedArg) {
            Some(similar) => format!("there is no `{argument}` here: did you mean `{similar}`?"),
            None => format!("there is no `{argument}` here: add --help to see what there is"),
        },
        ErrorKind::InvalidSubcommand => {
            let wrong = told(ContextKind::InvalidSubcommand).unwrap_or_default();
            format!("there is no command `{wrong}`: run `eke --help` to see what there is")
        }
        ErrorKind::MissingRequiredArgument => {
            format!("{argument} is missing: add --help to see how it is written")
        }
        ErrorKind::ArgumentConflict => {
            format!("`{argument}` is given twice, or beside what excludes it")
        }
        _ => first_line(error),
    }
}

fn first_line(error: &clap::Error) -> String {
    let text = error.to_string();
    let line = text.lines().next().unwrap_or_default();
    line.strip_prefix("error: ").unwrap_or(line).to_owned()
}
