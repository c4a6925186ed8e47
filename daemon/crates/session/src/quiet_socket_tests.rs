use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use super::*;

fn pair() -> (QuietSocket, UnixStream) {
    let (ours, theirs) = UnixStream::pair().unwrap();
    (QuietSocket::over(ours).unwrap(), theirs)
}

#[tokio::test]
async fn bytes_go_both_ways_and_the_end_is_seen() {
    let (mut ours, mut theirs) = pair();
    ours.write_all(b"hello").await.unwrap();
    let mut buffer = [0; 5];
    theirs.read_exact(&mut buffer).await.unwrap();
    assert_eq!(&buffer, b"hello");
    theirs.write_all(b"and back").await.unwrap();
    drop(theirs);
    let mut all = Vec::new();
    ours.read_to_end(&mut all).await.unwrap();
    assert_eq!(all, b"and back");
}

#[tokio::test]
async fn what_the_other_end_does_not_take_at_once_comes_whole() {
    let (mut ours, mut theirs) = pair();
    let sent: Vec<u8> = (0..3_000_000_u32).map(|n| (n % 251) as u8).collect();
    let mut received = Vec::new();
    let writing = async {
        ours.write_all(&sent).await.unwrap();
        ours.shutdown().await.unwrap();
    };
    let (read, ()) = tokio::join!(theirs.read_to_end(&mut received), writing);
    read.unwrap();
    assert!(received == sent);
}

#[tokio::test]
async fn more_than_a_buffer_is_read_piece_by_piece() {
    let (mut ours, mut theirs) = pair();
    theirs.write_all(&[7; 1_000]).await.unwrap();
    let (mut buffer, mut count) = ([0; 300], 0);
    while count < 1_000 {
        count += ours.read(&mut buffer).await.unwrap();
    }
    assert_eq!(count, 1_000);
}

#[tokio::test]
async fn writing_to_an_end_that_is_gone_fails() {
    let (mut ours, theirs) = pair();
    drop(theirs);
    assert_eq!(ours.write_all(b"hello").await.unwrap_err().kind(), io::ErrorKind::BrokenPipe);
}
