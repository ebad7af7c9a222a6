/** What became of a request for vectors. Details are for the log alone; none holds a secret. */
export type EmbeddingResult =
  /** One for each text, in their order, all of one size. */
  | { readonly kind: 'vectors'; readonly vectors: readonly (readonly number[])[]; readonly dimensions: number }
  /** Too much was asked of the endpoint; it may have said for how long it wants to be left alone. */
  | { readonly kind: 'rate_limited'; readonly retryAfterSeconds: number | undefined; readonly detail: string }
  /** It does not answer, or only to say that it cannot now. */
  | { readonly kind: 'unavailable'; readonly retryAfterSeconds: number | undefined; readonly detail: string }
  /** It will not have this request: its key, its model, or one of its texts. */
  | { readonly kind: 'refused'; readonly status: number; readonly detail: string }
  /** What it answered is not what was asked for: fewer vectors, vectors of several sizes, what is no number. */
  | { readonly kind: 'wrong_answer'; readonly detail: string };

/** Turns texts into vectors whose angles tell how near their meanings are. One attempt a call: pauses are the caller's. */
export abstract class EmbeddingModel {
  /** The model that the operator has chosen; undefined where there is none. */
  abstract readonly model: string | undefined;

  /**
   * @param model which may be another than the chosen one, for texts that are compared with what that has made
   * @param texts at most `MAX_EMBEDDED_TEXTS`, none of them empty
   * @throws the reason of `signal` when it aborts, and nothing else
   */
  abstract embed(model: string, texts: readonly string[], signal: AbortSignal): Promise<EmbeddingResult>;
}

/** Texts of one request. Every known endpoint takes as many. */
export const MAX_EMBEDDED_TEXTS = 64;
/** And their characters together: endpoints count tokens of a request, most of them some 300,000. */
export const MAX_EMBEDDED_CHARACTERS = 200_000;
