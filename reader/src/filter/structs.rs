//! Fields of structs.

use super::{build, expression::Call, term::valid, types::unexpected};
use lancet_format::Column;

/// Field `index` of a struct, NULL where the struct is.
pub(super) fn field(index: usize) -> Call {
    Call::new(move |values, _, _| {
        let value = &values[0];
        let Some(child) = value.column.children().get(index) else {
            return Err(unexpected(value.column.data_type()));
        };
        let both = valid(&[value.column.clone(), child.clone().into()]);
        let validity = build::mask_validity(both);
        Ok(Column::from_parts(child.data_type(), child.len(), validity, child.values().clone())?)
    })
}
