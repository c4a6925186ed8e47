//! Encodes and decodes frames: a `u32` length (big endian), then one message in bincode. No other file names the binary format.

use std::{io, marker::PhantomData};

use bincode::{
    config::{Configuration, Limit, LittleEndian, Varint},
    enc::write::SizeWriter,
    error::EncodeError,
};
use bytes::{BufMut, BytesMut};
use serde::{Serialize, de::DeserializeOwned};
use tokio_util::codec::{Decoder, Encoder, LengthDelimitedCodec};

use crate::{MAX_FRAME_BYTES, MAX_HANDSHAKE_FRAME_BYTES};

/// Without the limit a frame of 20 bytes that claims 2^40 elements would make the decoder allocate them.
const FORMAT: Configuration<LittleEndian, Varint, Limit<MAX_FRAME_BYTES>> =
    bincode::config::standard().with_limit::<MAX_FRAME_BYTES>();

/// Length of a frame's header.
const HEADER_BYTES: usize = 4;

/// The reason why a frame could not be read or written. Every variant ends the connection.
#[derive(Debug, thiserror::Error)]
pub enum FrameError {
    /// The transport failed, or ended inside a frame.
    #[error("the connection failed: {0}")]
    Io(#[from] io::Error),
    /// A frame claims or needs more than the limit.
    #[error("a frame exceeds the limit of {limit_bytes} bytes")]
    TooLong {
        /// The limit in force.
        limit_bytes: usize,
    },
    /// The bytes are no message of this protocol.
    #[error("a frame cannot be decoded: {0}")]
    Decode(String),
    /// A message was followed by more bytes in its frame.
    #[error("a frame has {extra_bytes} bytes after its message")]
    Trailing {
        /// Number of extra bytes.
        extra_bytes: usize,
    },
    /// A message cannot be encoded.
    #[error("a message cannot be encoded: {0}")]
    Encode(String),
}

/// Reads messages of type `In`, writes messages of type `Out`.
#[derive(Debug)]
pub struct FrameCodec<In, Out> {
    frames: LengthDelimitedCodec,
    /// The length of a frame was read; its bytes have not all arrived yet.
    is_inside_frame: bool,
    types: PhantomData<fn(Out) -> In>,
}

impl<In, Out> FrameCodec<In, Out> {
    /// A codec that accepts only short frames, until [`handshake_done`](Self::handshake_done).
    #[must_use]
    pub fn new() -> Self {
        let frames = LengthDelimitedCodec::builder().max_frame_length(MAX_HANDSHAKE_FRAME_BYTES).new_codec();
        Self { frames, is_inside_frame: false, types: PhantomData }
    }

    /// Raises the limit to `MAX_FRAME_BYTES`: the other side is known now.
    pub fn handshake_done(&mut self) {
        self.frames.set_max_frame_length(MAX_FRAME_BYTES);
    }
}

impl<In, Out> Default for FrameCodec<In, Out> {
    fn default() -> Self {
        Self::new()
    }
}

impl<In: DeserializeOwned, Out> Decoder for FrameCodec<In, Out> {
    type Item = In;
    type Error = FrameError;

    fn decode(&mut self, buffer: &mut BytesMut) -> Result<Option<In>, FrameError> {
        let limit_bytes = self.frames.max_frame_length();
        let unread_bytes = buffer.len();
        let frame = self.frames.decode(buffer).map_err(|error| match error.kind() {
            io::ErrorKind::InvalidData => FrameError::TooLong { limit_bytes },
            _ => FrameError::Io(error),
        })?;
        self.is_inside_frame = frame.is_none() && (self.is_inside_frame || buffer.len() < unread_bytes);
        frame.map(|bytes| from_bytes(&bytes)).transpose()
    }

    fn decode_eof(&mut self, buffer: &mut BytesMut) -> Result<Option<In>, FrameError> {
        let message = self.decode(buffer)?;
        if message.is_none() && (self.is_inside_frame || !buffer.is_empty()) {
            return Err(FrameError::Io(io::ErrorKind::UnexpectedEof.into()));
        }
        Ok(message)
    }
}

impl<In, Out: Serialize> Encoder<Out> for FrameCodec<In, Out> {
    type Error = FrameError;

    fn encode(&mut self, message: Out, buffer: &mut BytesMut) -> Result<(), FrameError> {
        self.encode(&message, buffer)
    }
}

/// Encodes messages that are kept: one may be megabytes, so it is written into the buffer without a copy in between.
impl<In, Out: Serialize> Encoder<&Out> for FrameCodec<In, Out> {
    type Error = FrameError;

    fn encode(&mut self, message: &Out, buffer: &mut BytesMut) -> Result<(), FrameError> {
        let bytes = encoded_len(message)?;
        let limit_bytes = self.frames.max_frame_length();
        let length = u32::try_from(bytes).ok().filter(|_| bytes <= limit_bytes);
        let length = length.ok_or(FrameError::TooLong { limit_bytes })?;
        buffer.reserve(HEADER_BYTES + bytes);
        buffer.put_u32(length);
        bincode::serde::encode_into_std_write(message, &mut buffer.writer(), FORMAT).map_err(not_encoded)?;
        Ok(())
    }
}

/// Length of one message, without that of its frame's header.
///
/// # Errors
/// As [`to_bytes`].
pub fn encoded_len<T: Serialize>(message: &T) -> Result<usize, FrameError> {
    let mut size = SizeWriter::default();
    bincode::serde::encode_into_writer(message, &mut size, FORMAT).map_err(not_encoded)?;
    Ok(size.bytes_written)
}

#[expect(clippy::needless_pass_by_value, reason = "for `map_err`")]
fn not_encoded(error: EncodeError) -> FrameError {
    FrameError::Encode(error.to_string())
}

/// One message without its length.
///
/// # Errors
/// `Encode` if the type breaks the wire rules of the crate's documentation.
pub fn to_bytes<T: Serialize>(message: &T) -> Result<Vec<u8>, FrameError> {
    bincode::serde::encode_to_vec(message, FORMAT).map_err(not_encoded)
}

/// One message from exactly these bytes.
///
/// # Errors
/// `Decode` if they are not such a message, `Trailing` if some are left over.
pub fn from_bytes<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, FrameError> {
    let (message, consumed) =
        bincode::serde::decode_from_slice(bytes, FORMAT).map_err(|error| FrameError::Decode(error.to_string()))?;
    match bytes.len() - consumed {
        0 => Ok(message),
        extra_bytes => Err(FrameError::Trailing { extra_bytes }),
    }
}
