//! Makes the functions part of the sources that force an instruction set.

fn main() {
    println!("cargo::rustc-check-cfg=cfg(fuzzing, measuring)");
    println!("cargo::rustc-cfg=measuring");
}
