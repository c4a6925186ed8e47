//! What stands between the model and the world: may a call run, and what text may pass.
//!
//! - [`gate`]: the middleware that asks the policy about each call, and the user where the policy does not allow it.
//!   [`gate::standard_policy`] is the policy in force; [`old_yes`] says when consent has expired.
//! - [`pipeline`]: what is thought of each text on its way. A stage is a file, the strictest verdict counts.
//! - [`label`] and [`taint`]: where each text of a conversation comes from, and what that suspends. [`spotlight`] marks results of tools
//!   as data.
//! - [`inbound`]: results of tools become harmless text. [`unfilled`]: no placeholder of a secret is typed.
//! - [`repository`]: programs that the settings of a git repository would start. [`known_servers`]: model servers on this machine that
//!   the user agreed to.
//!
//! Invariants: a check that fails counts as not passed; the automatic mode answers nothing on which the policy is firm; text from
//! elsewhere never widens what may run.
//!
//! The client decides last, by its own record of consent. This crate shows nothing to the user and stores no conversation; it asks
//! through the port `Approver`.

pub mod gate;
pub mod inbound;
pub mod known_servers;
pub mod label;
pub mod old_yes;
pub mod pipeline;
pub mod repository;
pub mod spotlight;
pub mod taint;
pub mod unfilled;
