//! Limits on the size of messages. Both sides check them: the sender cuts, the receiver refuses.

/// Largest frame, header excluded.
pub const MAX_FRAME_BYTES: usize = 16 * 1024 * 1024;
/// Largest frame before the handshake is over.
pub const MAX_HANDSHAKE_FRAME_BYTES: usize = 64 * 1024;
/// Largest text of a relayed command.
pub const MAX_COMMAND_BYTES: usize = 4 * 1024 * 1024;
/// Largest question.
pub const MAX_QUERY_BYTES: usize = 1024 * 1024;
/// Largest text piped into `cohab ask`; the middle of a longer one is left out.
pub const MAX_PIPED_INPUT_BYTES: usize = 1024 * 1024;
/// Largest `CommandOutput`.
pub const MAX_OUTPUT_CHUNK_BYTES: usize = 64 * 1024;
/// Largest `output_tail` of a `ShellEvent`.
pub const MAX_OUTPUT_TAIL_BYTES: usize = 16 * 1024;
/// Largest `environment` of an `Attach`, names and values together.
pub const MAX_ENVIRONMENT_BYTES: usize = 256 * 1024;
/// Longest part of the diff of a background task in a message.
pub const MAX_TASK_DIFF_BYTES: usize = 4 * 1024 * 1024;
/// Largest diff that is sent with a step that has changed a file; more lines are counted.
pub const MAX_STEP_DIFF_BYTES: usize = 16 * 1024;
/// Largest output that is sent with a step whose command has failed.
pub const MAX_STEP_OUTPUT_BYTES: usize = 4 * 1024;
/// A connection that has not finished its handshake after this long is closed, in milliseconds.
pub const HANDSHAKE_TIMEOUT_MS: u64 = 2_000;
