//! `lancet index`: what indices a dataset has, and figures of them.

use super::{info::index_facts, open};
use crate::{
    args::{IndexArgs, IndexCommand},
    error::Result,
    output::facts::{self, Fact, Record},
};
use lancet::{
    Column, Figures, IdDomain, Index, IndexStats, SegmentStats, VectorFigures,
    index::{InvertedDetails, Storage},
};

const NAMES: [&str; 8] =
    ["name", "type", "columns", "segments", "fragments", "rows_covered", "rows_uncovered", "bytes"];

pub(super) fn run(args: &IndexArgs) -> Result<()> {
    match &args.command {
        IndexCommand::List(args) => {
            let indices: Vec<Index> = open(&args.dataset)?.indices()?;
            let records: Vec<_> = indices.iter().map(index_facts).collect();
            facts::many(args.output.format(), &NAMES, &records)
        }
        IndexCommand::Stats(args) => {
            let stats = open(&args.dataset)?.index_stats(&args.name)?;
            facts::one(args.output.format(), &stats_facts(&stats)?)
        }
    }
}

/// The facts of `index list`, with a record for each segment instead of their number.
fn stats_facts(stats: &IndexStats) -> Result<Record> {
    let segments = stats.segments.iter().map(|segment| segment_facts(segment).map(Fact::Record));
    let segments = Fact::List(segments.collect::<Result<_>>()?);
    let mut facts: Record =
        index_facts(&stats.index).into_iter().filter(|(name, _)| *name != "segments").collect();
    facts.push(("segments", segments));
    Ok(facts)
}

fn segment_facts(segment: &SegmentStats) -> Result<Record> {
    let mut facts: Record = vec![
        ("uuid", segment.uuid.to_string().into()),
        ("version", segment.version.into()),
        ("fragments", segment.fragments.into()),
        ("bytes", segment.bytes.into()),
    ];
    facts.extend(match &segment.figures {
        Figures::Vector(figures) => vector_facts(figures),
        Figures::BTree { domain, pages, batch_size, values, nulls, bounds } => {
            let domain = match domain {
                IdDomain::RowId => "row-id",
                IdDomain::RowAddress => "row-address",
            };
            let mut facts: Record = vec![
                ("rows_by", domain.into()),
                ("pages", (*pages).into()),
                ("batch_size", (*batch_size).into()),
                ("values", (*values).into()),
                ("nulls", (*nulls).into()),
            ];
            facts.extend(bound_facts(bounds.as_ref())?);
            facts
        }
        Figures::Bitmap { keys, has_nulls, bounds } => {
            let mut facts: Record = vec![("keys", (*keys).into()), ("has_nulls", (*has_nulls).into())];
            facts.extend(bound_facts(bounds.as_ref())?);
            facts
        }
        Figures::LabelList { labels, has_null_bitmap } => {
            vec![("labels", (*labels).into()), ("null_bitmap", (*has_null_bitmap).into())]
        }
        Figures::ZoneMap { zones, rows_per_zone, has_null_bitmap } => vec![
            ("zones", (*zones).into()),
            ("rows_per_zone", (*rows_per_zone).into()),
            ("null_bitmap", (*has_null_bitmap).into()),
        ],
        Figures::BloomFilter { zones, rows_per_zone, probability, has_null_bitmap } => vec![
            ("zones", (*zones).into()),
            ("rows_per_zone", (*rows_per_zone).into()),
            ("probability", (*probability).into()),
            ("null_bitmap", (*has_null_bitmap).into()),
        ],
        Figures::NGram { tokens } => vec![("tokens", (*tokens).into())],
        Figures::Inverted(details) => inverted_facts(details),
        _ => Vec::new(),
    });
    Ok(facts)
}

fn bound_facts(bounds: Option<&(Column, Column)>) -> Result<Record> {
    let fact = |column: Option<&Column>| column.map_or(Ok(Fact::Null), |column| Fact::of_value(column, 0));
    Ok(vec![("min", fact(bounds.map(|bounds| &bounds.0))?), ("max", fact(bounds.map(|bounds| &bounds.1))?)])
}

fn vector_facts(figures: &VectorFigures) -> Record {
    let (quantizer, bits, sub_vectors, bounds) = match figures.storage {
        Storage::Product { bits, parts, .. } => ("pq", Some(bits), Some(parts), None),
        Storage::Scalar { start, end } => ("sq", Some(8), None, Some(vec![start, end])),
        Storage::Rabit { bits } => ("rq", Some(bits), None, None),
        _ => ("flat", None, None, None),
    };
    let lengths = figures.lengths;
    vec![
        ("kind", figures.kind.clone().into()),
        ("metric", figures.metric.name().into()),
        ("dimension", figures.dimension.into()),
        ("item", figures.item.to_string().into()),
        ("quantizer", quantizer.into()),
        ("bits", bits.into()),
        ("sub_vectors", sub_vectors.into()),
        ("bounds", bounds.into()),
        ("rows", figures.rows.into()),
        ("partitions", lengths.count.into()),
        ("empty", lengths.empty.into()),
        ("length_min", lengths.min.into()),
        ("length_p50", lengths.p50.into()),
        ("length_p95", lengths.p95.into()),
        ("length_max", lengths.max.into()),
        ("loss", figures.loss.into()),
    ]
}

fn inverted_facts(details: &InvertedDetails) -> Record {
    vec![
        ("base_tokenizer", details.base_tokenizer.clone().into()),
        ("language", details.language.clone().into()),
        ("with_position", details.with_position.into()),
        ("max_token_length", details.max_token_length.into()),
        ("lower_case", details.lower_case.into()),
        ("stem", details.stem.into()),
        ("remove_stop_words", details.remove_stop_words.into()),
        ("ascii_folding", details.ascii_folding.into()),
        ("block_size", details.block_size.into()),
    ]
}
