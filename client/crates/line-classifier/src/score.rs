//! The sum of the weights of a line.

use super::{features::features, first_word::Standing, hashing::each_hashed, line::Line, weights::Weights};

/// Added to the sum of a line whose well-known command is not here: it could not run, so less is lost if the assistant gets it.
const ABSENT: f32 = 0.5;

/// The sum of the weights: the higher, the more the line resembles language.
#[must_use]
pub fn score(line: &Line<'_>, standing: Standing, weights: &Weights) -> f32 {
    let features = features(line, standing);
    let dense: f32 = features.iter().zip(&weights.dense).map(|(value, weight)| value * weight).sum();
    let mut hashed: i32 = 0;
    each_hashed(line, |_, _, index| hashed += i32::from(weights.hashed[index]));
    let absent = if standing.is_well_known && !standing.resolves { ABSENT } else { 0.0 };
    weights.bias + dense + hashed as f32 * weights.scale + absent
}
