//! The properties that the targets in `fuzz/` check. Each property is defined beside the code that it checks:
//! see `crates/kernel/src/fuzzing`.

/// Panics if the property with this name does not hold for these bytes.
pub fn check(name: &str, data: &[u8]) {
    let rooms = [fpdb_kernel::fuzzing::PROPERTIES, fpdb_reading::fuzzing::PROPERTIES, fpdb_store::fuzzing::PROPERTIES];
    let (_, property) = rooms.into_iter().flatten().find(|(known, _)| *known == name).expect("a property of this name");
    property(data);
}
