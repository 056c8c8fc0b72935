//! What kind of failure an error is, and what each surface says of it.

/// What kind of failure an error is: what a program that asks does next.
///
/// Every kind has an exit code for the command line, a status for HTTP and a SQLSTATE for
/// PostgreSQL's wire, all in this table. They are part of what an analyst sees, so a kind follows
/// from the case of an error as the analyst sees it, and never from rows.
///
/// | kind         | exit code | HTTP | SQLSTATE |
/// |--------------|-----------|------|----------|
/// | Usage        | 2         | 400  | 22023    |
/// | Input        | 1         | 400  | 22023    |
/// | Syntax       | 3         | 400  | 42601    |
/// | NoTable      | 3         | 404  | 42P01    |
/// | Name         | 3         | 400  | 42703    |
/// | Type         | 3         | 400  | 42804    |
/// | TooLarge     | 3         | 422  | 54000    |
/// | Unbounded    | 3         | 422  | 22003    |
/// | Unanswerable | 3         | 422  | 0A000    |
/// | Refused      | 3         | 403  | 53400    |
/// | Forbidden    | 3         | 403  | 42501    |
/// | NotOpen      | 3         | 409  | 55000    |
/// | Unknown      | 1         | 404  | 42704    |
/// | NobodyKnown  | 1         | 401  | 28000    |
/// | Declined     | 4         | 428  | 57014    |
/// | Stopped      | 130       | 499  | 57014    |
/// | Busy         | 1         | 503  | 55006    |
/// | Unavailable  | 1         | 503  | 57P03    |
/// | Setup        | 1         | 500  | F0000    |
/// | Damaged      | 1         | 500  | XX001    |
/// | Failed       | 1         | 500  | XX000    |
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ErrorKind {
    /// Something is asked for in a way that cannot be: a number out of range.
    Usage,
    /// What is given beside the question cannot be used: the steps of a watch, a file of places.
    Input,
    /// The question is not SQL.
    Syntax,
    /// The question names a table that there is not.
    NoTable,
    /// The question names something else that there is not, or that could be several things.
    Name,
    /// The question puts values of the wrong types together.
    Type,
    /// The question is too long, too deep or has too many groups.
    TooLarge,
    /// What one unit could change the answer by does not follow from the policy.
    Unbounded,
    /// It is nothing that can be answered privately.
    Unanswerable,
    /// A budget does not allow it.
    Refused,
    /// The tier of the asker, or the kind of budget, does not allow it.
    Forbidden,
    /// The steward must change something or look into something first.
    NotOpen,
    /// There is no such dataset or unit.
    Unknown,
    /// There is no such analyst.
    NobodyKnown,
    /// The asker did not agree to the price.
    Declined,
    /// The asker stopped it.
    Stopped,
    /// Somebody else is at work on the same.
    Busy,
    /// It does not work now, and may work later.
    Unavailable,
    /// Policy, files and ledger do not go together.
    Setup,
    /// What is stored is damaged.
    Damaged,
    /// Something that should have worked did not.
    Failed,
}

impl ErrorKind {
    /// What a program on the command line ends with.
    #[must_use]
    pub fn exit_code(self) -> u8 {
        match self {
            Self::Usage => 2,
            Self::Syntax
            | Self::NoTable
            | Self::Name
            | Self::Type
            | Self::TooLarge
            | Self::Unbounded
            | Self::Unanswerable
            | Self::Refused
            | Self::Forbidden
            | Self::NotOpen => 3,
            Self::Declined => 4,
            Self::Stopped => 130,
            Self::Input
            | Self::Unknown
            | Self::NobodyKnown
            | Self::Busy
            | Self::Unavailable
            | Self::Setup
            | Self::Damaged
            | Self::Failed => 1,
        }
    }

    /// The status of an answer by HTTP. 499 is what proxies log where a client went away.
    #[must_use]
    pub fn http_status(self) -> u16 {
        match self {
            Self::Usage | Self::Input | Self::Syntax | Self::Name | Self::Type => 400,
            Self::NobodyKnown => 401,
            Self::Refused | Self::Forbidden => 403,
            Self::NoTable | Self::Unknown => 404,
            Self::NotOpen => 409,
            Self::TooLarge | Self::Unbounded | Self::Unanswerable => 422,
            Self::Declined => 428,
            Self::Stopped => 499,
            Self::Setup | Self::Damaged | Self::Failed => 500,
            Self::Busy | Self::Unavailable => 503,
        }
    }

    /// The SQLSTATE, as PostgreSQL names errors.
    #[must_use]
    pub fn sqlstate(self) -> &'static str {
        match self {
            // invalid_parameter_value
            Self::Usage | Self::Input => "22023",
            // syntax_error
            Self::Syntax => "42601",
            // undefined_table
            Self::NoTable => "42P01",
            // undefined_column
            Self::Name => "42703",
            // datatype_mismatch
            Self::Type => "42804",
            // program_limit_exceeded
            Self::TooLarge => "54000",
            // numeric_value_out_of_range
            Self::Unbounded => "22003",
            // feature_not_supported
            Self::Unanswerable => "0A000",
            // configuration_limit_exceeded
            Self::Refused => "53400",
            // insufficient_privilege
            Self::Forbidden => "42501",
            // object_not_in_prerequisite_state
            Self::NotOpen => "55000",
            // undefined_object
            Self::Unknown => "42704",
            // invalid_authorization_specification
            Self::NobodyKnown => "28000",
            // query_canceled
            Self::Declined | Self::Stopped => "57014",
            // object_in_use
            Self::Busy => "55006",
            // cannot_connect_now
            Self::Unavailable => "57P03",
            // config_file_error
            Self::Setup => "F0000",
            // data_corrupted
            Self::Damaged => "XX001",
            // internal_error
            Self::Failed => "XX000",
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    /// All of them.
    const ALL: [ErrorKind; 21] = [
        ErrorKind::Usage,
        ErrorKind::Input,
        ErrorKind::Syntax,
        ErrorKind::NoTable,
        ErrorKind::Name,
        ErrorKind::Type,
        ErrorKind::TooLarge,
        ErrorKind::Unbounded,
        ErrorKind::Unanswerable,
        ErrorKind::Refused,
        ErrorKind::Forbidden,
        ErrorKind::NotOpen,
        ErrorKind::Unknown,
        ErrorKind::NobodyKnown,
        ErrorKind::Declined,
        ErrorKind::Stopped,
        ErrorKind::Busy,
        ErrorKind::Unavailable,
        ErrorKind::Setup,
        ErrorKind::Damaged,
        ErrorKind::Failed,
    ];

    #[test]
    fn the_table_says_what_the_functions_say() {
        let source = include_str!("kind.rs");
        let rows = source.lines().filter_map(|line| line.strip_prefix("/// | ")).skip(1);
        let told: Vec<Vec<String>> = rows
            .map(|row| row.split('|').map(|cell| cell.trim().to_owned()).take(4).collect())
            .collect();
        let made: Vec<Vec<String>> = ALL
            .iter()
            .map(|kind| {
                vec![
                    format!("{kind:?}"),
                    kind.exit_code().to_string(),
                    kind.http_status().to_string(),
                    kind.sqlstate().to_owned(),
                ]
            })
            .collect();
        assert_eq!(told, made);
        assert_eq!(ALL.iter().collect::<HashSet<_>>().len(), ALL.len());
    }

    #[test]
    fn codes_are_such_as_there_are() {
        for kind in ALL {
            assert!([1, 2, 3, 4, 130].contains(&kind.exit_code()), "{kind:?}");
            assert!((400..600).contains(&kind.http_status()), "{kind:?}");
            let state = kind.sqlstate();
            let plain = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit();
            assert!(state.len() == 5 && state.bytes().all(plain), "{kind:?}");
            // What the asker can do something about is not the server's fault, and nobody's refusal
            // counts as a failure.
            let by_asker = kind.http_status() < 500;
            assert!(by_asker || kind.exit_code() == 1, "{kind:?}");
        }
    }
}
