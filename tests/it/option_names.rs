//! Options have names in text and in JSON: names can be read back, and any other text is refused by name.

use std::fmt::{Debug, Display};
use std::str::FromStr;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use fpdb::apply::{Action, ApplyOptions, LinkKind};
use fpdb::dedup::{DedupBy, DedupMode, DedupOptions, Keep};
use fpdb::pairs::{GroupBy, PairsOptions, Since};
use fpdb::repeats::RepeatOptions;
use fpdb::{
    DocId, Error, IngestOptions, InputLimits, Mode, OnChange, PassageOptions, Profile, QueryOptions, ReadAs,
    ReadOptions, WalkOptions, Weight, options_from_json, options_to_json,
};

/// Checks that each name parses to its variant, and that the error lists exactly these names.
fn check<T: FromStr<Err = Error> + Display + Copy + PartialEq>(option: &str, variants: &[T]) {
    let names: Vec<String> = variants.iter().map(ToString::to_string).collect();
    for (name, variant) in names.iter().zip(variants) {
        assert!(name.parse::<T>().is_ok_and(|parsed| parsed == *variant), "{name}");
        assert!(name.to_uppercase().parse::<T>().is_err());
    }
    let Err(Error::InvalidParameter { name, value, expected }) = "other".parse::<T>() else { panic!("{option}") };
    let (last, first) = names.split_last().unwrap();
    assert_eq!((name, value.as_str()), (option, "other"));
    assert_eq!(expected, format!("{} or {last}", first.join(", ")));
}

#[test]
fn names_are_read_as_they_are_written() {
    check("mode", &[Mode::Containment, Mode::Resemblance]);
    check("weight", &[Weight::None, Weight::Idf]);
    check("on_change", &[OnChange::Replace, OnChange::Keep, OnChange::Both]);
    check("keep", &[Keep::Longest, Keep::First, Keep::Newest, Keep::Oldest]);
    check("mode", &[DedupMode::Once, DedupMode::Append, DedupMode::Rerank]);
    check("link", &[LinkKind::Hard, LinkKind::Symbolic]);
    check("by", &[DedupBy::Exact, DedupBy::ExactText, DedupBy::Resemblance, DedupBy::Containment]);
}

/// Checks that the JSON of these options parses to equal options, that `given` changes `defaults` to
/// `expected`, and that an unknown field is an error with its name.
fn check_json<T: Serialize + DeserializeOwned + Debug>(defaults: &T, given: Value, expected: &T) {
    let of = |given| options_from_json(defaults, given);
    assert_eq!(format!("{:?}", of(json!({})).unwrap()), format!("{defaults:?}"));
    assert_eq!(format!("{:?}", of(given).unwrap()), format!("{expected:?}"));
    // Only fields that differ from the defaults are written.
    assert_eq!(options_to_json(defaults, defaults).unwrap(), Map::new());
    let written = options_to_json(defaults, expected).unwrap();
    assert_eq!(format!("{:?}", of(Value::Object(written)).unwrap()), format!("{expected:?}"));
    let unknown = of(json!({"tpo": 3})).unwrap_err();
    assert!(unknown.chain().contains("unknown field `tpo`"), "{}", unknown.chain());
}

#[test]
fn options_are_read_from_json() {
    let reading = || ReadOptions::default().front_end(ReadAs::Code).limits(InputLimits::default().nesting(3));
    check_json(
        &QueryOptions::default(),
        json!({"mode": "resemblance", "top": null, "joining": {"least": 20}, "only": [7],
               "read": {"front_end": "code", "limits": {"nesting": 3}}}),
        &QueryOptions::default()
            .mode(Mode::Resemblance)
            .top(None)
            .joining(PassageOptions::default().least(20))
            .only(Some(vec![DocId(7)]))
            .read(reading()),
    );
    check_json(
        &IngestOptions::default(),
        json!({"on_change": "both", "walk": {"include": ["*.java"]}, "read": {"front_end": "code", "limits": {"nesting": 3}}}),
        &IngestOptions::default()
            .on_change(OnChange::Both)
            .walk(WalkOptions::default().include(vec!["*.java".into()]))
            .read(reading()),
    );
    let pairs = PairsOptions::of(&Profile::WORDS);
    check_json(
        &pairs,
        json!({"group_by": {"name": "^[^/]+"}, "new_since": {"document": 3}, "weight": "idf"}),
        &pairs
            .clone()
            .group_by(GroupBy::Name("^[^/]+".into()))
            .new_since(Some(Since::Document(DocId(3))))
            .weight(Weight::Idf),
    );
    let dedup = DedupOptions::of(&Profile::PROSE, DedupBy::Containment);
    check_json(
        &dedup,
        json!({"by": "exact-text", "keep": "newest", "mode": "append", "max_novel": null}),
        &dedup.clone().by(DedupBy::ExactText).keep(Keep::Newest).mode(DedupMode::Append).max_novel(None),
    );
    let repeats = RepeatOptions::of(&Profile::PROSE);
    check_json(&repeats, json!({"min_length": 300}), &repeats.clone().min_length(300));
    let apply = ApplyOptions::new(Action::Remove);
    let linked = ApplyOptions::new(Action::Link(LinkKind::Symbolic)).act(true);
    check_json(&apply, json!({"action": {"link": "sym"}, "act": true}), &linked);
}

#[test]
fn values_that_options_cannot_have_are_refused_by_name() {
    let refused = |given| options_from_json(&QueryOptions::default(), given).unwrap_err().chain();
    assert_eq!(
        refused(json!({"mode": "both"})),
        "the option mode is not valid: mode cannot be both: expected containment or resemblance"
    );
    assert!(refused(json!({"joining": {"gap": "wide"}})).starts_with("the option joining.gap is not valid: "));
    assert!(refused(json!({"read": {"front_end": "klingon"}})).contains("the format cannot be klingon"));
    assert!(refused(json!({"read": {"limits": {"nests": 3}}})).contains("no limit is named nests"));
    assert!(refused(json!({"read": {"limits": {"unpacking": 0}}})).contains("unpacking cannot be 0"));
}
