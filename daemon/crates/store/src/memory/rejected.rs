//! Proposals that the user rejected: only their seals are stored, so that nothing of them is left to be forgotten.

use cohab_memory::record::Scope;
use rusqlite::params;

use super::{SqliteMemory, rows::root, seal_key};
use crate::{StoreError, seal::Purpose};

/// Most rejected proposals; beyond, all are forgotten, and may be proposed again.
const MAX_REJECTED: i64 = 10_000;

impl SqliteMemory {
    /// Never proposes this text for this scope again.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn reject(&mut self, text: &str, scope: &Scope) -> Result<(), StoreError> {
        let mac = self.seal_of_proposal(text, scope)?;
        let transaction = self.connection.transaction()?;
        let count: i64 = transaction.query_row("SELECT count(*) FROM rejected", [], |row| row.get(0))?;
        if count >= MAX_REJECTED {
            transaction.execute("DELETE FROM rejected", [])?;
        }
        transaction.execute("INSERT OR IGNORE INTO rejected VALUES (?1)", params![mac])?;
        Ok(transaction.commit()?)
    }

    /// Whether the user rejected this text for this scope.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn is_rejected(&self, text: &str, scope: &Scope) -> Result<bool, StoreError> {
        let mac = self.seal_of_proposal(text, scope)?;
        let query = "SELECT EXISTS (SELECT 1 FROM rejected WHERE mac = ?1)";
        Ok(self.connection.prepare_cached(query)?.query_row([mac], |row| row.get(0))?)
    }

    fn seal_of_proposal(&self, text: &str, scope: &Scope) -> Result<[u8; 32], StoreError> {
        let body = [root(scope).as_slice(), b"\0", text.as_bytes()].concat();
        Ok(seal_key(&self.keys)?.mac(Purpose::Rejected, &body).bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rejected_proposal_leaves_no_text_and_counts_in_its_project_only() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("memory.db");
        let mut store = SqliteMemory::create(&file, &folder.path().join("key")).unwrap();
        let shop = Scope::Project("/home/ann/shop".into());
        let text = "this project is tested with zanzibar";
        store.reject(text, &shop).unwrap();
        store.reject(text, &shop).unwrap();
        assert!(store.is_rejected(text, &shop).unwrap());
        assert!(!store.is_rejected(text, &Scope::Everywhere).unwrap());
        assert!(!store.is_rejected("another", &shop).unwrap());
        drop(store);
        let bytes = std::fs::read(&file).unwrap();
        assert!(!bytes.windows(8).any(|part| part == b"zanzibar"));
    }
}
