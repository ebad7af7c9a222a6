/** What the client needs from the browser; tests replace it. */
export interface Seams {
  readonly fetch: (url: string, init: RequestInit) => Promise<Response>;
  /** Like `fetch`, and tells how much of the body was sent: from 0 to 1. */
  readonly upload: (
    url: string,
    init: { readonly headers: Readonly<Record<string, string>>; readonly body: FormData; readonly signal: AbortSignal },
    onProgress: (sent: number) => void,
  ) => Promise<Response>;
  /** Monotonic, in milliseconds. */
  readonly monotonic: () => number;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Resolves after `ms`; rejects if the signal aborts first. */
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  /** From 0 to below 1. */
  readonly random: () => number;
  /** Null if the browser stores nothing. */
  readonly storage: Pick<Storage, 'getItem' | 'setItem' | 'removeItem'> | null;
  /** The URL of the page; null outside of a page. */
  readonly location: { readonly protocol: string; readonly hostname: string; readonly origin: string } | null;
  /** Runs the task before the browser draws the page. */
  readonly beforeDrawing: (task: () => void) => void;
}

export function pageSeams(): Seams {
  return {
    fetch: (url, init) => fetch(url, init),
    upload,
    monotonic: () => performance.now(),
    now: () => Date.now(),
    sleep,
    random: () => Math.random(),
    storage: tabStorage(),
    location: 'location' in globalThis ? globalThis.location : null,
    beforeDrawing: (task) => {
      // The browser does not draw a hidden page, but the listeners need the finished reply.
      if ('requestAnimationFrame' in globalThis && globalThis.document.visibilityState === 'visible')
        requestAnimationFrame(task);
      else queueMicrotask(task);
    },
  };
}

/** `fetch` does not tell the progress of an upload. */
function upload(...[url, { headers, body, signal }, onProgress]: Parameters<Seams['upload']>): Promise<Response> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const request = new XMLHttpRequest();
    const onAbort = (): void => request.abort();
    request.open('POST', url);
    for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value);
    request.upload.addEventListener('progress', ({ lengthComputable, loaded, total }) => {
      if (lengthComputable && total > 0) onProgress(loaded / total);
    });
    request.addEventListener('load', () => {
      const retryAfter = request.getResponseHeader('retry-after');
      const told: HeadersInit = retryAfter === null ? {} : { 'retry-after': retryAfter };
      resolve(new Response(request.responseText, { status: request.status, headers: told }));
    });
    request.addEventListener('error', () => reject(new TypeError('The upload failed')));
    request.addEventListener('abort', () => reject(signal.reason as Error));
    request.addEventListener('loadend', () => signal.removeEventListener('abort', onAbort));
    signal.addEventListener('abort', onAbort, { once: true });
    request.send(body);
  });
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

/** Reading the property throws if the browser forbids storage. */
function tabStorage(): Storage | null {
  try {
    return globalThis.sessionStorage;
  } catch {
    return null;
  }
}
