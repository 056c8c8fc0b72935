//! `eke shell`: questions at a prompt, with history and completion.
//!
//! Without a terminal it reads lines and prints no prompt. A ledger is opened with the first
//! question, so that looking around begins none.

use std::io::{self, BufRead, IsTerminal, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use eke_engine::policy::Policy;
use eke_engine::tables::tables;
use eke_engine::{Engine, EngineError, Who};
use eke_sql::AskedBounds;
use rustyline::completion::Completer;
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::history::FileHistory;
use rustyline::validate::Validator;
use rustyline::{CompletionType, Config, Context, Editor, Helper};

use crate::Failure;
use crate::commands::ask::{Asker, asked};
use crate::commands::rehearse::{self, make_private};
use crate::commands::{budget, explain, tables as described};
use crate::input::goal::{GoalArgs, PriceArg, WithinArg, confidence};
use crate::input::statements::Statements;
use crate::show::answer::{self, Style};
use crate::terminal::progress::Progress;
use crate::terminal::stop::Stop;

/// Who asks, and how exact answers are at first.
#[derive(Args)]
#[command(after_help = "\
Questions end with a semicolon; commands begin with a backslash, and \\? lists them. At a terminal
lines can be edited, the tab key completes names of tables and columns, and what was typed is kept
for next time in a file that only you can read. Without a terminal questions and commands are read
from standard input; the exit code is then that of the first that failed.")]
pub(crate) struct Shell {
    #[command(flatten)]
    goal: GoalArgs,
    #[command(flatten)]
    asker: Asker,
    /// Do not ask for confirmation.
    #[arg(long)]
    yes: bool,
    /// Where lines are kept for next time [default: eke/history in the folder for state]
    #[arg(long, value_name = "FILE")]
    history: Option<PathBuf>,
}

const HELP: &str = "\
  SELECT …;        ask; a question may go over several lines
  \\d [NAME]        the tables, or the columns of one
  \\within 5%       how exact answers must be: 5% of the value, or 100 of its unit
  \\or 10           with a relative error: an absolute error that is also good enough
  \\price rho=0.01  spend this on the values instead, or epsilon=0.1
  \\at_most rho=…   the highest price of a question, or epsilon=…; none takes it back
  \\confidence 95%  the confidence of intervals
  \\bounds rows=50  how much of one unit counts, or groups=12, fare=0:80; none takes it back
  \\explain SELECT …   what a question would do and cost
  \\rehearse SELECT …  the question on made-up rows, for nothing
  \\budget          what was spent and what is left
  \\history [N]     the last questions and answers
  \\verbose         more about every answer, or less again
  \\? \\q            this; the end";

impl Shell {
    pub(crate) fn run(&self, out: &mut impl Write) -> Result<(), Failure> {
        let policy = Policy::read(&self.asker.policy).map_err(EngineError::from)?;
        let who = self.asker.who();
        if let Some(analyst) = who.analyst() {
            policy.analyst(analyst).map_err(EngineError::from)?;
        }
        let mut goal = self.goal.clone();
        if goal.within.is_none() && goal.price.is_none() {
            goal.within = "5%".parse().ok();
        }
        let is_terminal = io::stdin().is_terminal() && io::stdout().is_terminal();
        let stop = Stop::listen();
        let mut session = Session {
            asker: &self.asker,
            policy,
            who,
            goal,
            is_verbose: false,
            yes: self.yes,
            engine: None,
            stop,
            failed: None,
        };
        if is_terminal {
            let mut lines = Edited::new(&session, self.history.clone())?;
            session.greet(out)?;
            return session.read(&mut lines, out);
        }
        session.read(&mut Piped, out)?;
        session.failed.map_or(Ok(()), Err)
    }
}

/// Where lines come from.
trait Lines {
    /// The next line; none at the end.
    fn next(&mut self, is_within: bool, stop: &Stop) -> Result<Next, Failure>;
}

enum Next {
    Line(String),
    /// What was typed is given up.
    Cleared,
    End,
}

struct Session<'a> {
    asker: &'a Asker,
    policy: Policy,
    who: Who,
    goal: GoalArgs,
    is_verbose: bool,
    yes: bool,
    engine: Option<Engine>,
    stop: Stop,
    failed: Option<Failure>,
}

impl Session<'_> {
    fn greet(&self, out: &mut impl Write) -> io::Result<()> {
        let who = match &self.who {
            Who::Steward => "the steward".to_owned(),
            Who::Analyst(name) => name.clone(),
        };
        writeln!(out, "eke {}, as {who}; {}", env!("CARGO_PKG_VERSION"), self.aim())?;
        writeln!(out, "End questions with a semicolon. \\d lists tables, \\? commands, \\q ends.")?;
        out.flush()
    }

    /// The goal in words.
    fn aim(&self) -> String {
        let mut text = match (&self.goal.price, &self.goal.within) {
            (Some(price), _) => format!("a question costs {price}"),
            (None, Some(within)) => format!("answers are within {within}"),
            (None, None) => "no accuracy is set".to_owned(),
        };
        if let Some(floor) = self.goal.floor.filter(|_| self.goal.price.is_none()) {
            text.push_str(&format!(" or {floor}"));
        }
        if let Some(most) = self.goal.at_most {
            text.push_str(&format!(", for at most {most}"));
        }
        if let Some(bounds) = self.goal.bounds.as_ref().filter(|bounds| !bounds.is_empty()) {
            text.push_str(&format!("; bounds are {bounds}"));
        }
        text
    }

    fn read(&mut self, lines: &mut impl Lines, out: &mut impl Write) -> Result<(), Failure> {
        let mut text = String::new();
        loop {
            match lines.next(!text.is_empty(), &self.stop)? {
                Next::End => break,
                Next::Cleared => text.clear(),
                Next::Line(line) if text.is_empty() && line.trim_start().starts_with('\\') => {
                    match self.command(line.trim(), out) {
                        Ok(true) => {}
                        Ok(false) => return Ok(()),
                        Err(failure) => self.tell(failure, out)?,
                    }
                    out.flush()?;
                }
                Next::Line(line) => {
                    text.push_str(&line);
                    text.push('\n');
                    let Statements { ended, rest } = Statements::split(&text);
                    for sql in ended {
                        if let Err(failure) = self.ask(&sql, out) {
                            self.tell(failure, out)?;
                        }
                        out.flush()?;
                    }
                    // A comment that is not ended goes on.
                    text = if rest.is_empty() { String::new() } else { rest + "\n" };
                }
            }
        }
        if !text.trim().is_empty() {
            let sentence = "the last question was not asked: it has no semicolon at its end";
            self.tell(Failure::Usage(sentence.into()), out)?;
        }
        Ok(())
    }

    /// Says what went wrong, and goes on. The reader may be gone: then there is nothing to go on
    /// to.
    fn tell(&mut self, failure: Failure, out: &mut impl Write) -> Result<(), Failure> {
        if matches!(&failure, Failure::Failed(error) if crate::is_broken_pipe(&**error)) {
            return Err(failure);
        }
        out.flush()?;
        if self.stop.is_asked() && !matches!(failure, Failure::Interrupted(_)) {
            return Err(failure);
        }
        self.stop.forget();
        let (code, sentence) = failure.told();
        let _ = writeln!(io::stderr(), "eke: {}", in_the_shell(&sentence));
        self.failed.get_or_insert_with(|| Failure::Told(code));
        Ok(())
    }

    fn engine(&mut self) -> Result<&Engine, Failure> {
        if self.engine.is_none() {
            self.engine = Some(self.asker.engine()?);
        }
        self.engine.as_ref().ok_or_else(|| Failure::Failed("there is no ledger".into()))
    }

    fn ask(&mut self, sql: &str, out: &mut impl Write) -> Result<(), Failure> {
        let (goal, follows) = self.goal.said(&self.policy, sql, &self.who)?;
        if !follows {
            self.goal = goal;
            return Ok(());
        }
        let Some(question) = goal.question(&self.policy, sql, &self.who)? else {
            return Err(Failure::Usage("no accuracy is set: set one with \\within 5%".into()));
        };
        let progress = Progress::following(self.yes, self.stop.clone());
        let progress = progress.of(&self.policy, &question);
        let style = Style { is_tenth: goal.is_tenth(), is_verbose: self.is_verbose };
        let answer = asked(self.engine()?, &question, &progress, &goal)?;
        let mut out = io::BufWriter::with_capacity(1 << 16, out);
        answer::print(&answer, style, &mut out)?;
        writeln!(out)?;
        Ok(out.flush()?)
    }

    /// Runs a command, and says whether to go on.
    fn command(&mut self, line: &str, out: &mut impl Write) -> Result<bool, Failure> {
        let (name, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let rest = rest.trim().trim_end_matches(';').trim_end();
        let given = Some(rest).filter(|rest| !rest.is_empty());
        let wrong = |sentence: String| Failure::Usage(sentence);
        match name {
            "\\q" | "\\quit" => return Ok(false),
            "\\?" | "\\h" | "\\help" => writeln!(out, "{HELP}")?,
            "\\d" => described::describe(&self.policy, &self.who, given, out)?,
            "\\budget" => self.looking(|engine| budget::show(engine, &self.who, out))?,
            "\\history" => {
                let last = given.map_or(Ok(5), str::parse);
                let last =
                    last.map_err(|_| wrong(format!("`{rest}` is no number of questions")))?;
                self.looking(|engine| budget::history(engine, &self.who, last, out))?;
            }
            "\\within" => {
                if let Some(text) = given {
                    self.goal.within = Some(text.parse::<WithinArg>().map_err(wrong)?);
                    self.goal.price = None;
                }
                writeln!(out, "{}", self.aim())?;
            }
            "\\or" => {
                let floor = given.filter(|text| *text != "none").map(|text| {
                    let floor = text.parse::<f64>().ok().filter(|floor| *floor > 0.0);
                    floor.ok_or_else(|| wrong(format!("`{text}` is not an error: write 10")))
                });
                self.goal.floor = floor.transpose()?;
                writeln!(out, "{}", self.aim())?;
            }
            "\\price" => {
                if let Some(text) = given {
                    self.goal.price = Some(text.parse::<PriceArg>().map_err(wrong)?);
                }
                writeln!(out, "{}", self.aim())?;
            }
            "\\at_most" => {
                if let Some(text) = given {
                    self.goal.at_most = match text {
                        "none" => None,
                        text => Some(text.parse::<PriceArg>().map_err(wrong)?),
                    };
                }
                writeln!(out, "{}", self.aim())?;
            }
            "\\confidence" => {
                if let Some(text) = given {
                    self.goal.confidence = confidence(text).map_err(wrong)?;
                }
                let percent = crate::show::number::short(self.goal.confidence.get() * 100.0);
                writeln!(out, "intervals hold with {percent}%")?;
            }
            "\\bounds" => {
                if let Some(text) = given {
                    self.goal.bounds = match text {
                        "none" => None,
                        text => {
                            let bounds = text.parse::<AskedBounds>();
                            Some(bounds.map_err(|error| wrong(error.to_string()))?)
                        }
                    };
                }
                writeln!(out, "{}", self.aim())?;
            }
            "\\verbose" => {
                self.is_verbose = !self.is_verbose;
                let now = if self.is_verbose { "more" } else { "less" };
                writeln!(out, "answers say {now} from now on")?;
            }
            "\\explain" => {
                let sql = given.ok_or_else(|| wrong("write a question after \\explain".into()))?;
                let told = explain::explained(&self.policy, sql, &self.who, &self.goal)?;
                explain::print(&told.0, &told.1, out)?;
            }
            "\\rehearse" => {
                let sql = given.ok_or_else(|| wrong("write a question after \\rehearse".into()))?;
                let shapes = self.looking(|engine| Ok(engine.published_shapes(&self.who)?));
                let shapes = shapes.unwrap_or_default();
                rehearse::show(&self.policy, &shapes, sql, &self.who, &self.goal, out)?;
            }
            other => return Err(wrong(format!("there is no command {other}: \\? lists them"))),
        }
        Ok(true)
    }

    /// Looks at the ledger as it is now. None is begun.
    fn looking<T>(&self, look: impl FnOnce(&Engine) -> Result<T, Failure>) -> Result<T, Failure> {
        match &self.engine {
            Some(engine) => look(engine),
            None => look(&self.asker.look()?),
        }
    }
}

/// What a sentence for the command line says at the prompt: flags are commands there.
fn in_the_shell(sentence: &str) -> String {
    let flags = [
        ("--at-most", "\\at_most"),
        ("--within", "\\within"),
        ("--bounds", "\\bounds"),
        ("--price", "\\price"),
        ("--or", "\\or"),
    ];
    flags.iter().fold(sentence.to_owned(), |text, (flag, command)| text.replace(flag, command))
}

/// Standard input, line by line.
struct Piped;

impl Lines for Piped {
    fn next(&mut self, _: bool, stop: &Stop) -> Result<Next, Failure> {
        let mut line = String::new();
        let read = stop.idle(|| io::stdin().lock().read_line(&mut line))?;
        let line = line.trim_end_matches(['\n', '\r']).to_owned();
        Ok(if read == 0 { Next::End } else { Next::Line(line) })
    }
}

/// Lines that are edited at a terminal.
struct Edited {
    editor: Editor<Names, FileHistory>,
    file: Option<PathBuf>,
}

impl Edited {
    fn new(session: &Session<'_>, file: Option<PathBuf>) -> Result<Self, Failure> {
        let wrong = |error: ReadlineError| Failure::Failed(error.to_string().into());
        let config = Config::builder().completion_type(CompletionType::List);
        let config = config.history_ignore_space(true).max_history_size(10_000).map_err(wrong)?;
        let mut editor = Editor::with_config(config.build()).map_err(wrong)?;
        editor.set_helper(Some(Names::of(&session.policy, &session.who)));
        let file = file.or_else(usual_history).filter(|file| make_history(file).is_ok());
        if let Some(file) = &file {
            // Without it there is nothing to go back to.
            let _ = editor.load_history(file);
        }
        Ok(Self { editor, file })
    }

    /// Keeps what was typed for next time, as far as that works. A terminal may be closed at any
    /// moment.
    fn keep(&mut self) {
        if let Some(file) = &self.file {
            let _ = self.editor.append_history(file);
        }
    }
}

impl Lines for Edited {
    fn next(&mut self, is_within: bool, _: &Stop) -> Result<Next, Failure> {
        match self.editor.readline(if is_within { "...> " } else { "eke> " }) {
            Ok(line) => {
                if !line.trim().is_empty() {
                    let _ = self.editor.add_history_entry(&line);
                    self.keep();
                }
                Ok(Next::Line(line))
            }
            Err(ReadlineError::Interrupted) => Ok(Next::Cleared),
            Err(ReadlineError::Eof) => Ok(Next::End),
            Err(error) => Err(Failure::Failed(error.to_string().into())),
        }
    }
}

/// Where lines are kept unless something else is said: where programs keep their state.
fn usual_history() -> Option<PathBuf> {
    let folder = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    let state = folder("XDG_STATE_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    let state = state.or_else(|| Some(PathBuf::from(folder("HOME")?).join(".local/state")))?;
    Some(state.join("eke/history"))
}

/// Makes a file for lines that only its owner may read, and its folder if there is none.
fn make_history(file: &Path) -> io::Result<()> {
    if let Some(folder) = file.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        if let Some(above) = folder.parent() {
            std::fs::create_dir_all(above)?;
        }
        if !folder.exists() {
            make_private(folder)?;
        }
    }
    let mut options = std::fs::OpenOptions::new();
    options.append(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let opened = options.open(file)?;
    #[cfg(unix)]
    opened.set_permissions(std::os::unix::fs::PermissionsExt::from_mode(0o600))?;
    drop(opened);
    Ok(())
}

/// What the tab key completes: names of tables and columns, words of SQL, commands.
struct Names(Vec<String>);

const WORDS: [&str; 33] = [
    "SELECT",
    "FROM",
    "WHERE",
    "GROUP BY",
    "ORDER BY",
    "HAVING",
    "LIMIT",
    "OFFSET",
    "COUNT(*)",
    "COUNT(DISTINCT",
    "SUM(",
    "AVG(",
    "AND",
    "OR",
    "NOT",
    "BETWEEN",
    "IN",
    "IS NULL",
    "LIKE",
    "CASE WHEN",
    "THEN",
    "ELSE",
    "END",
    "AS",
    "DESC",
    "ASC",
    "EXTRACT(",
    "FILTER (WHERE",
    "date_trunc(",
    "CAST(",
    "coalesce(",
    "WITH",
    "DISTINCT",
];
const COMMANDS: [&str; 14] = [
    "\\d",
    "\\within",
    "\\or",
    "\\price",
    "\\at_most",
    "\\confidence",
    "\\explain",
    "\\rehearse",
    "\\budget",
    "\\history",
    "\\verbose",
    "\\help",
    "\\quit",
    "\\q",
];

impl Names {
    fn of(policy: &Policy, who: &Who) -> Self {
        let mut names: Vec<String> = policy.datasets.keys().cloned().collect();
        // What cannot be read is said when it is asked about.
        let columns = tables(policy, who).unwrap_or_default().into_iter();
        names.extend(columns.flat_map(|table| table.columns).map(|column| column.name));
        names.sort();
        names.dedup();
        names.extend(WORDS.map(str::to_owned));
        Self(names)
    }

    /// What a line may go on with, and where that begins.
    fn complete(&self, line: &str) -> (usize, Vec<String>) {
        if line.starts_with('\\') && !line.contains(char::is_whitespace) {
            let commands = COMMANDS.iter().filter(|command| command.starts_with(line));
            return (0, commands.map(|command| (*command).to_owned()).collect());
        }
        let is_part = |c: char| c.is_alphanumeric() || c == '_';
        let start = line
            .rfind(|c| !is_part(c))
            .map_or(0, |place| place + line[place..].chars().next().map_or(1, char::len_utf8));
        let begun = line[start..].to_lowercase();
        if begun.is_empty() {
            return (start, Vec::new());
        }
        let fits = |name: &&String| name.to_lowercase().starts_with(&begun);
        (start, self.0.iter().filter(fits).cloned().collect())
    }
}

impl Completer for Names {
    type Candidate = String;

    fn complete(
        &self,
        line: &str,
        place: usize,
        _: &Context<'_>,
    ) -> rustyline::Result<(usize, Vec<String>)> {
        Ok(Self::complete(self, &line[..place]))
    }
}

impl Hinter for Names {
    type Hint = String;
}
impl Highlighter for Names {}
impl Validator for Names {}
impl Helper for Names {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tab_key_completes_names_words_and_commands() {
        let mut names = vec!["trips".to_owned(), "district".to_owned(), "Übergang".to_owned()];
        names.extend(WORDS.map(str::to_owned));
        let names = Names(names);
        let found = |line: &str| names.complete(line);
        assert_eq!(found("SELECT dis"), (7, vec!["district".to_owned(), "DISTINCT".to_owned()]));
        assert_eq!(found("SELECT COUNT(*) FROM tr"), (21, vec!["trips".to_owned()]));
        assert_eq!(found("AVG(üb"), (4, vec!["Übergang".to_owned()]));
        assert_eq!(found("\\wi"), (0, vec!["\\within".to_owned()]));
        assert_eq!(found("\\explain sel"), (9, vec!["SELECT".to_owned()]));
        assert_eq!(found("SELECT "), (7, Vec::new()));
        assert!(found("→x").1.is_empty());
    }

    #[cfg(unix)]
    #[test]
    fn only_its_owner_may_read_what_was_typed() {
        use std::os::unix::fs::PermissionsExt as _;
        let scratch = tempfile::tempdir().unwrap();
        let file = scratch.path().join("state/eke/history");
        let mode = || std::fs::metadata(&file).unwrap().permissions().mode() & 0o777;
        make_history(&file).unwrap();
        assert_eq!(mode(), 0o600);
        let folder = file.parent().unwrap();
        assert_eq!(std::fs::metadata(folder).unwrap().permissions().mode() & 0o777, 0o700);
        // One that others could read is theirs no more.
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o644)).unwrap();
        make_history(&file).unwrap();
        assert_eq!(mode(), 0o600);
    }
}
