use super::*;
use fpdb_kernel::profile::Profile;
use fpdb_store::StoreOptions;

/// A large file is not held in memory if no missing container has as many documents.
#[test]
fn members_are_read_up_to_the_number_of_a_missing_container() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("new.jsonl");
    std::fs::write(&path, (0..9).map(|text| format!("{{\"text\": \"{text}\"}}\n")).collect::<String>()).unwrap();
    let source = path.to_str().unwrap().to_owned();
    let store = Store::create(&folder.path().join("db"), &Profile::PROSE, &StoreOptions::default()).unwrap();
    let (options, kept_out, task) = (IngestOptions::default(), KeptOutContents::of(&store).unwrap(), Task::new());
    let sources = [Source::Path(folder.path().to_owned())];
    let prune = Prune::of(&store, &[(&sources[..], &options)], &task).unwrap().unwrap();
    let mut renaming = Renaming::new(&store, (&options, &kept_out), &prune, &task);
    let file = FileFacts { path, source, bytes: 0, modified: None, observed_at: 0 };
    let mut held = |most| renaming.members_held("new.jsonl", &file, most).unwrap().map(|(members, _)| members.len());
    assert_eq!([0, 8, 9, 10].map(&mut held), [None, None, Some(9), Some(9)]);
}

/// For many renamed containers, the work does not grow with the square of their number.
#[test]
fn only_sets_that_a_file_may_hold_are_tried() {
    let mut of_size = OfSize::default();
    let sets = |of_size: &OfSize<'_>, members: &[u128]| of_size.sets(members.iter()).count();
    for _ in 0..2 {
        of_size.add_failed(FxHashSet::default());
        (1..3000).for_each(|member| of_size.add_failed([member, member + 1].into_iter().collect()));
    }
    assert_eq!([&[][..], &[7], &[7, 8, 9], &[5000]].map(|members| sets(&of_size, members)), [1, 2, 4, 1]);
    (1..3000).for_each(|member| of_size.add_failed([1, member].into_iter().collect()));
    assert_eq!(sets(&of_size, &[1]), SETS);
}
