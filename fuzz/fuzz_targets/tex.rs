#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fpdb::fuzzing::check("tex", data));
