#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fpdb::fuzzing::check("reader_answer", data));
