//! The inbox in the file of facts. Rows are sealed, but not chained: a proposal counts for nothing before the user accepts it. Of rejected
//! ones only a seal is left.

use std::{os::unix::ffi::OsStrExt, path::Path};

use cohab_memory::{
    inbox::{Inbox, MAX_BODY_BYTES, MAX_WAITING, NewProposal, ProposalId, Waiting},
    record::Scope,
};
use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, params};

use super::{
    SqliteMemory, journal,
    proposal_rows::{COLUMNS, PROPOSALS, is_sound, proposal},
    read,
    rows::{self, VisibleRoots, root},
    seal_key,
    sealed_file::SealedFile,
};
use crate::{
    StoreError, file,
    seal::{Key, Purpose},
};

/// Most rejected proposals; beyond, all are forgotten, and may be proposed again.
const MAX_REJECTED: i64 = 10_000;
/// Time between two lines about the inbox, in milliseconds.
const NOTICE_MS: i64 = 24 * 60 * 60 * 1_000;

impl Inbox for SqliteMemory {
    type Error = StoreError;

    fn propose(&mut self, new: &NewProposal, now: Timestamp) -> Result<Option<ProposalId>, StoreError> {
        let key = seal_key(&self.keys)?;
        let name = new.what.key();
        let transaction = self.connection.transaction()?;
        let fact = new.accepted_fact();
        let of = SealedFile { connection: &transaction, key: Some(&key) };
        let is_known = fact.map(|fact| read::known(of, &fact)).transpose()?.flatten().is_some();
        let body = serde_json::to_string(&new.what).unwrap_or_default();
        if is_known || body.len() > MAX_BODY_BYTES || is_rejected(&transaction, &key, &name, &new.scope)? {
            return Ok(None);
        }
        let (root, folder) = (root(&new.scope), new.folder.as_os_str().as_bytes());
        let trust = if new.trust.is_nan() { 0.0 } else { new.trust.clamp(0.0, 1.0) };
        let values = params![
            name,
            body,
            root,
            folder,
            trust,
            rows::sources_text(&new.sources),
            new.evidence,
            now.as_millisecond()
        ];
        let insert = "INSERT INTO proposals (key, body, root, folder, trust, sources, evidence, at_ms, mac)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, x'')
            ON CONFLICT (root, key) DO UPDATE SET body = excluded.body, trust = min(trust, excluded.trust),
                sources = excluded.sources, evidence = excluded.evidence
            RETURNING id";
        let id: i64 = transaction.prepare_cached(insert)?.query_row(values, |row| row.get(0))?;
        journal::seal_row(&transaction, &key, &PROPOSALS, id)?;
        let oldest = "DELETE FROM proposals WHERE id NOT IN (SELECT id FROM proposals ORDER BY id DESC LIMIT ?1)";
        transaction.prepare_cached(oldest)?.execute([MAX_WAITING.cast_signed()])?;
        transaction.commit()?;
        Ok(Some(ProposalId(id.cast_unsigned())))
    }

    fn waiting(&self, folder: Option<&Path>) -> Result<Vec<Waiting>, StoreError> {
        let Some(key) = self.sealed().key else { return Ok(Vec::new()) };
        let roots = VisibleRoots::of(folder);
        let query = format!("SELECT {COLUMNS}, mac FROM proposals WHERE {} ORDER BY id", roots.condition("proposals"));
        let mut statement = self.connection.prepare_cached(&query)?;
        let mut rows = statement.query(rusqlite::params_from_iter(roots.values()))?;
        let mut waiting = Vec::new();
        while let Some(row) = rows.next()? {
            if is_sound(key, row)? {
                waiting.extend(proposal(row)?);
            }
        }
        Ok(waiting)
    }

    fn withdraw(&mut self, ids: &[ProposalId]) -> Result<(), StoreError> {
        let transaction = self.connection.transaction()?;
        for id in ids {
            transaction.prepare_cached("DELETE FROM proposals WHERE id = ?1")?.execute([id.0.cast_signed()])?;
        }
        transaction.commit()?;
        file::purge(&self.connection)
    }

    fn reject(&mut self, proposal: &Waiting) -> Result<(), StoreError> {
        let mac = seal_of(&seal_key(&self.keys)?, &proposal.new.what.key(), &proposal.new.scope);
        let transaction = self.connection.transaction()?;
        let count: i64 = transaction.query_row("SELECT count(*) FROM rejected", [], |row| row.get(0))?;
        if count >= MAX_REJECTED {
            transaction.execute("DELETE FROM rejected", [])?;
        }
        transaction.execute("INSERT OR IGNORE INTO rejected VALUES (?1)", params![mac])?;
        transaction.commit()?;
        self.withdraw(&[proposal.id])
    }

    fn due_notice(&mut self, folder: &Path, now: Timestamp) -> Result<Option<usize>, StoreError> {
        let now_ms = now.as_millisecond();
        let newest: i64 =
            self.connection.query_row("SELECT coalesce(max(id), 0) FROM proposals", [], |row| row.get(0))?;
        let last = "SELECT at_ms, proposal FROM inbox_notice";
        let last: Option<(i64, i64)> =
            self.connection.query_row(last, [], |row| Ok((row.get(0)?, row.get(1)?))).optional()?;
        // A clock that was set back must not silence it for good.
        let is_early = |at: i64| (now_ms - NOTICE_MS..=now_ms).contains(&at);
        if last.is_some_and(|(at, seen)| is_early(at) || newest <= seen) {
            return Ok(None);
        }
        let count = self.waiting(Some(folder))?.len();
        if count == 0 {
            return Ok(None);
        }
        let transaction = self.connection.transaction()?;
        transaction.execute("DELETE FROM inbox_notice", [])?;
        transaction.execute("INSERT INTO inbox_notice VALUES (?1, ?2)", [now_ms, newest])?;
        transaction.commit()?;
        Ok(Some(count))
    }
}

fn is_rejected(connection: &Connection, key: &Key, name: &str, scope: &Scope) -> Result<bool, StoreError> {
    let query = "SELECT EXISTS (SELECT 1 FROM rejected WHERE mac = ?1)";
    Ok(connection.prepare_cached(query)?.query_row([seal_of(key, name, scope)], |row| row.get(0))?)
}

fn seal_of(key: &Key, name: &str, scope: &Scope) -> [u8; 32] {
    let body = [root(scope).as_slice(), b"\0", name.as_bytes()].concat();
    key.mac(Purpose::Rejected, &body).bytes()
}

#[cfg(test)]
#[path = "inbox_tests.rs"]
mod tests;
