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

/**
 * How long after its end a trace is published: counted, and from then on part of exports. Ends that are stored late, and
 * clocks of other processes that differ, are then behind a walk's position as rarely as can be.
 */
export const PUBLISH_AFTER_MS = 2 * MINUTE_MS;
/** With `PUBLISH_AFTER_MS` and what a job waits for its turn this stays within three minutes of the end of the run. */
export const PUBLISH_EVERY_MINUTES = 0.5;
/**
 * Traces published by one transaction: large enough for hundreds of runs a second, small enough for the embedded mode's
 * one connection to be back within some ten milliseconds.
 */
export const PUBLISH_BATCH = 500;

/** Traces of a page of an export. */
export const EXPORT_PAGE = 100;
/**
 * What a page of an export holds together, as it is stored; a trace that is larger is a page of its own. A walk of any
 * length needs memory for a page, and the embedded database reads one within some fifty milliseconds.
 */
export const EXPORT_PAGE_BYTES = 1024 * 1024;

/** Longest range of a usage series, in days. */
export const USAGE_DAYS = 90;
/** Most buckets of one: 90 days by the hour, and some to spare. */
export const USAGE_BUCKETS = 2_200;
/** The range of a series that names none. */
export const USAGE_DEFAULT_DAYS = 7;

/** What one reply is taken to spare a person: reading the question, finding the answer and writing it down. */
export const MINUTES_SAVED_BY_REPLY = 3;

/** Traces that one job pushes to the OpenTelemetry backend. */
export const PUSH_BATCH = 100;
/** Doubling pauses of 5 seconds: twelve attempts are spread over almost three hours, then an operator has to look. */
export const PUSH_RETRY = { attempts: 12, backoffSeconds: 5 } as const;
/** Stored bytes of the traces that a push has in memory at a time; a larger trace is there alone. */
export const PUSH_LOAD_BYTES = 4 * 1024 * 1024;
/** Of one request, as estimated. Backends take 4 MiB and more; a single span is far smaller. */
export const PUSH_REQUEST_BYTES = 3 * 1024 * 1024;
/** Largest text or JSON of contents in one attribute of a span, as UTF-8 bytes; beyond it the beginning is sent. */
export const PUSHED_CONTENT_BYTES = 64 * 1024;
