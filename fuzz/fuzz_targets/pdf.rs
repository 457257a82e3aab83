#![no_main]

// The PDF library panics on input that it does not expect, and fpdb turns the panic into an error of the
// document. So the panic hook does nothing here. A panic that escapes still ends the process.
libfuzzer_sys::fuzz_target!(
    init: std::panic::set_hook(Box::new(|_| {})),
    |data: &[u8]| fpdb::fuzzing::check("pdf", data)
);
