//! Runs disk work outside the runtime's threads.

use tokio_util::sync::CancellationToken;

/// The model's result of a cancelled call.
pub(super) const CANCELLED: &str = "cancelled before it ended";

/// Runs `work` on a thread for blocking work. When `cancel` fires, this returns at once; `work` should check its token now and then,
/// and its result is dropped. Only for work that changes nothing.
///
/// # Errors
/// The error of `work`, or that it was cancelled or crashed.
pub(super) async fn reading<T: Send + 'static>(
    cancel: &CancellationToken,
    work: impl FnOnce(&CancellationToken) -> Result<T, String> + Send + 'static,
) -> Result<T, String> {
    let token = cancel.clone();
    let task = tokio::task::spawn_blocking(move || work(&token));
    tokio::select! {
        biased;
        () = cancel.cancelled() => Err(CANCELLED.into()),
        joined = task => joined.map_err(crashed)?,
    }
}

/// Runs `work` to its end in any case, so that its outcome is known.
///
/// # Errors
/// The error of `work`, or that the call was cancelled before it began, or that it crashed.
pub(super) async fn changing<T: Send + 'static>(
    cancel: &CancellationToken,
    work: impl FnOnce() -> Result<T, String> + Send + 'static,
) -> Result<T, String> {
    if cancel.is_cancelled() {
        return Err(CANCELLED.into());
    }
    tokio::task::spawn_blocking(work).await.map_err(crashed)?
}

#[expect(clippy::needless_pass_by_value, reason = "the shape that map_err wants")]
fn crashed(error: tokio::task::JoinError) -> String {
    tracing::error!(%error, "a tool crashed");
    "internal error in the tool; its result is unknown".into()
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    #[tokio::test]
    async fn cancelling_returns_while_the_disk_still_hangs() {
        let cancel = CancellationToken::new();
        let (release, hang) = mpsc::channel::<()>();
        let call = reading(&cancel, move |_| {
            let _ = hang.recv();
            Ok(())
        });
        let (result, ()) = tokio::join!(call, async { cancel.cancel() });
        assert_eq!(result, Err(CANCELLED.to_owned()));
        release.send(()).unwrap();
    }

    #[tokio::test]
    async fn a_crash_is_an_error_for_the_model() {
        let cancel = CancellationToken::new();
        let result: Result<(), String> = reading(&cancel, |_| panic!("on purpose")).await;
        assert!(result.unwrap_err().starts_with("internal error"));
    }

    #[tokio::test]
    async fn nothing_is_changed_after_a_cancellation() {
        let cancel = CancellationToken::new();
        cancel.cancel();
        let result: Result<(), String> = changing(&cancel, || unreachable!("must not run")).await;
        assert_eq!(result, Err(CANCELLED.to_owned()));
    }
}
