//! Stands between the model and the world: decides which calls may run, and what text may pass.
//!
//! - [`gate`]: the middleware that asks the policy about each call, and the user where the policy does not allow it.
//!   [`gate::standard_policy`] is the policy in force; [`expired_approvals`] says when consent has expired.
//! - [`pipeline`]: what is thought of each text on its way. A stage is a file, the strictest verdict counts.
//! - [`provenance`] and [`taint`]: where each text of a conversation comes from, and what that suspends. [`spotlight`] marks results of tools
//!   as data.
//! - [`sanitize_results`]: results of tools become harmless text. [`placeholder_check`]: no placeholder of a secret is typed.
//! - [`repository`]: programs that the settings of a git repository would start. [`known_servers`]: model servers on this machine that
//!   the user agreed to.
//!
//! Invariants: a check that fails counts as not passed; the automatic mode answers nothing on which the policy is firm; text from
//! elsewhere never widens what may run.
//!
//! The client decides last, by its own record of consent. This crate shows nothing to the user and stores no conversation; it asks
//! through the port `Approver`.

mod consents;
pub mod expired_approvals;
pub mod gate;
pub mod known_servers;
pub mod pipeline;
pub mod placeholder_check;
pub mod provenance;
pub mod repository;
pub mod sanitize_results;
pub mod spotlight;
pub mod taint;
