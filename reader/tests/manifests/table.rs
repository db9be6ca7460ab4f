//! A stored dataset in memory, whose newest manifest is changed before it is opened.

use crate::{
    common::{fixture, in_memory},
    message::Message,
};
use lancet::{
    Dataset, Result,
    storage::{InMemory, Storage},
    table::ManifestName,
};

/// Position, two version numbers, magic.
const FOOTER: usize = 16;
/// `Manifest.index_section`
const INDEX_SECTION: u64 = 6;

pub(crate) struct Table {
    pub(crate) root: String,
    pub(crate) store: InMemory,
}

impl Table {
    pub(crate) fn of(name: &str) -> Self {
        let root = fixture(name);
        Table { store: in_memory(&root), root }
    }

    /// One whose newest manifest is changed.
    pub(crate) fn changed(name: &str, change: impl FnOnce(&mut Message)) -> Self {
        let mut table = Self::of(name);
        table.change(change);
        table
    }

    /// One in whose newest manifest the entries of the index list are changed.
    pub(crate) fn changed_indices(name: &str, change: impl FnMut(usize, &mut Message)) -> Self {
        let mut table = Self::of(name);
        table.change_indices(change);
        table
    }

    pub(crate) fn open(&self) -> Result<Dataset> {
        Dataset::options().storage(self.store.clone()).open(&self.root)
    }

    pub(crate) fn newest(&self) -> ManifestName {
        let names = self.store.list(&format!("{}/_versions", self.root)).unwrap();
        ManifestName::latest(names.iter().map(String::as_str)).unwrap().unwrap()
    }

    /// The path of a manifest.
    pub(crate) fn path(&self, name: ManifestName) -> String {
        format!("{}/_versions/{}", self.root, name.file_name())
    }

    /// The bytes of the newest manifest.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        self.store.read(&self.path(self.newest())).unwrap().to_vec()
    }

    pub(crate) fn replace(&mut self, bytes: Vec<u8>) {
        self.store.insert(self.path(self.newest()), bytes);
    }

    fn change(&mut self, change: impl FnOnce(&mut Message)) {
        let (sections, mut message) = take_apart(&self.bytes());
        change(&mut message);
        self.replace(put_together(sections, &message));
    }

    fn change_indices(&mut self, change: impl FnMut(usize, &mut Message)) {
        let (mut sections, mut manifest) = take_apart(&self.bytes());
        let start = manifest.number(INDEX_SECTION) as usize;
        let mut list = Message::parse(section(&sections, start));
        list.each(1, change);
        // A list of another length goes behind the other sections.
        manifest.set(INDEX_SECTION, sections.len() as u64);
        let list = list.encode();
        sections.extend((list.len() as u32).to_le_bytes());
        sections.extend(list);
        self.replace(put_together(sections, &manifest));
    }
}

fn word(bytes: &[u8], at: usize) -> usize {
    u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()) as usize
}

/// The message behind its length.
fn section(bytes: &[u8], start: usize) -> &[u8] {
    &bytes[start + 4..][..word(bytes, start)]
}

/// What comes before the manifest's own message, and that message.
fn take_apart(file: &[u8]) -> (Vec<u8>, Message) {
    let position = word(file, file.len() - FOOTER);
    (file[..position].to_vec(), Message::parse(section(file, position)))
}

fn put_together(sections: Vec<u8>, manifest: &Message) -> Vec<u8> {
    let (position, message) = (sections.len() as u64, manifest.encode());
    let mut file = sections;
    file.extend((message.len() as u32).to_le_bytes());
    file.extend(message);
    file.extend(position.to_le_bytes());
    file.extend(b"\0\0\x02\0LANC");
    file
}
