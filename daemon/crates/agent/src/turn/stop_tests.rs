use super::*;
use crate::BeforeStop;

/// Objects so many times, or for ever.
struct Objects(Mutex<u32>);

#[async_trait]
impl BeforeStop for Objects {
    async fn objection(&self, state: &TurnState) -> Option<String> {
        assert!(matches!(state.messages().last(), Some(Message::Assistant(_))));
        let left = *self.0.lock().unwrap();
        if left == u32::MAX {
            return std::future::pending().await;
        }
        let left = left.checked_sub(1)?;
        *self.0.lock().unwrap() = left;
        Some(format!("not yet, {left} more"))
    }
}

fn objecting(times: u32, scripts: Vec<Vec<ModelEvent>>) -> Turn {
    let mut turn = Turn::new(scripts);
    turn.agent.ports.before_stop = Some(Arc::new(Objects(Mutex::new(times))));
    turn
}

#[tokio::test]
async fn the_model_continues_with_an_objection_to_its_end() {
    let mut turn = objecting(2, vec![done(), done(), vec![text("really done"), stop(StopClass::End)]]);
    assert_eq!(turn.run().await, Ok(StopReason::Answered));
    assert_eq!(turn.last_text(), "really done");
    let requests = turn.provider.requests.lock().unwrap();
    assert!(matches!(requests[2].messages.last(), Some(Message::User { text, .. }) if text == "not yet, 0 more"));
}

#[tokio::test]
async fn the_limit_of_steps_ends_a_turn_that_is_held() {
    let mut turn = objecting(100, vec![done(), done(), done(), done(), done(), done()]);
    assert_eq!(turn.run().await, Ok(StopReason::StepLimit));
}

#[tokio::test]
async fn a_turn_that_is_cancelled_does_not_wait_for_an_objection() {
    let mut turn = objecting(u32::MAX, vec![done()]);
    let cancel = turn.cancel.clone();
    let (result, ()) = tokio::join!(turn.run(), async {
        tokio::task::yield_now().await;
        cancel.cancel();
    });
    assert!(matches!(result, Ok(StopReason::Answered | StopReason::Cancelled)), "{result:?}");
}
