#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fpdb::fuzzing::check("posting_block", data));
