//! [`Encoding`]: how a page is encoded, as one nested expression.

use super::LayerKind;
use alloc::{borrow::Cow, vec::Vec};
use bytes::Bytes;
use core::fmt;

/// The most bytes of a constant that are shown.
const SHOWN_BYTES: usize = 32;

/// An encoding with its parameters, some of which are encodings themselves.
///
/// Shown as `name(parameter, name=parameter)[count]`, for instance
/// `mini-block(values=bitpacked(32), def=out-of-line(16→1), dictionary=variable(offsets=flat(32))[12], …)`.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Encoding {
    /// What it is called; `unknown` if it is absent or of a later version.
    pub name: &'static str,
    /// In the order in which they are shown.
    pub parameters: Vec<Parameter>,
    /// How many values it holds, where the encoding itself says so.
    pub count: Option<u64>,
}

/// A parameter of an encoding.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Parameter {
    /// What it is called; empty if it is clear without.
    pub name: &'static str,
    /// What it is.
    pub value: Value,
}

/// The value of a parameter.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Value {
    /// A number of things, or a width in bits.
    Number(u64),
    /// Several of them.
    Numbers(Vec<u64>),
    /// From how many bits to how many.
    Narrowed {
        /// Bits of a value.
        from: u64,
        /// Bits that are stored of it.
        to: u64,
    },
    /// Whether something is so.
    Flag(bool),
    /// One of a few words.
    Word(Cow<'static, str>),
    /// A value as it lies in the file.
    Bytes(Bytes),
    /// The layers of a page inside another.
    Layers(Vec<LayerKind>),
    /// Another encoding.
    Encoding(Encoding),
}

impl Encoding {
    pub(super) fn new(name: &'static str) -> Self {
        Encoding { name, parameters: Vec::new(), count: None }
    }

    /// What is absent, or of a later version.
    pub(super) fn unknown() -> Self {
        Self::new("unknown")
    }

    /// The same with a parameter without a name.
    pub(super) fn of(self, value: impl Into<Value>) -> Self {
        self.with("", value)
    }

    /// The same with one more parameter.
    pub(super) fn with(mut self, name: &'static str, value: impl Into<Value>) -> Self {
        self.parameters.push(Parameter { name, value: value.into() });
        self
    }

    /// The same with a parameter, if it is there.
    pub(super) fn with_some(self, name: &'static str, value: Option<impl Into<Value>>) -> Self {
        match value {
            Some(value) => self.with(name, value),
            None => self,
        }
    }

    pub(super) fn counted(self, count: u64) -> Self {
        Encoding { count: Some(count), ..self }
    }

    /// The parameter with this name.
    pub fn parameter(&self, name: &str) -> Option<&Value> {
        self.parameters.iter().find(|parameter| parameter.name == name).map(|parameter| &parameter.value)
    }
}

impl fmt::Display for Encoding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)?;
        if !self.parameters.is_empty() {
            f.write_str("(")?;
            separated(f, &self.parameters)?;
            f.write_str(")")?;
        }
        match self.count {
            Some(count) => write!(f, "[{count}]"),
            None => Ok(()),
        }
    }
}

impl fmt::Display for Parameter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.name.is_empty() {
            write!(f, "{}=", self.name)?;
        }
        self.value.fmt(f)
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Number(number) => number.fmt(f),
            Value::Numbers(numbers) => {
                f.write_str("[")?;
                separated(f, numbers)?;
                f.write_str("]")
            }
            Value::Narrowed { from, to } => write!(f, "{from}→{to}"),
            Value::Flag(flag) => flag.fmt(f),
            Value::Word(word) => word.escape_debug().fmt(f),
            Value::Bytes(bytes) => {
                f.write_str("0x")?;
                bytes.iter().take(SHOWN_BYTES).try_for_each(|byte| write!(f, "{byte:02x}"))?;
                match bytes.len() {
                    0..=SHOWN_BYTES => Ok(()),
                    more => write!(f, "… {more} bytes"),
                }
            }
            Value::Layers(layers) => {
                f.write_str("[")?;
                separated(f, layers)?;
                f.write_str("]")
            }
            Value::Encoding(encoding) => encoding.fmt(f),
        }
    }
}

fn separated(f: &mut fmt::Formatter<'_>, items: &[impl fmt::Display]) -> fmt::Result {
    items.iter().enumerate().try_for_each(|(index, item)| {
        f.write_str(if index == 0 { "" } else { ", " })?;
        item.fmt(f)
    })
}

impl From<u64> for Value {
    fn from(number: u64) -> Self {
        Value::Number(number)
    }
}

impl From<u32> for Value {
    fn from(number: u32) -> Self {
        Value::Number(number.into())
    }
}

impl From<bool> for Value {
    fn from(flag: bool) -> Self {
        Value::Flag(flag)
    }
}

impl From<&'static str> for Value {
    fn from(word: &'static str) -> Self {
        Value::Word(word.into())
    }
}

impl From<Bytes> for Value {
    fn from(bytes: Bytes) -> Self {
        Value::Bytes(bytes)
    }
}

impl From<Encoding> for Value {
    fn from(encoding: Encoding) -> Self {
        Value::Encoding(encoding)
    }
}
