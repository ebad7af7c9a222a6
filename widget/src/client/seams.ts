/** What the client needs of the page around it; tests bring their own. */
export interface Seams {
  readonly fetch: (url: string, init: RequestInit) => Promise<Response>;
  /** Milliseconds that never jump. */
  readonly monotonic: () => number;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Resolves after `ms`; rejects when the signal is aborted first. */
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  /** From 0 to below 1. */
  readonly random: () => number;
  /** Null where nothing can be remembered. */
  readonly storage: Pick<Storage, 'getItem' | 'setItem' | 'removeItem'> | null;
  /** Where the page is from; null outside of a page. */
  readonly location: { readonly protocol: string; readonly hostname: string; readonly origin: string } | null;
  /** Runs the task when the page is about to be drawn. */
  readonly beforeDrawing: (task: () => void) => void;
}

export function pageSeams(): Seams {
  return {
    fetch: (url, init) => fetch(url, init),
    monotonic: () => performance.now(),
    now: () => Date.now(),
    sleep,
    random: () => Math.random(),
    storage: tabStorage(),
    location: 'location' in globalThis ? globalThis.location : null,
    beforeDrawing: (task) => {
      // A hidden page is not drawn, and its reader of the finished reply waits all the same.
      if ('requestAnimationFrame' in globalThis && globalThis.document.visibilityState === 'visible')
        requestAnimationFrame(task);
      else queueMicrotask(task);
    },
  };
}

function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const onAbort = (): void => {
      clearTimeout(timer);
      reject(signal.reason as Error);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', onAbort);
      resolve();
    }, ms);
    signal.addEventListener('abort', onAbort, { once: true });
  });
}

/** Reading the property alone throws where the browser forbids it. */
function tabStorage(): Storage | null {
  try {
    return globalThis.sessionStorage;
  } catch {
    return null;
  }
}
