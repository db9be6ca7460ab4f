//! `lancet versions` of a dataset of which one version is asked for, and of one whose tag is damaged.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};

fn fixture() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/evolved.lance")
}

fn versions(dataset: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lancet"));
    command.arg("versions").arg(dataset).args(arguments).args(["-o", "jsonl"]);
    command.output().expect("the built command")
}

fn lines(output: &Output, kind: &str) -> usize {
    assert!(output.status.success(), "{output:?}");
    let text = str::from_utf8(&output.stdout).expect("UTF-8");
    text.lines().filter(|line| line.starts_with(&format!(r#"{{"kind":"{kind}""#))).count()
}

#[test]
fn history_ends_at_the_version_asked_for() {
    let all = versions(&fixture(), &[]);
    let tags = lines(&all, "tag");
    assert!(lines(&all, "version") > 3 && tags > 0);
    let three = versions(&fixture(), &["--version", "3"]);
    assert_eq!((lines(&three, "version"), lines(&three, "tag")), (3, tags));
    assert_eq!(versions(&fixture(), &["--version", "999"]).status.code(), Some(1));
}

#[test]
fn a_damaged_tag_is_an_error_that_names_it() {
    let copy = Path::new(env!("CARGO_TARGET_TMPDIR")).join("versions-damaged-tag.lance");
    for folder in ["_versions", "_refs/tags"] {
        fs::create_dir_all(copy.join(folder)).expect("a folder");
        for entry in fs::read_dir(fixture().join(folder)).expect("the fixture") {
            let entry = entry.expect("an entry");
            fs::copy(entry.path(), copy.join(folder).join(entry.file_name())).expect("a copy");
        }
    }
    assert!(versions(&copy, &[]).status.success());
    fs::write(copy.join("_refs/tags/rel-1.json"), "{").expect("a file");
    let output = versions(&copy, &[]);
    assert_eq!((output.status.code(), &*output.stdout), (Some(1), &b""[..]));
    let message = String::from_utf8(output.stderr).expect("UTF-8");
    assert!(message.starts_with("error: ") && message.contains("_refs/tags/rel-1.json"), "{message}");
    assert_eq!(message.lines().count(), 1, "{message}");
}
