const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

/** How long a trace can be read; the purge may reach it later, the reads do not show it any more. */
export const RETENTION_MS = 90 * DAY_MS;

/** Well below the retention, so that what is past it is gone soon, and rare enough to cost nothing. */
export const PURGE_EVERY_MINUTES = 60;
/**
 * Traces deleted by one statement. Each holds its locks, and in embedded mode the one connection, for
 * milliseconds; a single statement for all of them would hold both for as long as the backlog is large.
 */
export const PURGE_BATCH = 500;

/** Characters of the input and the output that a list shows. */
export const SUMMARY_CHARACTERS = 200;

/**
 * Largest input or output of one step, as UTF-8 bytes of its JSON; beyond it the beginning is kept. A
 * tool may answer a megabyte, of which a reader of the trace needs the start and the size. The run's
 * own input and output are kept whole: they are what the thread holds too.
 */
export const STEP_VALUE_BYTES = 64 * 1024;
/**
 * All inputs and outputs of one trace together. A run with very many large steps would otherwise make
 * the transaction that ends it as slow as they are many; later steps then keep less, in the end nothing.
 */
export const STEPS_BYTES = 2 * 1024 * 1024;
/** A step's error is a sentence; a tool that calls its whole answer an error is cut here (characters). */
export const STEP_ERROR_CHARACTERS = 4_000;
/**
 * Deepest nesting kept as it is. The database parses JSON recursively and refuses what exhausts its
 * stack, and a model's tool call may be nested at will: the run must not fail for its trace.
 */
export const STEP_VALUE_DEPTH = 64;

/** Traces that one job pushes to the OpenTelemetry backend. */
export const PUSH_BATCH = 100;
/** Doubling pauses of 5 seconds: eight attempts are spread over ten minutes, then an operator has to look. */
export const PUSH_RETRY = { attempts: 8, backoffSeconds: 5 } as const;
/** Stored bytes of the traces that a push has in memory at a time; a larger trace is there alone. */
export const PUSH_LOAD_BYTES = 4 * 1024 * 1024;
/** Of one request, as estimated. Backends take 4 MiB and more; a single span is far smaller. */
export const PUSH_REQUEST_BYTES = 3 * 1024 * 1024;
/** Largest text or JSON of contents in one attribute of a span, as UTF-8 bytes; beyond it the beginning is sent. */
export const PUSHED_CONTENT_BYTES = 64 * 1024;
