//! What devices and collectors send each other: reports, frames of them, and requests.

use std::sync::LazyLock;

use eke_budget::Amount;
use eke_local::device::LONGEST_REQUEST;
use eke_local::{Law, Request, Wire};
use eke_noise::local::{BitTemplate, HashTemplate, ReportLaw, Template};

const QUESTION: [u8; 32] = [7; 32];

/// One law for each form of reports: a set as bits, a set as a list, a hashed value, a row of bits.
static LAWS: LazyLock<[Law; 4]> = LazyLock::new(|| {
    let one = Amount::ONE;
    let law = |categories, report| Law::new(categories, report).expect("a law");
    [
        law(20, ReportLaw::Subset(Template::new(7, one))),
        law(400, ReportLaw::Subset(Template::new(5, one))),
        law(1000, ReportLaw::Hash(HashTemplate::new(12, one))),
        law(70, ReportLaw::Bits(BitTemplate::new(one))),
    ]
});

/// The first byte chooses a law; what follows is a report, and a frame of reports. What is read has
/// one form only, and nothing of a refused frame is handed over.
pub(crate) fn read(bytes: &[u8]) {
    let Some((&which, bytes)) = bytes.split_first() else { return };
    let law = &LAWS[usize::from(which) % LAWS.len()];
    let wire = Wire::new(*law);
    let mut report = vec![0; law.words()];
    if wire.read(bytes, &mut report).is_ok() {
        law.check(&report).expect("a report that was read is one of its law");
        let mut again = Vec::new();
        wire.write(&report, &mut again).expect("a report that was read is written");
        assert_eq!(again, bytes, "a report has two forms");
        assert_eq!(again.len(), wire.bytes(), "a report has another length");
    }
    let mut reports = Vec::new();
    match wire.read_frame(&QUESTION, bytes, |report| reports.extend_from_slice(report)) {
        Ok(count) => {
            assert_eq!(reports.len(), count as usize * law.words(), "reports are missing");
            let mut again = Vec::new();
            wire.write_frame(&QUESTION, &reports, &mut again).expect("a frame is written");
            assert_eq!(again, bytes, "a frame has two forms");
        }
        Err(_) => assert!(reports.is_empty(), "a refused frame is handed over"),
    }
}

/// A request is read as it was written, and whatever it asks for has a chain and a price, or is
/// refused.
pub(crate) fn read_request(bytes: &[u8]) {
    let Ok(request) = Request::from_bytes(bytes) else { return };
    assert!(bytes.len() <= LONGEST_REQUEST, "a request that is too long is read");
    let again = Request::from_bytes(&request.to_bytes()).expect("what was written is read");
    assert_eq!(again, request, "a request is read as another one");
    if let Ok(chain) = request.mechanism.chain() {
        let price = request.currency().price(&chain, request.report);
        assert!(price.is_err() || request.report < chain.reports(), "a price of no report");
    }
}
