//! Every instruction set against the plainest code.

use proptest::prelude::*;

use super::{BLOCK, Job, Lanes, Processor};

struct Ask<'a> {
    blocks: &'a [[u64; BLOCK]],
    value: u64,
}

impl Job for Ask<'_> {
    type Output = (Vec<u32>, Vec<u32>, u64);

    fn run<L: Lanes>(self, lanes: L) -> Self::Output {
        let (last, blocks) = self.blocks.split_last().unwrap();
        (
            self.blocks.iter().map(|block| lanes.below(block, self.value)).collect(),
            self.blocks.iter().map(|block| lanes.equal(block, self.value)).collect(),
            lanes.least(blocks, last),
        )
    }
}

fn mask(block: &[u64; BLOCK], is: impl Fn(u64) -> bool) -> u32 {
    (0..BLOCK).filter(|&i| is(block[i])).map(|i| 1 << i).sum()
}

/// Numbers around the places where signed and unsigned order differ.
fn hash() -> impl Strategy<Value = u64> {
    prop_oneof![0u64..4, (1u64 << 63) - 2..(1 << 63) + 2, u64::MAX - 3..=u64::MAX, any::<u64>()]
}

proptest! {
    #[test]
    fn equal_the_plainest_code(
        blocks in prop::collection::vec(prop::array::uniform16(hash()), 1..5),
        value in hash(),
    ) {
        let below: Vec<u32> = blocks.iter().map(|block| mask(block, |hash| hash < value)).collect();
        let equal: Vec<u32> = blocks.iter().map(|block| mask(block, |hash| hash == value)).collect();
        let least = *blocks.as_flattened().iter().min().unwrap();
        for processor in Processor::all() {
            let got = processor.run(Ask { blocks: &blocks, value });
            prop_assert_eq!(got, (below.clone(), equal.clone(), least), "{:?}", processor);
        }
    }
}
