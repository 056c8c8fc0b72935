//! Programs that are killed at any moment, over one ledger: it stays whole, what was shown stays as
//! it was shown, what was paid for stays paid for, and the next question goes on.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use eke_ledger::Register;
use serde_json::Value;
use tempfile::TempDir;

const POLICY: &str = r#"
[unit.rider]
adjacency = "add-remove"
budget = { epsilon = 408.0, delta = 1e-5 }
pure = 400.0

[dataset.trips]
source = "trips.csv"
unit = "rider"
unit_column = "rider"
max_groups = 2
max_rows = 1
answer_time = 0.3

[dataset.trips.columns]
zone = { type = "int", values = [0, 1, 2] }
kind = { type = "text" }

[tier.partner]
finest = { rho = 0.3 }
budget = { epsilon = 406.0, delta = 1e-5, pure = 400.0 }
[analyst.ana]
[analyst.bob]
tier = "partner"
[circle.both]
analysts = ["ana", "bob"]
budget = { epsilon = 408.0, delta = 1e-5, pure = 400.0 }
"#;

const ZONES: &str = "SELECT zone, COUNT(*) AS n FROM trips GROUP BY zone";
const KINDS: &str = "SELECT kind, COUNT(*) AS n FROM trips GROUP BY kind";
const LARGEST: &str = "SELECT zone, COUNT(*) AS n FROM trips GROUP BY zone ORDER BY n DESC LIMIT 2";

fn eke(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_eke"));
    command.current_dir(folder).args(arguments).stdin(Stdio::null());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

fn run(folder: &Path, arguments: &[&str]) -> Output {
    eke(folder, arguments).output().unwrap()
}

fn json(folder: &Path, arguments: &[&str]) -> Value {
    let output = run(folder, arguments);
    assert!(output.status.success(), "{arguments:?}: {}", text(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// The question of a number: of two analysts and the steward, finer and finer.
fn question(number: u32) -> Vec<String> {
    let sql = match number % 5 {
        3 => LARGEST,
        4 => KINDS,
        _ => ZONES,
    };
    let within = format!("{}%", 30.0 / (1.0 + f64::from(number) / 4.0));
    let mut words: Vec<String> =
        ["ask", sql, "--within", &within, "--at-most", "rho=0.2", "--json", "--yes"]
            .map(str::to_owned)
            .into();
    match number % 3 {
        0 => {}
        1 => words.extend(["--as", "ana"].map(str::to_owned)),
        _ => words.extend(["--as", "bob"].map(str::to_owned)),
    }
    words
}

fn words(question: &[String]) -> Vec<&str> {
    question.iter().map(String::as_str).collect()
}

/// What each account has spent, by its name. The steward has looked: a question that was killed
/// counts as one that failed.
fn spent(folder: &Path) -> BTreeMap<String, f64> {
    let report = json(folder, &["budget", "--looked", "--json"]);
    let of = |standing: &Value| {
        let name = standing["account"].as_str().unwrap().to_owned();
        (name, standing["spent"]["rho"].as_f64().unwrap())
    };
    report["accounts"].as_array().unwrap().iter().map(of).collect()
}

/// A folder of a steward's: the policy and the trips.
fn steward() -> TempDir {
    let scratch = tempfile::tempdir().unwrap();
    let folder = scratch.path();
    std::fs::write(folder.join("eke.toml"), POLICY).unwrap();
    let mut rows = String::from("rider,zone,kind\n");
    for rider in 0..4_000 {
        let kind = ["day", "night"][usize::from(rider % 3 == 0)];
        let _ = writeln!(rows, "r{rider},{},{kind}", [0, 0, 0, 0, 1, 1, 2][rider % 7]);
    }
    std::fs::write(folder.join("trips.csv"), rows).unwrap();
    scratch
}

#[test]
fn a_ledger_outlives_programs_that_are_killed() {
    const KILLS: u32 = 40;
    let scratch = steward();
    let folder = scratch.path();
    json(folder, &["ask", "SELECT COUNT(*) FROM trips", "--price", "rho=1e-5", "--json"]);
    // A little longer than a question of some rounds takes that nobody kills.
    let start = Instant::now();
    json(folder, &words(&question(KILLS)));
    let whole = start.elapsed() * 5 / 4;
    let (mut killed, mut shown) = (0, Vec::new());
    let mut before = spent(folder);
    for number in 0..KILLS {
        let question = question(number);
        let mut child = eke(folder, &words(&question)).spawn().unwrap();
        // Spread over the whole of it, in no order: 17 and 40 have no common factor.
        std::thread::sleep(whole / KILLS * (number * 17 % KILLS) + Duration::from_millis(3));
        killed += u32::from(child.try_wait().unwrap().is_none());
        let _ = child.kill();
        let output = child.wait_with_output().unwrap();
        if let Ok(answer) = serde_json::from_slice::<Value>(&output.stdout) {
            shown.push((question, answer));
        } else {
            assert!(!output.status.success() && output.stderr.is_empty(), "{output:?}");
        }
        if number % 10 == 9 {
            let now = spent(folder);
            assert!(before.iter().all(|(name, spent)| now[name] >= *spent), "{before:?} {now:?}");
            before = now;
        }
    }
    assert!(killed > KILLS / 4 && !shown.is_empty(), "{killed} killed, {} shown", shown.len());

    let verified = run(folder, &["ledger", "verify", "eke.ledger"]);
    assert!(verified.status.success(), "{}", text(&verified.stdout));
    // The questions that were killed are asked again, and answered.
    for number in 0..5 {
        json(folder, &words(&question(KILLS - 1 - number)));
    }
    // What was shown is there, for nothing.
    for (question, answer) in &shown {
        let again = json(folder, &words(question));
        assert_eq!((&again["rows"], &again["free"]), (&answer["rows"], &Value::Bool(true)));
    }
    let verified = run(folder, &["ledger", "verify", "eke.ledger"]);
    assert!(verified.status.success(), "{}", text(&verified.stdout));
    one_draw_for_each_charge(folder);
}

/// An analyst's question that is killed when its answer is stored and has not left: it counts as
/// one that failed, once, and the next program need not wait for it.
#[test]
fn a_question_that_is_killed_before_its_answer_leaves_counts() {
    let scratch = steward();
    let folder = scratch.path();
    let policy = POLICY.replace("answer_time = 0.3", "answer_time = 3600.0");
    std::fs::write(folder.join("eke.toml"), policy).unwrap();
    let ask = ["ask", ZONES, "--price", "rho=1e-3", "--json", "--as", "ana"];
    let failures = || json(folder, &["budget", "--json"])["failures"].clone();
    assert_eq!(failures(), serde_json::json!([]));
    let mut child = eke(folder, &ask).spawn().unwrap();
    // The steward sees when it is stored.
    let history = |who: &[&str]| {
        let output = run(folder, &[&["history", "--json"], who].concat());
        let lines = text(&output.stdout);
        let lines = lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        lines.collect::<Vec<_>>()
    };
    let is_stored = || history(&[]).iter().any(|asked| asked["outcome"] == "answered");
    while !is_stored() {
        assert!(child.try_wait().unwrap().is_none());
    }
    assert_eq!(failures(), serde_json::json!([]));
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(history(&["--as", "ana"]).len(), 1);
    for _ in 0..2 {
        let failures = failures();
        assert_eq!((&failures[0]["failed"], &failures[0]["unseen"]), (&1.into(), &1.into()));
    }
    // It was paid for and stored, so it is there for nothing.
    assert_eq!(json(folder, &ask)["free"], true);
}

/// What a watch prints as JSON, line by line; the summary is not among it, and neither is a line
/// that was cut off.
fn verdicts(printed: &str) -> Vec<(u64, bool)> {
    let lines = printed.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    lines.filter_map(|line| Some((line["step"].as_u64()?, line["hit"].as_bool()?))).collect()
}

/// Watches that are killed at any moment: what was shown is shown again, it is paid for, and the
/// watch goes on.
#[test]
fn a_watch_outlives_programs_that_are_killed() {
    const KILLS: u32 = 30;
    let scratch = steward();
    let folder = scratch.path();
    // As near to the line as makes verdicts a matter of luck.
    let write = |steps: usize| {
        let lines = (0..steps).map(|step| ["0\n", "1\n"][step % 2]).collect::<String>();
        std::fs::write(folder.join("steps.csv"), format!("zone\n{lines}")).unwrap();
    };
    let watch = |number: u32| {
        let sql = "SELECT COUNT(*) FROM trips WHERE zone = $1";
        let mut words = vec![
            "watch",
            sql,
            "--over",
            "steps.csv",
            "--above",
            "1700",
            "--error",
            "1500",
            "--json",
        ];
        match number % 3 {
            0 => {}
            1 => words.extend(["--as", "ana"]),
            _ => words.extend(["--as", "bob"]),
        }
        words
    };
    let epsilon = |folder: &Path, part: usize| {
        let report = json(folder, &["budget", "--json"]);
        let of = |standing: &Value| standing["pure"][part].as_f64().unwrap();
        report["accounts"].as_array().unwrap().iter().map(of).collect::<Vec<f64>>()
    };
    json(folder, &["ask", "SELECT COUNT(*) FROM trips", "--price", "rho=1e-5", "--json"]);
    let mut shown: BTreeMap<u64, bool> = BTreeMap::new();
    let mut killed = 0;
    for number in 0..KILLS {
        // There are always some steps that nobody has drawn yet.
        write(shown.len() + 8);
        spent(folder);
        let mut child = eke(folder, &watch(number)).spawn().unwrap();
        // From before anything is charged to a few new steps on, in no order.
        let lines = match number % 5 {
            4 => 0,
            new => shown.len() + new as usize,
        };
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let mut printed = String::new();
        for _ in 0..lines {
            out.read_line(&mut printed).unwrap();
        }
        killed += u32::from(child.try_wait().unwrap().is_none());
        let _ = child.kill();
        out.read_to_string(&mut printed).unwrap();
        child.wait().unwrap();
        for (step, hit) in verdicts(&printed) {
            assert_eq!(*shown.entry(step).or_insert(hit), hit, "step {step}");
        }
    }
    assert!(killed > KILLS / 2, "{killed}");
    spent(folder);
    // The next program goes on to the end, and all see the same.
    let all = shown.len() + 8;
    write(all);
    for number in 0..3 {
        let output = run(folder, &watch(number));
        assert!(output.status.success(), "{}", text(&output.stderr));
        let now = verdicts(&text(&output.stdout));
        assert_eq!(now.len(), all);
        for (step, hit) in now {
            assert_eq!(*shown.entry(step).or_insert(hit), hit, "step {step}");
        }
    }
    let (spent, aside) = (epsilon(folder, 1), epsilon(folder, 2));
    assert!(spent.iter().all(|spent| *spent > 0.0), "{spent:?}");
    for number in 0..3 {
        let again = run(folder, &watch(number));
        assert_eq!(verdicts(&text(&again.stdout)).len(), all);
    }
    assert_eq!((spent, aside), (epsilon(folder, 1), epsilon(folder, 2)));
    let verified = run(folder, &["ledger", "verify", "eke.ledger"]);
    assert!(verified.status.success(), "{}", text(&verified.stdout));
    one_draw_for_each_charge(folder);
}

/// What does not fit into memory lies beside the ledger while rows are read, for nobody else to
/// look into, and what a program that was killed has left there is gone with the next one.
#[cfg(unix)]
#[test]
fn rows_on_disk_are_our_own_and_are_swept() {
    use std::os::unix::fs::PermissionsExt;
    let scratch = steward();
    let folder = scratch.path();
    let temporary = folder.join("tmp");
    std::fs::create_dir_all(&temporary).unwrap();
    let mut rows = String::from("rider,zone,kind\n");
    for rider in 0..400_000 {
        let _ = writeln!(rows, "r{rider},{},day", rider % 3);
    }
    std::fs::write(folder.join("trips.csv"), rows).unwrap();
    // Much to do for each row, so that reading them takes long enough to be killed at it.
    let slow = "SELECT COUNT(*) FROM trips WHERE length(replace(repeat(kind, 2000), 'a', 'o')) > 9";
    json(folder, &["ask", "SELECT COUNT(*) FROM trips", "--price", "rho=1e-5", "--json"]);
    let ours = folder.join("eke.ledger-rows");
    assert!(!ours.exists(), "nothing is left where nothing was killed");
    let runs = || std::fs::read_dir(&ours).map_or(0, |entries| entries.flatten().count());
    let mut left = false;
    for number in 0..20 {
        let price = format!("rho={}e-5", number + 2);
        let mut command = eke(folder, &["ask", slow, "--price", &price, "--json"]);
        let mut child = command.env("TMPDIR", &temporary).spawn().unwrap();
        let pid = child.id().to_string();
        let signal = |name: &str| {
            let _ = Command::new("kill").args([name, &pid]).status();
        };
        while child.try_wait().unwrap().is_none() {
            if runs() == 0 {
                std::thread::yield_now();
                continue;
            }
            // What is made to see whether there is room goes at once: a program that has been
            // stopped shows whether its folder stays.
            signal("-STOP");
            if runs() > 0 {
                break;
            }
            signal("-CONT");
        }
        let _ = child.kill();
        child.wait().unwrap();
        if runs() > 0 {
            left = true;
            break;
        }
    }
    assert!(left, "none was killed while it read");
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&ours), 0o700);
    for run in std::fs::read_dir(&ours).unwrap().flatten() {
        assert_eq!(mode(&run.path()), 0o700);
        // As if it had got as far as that.
        std::fs::write(run.path().join("spilled"), "r17").unwrap();
    }
    assert_eq!(std::fs::read_dir(&temporary).unwrap().count(), 0);
    json(folder, &["budget", "--json"]);
    assert!(!ours.exists(), "what was left is gone");
}

/// With little address space there is an answer or an error, and never a wait without an end; and
/// then it goes on.
#[cfg(target_os = "linux")]
#[test]
fn little_address_space_is_an_error_and_nothing_hangs() {
    let scratch = steward();
    let folder = scratch.path();
    let price = |number: u32| format!("rho={}e-5", number + 1);
    let (mut failed, mut answered) = (0, 0);
    for (number, megabytes) in
        (0..).zip([60, 120, 180, 240, 300, 360, 420, 500, 600, 800, 1200, 4000])
    {
        let line = format!(
            "ulimit -v {} && exec \"$0\" ask 'SELECT COUNT(*) FROM trips' --price {} --as ana --json",
            megabytes * 1024,
            price(number)
        );
        let mut child = Command::new("sh")
            .args(["-c", &line, env!("CARGO_BIN_EXE_eke")])
            .current_dir(folder)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let start = Instant::now();
        while child.try_wait().unwrap().is_none() {
            assert!(start.elapsed() < Duration::from_secs(120), "{megabytes} MB: it hangs");
            std::thread::sleep(Duration::from_millis(20));
        }
        let output = child.wait_with_output().unwrap();
        let said = text(&output.stderr);
        assert!(!said.contains("panicked"), "{megabytes} MB: {said}");
        if output.status.success() {
            answered += 1;
        } else {
            failed += 1;
            // Whatever came of it, the next one goes on.
            run(folder, &["budget", "--looked"]);
            let next = [
                "ask",
                "SELECT COUNT(*) FROM trips",
                "--price",
                &price(number),
                "--as",
                "ana",
                "--json",
            ];
            json(folder, &next);
        }
    }
    assert!(failed > 0 && answered > 0, "{failed} {answered}");
}

/// A reader that breaks down over a damaged file prints nothing, and an analyst sees one sentence
/// for all of it.
#[test]
fn a_reader_that_breaks_down_is_one_sentence_for_an_analyst() {
    const SAID: &str = "eke: a new ledger was begun: eke.ledger\neke: this is not available just now, and what it may have cost stays paid: ask again later, or ask the steward\n";
    let scratch = steward();
    let folder = scratch.path();
    run(folder, &["demo", "--riders", "2000", "--folder", "city"]);
    let city = folder.join("city");
    let policy = std::fs::read_to_string(city.join("eke.toml")).unwrap();
    let policy = policy.replace("[dataset.trips]\n", "[dataset.trips]\nanswer_time = 0.02\n");
    std::fs::write(city.join("eke.toml"), policy).unwrap();
    let whole = std::fs::read(city.join("trips.parquet")).unwrap();
    let sql = "SELECT SUM(fare) FROM trips WHERE district <> 'x'";
    let mut broken = 0;
    for number in 0..24 {
        for file in ["eke.ledger", "eke.ledger-wal", "eke.ledger-shm", "eke.toml.anchor"] {
            let _ = std::fs::remove_file(city.join(file));
        }
        let mut damaged = whole.clone();
        let from = 4 + number * (whole.len() / 2) / 24;
        for byte in &mut damaged[from..from + 40] {
            *byte = byte.wrapping_mul(31).wrapping_add(7);
        }
        std::fs::write(city.join("trips.parquet"), damaged).unwrap();
        let output = run(&city, &["ask", sql, "--price", "rho=1e-5", "--as", "ana", "--json"]);
        if !output.status.success() {
            broken += 1;
            assert_eq!((text(&output.stderr).as_str(), output.status.code()), (SAID, Some(1)));
            assert!(output.stdout.is_empty());
            let notes = text(&run(&city, &["budget"]).stdout);
            assert!(notes.contains("was not answered"), "{notes}");
        }
    }
    assert!(broken > 0);
}

/// Every request is charged once, and then answered once, given up, or lost.
fn one_draw_for_each_charge(folder: &Path) {
    let exported = run(folder, &["ledger", "export", "eke.ledger"]);
    let lines = text(&exported.stdout);
    let mut charged = BTreeSet::new();
    let mut ended = BTreeMap::new();
    for line in lines.lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        let (Some(key), Some("rider")) = (line["request"].as_str(), line["account"].as_str())
        else {
            continue;
        };
        let what = line["what"].to_string();
        if what.contains("revealed") || what.contains("given-up") {
            *ended.entry(key.to_owned()).or_insert(0) += 1;
        } else if !what.contains("refused") {
            assert!(charged.insert(key.to_owned()), "{key} was charged twice");
        }
    }
    assert!(ended.iter().all(|(key, count)| charged.contains(key) && *count == 1), "{ended:?}");
}

/// A count of many people, killed when everybody's allowance is reserved and before it is settled:
/// it stays paid in full, nothing was shown, and the next one goes on.
#[test]
fn a_count_that_is_killed_stays_paid() {
    const PEOPLE: u32 = 20_000;
    const KILLS: u32 = 5;
    let scratch = steward();
    let folder = scratch.path();
    let mut rows = String::from("id,lon,lat\n");
    for person in 0..PEOPLE {
        let (east, north) = (person % 200, person / 200);
        let _ = writeln!(
            rows,
            "p{person},{},{}",
            4.0 + f64::from(east) * 1e-3,
            52.0 + f64::from(north) * 1e-3
        );
    }
    std::fs::write(folder.join("people.csv"), rows).unwrap();
    let count = |name: &str, rho: &str| {
        let words = ["geo", "count", "people.csv", "--region", "4.1,52.05,20000", "--budget", "1"];
        let rest = ["--rho", rho, "--circle", "4.1,52.05,3000", "--way", "point", "--json"];
        let words = [&words[..], &rest, &["--snapshot", name]].concat();
        words.into_iter().map(str::to_owned).collect::<Vec<String>>()
    };
    json(folder, &words(&count("first", "1e-9")));
    let ledger = folder.join("people.ledger");
    let mut register = Register::open(&ledger).unwrap();
    let mut lost = 0u32;
    for kill in 0..KILLS {
        let name = format!("killed-{kill}");
        let before: Vec<u128> = grains(&mut register);
        let mut child = eke(folder, &words(&count(&name, "0.01"))).spawn().unwrap();
        // From the moment on when it is reserved there is all of the drawing and storing to do.
        while register.under_way().unwrap().is_empty() && child.try_wait().unwrap().is_none() {
            std::thread::yield_now();
        }
        let _ = child.kill();
        let output = child.wait_with_output().unwrap();
        let open = register.under_way().unwrap();
        if open.is_empty() {
            // It was faster.
            continue;
        }
        assert!(output.stdout.is_empty(), "{}", text(&output.stdout));
        lost += 1;
        register.verify().unwrap();
        // The next one finds it dead, and is answered under the same name.
        let next = json(folder, &words(&count(&name, "0.001")));
        assert_eq!((&next["people"], &next["free"]), (&PEOPLE.into(), &false.into()));
        assert!(register.under_way().unwrap().is_empty());
        let whole = 10u128.pow(28);
        let after = grains(&mut register);
        assert!(after.iter().zip(&before).all(|(after, before)| *after >= before + whole));
    }
    assert!(lost > 0, "none was killed between reserving and settling");
    register.verify().unwrap();
    assert!(register.people().unwrap().iter().all(|person| person.spent <= person.budget));
}

/// What everybody has spent.
fn grains(register: &mut Register) -> Vec<u128> {
    register.people().unwrap().iter().map(|person| person.spent.grains()).collect()
}

/// A program that is not given enough memory may not even be started by the system, and cannot say
/// a word about it. However much it is given, it answers or charges nothing.
#[cfg(target_os = "linux")]
#[test]
fn without_memory_there_is_an_answer_or_no_charge() {
    let scratch = steward();
    let folder = scratch.path();
    let ask = "exec \"$0\" ask 'SELECT COUNT(*) FROM trips' --price rho=0.01 --yes";
    for megabytes in [20, 60, 100, 130, 160, 250, 400, 560, 590, 620, 700, 900] {
        for file in ["eke.ledger", "eke.ledger-wal", "eke.ledger-shm", "eke.toml.anchor"] {
            let _ = std::fs::remove_file(folder.join(file));
        }
        let limited = format!("ulimit -c 0; ulimit -v {}; {ask}", megabytes * 1000);
        let output = Command::new("sh")
            .current_dir(folder)
            .args(["-c", &limited, env!("CARGO_BIN_EXE_eke")])
            .output()
            .unwrap();
        let told = text(&output.stderr);
        let budget = text(&run(folder, &["budget"]).stdout);
        let is_charged = !budget.contains("spent     rho 0\n");
        assert_eq!(output.status.success(), is_charged, "{megabytes} MB: {told}{budget}");
        match output.status.code() {
            // The system killed what it could not start, or it ended itself: nothing is charged.
            None | Some(0) => {}
            Some(code) => {
                assert!((1..=2).contains(&code) || code > 125, "{megabytes} MB: {code} {told}");
                assert!(!told.is_empty(), "{megabytes} MB");
            }
        }
    }
}
