//! Our speed beside that of others: that it is measured, and not how fast it is.

use std::process::Command;

use eke_lab::bench::Work;
use eke_lab::bench::peer::PEERS;

/// Everybody's work a little, with nobody else installed: our rows have done what was asked for,
/// and each peer has its line.
#[test]
fn a_bench_without_peers_shows_ours_and_says_who_is_missing() {
    let data = tempfile::tempdir().unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_eke-lab"))
        .args(["bench", "--quick", "--json", "--eke", "nowhere/eke", "--peers", "nowhere"])
        .arg("--data")
        .arg(data.path())
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    let whole: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let lines = whole["lines"].as_array().unwrap();
    for work in Work::all().into_iter().filter(|work| work.is_usual()) {
        let ours: Vec<_> = lines.iter().filter(|line| line["work"] == work.name()).collect();
        assert!(!ours.is_empty(), "{work:?}");
        for line in ours {
            assert_eq!(line["who"], "eke", "{line}");
            // The engine's work needs a program that is not there.
            let started = work != Work::GroupBy && !work.is_bounding();
            assert_eq!(line["plausible"].as_bool(), started.then_some(true), "{line}");
            assert_eq!(line["reason"].is_string(), !started, "{line}");
        }
    }
    for peer in PEERS {
        let reason = format!("is not installed: scripts/bench-peers {}", peer.name);
        let said = |line: &serde_json::Value| line["who"] == peer.name && line["reason"] == reason;
        assert_eq!(lines.iter().filter(|line| said(line)).count(), 1, "{}", peer.name);
    }
}
