/** Rounds of tool calls a run may take. Calls of a further round are refused, and the model is asked to answer. */
export const MAX_TOOL_ROUNDS = 25;

/** Refused rounds after which the run ends with the text that a model which keeps calling tools has written so far. */
export const MAX_REFUSED_ROUNDS = 3;

/**
 * Messages read at first, and then twice as many each time, until the model's context is full or the thread's
 * beginning is reached.
 */
export const HISTORY_PAGE = 200;

/**
 * And no more than this of them at once, as they are stored: what the database sends is parsed in one go, while
 * everything else waits. A message that is larger is read by itself.
 */
export const HISTORY_PAGE_BYTES = 4 * 1024 * 1024;

/**
 * Earlier messages that a model is given, the newest, however small they are: a thread has no limit, and a run must
 * not read all of it. Older ones are left out with their whole exchange and count as omitted; only the exchange that
 * a resumed run goes on with is never cut.
 */
export const MAX_HISTORY_MESSAGES = 2_000;

/** Messages that are kept in memory between the runs of their threads, the least recently used thread going first. */
export const RECENT_BYTES = 64 * 1024 * 1024;

/** Characters of earlier conversation that are given to a model which is no longer in the catalogue. */
export const HISTORY_CHARACTERS = 600_000;

/**
 * Attachments in one request, of the newest message and of earlier ones together. Past 20 images Anthropic takes
 * smaller ones only.
 */
export const REQUEST_ATTACHMENTS = 20;

/**
 * Their images and PDFs in base64. Anthropic takes requests of 32 MB, Google and OpenAI larger ones; what is left is
 * for the text. A single file of the largest size that is fetched fits.
 */
export const REQUEST_BASE64_BYTES = 28 * 1024 * 1024;

/** What an image takes of the context: about 1,600 tokens. */
export const IMAGE_CHARACTERS = 6_400;

/** What a PDF takes: at least a page as text and picture, and with its size more. */
export const PDF_LEAST_CHARACTERS = 12_000;
export const PDF_BYTES_A_CHARACTER = 8;

/**
 * Characters that are kept of one tool's output, and of those of one run together. The rest is cut off, and the model
 * is told so: one output of this length fills most models' context.
 */
export const MAX_TOOL_OUTPUT = 1_000_000;
export const MAX_TOOL_OUTPUTS = 8_000_000;

/** How often a process stores its heartbeat. */
export const HEARTBEAT_MS = 5_000;

/**
 * A run of this process that it does not know is given up after this time: the statement that started it was
 * carried out, but its answer was lost with the connection. Longer than any statement may take.
 */
export const UNKNOWN_RUN_MS = 40_000;

/**
 * A process silent for this long counts as dead and loses its runs: four missed heartbeats. Also how long a process
 * is in contact with the database before it judges others: after an outage their heartbeats have come in by then.
 */
export const OWNER_SILENT_SECONDS = 20;

/** Heartbeats further apart than this, as the database saw them, were missed in between: the contact begins anew. */
export const CONTACT_GAP_SECONDS = (1.5 * HEARTBEAT_MS) / 1_000;

/** How often the runs of dead processes are looked for; a run ends within 35 s of its process. */
export const RECONCILE_MS = 10_000;

/** How long a run's end waits before it is stored again, when the database was away. */
export const STORE_AGAIN_MS = 2_000;

/** How often a database that is there may refuse to store it then, before it is sent without the observers' records. */
export const STORE_REFUSALS = 3;

/** How often the end of a run is tried to be stored before its caller is told that it could not be. */
export const STORE_TRIES = 4;

/** Between two of those tries. */
export const STORE_PAUSE_MS = 250;
