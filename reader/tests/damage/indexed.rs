//! A dataset whose index files are damaged, one at a time.

use crate::{
    library::{self, Stored},
    random::Random,
};
use std::ops::Range;

pub(crate) struct Indexed {
    pub(crate) stored: Stored,
    /// The files of its indices with their parts.
    files: Vec<(String, Vec<Range<u64>>)>,
}

impl Indexed {
    /// The index files whose names end so.
    pub(crate) fn new(stored: Stored, end: &str) -> Self {
        let paths = stored.touched.keys();
        let paths = paths.filter(|path| library::is_index_file(path) && path.ends_with(end));
        let parts = |path: &String| library::parts_of(stored.file(path)).expect("a sound file");
        let files = paths.map(|path| (path.clone(), parts(path))).collect();
        Indexed { stored, files }
    }

    /// The bytes of the index files and of what is read for rows.
    pub(crate) fn size(&self) -> usize {
        let indices = self.files.iter().map(|(path, _)| self.stored.file(path).len());
        indices.sum::<usize>() + self.stored.size()
    }

    /// The path of the file that is damaged, its bytes, and what was done.
    pub(crate) fn damaged(&self, random: &mut Random) -> (&str, Vec<u8>, String) {
        let (path, parts) = random.pick(&self.files);
        let mut bytes = self.stored.file(path).to_vec();
        let part = random.pick(parts);
        let at = (part.start as usize + random.below((part.end - part.start).max(1) as usize))
            .min(bytes.len() - 1);
        let what = match random.below(8) {
            0 => {
                bytes.truncate(at);
                format!("cut to {at} bytes")
            }
            1 => {
                let end = bytes.len().min(at + 8);
                bytes[at..end].fill(*random.pick(&[0, 0xff, 0x80]));
                format!("eight bytes from {at}: {}", bytes[at])
            }
            _ => {
                let was = bytes[at];
                let flip = was ^ 1 << random.below(8);
                bytes[at] = *random.pick(&[0, 0xff, was.wrapping_add(1), flip]);
                format!("byte {at}: {} for {was}", bytes[at])
            }
        };
        (path, bytes, what)
    }
}
