//! ZoneMap and BloomFilter indices.

use crate::{Files, Page, Writer, blobs, flat, no_nulls, nullable, numbers, refused};
use lancet_format::{
    DataType, Result, Scalar,
    index::{BloomFilterIndex, BloomHash, Zone, ZoneMapIndex},
};

const ZONE_MAP: &str = "zonemap.lance";
const BLOOM: &str = "bloomfilter.lance";

/// Zones that are not in order: fragment, start, length, NULLs, NaNs.
const ZONES: [[u64; 5]; 3] = [[7, 0, 10, 0, 0], [2, 100, 50, 50, 0], [2, 3, 97, 1, 0]];

fn zones(writer: Writer, zones: &[[u64; 5]]) -> Writer {
    let column = |index: usize| {
        let values: Vec<u64> = zones.iter().map(|zone| zone[index]).collect();
        numbers(&values, u64::to_le_bytes)
    };
    writer
        .field("fragment_id", None, "uint64", column(0))
        .field("zone_start", None, "uint64", column(1))
        .field("zone_length", None, "uint64", column(2))
}

fn zone_map(change: impl FnOnce(&mut [[u64; 5]; 3], &mut [Option<i32>; 3])) -> Writer {
    let (mut own, mut min) = (ZONES, [Some(5), None, Some(-3)]);
    change(&mut own, &mut min);
    let counts = |index: usize| {
        let values: Vec<u32> = own.iter().map(|zone| zone[index] as u32).collect();
        numbers(&values, u32::to_le_bytes)
    };
    let writer = Writer::default()
        .field("min", None, "int32", nullable(&min))
        .field("max", None, "int32", nullable(&[Some(5), None, Some(8)]))
        .field("null_count", None, "uint32", counts(3))
        .field("nan_count", None, "uint32", counts(4));
    zones(writer, &own)
}

fn open(writer: Writer) -> Result<ZoneMapIndex> {
    ZoneMapIndex::open(&Files::default().with(ZONE_MAP, writer.finish(3)))
}

#[test]
fn zones_are_put_in_order() {
    let index = open(zone_map(|_, _| {})).unwrap();
    let zone = |fragment, start, len| Zone { fragment, start, len };
    assert_eq!(index.zones(), [zone(2, 3, 97), zone(2, 100, 50), zone(7, 0, 10)]);
    assert_eq!(index.fragments().collect::<Vec<_>>(), [2, 7]);
    assert_eq!((index.null_counts(), index.nan_counts()), (&[1, 50, 0][..], &[0; 3][..]));
    assert_eq!(index.min().get(0), Some(Scalar::Int(-3).key()));
    assert!(index.max().is_null(1) && index.null_rows().is_none());
    assert_eq!(index.rows_per_zone(), 8192);
    let index =
        open(zone_map(|_, _| {}).metadata("rows_per_zone", "5").metadata("null_bitmap", "1").global(&[0; 4]));
    let index = index.unwrap();
    assert_eq!((index.rows_per_zone(), index.null_rows().unwrap().is_empty()), (5, true));
}

#[test]
fn zones_that_cannot_be() {
    type Change = fn(&mut [[u64; 5]; 3], &mut [Option<i32>; 3]);
    let changes: [(Change, &str); 8] = [
        (|zones, _| zones[1][2] = 0, "row 1: expected a zone"),
        (|zones, _| zones[0][0] = 1 << 32, "row 0: expected a zone"),
        (|zones, _| zones[2][1] = 1 << 32, "row 2: expected a zone"),
        (|zones, _| zones[2][2] = 1 << 32, "row 2: expected a zone"),
        (|zones, _| zones[2][2] = u64::MAX, "row 2: expected a zone"),
        (|zones, _| zones[0][3] = 11, "row 0: expected at most 10 nulls"),
        (|zones, _| zones[0][4] = 11, "row 0: expected at most 10 nulls"),
        (|_, min| min[2] = Some(9), "row 2: expected a minimum"),
    ];
    for (change, expected) in changes {
        refused(open(zone_map(change)), ZONE_MAP, expected);
    }
    let whole = open(zone_map(|zones, _| (zones[2][1], zones[2][2]) = (0, 1 << 32))).unwrap();
    assert_eq!(whole.zones()[0].addresses(), 2 << 32..3 << 32);
    refused(open(zone_map(|_, _| {}).metadata("null_bitmap", "x")), ZONE_MAP, "expected a number");
    refused(open(zone_map(|_, _| {}).metadata("null_bitmap", "1")), ZONE_MAP, "global buffer 1");
    refused(ZoneMapIndex::open(&Files::default()), ZONE_MAP, "found none");
}

/// A filter of one block with the 32-bit number 5.
const FIVE: &[u8; 32] = b"\0\0\x20\0\0\0\0\x01\x02\0\0\0\x08\0\0\0\x02\0\0\0\0\x20\0\0\0\x10\0\0\0\0\0\x04";

fn bloom(filters: [&[u8]; 3]) -> Result<BloomFilterIndex> {
    let nulls = vec![Page(3, no_nulls(&flat(1, 0)), vec![vec![0b010]])];
    let writer = zones(Writer::default(), &ZONES).field("has_null", None, "bool", nulls).field(
        "bloom_filter_data",
        None,
        "binary",
        blobs(&filters),
    );
    BloomFilterIndex::open(&Files::default().with(BLOOM, writer.finish(3)))
}

#[test]
fn filters_belong_to_their_zones() {
    let hash = |value| BloomHash::of(Scalar::Int(value), &DataType::Int32).unwrap();
    let index = bloom([FIVE, &[0; 32], &[0xff; 32]]).unwrap();
    assert_eq!(index.may_hold(hash(5)).unwrap().collect::<Vec<_>>(), [0, 2]);
    assert_eq!(index.may_hold(hash(6)).unwrap().collect::<Vec<_>>(), [0]);
    assert_eq!(
        (index.has_null(), index.items(), index.probability()),
        (&[false, true, false][..], 8192, 0.00057)
    );
    for wrong in [&b""[..], &[0; 31], &[0; 64]] {
        let index = bloom([FIVE, &[0; 32], wrong]).unwrap();
        refused(index.may_hold(hash(5)).map(|zones| zones.count()), BLOOM, "expected a filter");
    }
}
