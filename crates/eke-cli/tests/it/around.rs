//! Around a question: prices in epsilon, files of questions, tables, the shell, rehearsals.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use super::{printed, typed};

const POLICY: &str = "[unit.rider]\nadjacency = \"add-remove\"\n\
    budget = { epsilon = 2.0, delta = 1e-6 }\n\
    [dataset.trips]\nsource = \"trips.csv\"\nunit = \"rider\"\nunit_column = \"rider\"\n\
    max_groups = 1\nmax_rows = 1\n[dataset.trips.columns]\n\
    city = { values = [\"Delft\", \"Gouda\"] }\nday = { type = \"date\" }\n\
    fare = { type = \"float\", min = 0, max = 60 }\n\
    [tier.partner]\nfinest = { rho = 1e-3 }\nbudget = { epsilon = 0.5, delta = 1e-7 }\n\
    [analyst.ana]\n[analyst.bob]\ntier = \"partner\"\n";

/// A folder with a policy and four thousand trips.
fn city() -> tempfile::TempDir {
    let scratch = tempfile::tempdir().unwrap();
    let rows: String = (0..4_000)
        .map(|rider| {
            let city = if rider % 4 == 0 { "Gouda" } else { "Delft" };
            format!("r{rider},{city},2026-03-0{},{}\n", 1 + rider % 2, 10 + rider % 40)
        })
        .collect();
    std::fs::write(scratch.path().join("eke.toml"), POLICY).unwrap();
    let trips = format!("rider,city,day,fare\n{rows}");
    std::fs::write(scratch.path().join("trips.csv"), trips).unwrap();
    scratch
}

/// Runs the shell on what is typed into it.
fn shell(arguments: &str, input: &str, folder: &Path) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_eke"))
        .arg("shell")
        .args(arguments.split_whitespace())
        .current_dir(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    child.wait_with_output().unwrap()
}

fn json(text: &str) -> Vec<serde_json::Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// A price in epsilon never spends more than this epsilon, and hardly less.
#[test]
fn a_price_in_epsilon_is_spent_and_not_exceeded() {
    let scratch = city();
    let folder = scratch.path();
    for (number, who) in ["", "--as ana", "--as bob"].into_iter().enumerate() {
        let epsilon = 0.2;
        let ask = format!(
            "eke ask \"SELECT COUNT(*) FROM trips WHERE fare > {number}\" \
             --price epsilon={epsilon} --json {who} 2> said"
        );
        let answer = &json(&printed(typed(&ask, folder)))[0];
        let told = answer["epsilon"]["cost"].as_f64().unwrap();
        // The price is that of the values; counts of units that were cut cost up to 2 % of rho
        // more.
        let most = epsilon * 1.0201f64.sqrt() * 1.001;
        assert!(told <= most && (told > epsilon * 0.999 || who.contains("bob")), "{answer}");
    }
    // Without a delta there is nothing to convert at.
    let plain = POLICY.replace("epsilon = 2.0, delta = 1e-6", "rho = 0.1");
    std::fs::write(folder.join("rho.toml"), format!("{plain}[ledger]\naddress = \"rho.ledger\"\n"))
        .unwrap();
    let ask = "eke ask 'SELECT COUNT(*) FROM trips' --policy rho.toml";
    let wrong = typed(&format!("{ask} --price epsilon=0.1"), folder);
    assert_eq!(wrong.status.code(), Some(2));
    assert!(printed(wrong).contains("states no delta"));
    let fine = printed(typed(&format!("{ask} --price rho=0.001"), folder));
    assert!(fine.contains("rho 0.00102, 1.02 % of") && !fine.contains("epsilon"), "{fine}");
}

/// Questions of a file and of standard input are answered in their order until one is not.
#[test]
fn questions_come_from_files_and_from_standard_input() {
    let scratch = city();
    let folder = scratch.path();
    let questions = "-- how many; and where\nSELECT COUNT(*) FROM trips;\n\
                     SELECT city, COUNT(*) AS \"n;\" FROM trips GROUP BY city";
    std::fs::write(folder.join("q.sql"), questions).unwrap();
    let said = printed(typed("eke ask -f q.sql --within 10%", folder));
    assert!(said.contains("Gouda") && said.contains("  cost ") && said.contains("n;"), "{said}");
    // The same from standard input is the same, and free.
    let again = printed(typed("eke ask - --within 10% --json < q.sql", folder));
    let again = json(&again);
    assert!(again.len() == 2 && again.iter().all(|one| one["free"] == true), "{again:?}");
    let csv = printed(typed("eke ask -f q.sql --within 10% --csv", folder));
    assert!(
        csv.starts_with("# counted: at most ")
            && csv.contains("\nCOUNT(*),")
            && csv.contains("\ncity,n;,"),
        "{csv}"
    );
    let wrong = "SELECT COUNT(*) FROM trips; SELECT COUNT(*) FROM trip; SELECT 1";
    std::fs::write(folder.join("w.sql"), wrong).unwrap();
    let output = typed("eke ask -f w.sql --within 10%", folder);
    assert_eq!(output.status.code(), Some(3));
    let said = printed(output);
    // None is paid for before all are understood.
    assert!(!said.contains("cost ") && said.contains("eke: question 2 of 3: "), "{said}");
    std::fs::write(folder.join("e.sql"), "-- nothing;").unwrap();
    for (ask, code) in [("-f e.sql", 2), ("-f none.sql", 1), ("'SELECT 1' -f q.sql", 2)] {
        let output = typed(&format!("eke ask {ask} --within 10%"), folder);
        assert_eq!(output.status.code(), Some(code), "{ask}: {}", printed(output));
    }
}

/// What several questions are expected to cost adds up, and what is asked twice costs nothing.
#[test]
fn a_file_of_questions_is_explained_with_its_sum() {
    let scratch = city();
    let folder = scratch.path();
    let questions = "SELECT COUNT(*) FROM trips; SELECT AVG(fare) FROM trips; \
                     select count(1) from trips; SELECT city, SUM(fare) FROM trips GROUP BY city;";
    std::fs::write(folder.join("q.sql"), questions).unwrap();
    let told = json(&printed(typed("eke explain -f q.sql --within 10% --json", folder)));
    let [one, average, _, sum, all] = &told[..] else { panic!("{told:?}") };
    for size in 0..3 {
        let of = |told: &serde_json::Value| told["totals"][size]["cost"]["rho"].as_f64().unwrap();
        let expected = of(one) + of(average) + of(sum);
        let found = all["sum"][size]["cost"]["rho"].as_f64().unwrap();
        assert!((found / expected - 1.0).abs() < 1e-9, "{found} {expected}");
    }
    let said = printed(typed("eke explain -f q.sql --within 10%", folder));
    assert!(said.contains("nothing") && said.contains("all of them"), "{said}");
    assert!(said.lines().all(|line| line.chars().count() <= 80), "{said}");
    // A price is the sum of prices.
    let said = json(&printed(typed("eke explain -f q.sql --price rho=0.01 --json", folder)));
    let sum = said.last().unwrap()["sum"][0]["cost"]["rho"].as_f64().unwrap();
    assert!((sum - 0.03).abs() < 1e-9, "{sum}");
}

/// What may be asked about is the same whatever rows there are, and each sees their own budget.
#[test]
fn what_may_be_asked_about_does_not_depend_on_rows() {
    let scratch = city();
    let folder = scratch.path();
    let look = |who: &str| printed(typed(&format!("eke tables trips {who}"), folder));
    let (steward, bob) = (look(""), look("--as bob"));
    for part in ["rider", "0 to 60", "Delft, Gouda", "selected privately", "epsilon 2, delta 1e-6"]
    {
        assert!(steward.contains(part), "{part}: {steward}");
    }
    assert!(bob.contains("epsilon 0.5, delta 1e-7") && !bob.contains("epsilon 2,"), "{bob}");
    assert!(bob.contains("no path further than rho 0.001"), "{bob}");
    std::fs::write(folder.join("trips.csv"), "rider,city,day,fare\nr1,Ghent,x,1e9\n").unwrap();
    assert_eq!((look(""), look("--as bob")), (steward, bob));
    assert!(!folder.join("eke.ledger").exists());
    let told = json(&printed(typed("eke tables --json", folder)));
    assert_eq!(told[0]["columns"][1]["values"], serde_json::json!(["Delft", "Gouda"]));
    let none = typed("eke tables trip", folder);
    assert_eq!(none.status.code(), Some(1));
    assert!(printed(none).contains("there are trips"));
    assert_eq!(typed("eke tables --as eve", folder).status.code(), Some(1));
}

/// A session in the shell, without a terminal.
#[test]
fn the_shell_answers_what_is_typed() {
    let scratch = city();
    let folder = scratch.path();
    let session = "\\d\n\\d trips\n\\budget\n\\?\n\\within 10%\n\
        SELECT city, COUNT(*) AS n\n  FROM trips -- ;\n GROUP BY city; SELECT COUNT(*) FROM trips;\n\
        \\explain SELECT AVG(fare) FROM trips;\n\\rehearse SELECT AVG(fare) FROM trips\n\
        \\at_most epsilon=0.3\n\\price rho=0.001\nSELECT AVG(fare) FROM trips\n;\n\\history 1\n\
        \\verbose\n\\confidence 99%\n\\budget\n\\q\nSELECT COUNT(*) FROM never;\n";
    let output = shell("", session, folder);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let said = String::from_utf8(output.stdout).unwrap();
    for part in [
        "each rider is protected, by rider",
        "0 % spent",
        "answers are within 10%",
        "Gouda",
        "What 10% is expected to cost",
        "a rehearsal on made-up rows",
        "answers are within 10%, for at most epsilon=0.3",
        "a question costs rho=0.001, for at most epsilon=0.3",
        "cost   rho 0.00102 (epsilon ",
        "intervals hold with 99%",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
    assert_eq!(said.matches("  cost   rho ").count(), 3, "{said}");
    assert!(!said.contains("eke> ") && !said.contains("never"), "{said}");
}

/// Without a terminal the shell goes on after what is not answered, and ends with its exit code.
#[test]
fn the_shell_goes_on_after_a_mistake_and_says_so_at_its_end() {
    let scratch = city();
    let folder = scratch.path();
    let session = "\\nothing\nSELECT COUNT(*) FROM trip;\n\\within 5\\%\nSELECT COUNT(*) FROM trips;\n\
                   SELECT COUNT(*)";
    let output = shell("--within 20% --as ana", session, folder);
    assert_eq!(output.status.code(), Some(2));
    let (out, wrong) = (output.stdout, String::from_utf8(output.stderr).unwrap());
    assert!(String::from_utf8(out).unwrap().contains("  cost   rho "), "{wrong}");
    for part in ["no command \\nothing", "trip", "is not an error", "has no semicolon"] {
        assert!(wrong.contains(part), "{part}: {wrong}");
    }
    // A refusal speaks of commands and not of flags.
    let output = shell("--within 1", "SELECT COUNT(*) FROM trips;\n", folder);
    assert_eq!(output.status.code(), Some(3));
    let wrong = String::from_utf8(output.stderr).unwrap();
    assert!(wrong.contains("\\within") && !wrong.contains("--within"), "{wrong}");
    // Looking around begins no ledger.
    let other = city();
    assert!(shell("", "\\d\n\\budget\n\\history\n", other.path()).status.success());
    assert!(!other.path().join("eke.ledger").exists());
}

/// A rehearsal says what it is in its first line, and leaves nothing behind.
#[test]
fn a_rehearsal_says_so_and_leaves_nothing_behind() {
    let scratch = city();
    let folder = scratch.path();
    std::fs::write(folder.join("trips.csv"), "rider,city,day,fare\n").unwrap();
    let made = folder.join("made");
    std::fs::create_dir(&made).unwrap();
    let ask = "'SELECT city, COUNT(*) AS n, AVG(fare) FROM trips GROUP BY city' --within 10%";
    for command in [
        format!("TMPDIR=made eke rehearse {ask}"),
        format!("TMPDIR=made eke rehearse {ask} --units 500 --as ana"),
    ] {
        let said = printed(typed(&command, folder));
        assert!(
            said.starts_with("a rehearsal on made-up rows: no data is read, nothing is charged"),
            "{said}"
        );
        assert!(said.contains("Gouda") && said.contains("would cost rho "), "{said}");
    }
    let told = printed(typed(&format!("TMPDIR=made eke rehearse {ask} --json"), folder));
    assert_eq!(json(&told)[0]["rehearsal"], true);
    assert_eq!(std::fs::read_dir(&made).unwrap().count(), 0);
    assert!(!folder.join("eke.ledger").exists());
    // What cannot be asked cannot be rehearsed.
    let wrong = typed("eke rehearse 'SELECT * FROM trips' --within 10%", folder);
    assert_eq!(wrong.status.code(), Some(3));
}

/// Answers of several values fit 80 columns, and say what they lack within them.
#[test]
fn answers_fit_eighty_columns() {
    let scratch = city();
    let folder = scratch.path();
    let ask = "eke ask \"SELECT city, EXTRACT(YEAR FROM DATE '2026-03-01') AS y, COUNT(*), \
        AVG(fare * 2 + 1 - 0.5) AS the_average_of_fares_and_more, SUM(fare), COUNT(DISTINCT rider) \
        FROM trips GROUP BY city, y ORDER BY 3 DESC\" --within 1% --at-most rho=0.001";
    let said = printed(typed(ask, folder));
    assert!(said.contains("not met in 2 rows: ") && said.contains(" more"), "{said}");
    assert!(said.lines().all(|line| line.chars().count() <= 80), "{said}");
    assert_eq!(said.matches("Gouda").count(), said.matches("Delft").count(), "{said}");
}

/// Days are keys in the form of ISO 8601, however an answer is printed.
#[test]
fn days_are_written_as_iso_has_them() {
    let scratch = city();
    let folder = scratch.path();
    let ask = "eke ask 'SELECT day, COUNT(*) AS n FROM trips GROUP BY day' --price rho=0.01";
    let table = printed(typed(ask, folder));
    assert!(table.contains("\n  2026-03-01  ") && table.contains("\n  2026-03-02  "), "{table}");
    let csv = printed(typed(&format!("{ask} --csv"), folder));
    assert!(csv.contains("\nday,n,") && csv.contains("\n2026-03-01,"), "{csv}");
    let told = json(&printed(typed(&format!("{ask} --json"), folder)));
    assert_eq!(told[0]["rows"][1]["keys"][0], "2026-03-02");
}
