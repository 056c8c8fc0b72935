//! How much is allocated for bytes that claim a lot: in a process of its own, which counts.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use eke_local::{Law, Tally, Wire};
use eke_noise::local::{ReportLaw, Template};

#[global_allocator]
static COUNTING: dhat::Alloc = dhat::Alloc;

/// A million categories, and frames that claim four billion reports or hold bytes of no meaning.
#[test]
fn bytes_that_claim_a_lot_get_room_for_one_report_and_no_more() {
    let template = Template::new(3, "1".parse().unwrap());
    let law = Law::new(1 << 20, ReportLaw::Subset(template)).unwrap();
    let wire = Wire::new(law);
    let mut frame = Vec::new();
    wire.write_frame(&[1; 32], &[], &mut frame).unwrap();
    let mut claims = frame.clone();
    claims[34..].fill(0xff);
    let mut noise = frame.clone();
    noise[34..].copy_from_slice(&1000u32.to_le_bytes());
    noise.resize(noise.len() + 1000 * (wire.bytes() - 2), 0xa5);
    let mut tally = Tally::new(law);
    let profiler = dhat::Profiler::builder().testing().build();
    for bytes in [&claims[..], &noise, &[1, 0x82], &[]] {
        let before = dhat::HeapStats::get().total_bytes;
        assert!(wire.read_frame(&[1; 32], bytes, |_| ()).is_err());
        assert!(tally.add_frame(&[1; 32], bytes).is_err());
        let room = dhat::HeapStats::get().total_bytes - before;
        // A row of 2^20 bits for each of the two, and what the error takes.
        assert!(room < 2 * (1 << 17) + 1000, "{room} bytes");
    }
    drop(profiler);
}
