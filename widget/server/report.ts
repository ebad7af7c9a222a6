/** Of causes of causes. */
const MAX_DEPTH = 5;

/**
 * Errors of the platform and of the operator's `fetch` may repeat the request, so causes are copied without the key. A failure
 * of the operator's function must not replace the response.
 */
export function reporter(onError: (error: Error) => unknown, apiKey: string): (error: Error) => void {
  const notify = async (error: Error): Promise<void> => {
    try {
      if (error.cause !== undefined) error.cause = withoutKey(error.cause, apiKey, MAX_DEPTH);
      await onError(error);
    } catch (failure) {
      logError(withoutKey(failure, apiKey, MAX_DEPTH));
    }
  };
  return (error) => void notify(error);
}

export function logError(error: unknown): void {
  console.error(error);
}

function withoutKey(cause: unknown, apiKey: string, depth: number): unknown {
  const redacted = (text: unknown): string => String(text).replaceAll(apiKey, '…');
  if (!(cause instanceof Error)) return typeof cause === 'object' ? new Error('No error was thrown') : redacted(cause);
  const copy = new Error(redacted(cause.message));
  copy.name = redacted(cause.name);
  copy.stack = redacted(cause.stack);
  if ('code' in cause) Object.assign(copy, { code: redacted(cause.code) });
  if (cause.cause !== undefined && depth > 0) copy.cause = withoutKey(cause.cause, apiKey, depth - 1);
  return copy;
}
