/** Rounds of tool calls a run may take. Calls of a further round are refused, and the model is asked to answer. */
export const MAX_TOOL_ROUNDS = 25;

/** Refused rounds after which the run ends with the text that a model which keeps calling tools has written so far. */
export const MAX_REFUSED_ROUNDS = 3;

/** So many answers in a row may end in a call that cannot be read; the model gets a note about each. One more fails the run. */
export const MAX_UNREADABLE_ANSWERS = 3;

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

/** For a model that is not in the catalogue: the characters of earlier conversation that it gets, and its context window in tokens. */
export const HISTORY_CHARACTERS = 600_000;
export const CONTEXT_TOKENS = 200_000;

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

/**
 * Of what a run's tools have shown, the newest that is kept, in base64, for the run that goes on with its calls. It is
 * stored with the run until then, once a thread.
 */
export const KEPT_MEDIA_BASE64_BYTES = 4 * 1024 * 1024;

/** What an image takes of the context: about 1,600 tokens. */
export const IMAGE_CHARACTERS = 6_400;

/** What a PDF takes: at least a page as text and picture, and with its size more. */
export const PDF_LEAST_CHARACTERS = 12_000;
export const PDF_BYTES_A_CHARACTER = 8;

/**
 * Characters that are kept of one tool's output, and of all outputs of one run together. The rest is cut off, with a note. The
 * model gets only as much as its context has room for (`RESULT_SHARE`).
 */
export const MAX_TOOL_OUTPUT = 1_000_000;
export const MAX_TOOL_OUTPUTS = 8_000_000;

/** The share of the context window that one tool's result may take, and that all results of the exchange may take together. */
export const RESULT_SHARE = 0.25;
export const RESULTS_SHARE = 0.5;

/** While a request is still too long, the results are shortened to this share of the context window before the media of tools are removed. */
export const SMALL_RESULTS_SHARE = 0.05;

/**
 * Above either of these the searchable tools of a run are found with `find_tools` rather than sent along: their number,
 * and the share of the model's context that their definitions take.
 */
export const MAX_LISTED_TOOLS = 40;
export const MAX_LISTED_SHARE = 0.1;

/** Found tools in one request, and the characters of their definitions together; the least recently used are dropped first. */
export const MAX_OFFERED_TOOLS = 40;
export const MAX_OFFERED_CHARACTERS = 200_000;

/** Characters of a schema; a tool with a larger one is offered with a schema that accepts any object. */
export const MAX_SCHEMA_CHARACTERS = 100_000;

/** What one search answers at most, and how many characters of each tool's description. */
export const MAX_FOUND_TOOLS = 8;
export const MAX_FOUND_DESCRIPTION = 500;

/**
 * Characters that are searched of one tool's description, and of all together; and how many of its parameters. Servers
 * send descriptions of any length, and everything else waits while they are read.
 */
export const MAX_SEARCHED_DESCRIPTION = 1_000;
export const MAX_SEARCHED_DESCRIPTIONS = 400_000;
export const MAX_SEARCHED_PARAMETERS = 20;

/** Words in the indexes that are kept for later runs, the least recently used going first: some hundred bytes each. */
export const MAX_INDEXED_WORDS = 200_000;

/** Characters and words of a query that count. */
export const MAX_QUERY_LENGTH = 1_000;
export const MAX_QUERY_WORDS = 20;

/** Names of tools that a model is told in one text, and kinds of tools. */
export const MAX_NAMED_TOOLS = 20;
export const MAX_NAMED_KINDS = 30;

/** How often a process stores its heartbeat. */
export const HEARTBEAT_MS = 5_000;

/**
 * A run of this process that it does not know is given up after this time: the statement that started it was
 * carried out, but its answer was lost with the connection. Longer than any statement may take.
 */
export const UNKNOWN_RUN_MS = 40_000;

/** How many user messages of one request, the newest ones, hooks are asked about. Contract, section 8. */
export const MAX_JUDGED_PROMPTS = 100;

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
