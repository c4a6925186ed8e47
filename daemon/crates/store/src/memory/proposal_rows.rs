//! Proposals as sealed rows.

use std::{ffi::OsStr, os::unix::ffi::OsStrExt};

use cohab_memory::inbox::{NewProposal, ProposalId, Proposed, Waiting};
use rusqlite::{Connection, Row};

use super::{
    journal,
    rows::{self, scope},
};
use crate::{
    StoreError,
    seal::{Key, Purpose},
};

/// The columns of a proposal. All are sealed.
pub(super) const COLUMNS: &str = "id, key, body, root, folder, trust, sources, evidence, at_ms";
/// All of [`COLUMNS`].
const SEALED: usize = 9;
pub(super) const PROPOSALS: journal::Sealed = journal::Sealed {
    purpose: Purpose::Proposal,
    table: "proposals",
    number: "id",
    columns: COLUMNS,
    sealed_columns: |_| Ok(SEALED),
};

/// The proposals whose seal is wrong.
pub(super) fn changed(connection: &Connection, key: &Key) -> Result<Vec<ProposalId>, StoreError> {
    let mut statement = connection.prepare(&format!("SELECT {COLUMNS}, mac FROM proposals NOT INDEXED ORDER BY id"))?;
    let mut rows = statement.query([])?;
    let mut changed = Vec::new();
    while let Some(row) = rows.next()? {
        if !is_sound(key, row)? {
            changed.push(ProposalId(row.get::<_, i64>(0)?.cast_unsigned()));
        }
    }
    Ok(changed)
}

/// Whether a row of [`COLUMNS`] and its seal is as it was written.
pub(super) fn is_sound(key: &Key, row: &Row<'_>) -> Result<bool, StoreError> {
    Ok(journal::mac(row, SEALED)? == Some(journal::seal(key, PROPOSALS.purpose, row, SEALED)?))
}

/// The proposal in a row; `None` if a newer program wrote a kind that this one does not know.
pub(super) fn proposal(row: &Row<'_>) -> Result<Option<Waiting>, StoreError> {
    let body: String = row.get(2)?;
    let Ok(what) = serde_json::from_str::<Proposed>(&body) else { return Ok(None) };
    Ok(Some(Waiting {
        id: ProposalId(row.get::<_, i64>(0)?.cast_unsigned()),
        new: NewProposal {
            what,
            scope: scope(rows::path(row, 3)?),
            trust: row.get(5)?,
            sources: rows::sources(row, 6)?,
            evidence: row.get(7)?,
            folder: OsStr::from_bytes(row.get_ref(4)?.as_blob().map_err(rusqlite::Error::from)?).into(),
        },
        at: rows::moment(row.get(8)?),
    }))
}
