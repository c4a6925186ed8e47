//! Images and PDFs that a question shows to a model.

use std::{
    fmt,
    hash::{DefaultHasher, Hash, Hasher},
    sync::Arc,
};

use cohab_types::image_format::ImageFormat;

/// Most images of a conversation; with more, the oldest are no longer sent.
pub const MAX_IMAGES: usize = 20;
/// Most bytes of the images of a conversation, likewise.
pub const IMAGES_MAX_BYTES: usize = 20 * 1024 * 1024;

/// An image or PDF. Copies share its bytes.
#[derive(Clone, PartialEq, Eq)]
pub struct Image {
    /// Name of its file, without folders.
    pub name: String,
    /// Its format.
    pub format: ImageFormat,
    /// The whole file.
    pub bytes: Arc<[u8]>,
    digest: u64,
}

impl Image {
    /// An image of a file with this name; `None` if it is none.
    #[must_use]
    pub fn read(name: &str, bytes: Vec<u8>) -> Option<Self> {
        let format = ImageFormat::of(&bytes)?;
        let mut hasher = DefaultHasher::new();
        bytes.hash(&mut hasher);
        Some(Self { name: name.to_owned(), format, bytes: bytes.into(), digest: hasher.finish() })
    }
}

impl Hash for Image {
    /// Its bytes were hashed when it was read.
    fn hash<H: Hasher>(&self, state: &mut H) {
        (&self.name, self.digest).hash(state);
    }
}

impl fmt::Debug for Image {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} ({}, {} bytes)", self.name, self.format.media_type(), self.bytes.len())
    }
}
