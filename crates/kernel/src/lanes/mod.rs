//! Lanes: SIMD operations that compare several hashes with one instruction.
//!
//! A [`SimdJob`] is written once, over the operations of [`Lanes`], and compiled for every instruction set.
//! [`Processor`] detects the best instruction set of this machine. The types that run jobs detect the
//! instruction set once and keep it. Results are the same on every instruction set.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod operations;
mod portable;
#[cfg(target_arch = "x86_64")]
mod sse2;
#[cfg(test)]
mod tests;

#[cfg(target_arch = "x86_64")]
use avx2::Avx2;
#[cfg(target_arch = "x86_64")]
use avx512::Avx512;
use operations::places_one_by_one;
pub(crate) use operations::{
    BLOCK, CODES, Classes, GROUP, Lanes, NEIGHBOURHOOD, NO_CODE, REACH, SEARCHED, SimdJob, TEXT,
};
use portable::Portable;

/// An instruction set of this machine. The token in a variant proves that the processor has this instruction
/// set.
#[derive(Clone, Copy, Debug)]
pub enum Processor {
    Portable(Portable),
    #[cfg(target_arch = "x86_64")]
    Avx2(Avx2),
    #[cfg(target_arch = "x86_64")]
    Avx512(Avx512),
}

impl Processor {
    /// The fastest available instruction set.
    pub(crate) fn detect() -> Self {
        #[cfg(target_arch = "x86_64")]
        {
            if let Some(lanes) = Avx512::detect() {
                return Self::Avx512(lanes);
            }
            if let Some(lanes) = Avx2::detect() {
                return Self::Avx2(lanes);
            }
        }
        Self::Portable(Portable)
    }

    /// All available instruction sets, the fastest last.
    #[cfg(any(test, fuzzing, feature = "measuring"))]
    pub fn all() -> Vec<Self> {
        let mut all = vec![Self::Portable(Portable)];
        #[cfg(target_arch = "x86_64")]
        {
            all.extend(Avx2::detect().map(Self::Avx2));
            all.extend(Avx512::detect().map(Self::Avx512));
        }
        all
    }

    #[inline]
    pub(crate) fn run<J: SimdJob>(self, job: J) -> J::Output {
        match self {
            Self::Portable(lanes) => job.run(lanes),
            #[cfg(target_arch = "x86_64")]
            Self::Avx2(lanes) => lanes.run(job),
            #[cfg(target_arch = "x86_64")]
            Self::Avx512(lanes) => lanes.run(job),
        }
    }
}
