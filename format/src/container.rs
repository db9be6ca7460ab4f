//! The file container of versions 2.0, 2.1 and 2.2: footer, tables, schema, column metadata.
//!
//! ```text
//! data buffers, each at a multiple of 64
//! global buffer 0: the schema (FileDescriptor)          further global buffers lie among the data
//! column metadata messages, back to back
//! column table:         columns × { u64 position, u64 size }
//! global buffer table:  buffers × { u64 position, u64 size }
//! footer, 40 bytes:
//!    0  u64  position of the first column metadata
//!    8  u64  position of the column table
//!   16  u64  position of the global buffer table
//!   24  u32  number of global buffers
//!   28  u32  number of columns
//!   32  u16  major version      34  u16  minor version
//!   36  "LANC"
//! ```

use crate::{DEFAULT_MAX_DECOMPRESSED, Error, Extent, Result, Schema, Source, cursor::Cursor, ensure, proto};
use alloc::{format, sync::Arc, vec::Vec};
use core::fmt;

/// The size of the footer.
pub(crate) const FOOTER_LEN: u64 = 40;
const MAGIC: &[u8; 4] = b"LANC";
/// Buffers of 2.1 and later start at multiples of this.
const ALIGNMENT: u64 = 64;

/// A file version that this crate reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FileVersion {
    /// 2.0: pages of array encodings, a column for each node of the schema.
    V2_0,
    /// 2.1: structural encodings, a column for each leaf of the schema.
    V2_1,
    /// 2.2: as 2.1 with larger chunks, constant pages, maps.
    V2_2,
}

impl FileVersion {
    /// From the numbers in a footer or in a manifest's data file entry; early writers of 2.0 wrote 0.3.
    ///
    /// # Errors
    /// Unsupported for any other version, by name.
    pub fn from_numbers(major: u32, minor: u32) -> Result<Self> {
        match (major, minor) {
            (0, 3) | (2, 0) => Ok(FileVersion::V2_0),
            (2, 1) => Ok(FileVersion::V2_1),
            (2, 2) => Ok(FileVersion::V2_2),
            (0, 0..=2) => Err(Self::legacy()),
            _ => Err(Self::unknown(&format!("{major}.{minor}"))),
        }
    }

    /// From the text of a manifest's `data_format`.
    ///
    /// # Errors
    /// Unsupported for any other version, by name.
    pub fn parse(text: &str) -> Result<Self> {
        match text {
            "2.0" => Ok(FileVersion::V2_0),
            "2.1" => Ok(FileVersion::V2_1),
            "2.2" => Ok(FileVersion::V2_2),
            "0.1" | "legacy" => Err(Self::legacy()),
            _ => Err(Self::unknown(text)),
        }
    }

    /// The format before 2.0, which is a different one.
    pub(crate) fn legacy() -> Error {
        Error::unsupported(
            "expected file version 2.0, 2.1 or 2.2, found the legacy version 0.1: rewrite the table with a newer Lance",
        )
    }

    fn unknown(found: &str) -> Error {
        let what = if found == "2.3" { "the unstable version " } else { "" };
        Error::unsupported(format!(
            "expected file version 2.0, 2.1 or 2.2, found {what}{}",
            found.escape_debug()
        ))
    }
}

impl fmt::Display for FileVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            FileVersion::V2_0 => "2.0",
            FileVersion::V2_1 => "2.1",
            FileVersion::V2_2 => "2.2",
        })
    }
}

/// The footer and the tables that it points to, checked against the size of the file.
#[derive(Debug, Clone)]
pub struct Container {
    source: Arc<dyn Source>,
    version: FileVersion,
    columns: Extent,
    num_columns: u32,
    globals: Extent,
    num_globals: u32,
    /// Where column metadata messages may lie.
    metadata: core::ops::Range<u64>,
    /// See [`crate::File::with_max_decompressed`].
    pub(crate) max_decompressed: usize,
}

impl Container {
    /// Reads the footer.
    ///
    /// # Errors
    /// Corrupt if this is no Lance file or its tables do not lie where they must, unsupported for other
    /// versions.
    pub fn open(source: Arc<dyn Source>) -> Result<Self> {
        let size = source.len();
        if size < FOOTER_LEN {
            return Err(Error::corrupt(format!(
                "expected a Lance file, which has a footer of {FOOTER_LEN} bytes, found a file of {size} bytes"
            )));
        }
        let start = size - FOOTER_LEN;
        let footer = Extent::new(&source, start, FOOTER_LEN, "footer")?;
        let footer = footer.all()?;
        if footer[36..] != MAGIC[..] {
            return Err(Error::corrupt(format!(
                "expected the magic `LANC` of a Lance file, found `{}`",
                footer[36..].escape_ascii()
            ))
            .at(start + 36));
        }
        let mut cursor = Cursor::new(&footer, start);
        let metadata_start = cursor.u64("footer")?;
        let columns_start = cursor.u64("footer")?;
        let globals_start = cursor.u64("footer")?;
        let num_globals = cursor.u32("footer")?;
        let num_columns = cursor.u32("footer")?;
        let version = FileVersion::from_numbers(cursor.u16("footer")?.into(), cursor.u16("footer")?.into())
            .map_err(|error| error.at(start + 32))?;

        if !(metadata_start <= columns_start && columns_start <= globals_start && globals_start <= start) {
            return Err(Error::corrupt(format!(
                "footer: expected ascending positions below {start}, found column metadata {metadata_start}, \
                 column table {columns_start}, global buffer table {globals_start}"
            ))
            .at(start));
        }
        if u64::from(num_columns) * 16 > globals_start - columns_start {
            return Err(Error::corrupt(format!(
                "footer: expected a column table of {num_columns} entries before byte {globals_start}, \
                 found room for {}",
                (globals_start - columns_start) / 16
            ))
            .at(start + 28));
        }
        if u64::from(num_globals) * 16 > start - globals_start {
            return Err(Error::corrupt(format!(
                "footer: expected a global buffer table of {num_globals} entries before the footer, \
                 found room for {}",
                (start - globals_start) / 16
            ))
            .at(start + 24));
        }
        if num_globals == 0 {
            return Err(
                Error::corrupt("footer: expected at least one global buffer, the schema").at(start + 24)
            );
        }
        let columns = Extent::new(&source, columns_start, u64::from(num_columns) * 16, "column table")?;
        let globals =
            Extent::new(&source, globals_start, u64::from(num_globals) * 16, "global buffer table")?;
        let metadata = metadata_start..columns_start;
        Ok(Container {
            source,
            version,
            columns,
            num_columns,
            globals,
            num_globals,
            metadata,
            max_decompressed: DEFAULT_MAX_DECOMPRESSED,
        })
    }

    /// The version of the file.
    pub fn version(&self) -> FileVersion {
        self.version
    }

    /// The number of physical columns.
    pub fn num_columns(&self) -> u32 {
        self.num_columns
    }

    /// The number of global buffers, the schema included.
    pub fn num_global_buffers(&self) -> u32 {
        self.num_globals
    }

    /// Where the metadata of the columns, the column table and the global buffer table begin.
    pub(crate) fn positions(&self) -> [u64; 3] {
        [self.metadata.start, self.columns.position(), self.globals.position()]
    }

    pub(crate) fn source(&self) -> &Arc<dyn Source> {
        &self.source
    }

    /// Global buffer `index`; 0 is the schema.
    ///
    /// # Errors
    /// Corrupt if there is none or it does not lie within the file.
    pub fn global_buffer(&self, index: u32) -> Result<Extent> {
        ensure!(
            index < self.num_globals,
            "expected global buffer {index}, the file has {}",
            self.num_globals
        );
        let (position, size) = entry(&self.globals, index)?;
        self.check_alignment(position, "global buffer")
            .and_then(|()| Extent::new(&self.source, position, size, "global buffer"))
            .map_err(|error| error.within(format!("global buffer {index}")))
    }

    /// The schema that the file itself states, and its number of rows. The tables of a dataset go by the
    /// manifest's schema instead.
    ///
    /// # Errors
    /// Corrupt if the descriptor or the schema cannot be read.
    pub fn schema(&self) -> Result<(Schema, u64)> {
        let extent = self.global_buffer(0)?;
        let descriptor: proto::FileDescriptor = proto::decode(&extent.all()?, extent.position(), "schema")?;
        let schema = descriptor.schema.unwrap_or_default();
        let tree = Schema::from_proto(&schema.fields, schema.metadata)
            .map_err(|error| error.within("schema").at(extent.position()))?;
        Ok((tree, descriptor.length))
    }

    /// Where the metadata of column `index` lies.
    ///
    /// # Errors
    /// Corrupt if there is no such column or its metadata does not lie in its place.
    pub(crate) fn column_entry(&self, index: u32) -> Result<Extent> {
        ensure!(index < self.num_columns, "expected column {index}, the file has {}", self.num_columns);
        let (position, size) = entry(&self.columns, index)?;
        let inside = position >= self.metadata.start
            && position.checked_add(size).is_some_and(|end| end <= self.metadata.end);
        if !inside {
            return Err(Error::corrupt(format!(
                "column metadata: expected {size} bytes within bytes {}..{}",
                self.metadata.start, self.metadata.end
            ))
            .at(position));
        }
        Extent::new(&self.source, position, size, "column metadata")
    }

    /// The metadata of a column. The messages inside borrow from one share of the bytes.
    pub(crate) fn column_metadata(&self, entry: &Extent) -> Result<proto::ColumnMetadata> {
        proto::decode_shared(entry.share(0..entry.len())?, entry.position(), "column metadata")
    }

    /// The pages of column `index`.
    ///
    /// # Errors
    /// Corrupt if there is no such column or its metadata is not sound.
    pub(crate) fn column(&self, index: u32) -> Result<ColumnPages> {
        let entry = self.column_entry(index)?;
        let position = entry.position();
        let message = self.column_metadata(&entry)?;
        let encoding = self.column_encoding(&message, position)?;
        let mut starts = Vec::with_capacity(message.pages.len() + 1);
        let mut rows = 0u64;
        starts.push(0);
        // No two pages have bytes in common: what is kept of them is bounded by the file.
        let sizes = message.pages.iter().flat_map(|page| &page.buffer_sizes);
        let bytes = sizes.fold(0u64, |sum, &size| sum.saturating_add(size));
        if bytes > self.source.len() {
            return Err(Error::corrupt(format!(
                "column metadata: expected pages within the file, found buffers of {bytes} bytes in all"
            ))
            .at(position));
        }
        for page in &message.pages {
            rows = rows.checked_add(page.length).filter(|&rows| rows <= 1 << 40).ok_or_else(|| {
                Error::corrupt(format!(
                    "column metadata: page lengths add up to more than 2^40, one is {}",
                    page.length
                ))
                .at(position)
            })?;
            starts.push(rows);
        }
        Ok(ColumnPages { position, encoding, starts, pages: message.pages })
    }

    /// The encoding of a column whose metadata lies at `position`.
    pub(crate) fn column_encoding(
        &self,
        message: &proto::ColumnMetadata,
        position: u64,
    ) -> Result<proto::ColumnEncoding> {
        let encoding = direct(message.encoding.as_ref(), "ColumnEncoding", position)?;
        proto::decode(&encoding, position, "column encoding")
    }

    /// The encoding message and the buffers of one page.
    pub(crate) fn page(&self, column: &ColumnPages, index: usize) -> Result<PageParts> {
        let page = &column.pages[index];
        let encoding = self.page_encoding(page, column.position)?;
        let buffers = buffer_entries(&page.buffer_offsets, &page.buffer_sizes, column.position)?
            .enumerate()
            .map(|(i, (offset, size))| self.page_buffer(i, offset, size))
            .collect::<Result<Vec<_>>>()?;
        Ok(PageParts {
            rows: page.length,
            encoding,
            encoding_position: column.position,
            buffers,
            max_decompressed: self.max_decompressed,
        })
    }

    /// The encoding message of a page whose column metadata lies at `position`.
    pub(crate) fn page_encoding(&self, page: &proto::Page, position: u64) -> Result<bytes::Bytes> {
        let expected = match self.version {
            FileVersion::V2_0 => "ArrayEncoding",
            FileVersion::V2_1 | FileVersion::V2_2 => "PageLayout",
        };
        direct(page.encoding.as_ref(), expected, position)
    }

    /// Buffer `index` of a page.
    pub(crate) fn page_buffer(&self, index: usize, position: u64, size: u64) -> Result<Extent> {
        self.check_alignment(position, "page buffer")?;
        Extent::new(&self.source, position, size, "page buffer")
            .map_err(|error| error.within(format!("buffer {index}")))
    }

    fn check_alignment(&self, position: u64, what: &str) -> Result<()> {
        if self.version > FileVersion::V2_0 && !position.is_multiple_of(ALIGNMENT) {
            return Err(Error::corrupt(format!(
                "{what}: expected a position that is a multiple of {ALIGNMENT}"
            ))
            .at(position));
        }
        Ok(())
    }
}

/// The bytes of the one message that `encoding` holds, whose type name ends in `expected`.
fn direct(encoding: Option<&proto::Encoding>, expected: &str, position: u64) -> Result<bytes::Bytes> {
    use proto::encoding::Location;
    let any = match encoding.and_then(|encoding| encoding.location.as_ref()) {
        Some(Location::Direct(direct)) => direct.encoding.clone(),
        Some(Location::Indirect(_)) => {
            return Err(Error::unsupported(format!("an indirect {expected} is not supported")).at(position));
        }
        Some(Location::None(_)) | None => {
            return Err(Error::corrupt(format!("expected a {expected}, found none")).at(position));
        }
    };
    let any: proto::Any = prost::Message::decode(any).map_err(|error| {
        Error::corrupt(format!("{expected}: expected a protobuf message, found {error}")).at(position)
    })?;
    match any.type_url.rsplit(['/', '.']).next() {
        Some(name) if name == expected => Ok(any.value),
        _ => Err(Error::unsupported(format!("expected a {expected}, found `{}`", any.type_url)).at(position)),
    }
}

/// Positions and sizes of buffers, as the column metadata at `position` lists them.
pub(crate) fn buffer_entries<'a>(
    offsets: &'a [u64],
    sizes: &'a [u64],
    position: u64,
) -> Result<impl Iterator<Item = (u64, u64)> + 'a> {
    if offsets.len() != sizes.len() {
        return Err(Error::corrupt(format!(
            "expected as many buffer sizes as offsets, found {} and {}",
            sizes.len(),
            offsets.len()
        ))
        .at(position));
    }
    Ok(offsets.iter().copied().zip(sizes.iter().copied()))
}

/// Entry `index` of a table of positions and sizes.
fn entry(table: &Extent, index: u32) -> Result<(u64, u64)> {
    let start = index as usize * 16;
    let bytes = table.get(start..start + 16)?;
    let mut cursor = Cursor::new(&bytes, table.position() + start as u64);
    Ok((cursor.u64("table entry")?, cursor.u64("table entry")?))
}

/// The pages of one column, their encodings not yet looked at.
#[derive(Debug)]
pub(crate) struct ColumnPages {
    position: u64,
    pub(crate) encoding: proto::ColumnEncoding,
    /// The first row of each page, and the number of rows behind the last.
    pub(crate) starts: Vec<u64>,
    pages: Vec<proto::Page>,
}

impl ColumnPages {
    pub(crate) fn rows(&self) -> u64 {
        self.starts.last().copied().unwrap_or_default()
    }

    pub(crate) fn len(&self) -> usize {
        self.pages.len()
    }

    /// The bytes of all buffers of page `index`.
    pub(crate) fn page_bytes(&self, index: usize) -> u64 {
        self.pages[index].buffer_sizes.iter().fold(0, |sum, &size| sum.saturating_add(size))
    }

    /// The page that holds `row`.
    pub(crate) fn page_of(&self, row: u64) -> Option<usize> {
        let page = self.starts.partition_point(|&start| start <= row);
        (page < self.starts.len()).then(|| page - 1)
    }

    /// The column ends before `row`.
    #[cold]
    pub(crate) fn too_short(&self, row: u64) -> Error {
        Error::corrupt(format!("expected more than {row} rows, the pages have {}", self.rows()))
            .at(self.position)
    }

    /// Checks that the pages have `rows` rows in all.
    pub(crate) fn expect_rows(&self, rows: u64) -> Result<()> {
        if self.rows() != rows {
            return Err(Error::corrupt(format!(
                "expected pages of {rows} rows in all, found {}",
                self.rows()
            ))
            .at(self.position));
        }
        Ok(())
    }
}

/// What a page decoder starts from.
#[derive(Debug)]
pub(crate) struct PageParts {
    pub(crate) rows: u64,
    /// An `ArrayEncoding` (2.0) or a `PageLayout` message.
    pub(crate) encoding: bytes::Bytes,
    pub(crate) encoding_position: u64,
    pub(crate) buffers: Vec<Extent>,
    /// The most bytes that a compressed buffer may expand to.
    pub(crate) max_decompressed: usize,
}

impl PageParts {
    /// Buffer `index`.
    ///
    /// # Errors
    /// Corrupt if the page has fewer.
    pub(crate) fn buffer(&self, index: usize, what: &str) -> Result<&Extent> {
        self.buffers.get(index).ok_or_else(|| {
            Error::corrupt(format!("{what}: expected buffer {index}, the page has {}", self.buffers.len()))
                .at(self.encoding_position)
        })
    }
}
