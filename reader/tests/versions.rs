//! Versions: opening any of them, moving on to the newest, and sharing what they have in common.

mod common;

use common::{Copy, Watched, fixture};
use lancet::{Consistency, Database, Dataset, ErrorKind, Table};
use std::{fs, path::PathBuf, time::Duration};

#[test]
fn versions_tags_and_branches() {
    let dataset = Dataset::open(fixture("evolved")).unwrap();
    let versions = dataset.versions().unwrap();
    assert_eq!(versions.last().unwrap().version, dataset.version());
    for version in &versions {
        let old = dataset.at_version(version.version).unwrap();
        assert_eq!(old.version(), version.version);
        assert_eq!(Some(old.count_rows().unwrap()), version.rows);
        assert_eq!(old.scan().collect().unwrap().len() as u64, old.count_rows().unwrap());
        let directly = Dataset::options().version(version.version).open(&fixture("evolved")).unwrap();
        assert!(directly.scan().collect().unwrap() == old.scan().collect().unwrap());
    }
    for (name, tag) in dataset.tags().unwrap() {
        assert_eq!(dataset.at_tag(&name).unwrap().version(), tag.version);
    }
    for name in dataset.branches().unwrap().keys() {
        let branch = dataset.at_branch(name).unwrap();
        assert_eq!(branch.branch(), Some(name.as_str()));
        assert_eq!(branch.scan().collect().unwrap().len() as u64, branch.count_rows().unwrap());
        assert_eq!(branch.at_branch("main").unwrap().version(), dataset.version());
    }
    for error in [
        dataset.at_version(99).unwrap_err(),
        dataset.at_tag("nope").unwrap_err(),
        dataset.at_branch("nope").unwrap_err(),
    ] {
        assert_eq!(error.kind(), ErrorKind::Io, "{error}");
    }
    assert_eq!(dataset.at_tag("../x").unwrap_err().kind(), ErrorKind::InvalidInput);
}

#[test]
fn a_branch_takes_files_of_the_dataset_that_it_lies_in() {
    let copy = Copy::of("evolved-branch");
    let expected = Dataset::options().branch("exp").open(&fixture("evolved-branch")).unwrap();
    let moved = Dataset::options().branch("exp").open(copy.str()).unwrap();
    assert!(expected.scan().collect().unwrap() == moved.scan().collect().unwrap());
}

#[test]
fn branches_that_come_from_themselves_are_refused() {
    let copy = Copy::of("evolved-branch");
    let file = copy.path().join("_refs/branches/exp.json");
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, text.replace("\"parentBranch\": null", "\"parentBranch\": \"exp\"")).unwrap();
    let error = Dataset::options().branch("exp").open(copy.str()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt);
    assert!(error.to_string().contains("_refs/branches/exp.json"), "{error}");
}

/// Hides the newest manifests of a copy, so that they can arrive later.
struct Later {
    copy: Copy,
    hidden: Vec<(PathBuf, Vec<u8>)>,
}

impl Later {
    fn new(name: &str, hide: usize) -> Self {
        let copy = Copy::of(name);
        let mut manifests: Vec<PathBuf> = fs::read_dir(copy.path().join("_versions"))
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .filter(|path| path.extension().is_some_and(|extension| extension == "manifest"))
            .collect();
        // Names count down, so the newest sort first.
        manifests.sort();
        let hidden = manifests[..hide].iter().map(|path| (path.clone(), fs::read(path).unwrap())).collect();
        manifests[..hide].iter().for_each(|path| fs::remove_file(path).unwrap());
        Later { copy, hidden }
    }

    /// Lets the oldest of the hidden manifests arrive.
    fn arrive(&mut self) {
        let (path, bytes) = self.hidden.pop().unwrap();
        fs::write(path, bytes).unwrap();
    }
}

#[test]
fn refresh_moves_on_and_shares_files() {
    let mut later = Later::new("events", 2);
    let storage = Watched::default();
    let first = Dataset::options().storage(storage.clone()).open(later.copy.str()).unwrap();
    let before = first.scan().collect().unwrap();
    let opened = storage.opened().len();
    assert_eq!(first.refresh().unwrap().version(), first.version());
    later.arrive();
    let second = first.refresh().unwrap();
    assert_eq!(second.version(), first.version() + 1);
    later.arrive();
    let third = second.refresh().unwrap();
    assert_eq!(
        (third.version(), third.latest_version().unwrap()),
        (first.version() + 2, first.version() + 2)
    );
    third.scan().collect().unwrap();
    let new_files = third.manifest().fragments.len() - first.manifest().fragments.len();
    assert_eq!(storage.opened().len(), opened + new_files, "files in common are opened once");
    assert!(first.scan().collect().unwrap() == before, "a version never changes");
}

#[test]
fn tables_follow_as_their_consistency_says() {
    let mut later = Later::new("events", 2);
    let open = |consistency| Table::new(Dataset::open(later.copy.path()).unwrap(), consistency);
    let pinned = open(Consistency::Pinned);
    let manual = open(Consistency::Manual);
    let eventual = open(Consistency::Eventual(Duration::from_secs(3600)));
    let impatient = open(Consistency::Eventual(Duration::ZERO));
    let strong = open(Consistency::Strong);
    let version = |table: &Table| table.dataset().unwrap().version();
    let start = version(&pinned);
    later.arrive();
    let seen = [&pinned, &manual, &eventual, &impatient, &strong].map(version);
    assert_eq!(seen, [start, start, start, start + 1, start + 1]);
    for table in [&pinned, &manual, &eventual] {
        table.refresh().unwrap();
    }
    assert_eq!([&pinned, &manual, &eventual].map(version), [start, start + 1, start + 1]);
}

#[test]
fn databases_list_and_open_their_tables() {
    let folder = format!("{}/../fixtures", env!("CARGO_MANIFEST_DIR"));
    let database = Database::open(&folder).unwrap();
    let tables = database.tables().unwrap();
    assert!(tables.is_sorted() && tables.iter().any(|name| name == "words"));
    let words = database.open_table("words").unwrap();
    assert_eq!(words.dataset().unwrap().count_rows().unwrap(), 20_000);
    assert_eq!(database.open_table("nope").unwrap_err().kind(), ErrorKind::Io);
    assert_eq!(database.open_table("../fixtures/words").unwrap_err().kind(), ErrorKind::InvalidInput);
    assert!(Database::open(format!("{folder}/nowhere")).is_err());
}
