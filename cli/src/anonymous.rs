//! Which flags of its command an anonymous report shows: those whose values name no document and no place.

/// The flags whose values say nothing of names or places.
const SAFE_FLAGS: [&str; 19] = [
    "--mode",
    "--window",
    "-n",
    "--top",
    "--min-score",
    "--max-df",
    "--min-shared",
    "--min-resemblance",
    "--min-containment",
    "--gap",
    "--rewritten",
    "--min-passage",
    "--weight",
    "--new-since",
    "--skip-quotes",
    "--by",
    "--threshold",
    "--max-novel",
    "--keep",
];

/// Flags that are shown without their values, which name places: they leave something out of every measure.
const HIDDEN_VALUES: [&str; 1] = ["--ignore-phrases"];

/// Stands for such a value.
const VALUE: &str = "yes";

/// Leaves out the flags that may name a document or a place.
pub(super) fn anonymise(settings: &mut Vec<(String, String)>) {
    settings.retain_mut(|(flag, value)| {
        let hidden = HIDDEN_VALUES.contains(&flag.as_str());
        if hidden {
            *value = VALUE.into();
        }
        hidden || SAFE_FLAGS.contains(&flag.as_str())
    });
}
