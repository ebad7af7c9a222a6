import { describe, expect, it } from '@jest/globals';
import { CALIBRATION_TEXTS, calibrated, unrelatedCosine } from './semantic-calibration.js';

/** Vectors of unrelated texts in a model whose vectors all have the part `shared` in common. */
function vectorsWith(shared: number): number[][] {
  const size = CALIBRATION_TEXTS.length;
  return CALIBRATION_TEXTS.map((_, at) =>
    Array.from({ length: size + 1 }, (_, place) =>
      place === at ? Math.sqrt(1 - shared) : place === size ? Math.sqrt(shared) : 0,
    ),
  );
}

describe('semantic scores', () => {
  it.each([0, 0.1, 0.7])('are 0 at the cosine %d of unrelated texts, and 1 for the same text', (shared) => {
    const unrelated = unrelatedCosine(vectorsWith(shared));
    expect(unrelated).toBeCloseTo(shared, 6);
    expect(calibrated(unrelated, unrelated)).toBe(0);
    expect(calibrated(-1, unrelated)).toBe(0);
    expect(calibrated(1, unrelated)).toBe(1);
    expect(calibrated(unrelated + (1 - unrelated) / 2, unrelated)).toBeCloseTo(1 - 0.5 ** 1.8, 6);
  });

  it('are 0 for a model that gives all texts the same vector', () => {
    const unrelated = unrelatedCosine(CALIBRATION_TEXTS.map(() => [1, 0]));
    expect(unrelated).toBe(1);
    expect(calibrated(1, unrelated)).toBe(0);
  });

  it('are not shifted by texts of other languages, which are further apart', () => {
    // Half of each vector is the direction of its language.
    const vectors = CALIBRATION_TEXTS.map((_, at) =>
      Array.from({ length: 30 }, (_, place) => (place === at || place === 24 + Math.floor(at / 4) ? 1 : 0)),
    );
    expect(unrelatedCosine(vectors)).toBeCloseTo(0.5, 6);
  });
});
