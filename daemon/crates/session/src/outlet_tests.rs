use std::{cell::Cell, sync::Arc};

use cohab_protocol::{ClientMessage, DaemonMessage, FrameCodec};
use futures::{SinkExt, StreamExt as _};
use tokio::net::UnixStream;
use tokio_util::codec::{Framed, FramedWrite};

use super::*;

type Client = Framed<UnixStream, FrameCodec<DaemonMessage, ClientMessage>>;

fn pair() -> (Writer, Client) {
    let (ours, theirs) = UnixStream::pair().unwrap();
    let (_, write) = tokio::io::split(QuietSocket::over(ours).unwrap());
    let mut writer = FramedWrite::new(write, FrameCodec::new());
    writer.encoder_mut().handshake_done();
    let mut client = Framed::new(theirs, FrameCodec::new());
    client.codec_mut().handshake_done();
    (writer, client)
}

/// Gives `count` messages with a number and `bytes` letters each.
fn messages(count: usize, bytes: usize, given: &Cell<usize>) -> impl Fn() -> Option<Arc<DaemonMessage>> {
    move || {
        let number = given.get();
        given.set(number + usize::from(number < count));
        let reason = format!("{number} {}", "x".repeat(bytes));
        (number < count).then(|| Arc::new(DaemonMessage::Goodbye { reason }))
    }
}

async fn numbers(client: &mut Client, count: usize) -> Vec<usize> {
    let mut numbers = Vec::new();
    while numbers.len() < count {
        let Some(Ok(DaemonMessage::Goodbye { reason })) = client.next().await else { break };
        numbers.extend(reason.split(' ').next().and_then(|number| number.parse::<usize>().ok()));
    }
    numbers
}

#[tokio::test]
async fn a_lent_writer_sends_at_once_in_order() {
    let ((writer, mut client), outlet, given) = (pair(), Outlet::default(), Cell::new(0));
    outlet.lend(writer);
    assert!(outlet.send_now(messages(3, 10, &given)));
    assert_eq!(numbers(&mut client, 3).await, [0, 1, 2]);
}

#[tokio::test]
async fn nothing_is_taken_without_a_writer_or_once_closed() {
    let ((writer, _client), outlet, given) = (pair(), Outlet::default(), Cell::new(0));
    assert!(!outlet.send_now(messages(3, 10, &given)));
    outlet.lend(writer);
    outlet.close();
    assert!(!outlet.send_now(messages(3, 10, &given)));
    assert_eq!(given.get(), 0);
}

#[tokio::test]
async fn what_a_slow_client_leaves_is_sent_by_the_own_task() {
    let ((writer, mut client), outlet, given) = (pair(), Outlet::default(), Cell::new(0));
    outlet.lend(writer);
    assert!(!outlet.send_now(messages(1_000, 10_000, &given)), "no socket takes 10 MB at once");
    let count = given.get();
    assert!(count < 1_000);
    assert!(!outlet.send_now(messages(1_000, 10_000, &given)), "the rest comes first");
    assert_eq!(given.get(), count);
    outlet.has_rest().await;
    let mut writer = outlet.take_back().unwrap();
    let flushing = async { SinkExt::<&DaemonMessage>::flush(&mut writer).await.unwrap() };
    let (numbers, ()) = tokio::join!(numbers(&mut client, count), flushing);
    assert_eq!(numbers, (0..count).collect::<Vec<_>>());
}

#[tokio::test]
async fn a_writer_that_failed_is_gone() {
    let ((writer, client), outlet, given) = (pair(), Outlet::default(), Cell::new(0));
    drop(client);
    outlet.lend(writer);
    assert!(!outlet.send_now(messages(1, 10, &given)));
    outlet.has_rest().await;
    assert!(outlet.take_back().is_none());
}
