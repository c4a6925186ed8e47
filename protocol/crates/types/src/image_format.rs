//! The formats of images and PDFs that models read.

/// Largest image or PDF, in bytes.
pub const IMAGE_MAX_BYTES: usize = 5 * 1024 * 1024;

/// The formats that models read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ImageFormat {
    /// PNG.
    Png,
    /// JPEG.
    Jpeg,
    /// GIF.
    Gif,
    /// WebP.
    Webp,
    /// PDF, whose pages are shown.
    Pdf,
}

impl ImageFormat {
    /// The format of a file, by its first bytes; whatever its name says.
    ///
    /// ```
    /// # use cohab_types::image_format::ImageFormat;
    /// assert_eq!(ImageFormat::of(b"GIF89a..."), Some(ImageFormat::Gif));
    /// assert_eq!(ImageFormat::of(b"fn main() {}"), None);
    /// ```
    #[must_use]
    pub fn of(bytes: &[u8]) -> Option<Self> {
        Some(match bytes {
            [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1a, b'\n', ..] => Self::Png,
            [0xff, 0xd8, 0xff, ..] => Self::Jpeg,
            [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => Self::Gif,
            [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Self::Webp,
            [b'%', b'P', b'D', b'F', b'-', ..] => Self::Pdf,
            _ => return None,
        })
    }

    /// Its name on the wire.
    #[must_use]
    pub fn media_type(self) -> &'static str {
        match self {
            Self::Png => "image/png",
            Self::Jpeg => "image/jpeg",
            Self::Gif => "image/gif",
            Self::Webp => "image/webp",
            Self::Pdf => "application/pdf",
        }
    }
}
