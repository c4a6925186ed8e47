//! Tests for the framing on hostile, cut and huge input.

mod arbitrary;

use bytes::BytesMut;
use cohab_protocol::{
    ClientMessage, DaemonMessage, FrameCodec, FrameError, MAX_FRAME_BYTES, MAX_HANDSHAKE_FRAME_BYTES, codec,
};
use proptest::prelude::*;
use tokio_util::codec::{Decoder, Encoder};

type ClientCodec = FrameCodec<DaemonMessage, ClientMessage>;
type DaemonCodec = FrameCodec<ClientMessage, DaemonMessage>;

fn frame(payload: &[u8]) -> BytesMut {
    let length = u32::try_from(payload.len()).expect("tests stay below 4 GiB");
    let mut bytes = BytesMut::from(&length.to_be_bytes()[..]);
    bytes.extend_from_slice(payload);
    bytes
}

fn open_codec() -> DaemonCodec {
    let mut codec = DaemonCodec::new();
    codec.handshake_done();
    codec
}

/// Peak address space of this process in bytes.
fn peak_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmPeak:"))?;
    line.split_whitespace().nth(1)?.parse::<u64>().ok().map(|kib| kib * 1024)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn a_client_message_survives_the_trip(message in arbitrary::client_message()) {
        let mut wire = BytesMut::new();
        let mut sender = ClientCodec::new();
        sender.handshake_done();
        sender.encode(message.clone(), &mut wire).expect("small messages fit");
        prop_assert_eq!(open_codec().decode(&mut wire).expect("a frame"), Some(message));
        prop_assert!(wire.is_empty());
    }

    #[test]
    fn a_daemon_message_survives_the_trip(message in arbitrary::daemon_message()) {
        let mut wire = BytesMut::new();
        let mut sender = open_codec();
        sender.encode(message.clone(), &mut wire).expect("small messages fit");
        let mut receiver = ClientCodec::new();
        receiver.handshake_done();
        prop_assert_eq!(receiver.decode(&mut wire).expect("a frame"), Some(message));
    }

    #[test]
    fn any_bytes_are_a_message_or_an_error(payload in prop::collection::vec(any::<u8>(), 0..400)) {
        // The first byte chooses the variant; let each be hit often.
        let _ = codec::from_bytes::<ClientMessage>(&payload);
        let _ = codec::from_bytes::<DaemonMessage>(&payload);
        for variant in 0..16_u8 {
            let mut with_variant = vec![variant];
            with_variant.extend_from_slice(&payload);
            let _ = codec::from_bytes::<ClientMessage>(&with_variant);
            let _ = codec::from_bytes::<DaemonMessage>(&with_variant);
        }
    }

    #[test]
    fn a_damaged_message_is_a_message_or_an_error(
        message in arbitrary::daemon_message(),
        at in any::<prop::sample::Index>(),
        byte in any::<u8>(),
    ) {
        let mut bytes = codec::to_bytes(&message).expect("small messages encode");
        let at = at.index(bytes.len());
        bytes[at] = byte;
        let _ = codec::from_bytes::<DaemonMessage>(&bytes);
    }

    #[test]
    fn any_chunking_gives_the_same_messages(
        messages in prop::collection::vec(arbitrary::client_message(), 1..5),
        cuts in prop::collection::vec(1_usize..40, 1..60),
    ) {
        let mut wire = BytesMut::new();
        let mut sender = ClientCodec::new();
        sender.handshake_done();
        for message in &messages {
            sender.encode(message.clone(), &mut wire).expect("small messages fit");
        }
        let (mut receiver, mut buffer, mut seen) = (open_codec(), BytesMut::new(), Vec::new());
        let mut sizes = cuts.iter().cycle();
        while !wire.is_empty() {
            let size = (*sizes.next().expect("a cycle has no end")).min(wire.len());
            buffer.extend_from_slice(&wire.split_to(size));
            while let Some(message) = receiver.decode(&mut buffer).expect("whole frames") {
                seen.push(message);
            }
        }
        prop_assert_eq!(seen, messages);
    }

    #[test]
    fn trailing_bytes_are_refused(message in arbitrary::client_message(), extra in 1_usize..20) {
        let mut bytes = codec::to_bytes(&message).expect("small messages encode");
        bytes.extend(std::iter::repeat_n(0, extra));
        let error = codec::from_bytes::<ClientMessage>(&bytes).expect_err("bytes are left over");
        let is_right = matches!(error, FrameError::Trailing { extra_bytes } if extra_bytes == extra);
        prop_assert!(is_right, "{}", error);
    }
}

#[test]
fn a_claim_of_2_to_the_40_elements_allocates_nothing() {
    // A length of 2^40 in bincode's varint: marker 253, then eight bytes.
    let claim = [&[253][..], &(1_u64 << 40).to_le_bytes()].concat();
    let before = peak_bytes();
    // A variant, then the bytes before the first string, byte string or vector of the message.
    let hello = [&[0, 1, 2][..], &claim].concat();
    let output = [&[3, 16][..], &[7; 16], &claim].concat();
    let query = [&[1, 16][..], &[7; 16], &claim].concat();
    let attach = [&[7, 1, 0, 1, b'k', 0, 1, 1][..], &claim].concat();
    for payload in [hello, output, query, attach] {
        let error = codec::from_bytes::<ClientMessage>(&payload).expect_err("nobody can send that much");
        assert!(matches!(error, FrameError::Decode(_)), "{error}");
    }
    if let (Some(before), Some(after)) = (before, peak_bytes()) {
        assert!(after - before < 256 * 1024 * 1024, "peak memory grew by {} bytes", after - before);
    }
}

#[test]
fn a_frame_length_beyond_the_limit_is_refused_before_its_bytes_come() {
    for (mut codec, limit) in [(DaemonCodec::new(), MAX_HANDSHAKE_FRAME_BYTES), (open_codec(), MAX_FRAME_BYTES)] {
        for length in [limit + 1, u32::MAX as usize] {
            let length = u32::try_from(length).expect("a frame length");
            let mut wire = BytesMut::from(&length.to_be_bytes()[..]);
            let error = codec.decode(&mut wire).expect_err("too long");
            assert!(matches!(error, FrameError::TooLong { limit_bytes } if limit_bytes == limit), "{error}");
            assert!(wire.capacity() < 1024, "room for the claim was reserved");
        }
    }
}

#[test]
fn the_limit_is_low_before_the_handshake_and_high_after_it() {
    let build = "b".repeat(MAX_HANDSHAKE_FRAME_BYTES);
    let hello = cohab_protocol::Hello { protocol_version: 1, schema_hash: 2, build, pid: 3 };
    let message = ClientMessage::Hello(hello);
    let payload = codec::to_bytes(&message).expect("it encodes");
    assert!(matches!(DaemonCodec::new().decode(&mut frame(&payload)), Err(FrameError::TooLong { .. })));
    assert_eq!(open_codec().decode(&mut frame(&payload)).expect("it fits now"), Some(message.clone()));
    let mut sender = ClientCodec::new();
    assert!(matches!(sender.encode(message.clone(), &mut BytesMut::new()), Err(FrameError::TooLong { .. })));
    sender.handshake_done();
    sender.encode(message, &mut BytesMut::new()).expect("it fits now");
}

#[test]
fn a_message_too_long_for_any_frame_is_not_sent() {
    let mut sender = ClientCodec::new();
    sender.handshake_done();
    let message = ClientMessage::CommandOutput {
        call_id: cohab_protocol::CallId::fresh(),
        bytes: vec![0; MAX_FRAME_BYTES + 1].into(),
    };
    let mut wire = BytesMut::new();
    assert!(sender.encode(message, &mut wire).is_err());
    assert!(wire.is_empty(), "half a frame was written");
}

#[test]
fn an_empty_frame_is_an_error() {
    assert!(matches!(open_codec().decode(&mut frame(&[])), Err(FrameError::Decode(_))));
}

#[test]
fn a_stream_that_ends_inside_a_frame_is_an_error() {
    let payload = codec::to_bytes(&ClientMessage::Shutdown).expect("it encodes");
    let whole = frame(&payload);
    for end in 1..whole.len() {
        let mut cut = BytesMut::from(&whole[..end]);
        assert!(matches!(open_codec().decode_eof(&mut cut), Err(FrameError::Io(_))), "{end} bytes");
    }
    assert!(open_codec().decode_eof(&mut BytesMut::new()).expect("a clean end").is_none());
}
