//! `lancet versions`: the history of a branch up to the version asked for, then all tags and branches.

use super::{open, time};
use crate::{
    args::VersionsArgs,
    error::Result,
    output::facts::{self, Fact, Record},
};

const NAMES: [&str; 7] = ["kind", "name", "version", "branch", "timestamp", "rows", "operation"];

pub(super) fn run(args: &VersionsArgs) -> Result<()> {
    let dataset = open(&args.dataset)?;
    let mut records: Vec<Record> = Vec::new();
    let mut add = |facts: [Fact; 7]| records.push(NAMES.into_iter().zip(facts).collect());
    let asked = dataset.version();
    for version in dataset.versions()?.into_iter().filter(|version| version.version <= asked) {
        let (number, branch) = (version.version.into(), dataset.branch().into());
        let time = time(version.timestamp);
        add([
            "version".into(),
            Fact::Null,
            number,
            branch,
            time,
            version.rows.into(),
            version.operation.into(),
        ]);
    }
    for (name, tag) in dataset.tags()? {
        let created = tag.created_at.into();
        add([
            "tag".into(),
            name.into(),
            tag.version.into(),
            tag.branch.into(),
            created,
            Fact::Null,
            Fact::Null,
        ]);
    }
    // A branch is shown where it left: the version, and the branch that this lies on.
    for (name, branch) in dataset.branches()? {
        let (left, parent) = (branch.parent_version.into(), branch.parent_branch.into());
        let seconds = branch.created_at.and_then(|seconds| i64::try_from(seconds).ok());
        let created = time(seconds.map(|seconds| lancet::table::Timestamp { seconds, nanos: 0 }));
        add(["branch".into(), name.into(), left, parent, created, Fact::Null, Fact::Null]);
    }
    facts::many(args.output.format(), &NAMES, &records)
}
