/** The outcome of a request for vectors. Details are for the log and hold no secret. */
export type EmbeddingResult =
  /** One vector for each text, in the order of the texts, all of the same size. */
  | { readonly kind: 'vectors'; readonly vectors: readonly (readonly number[])[]; readonly dimensions: number }
  /** The endpoint limits requests, and may name a pause. */
  | { readonly kind: 'rate_limited'; readonly retryAfterSeconds: number | undefined; readonly detail: string }
  /** The endpoint does not answer, or answers that it cannot serve requests now. */
  | { readonly kind: 'unavailable'; readonly retryAfterSeconds: number | undefined; readonly detail: string }
  /** The endpoint refuses the key, the model or one of the texts. */
  | { readonly kind: 'refused'; readonly status: number; readonly detail: string }
  /** The response is invalid: missing vectors, vectors of several sizes, values that are not numbers. */
  | { readonly kind: 'wrong_answer'; readonly detail: string };

/** Turns texts into vectors; the angle between two vectors measures how close the meanings are. One attempt a call: the caller repeats it. */
export abstract class EmbeddingModel {
  /** The operator's model; undefined if none is configured. */
  abstract readonly model: string | undefined;

  /**
   * @param model may differ from the operator's, to compare with vectors of an earlier model
   * @param texts at most `MAX_EMBEDDED_TEXTS`, none of them empty
   * @throws only the reason of `signal` when it aborts
   */
  abstract embed(model: string, texts: readonly string[], signal: AbortSignal): Promise<EmbeddingResult>;
}

/** Texts in one request. Every known endpoint accepts as many. */
export const MAX_EMBEDDED_TEXTS = 64;
/** Characters of all texts in one request. Most endpoints accept about 300,000 tokens. */
export const MAX_EMBEDDED_CHARACTERS = 200_000;
