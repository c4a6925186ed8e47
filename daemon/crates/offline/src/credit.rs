//! The credits of the parts of a question, whose sum is the score of a pattern.

/// A required term with a meaning.
pub(super) const STRONG: f32 = 3.0;
/// A required term that is a filler elsewhere.
pub(super) const WEAK: f32 = 1.5;
/// An optional term or value.
pub(super) const OPTIONAL: f32 = 2.0;
/// A name.
pub(super) const NAME: f32 = 1.0;
/// A required place.
pub(super) const PLACE: f32 = 2.5;
/// Deducted for each unexplained word.
pub(super) const UNEXPLAINED: f32 = 2.0;
/// For each unexplained word, more than this must be explained: a strong term and something else.
pub(super) const EXPLAINED_PER_UNEXPLAINED: f32 = 4.0;
