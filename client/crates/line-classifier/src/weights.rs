//! The learned weights: one for each feature, one for each hashed word, and the names of well-known programs. `scripts/train-gate`
//! writes the file; `client/crates/line-classifier/assets/gate.NOTICE.md` lists its sources.

use std::sync::LazyLock;

use super::feature_names::FEATURES;

/// The weights file embedded in the program.
static FILE: &[u8] = include_bytes!("../assets/gate.weights");
static EMBEDDED: LazyLock<Weights> = LazyLock::new(|| Weights::parse(FILE).unwrap_or_default());

/// Number of weights for hashed words.
pub const HASHED: usize = 1 << 15;
const MAGIC: &[u8; 8] = b"cohabGW1";
/// Bytes of a name's hash.
const NAME_BYTES: usize = 3;

/// Weights of the linear model; a positive sum means language.
#[derive(Clone, Debug)]
pub struct Weights {
    /// One weight for each of [`FEATURES`].
    pub dense: Vec<f32>,
    /// The initial value of the sum.
    pub bias: f32,
    /// The value of one step of a hashed word's weight.
    pub scale: f32,
    /// One weight for each hash of a word, in steps of `scale`.
    pub hashed: Vec<i8>,
    /// The lower 24 bits of the hashes of names, sorted.
    pub names: Vec<u32>,
}

impl Default for Weights {
    fn default() -> Self {
        Self { dense: vec![0.0; FEATURES.len()], bias: -1.0, scale: 0.0, hashed: vec![0; HASHED], names: Vec::new() }
    }
}

impl Weights {
    /// The weights embedded in the program.
    #[must_use]
    pub fn embedded() -> &'static Self {
        &EMBEDDED
    }

    /// Size of the embedded data in bytes.
    #[must_use]
    pub fn embedded_bytes() -> usize {
        FILE.len()
    }

    /// Whether a well-known program has this name.
    #[must_use]
    pub fn knows(&self, name: &str) -> bool {
        self.names.binary_search(&name_hash(name)).is_ok()
    }

    /// Reads a file; `None` if it has another format or other features.
    #[must_use]
    pub fn parse(file: &[u8]) -> Option<Self> {
        let rest = file.strip_prefix(MAGIC)?;
        let (head, rest) = rest.split_first_chunk::<4>()?;
        if u32::from_le_bytes(*head) as usize != FEATURES.len() {
            return None;
        }
        let (floats, rest) = rest.split_at_checked((FEATURES.len() + 2) * 4)?;
        let mut floats: Vec<f32> =
            floats.chunks_exact(4).map(|bytes| f32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])).collect();
        let (scale, bias) = (floats.pop()?, floats.pop()?);
        let (hashed, names) = rest.split_at_checked(HASHED)?;
        if names.len() % NAME_BYTES != 0 {
            return None;
        }
        let names = names.chunks_exact(NAME_BYTES).map(|bytes| u32::from_le_bytes([bytes[0], bytes[1], bytes[2], 0]));
        Some(Self {
            dense: floats,
            bias,
            scale,
            hashed: hashed.iter().map(|byte| byte.cast_signed()).collect(),
            names: names.collect(),
        })
    }

    /// Formats the weights as a file.
    #[must_use]
    pub fn to_file(&self) -> Vec<u8> {
        let mut file = MAGIC.to_vec();
        file.extend((self.dense.len() as u32).to_le_bytes());
        for float in self.dense.iter().chain([&self.bias, &self.scale]) {
            file.extend(float.to_le_bytes());
        }
        file.extend(self.hashed.iter().map(|weight| weight.cast_unsigned()));
        for name in &self.names {
            file.extend(&name.to_le_bytes()[..NAME_BYTES]);
        }
        file
    }
}

/// The form of a name in [`Weights::names`].
#[must_use]
pub fn name_hash(name: &str) -> u32 {
    (hash(name.as_bytes(), 0x6e61_6d65) & 0x00ff_ffff) as u32
}

/// FNV-1a with a seed and a final mix, so that the lower bits are good, too.
#[must_use]
pub fn hash(bytes: &[u8], seed: u64) -> u64 {
    let start = 0xcbf2_9ce4_8422_2325 ^ seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let hash = bytes.iter().fold(start, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3));
    let hash = (hash ^ (hash >> 32)).wrapping_mul(0xd6e8_feb8_6659_fd93);
    hash ^ (hash >> 29)
}
