#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    eke_fuzz::target("device").expect("a target").read(bytes);
});
