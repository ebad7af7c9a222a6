const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

/** How long a trace can be read. The purge may delete it later, but no read returns it. */
export const RETENTION_MS = 90 * DAY_MS;

/** Often enough to delete old traces soon, and rarely enough to cost nothing. */
export const PURGE_EVERY_MINUTES = 60;
/**
 * Traces that one statement deletes. It holds its locks, and in embedded mode the only connection, for milliseconds. A statement without
 * a limit would hold both as long as the backlog takes.
 */
export const PURGE_BATCH = 500;

/** Characters of input and output in a list. */
export const SUMMARY_CHARACTERS = 200;

/**
 * Largest input or output of a step, in UTF-8 bytes of its JSON; of a larger one the beginning is stored. A tool may return a
 * megabyte, of which a reader of the trace needs the beginning and the size. Input and output of the run are stored whole, as they are
 * in the thread.
 */
export const STEP_VALUE_BYTES = 64 * 1024;
/**
 * Largest sum of all inputs and outputs of a trace; later steps keep less, down to nothing. Otherwise very many large steps would slow
 * down the transaction that ends the run.
 */
export const STEPS_BYTES = 2 * 1024 * 1024;
/** Characters of a step's error, which is usually a sentence. A tool may report a whole document as its error. */
export const STEP_ERROR_CHARACTERS = 4_000;
/**
 * Deepest nesting of a stored value. A model may nest the input of a tool call at will, and the database refuses JSON that exhausts
 * its stack: the run must not fail because of its trace.
 */
export const STEP_VALUE_DEPTH = 64;

/**
 * How long after the end of its run a trace is published, which means counted and exported. The delay makes it unlikely that a run
 * that is stored late, or by a process with another clock, is behind the position of an export.
 */
export const PUBLISH_AFTER_MS = 2 * MINUTE_MS;
/** With `PUBLISH_AFTER_MS` and the wait of the job, a trace is published within three minutes of the end of its run. */
export const PUBLISH_EVERY_MINUTES = 0.5;
/**
 * Traces that one transaction publishes: enough for hundreds of runs a second, and few enough to hold the only connection of embedded
 * mode for about ten milliseconds.
 */
export const PUBLISH_BATCH = 500;

/** Traces on a page of an export. */
export const EXPORT_PAGE = 100;
/**
 * Stored bytes on a page of an export; a larger trace is a page by itself. An export of any length needs memory for one page, and the
 * embedded database reads a page in about fifty milliseconds.
 */
export const EXPORT_PAGE_BYTES = 1024 * 1024;

/** Longest range of a usage series, in days. */
export const USAGE_DAYS = 90;
/** Most buckets of a usage series: 90 days by the hour, and some more. */
export const USAGE_BUCKETS = 2_200;
/** Default range of a usage series, in days. */
export const USAGE_DEFAULT_DAYS = 7;

/** The time that one reply is assumed to save a person: reading the question, finding the answer and writing it. */
export const MINUTES_SAVED_BY_REPLY = 3;

/** Traces of one push job. */
export const PUSH_BATCH = 100;
/** Pauses double from 5 seconds, so twelve attempts take almost three hours. After that the operator has to act. */
export const PUSH_RETRY = { attempts: 12, backoffSeconds: 5 } as const;
/** Stored bytes of the traces that a push loads at a time; a larger trace is loaded by itself. */
export const PUSH_LOAD_BYTES = 4 * 1024 * 1024;
/** Estimated size of one request. Backends accept at least 4 MiB, and a single span is far smaller. */
export const PUSH_REQUEST_BYTES = 3 * 1024 * 1024;
/** Largest content in one attribute of a span, in UTF-8 bytes; of a larger one the beginning is sent. */
export const PUSHED_CONTENT_BYTES = 64 * 1024;
