//! Mistakes of who types, and what the command says: one line and exit status 1, or its usage and exit status 2.

use std::{
    path::Path,
    process::{Command, Output},
};

fn lancet(arguments: &[&str]) -> Output {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures");
    Command::new(env!("CARGO_BIN_EXE_lancet")).current_dir(fixtures).args(arguments).output().unwrap()
}

/// Holds the exit status and the beginning of what the command says against what is expected.
fn fails(arguments: &[&str], status: i32, expected: &str) {
    let output = lancet(arguments);
    let told = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(status), "{arguments:?}: {told}");
    assert!(told.starts_with(expected), "{arguments:?}: {told}");
    assert!(status == 2 || told.lines().count() == 1, "{arguments:?}: {told}");
    assert!(output.stdout.is_empty(), "{arguments:?}");
}

#[test]
fn numbers() {
    let nearest = ["query", "words.lance", "--nearest", "vector", "--vector", "row:1"];
    for (flag, value, found) in [
        ("-k", "0", "expected a number of 1 or more"),
        ("-k", "-3", "expected a number of 1 or more"),
        ("-k", "99999999999999999999", "number too large to fit in target type"),
        ("--nprobes", "0", "expected a number of 1 or more"),
        ("--refine", "0", "expected a number of 1 or more"),
        ("--limit", "-1", "invalid digit found in string"),
        ("--distance-range", "nan,1", "expected a number, found `nan`"),
    ] {
        let output = lancet(&[&nearest[..], &[flag, value]].concat());
        let told = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{flag} {value}: {told}");
        assert!(told.starts_with(&format!("error: invalid value '{value}' for '{flag} <")), "{told}");
        assert!(told.contains(found), "{told}");
    }
    fails(
        &["take", "words.lance", "-1"],
        2,
        "error: invalid value '-1' for '<ROWS>': expected a row such as 5",
    );
}

#[test]
fn query_vectors() {
    let query = ["query", "words.lance", "--nearest", "vector", "--vector"];
    for text in ["king", "[1,2", "", "row:abc", "@"] {
        fails(&[&query[..], &[text]].concat(), 2, &format!("error: invalid value '{text}' for '--vector <"));
    }
    fails(&[&query[..], &["where:nosuch = 1"]].concat(), 1, "error: --vector: ");
    for vector in ["row:1", "where:word = 'king'"] {
        fails(
            &["query", "words.lance", "--nearest", "word", "--vector", vector],
            1,
            &format!("error: --vector {vector}: column `word` has no vectors, found type utf8"),
        );
    }
}

#[test]
fn columns_are_told_from_filters() {
    fails(
        &["query", "words.lance", "--columns", "word,,rank"],
        1,
        "error: --columns: expected an expression",
    );
    fails(&["query", "words.lance", "--columns", "nosuch"], 1, "error: --columns: ");
}

#[test]
fn a_plan_has_figures_too() {
    for command in ["query", "count"] {
        let output = lancet(&[command, "words.lance", "--filter", "rank = 5", "--explain", "--stats"]);
        assert!(output.status.success());
        assert!(String::from_utf8_lossy(&output.stderr).starts_with("{\"wall_microseconds\":"), "{output:?}");
    }
}

#[cfg(unix)]
#[test]
fn what_is_no_file_is_not_waited_for() {
    let pipe = std::env::temp_dir().join(format!("lancet-pipe-{}", std::process::id()));
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let name = pipe.to_str().unwrap();
    let expected = format!("error: {name}: expected a file, found something else");
    fails(&["inspect", name], 1, &expected);
    let vector = format!("@{name}");
    fails(&["query", "words.lance", "--nearest", "vector", "--vector", &vector], 1, &expected);
    std::fs::remove_file(&pipe).unwrap();
}

#[cfg(target_os = "linux")]
#[test]
fn paths_are_text() {
    use std::{ffi::OsStr, os::unix::ffi::OsStrExt};
    let path = OsStr::from_bytes(b"nuq\xff/a.lance");
    for command in ["inspect", "info", "verify"] {
        let output = Command::new(env!("CARGO_BIN_EXE_lancet")).arg(command).arg(path).output().unwrap();
        let told = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{told}");
        assert!(told.starts_with("error: expected a path of Unicode text, found nuq"), "{command}: {told}");
    }
}
