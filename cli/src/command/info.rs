//! `lancet info`: what a dataset is, as facts with a name and a value.

use super::open;
use crate::{
    args::InfoArgs,
    error::Result,
    output::{Format, Output, csv_field, quoted},
};
use lancet::{Dataset, Schema};

/// What is told under one name.
enum Fact {
    Number(u64),
    Columns(Schema),
}

pub(super) fn run(args: &InfoArgs) -> Result<()> {
    let facts = facts(&open(&args.dataset)?)?;
    let mut output = Output::new();
    output.text(&match args.output.format() {
        Format::Table => lines(&facts),
        Format::Json | Format::Jsonl => object(&facts),
        Format::Csv => pairs(&facts),
    })?;
    output.finish()
}

fn facts(dataset: &Dataset) -> Result<Vec<(&'static str, Fact)>> {
    Ok(vec![
        ("version", Fact::Number(dataset.version())),
        ("rows", Fact::Number(dataset.count_rows()?)),
        ("columns", Fact::Columns(dataset.schema().clone())),
    ])
}

/// One fact a line, and one column a line below its name.
fn lines(facts: &[(&str, Fact)]) -> String {
    let width = facts.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    let mut text = String::new();
    for (name, fact) in facts {
        match fact {
            Fact::Number(number) => text.push_str(&format!("{name:width$}  {number}\n")),
            Fact::Columns(schema) => {
                text.push_str(&format!("{name}\n"));
                let names = schema.fields.iter().map(|field| field.name.chars().count());
                let width = names.max().unwrap_or(0);
                for field in &schema.fields {
                    let required = if field.nullable { "" } else { ", not null" };
                    text.push_str(&format!("  {:width$}  {}{required}\n", field.name, field.data_type));
                }
            }
        }
    }
    text
}

fn object(facts: &[(&str, Fact)]) -> String {
    let members = facts.iter().map(|(name, fact)| format!("\"{name}\":{}", json(fact)));
    format!("{{{}}}\n", members.collect::<Vec<_>>().join(","))
}

fn pairs(facts: &[(&str, Fact)]) -> String {
    let mut text = String::from("name,value\n");
    for (name, fact) in facts {
        text.push_str(&format!("{name},"));
        csv_field(&mut text, &json(fact));
        text.push('\n');
    }
    text
}

fn json(fact: &Fact) -> String {
    match fact {
        Fact::Number(number) => number.to_string(),
        Fact::Columns(schema) => {
            let column = |field: &lancet::Field| {
                let mut text = String::from("{\"name\":");
                quoted(&mut text, &field.name);
                text.push_str(",\"type\":");
                quoted(&mut text, &field.data_type.to_string());
                text.push_str(&format!(",\"nullable\":{}}}", field.nullable));
                text
            };
            let columns: Vec<String> = schema.fields.iter().map(|field| column(field)).collect();
            format!("[{}]", columns.join(","))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form() {
        let facts = [("version", Fact::Number(3)), ("columns", Fact::Columns(Schema::default()))];
        assert_eq!(lines(&facts), "version  3\ncolumns\n");
        assert_eq!(object(&facts), "{\"version\":3,\"columns\":[]}\n");
        assert_eq!(pairs(&facts), "name,value\nversion,3\ncolumns,[]\n");
    }
}
