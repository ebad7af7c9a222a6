/**
 * What `work` resolves to, unless the signal is aborted first: then its reason, at once, even when the work does not
 * listen to the signal. It continues for other callers that wait for it.
 */
export function untilAborted<Value>(work: Promise<Value>, signal: AbortSignal): Promise<Value> {
  return new Promise((resolve, reject) => {
    const abort = (): void => {
      reject(signal.reason as Error);
    };
    if (signal.aborted) {
      // The work may still fail after its last caller has left.
      work.catch(() => undefined);
      abort();
      return;
    }
    signal.addEventListener('abort', abort, { once: true });
    work.then(resolve, reject).finally(() => {
      signal.removeEventListener('abort', abort);
    });
  });
}
