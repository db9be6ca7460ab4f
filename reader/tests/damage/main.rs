//! Damaged datasets: whatever the bytes are, reading them gives an error or columns that are what they say.
//!
//! | module | what it tries |
//! |---|---|
//! | `mutations` | every stored dataset with one place of one file changed: a byte, a number, a field of a message, the file's end |
//! | `flips` | small files, every byte changed in five ways, and every cut |
//! | `scalars` | scalar indices with one of their files damaged, filters through them |
//! | `vectors` | vector indices with one of their files damaged, searched |
//! | `claims`, `messages` | files that claim to have more than they hold |
//! | `regressions` | inputs that fuzzing found faults with |
//!
//! No read may panic, take long, or take much more memory than there are bytes in the files and in the rows asked
//! for. `LANCET_FIXTURES` names another folder of datasets.

#[path = "../common/allocations.rs"]
mod allocations;
mod check;
mod claims;
mod flips;
mod harness;
mod indexed;
mod layout;
mod library;
mod messages;
mod mutations;
mod random;
mod regressions;
mod scalars;
#[allow(dead_code)] // Inputs are made elsewhere.
#[path = "../../../fuzz/src/targets.rs"]
mod targets;
mod vectors;
mod wire;
