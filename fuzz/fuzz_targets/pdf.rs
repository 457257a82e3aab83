#![no_main]

// The library that reads PDF panics on what it does not expect, and the panic is made an error of the document. So it is
// left to pass here; one that gets out ends the process all the same.
libfuzzer_sys::fuzz_target!(
    init: std::panic::set_hook(Box::new(|_| {})),
    |data: &[u8]| fpdb::fuzzing::check("pdf", data)
);
