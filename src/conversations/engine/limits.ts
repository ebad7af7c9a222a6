/** Rounds of tool calls a run may take. Calls of a further round are refused, and the model is asked to answer. */
export const MAX_TOOL_ROUNDS = 25;

/** After so many refused rounds the run ends with the text so far. */
export const MAX_REFUSED_ROUNDS = 3;

/**
 * So many answers in a row may end in an unreadable call, and the model gets a note about each. One more fails the run.
 */
export const MAX_UNREADABLE_ANSWERS = 3;

/** Messages in the first page of a history; each further page has twice as many. */
export const HISTORY_PAGE = 200;

/** As stored: a page is parsed at once, while everything else waits. A larger message is a page by itself. */
export const HISTORY_PAGE_BYTES = 4 * 1024 * 1024;

/**
 * The newest messages that a model gets at most, since a thread has no limit and a run must not read all of it. Older
 * exchanges are left out as a whole and count as omitted. The exchange that a run resumes is never cut.
 */
export const MAX_HISTORY_MESSAGES = 2_000;

/**
 * The least share of the full history, and of the results of tools, that remains when they are cut. Each cut changes the
 * beginning of all further requests, which the caches of providers then do not have, so it makes room for several.
 */
export const SHARE_AFTER_CUT = 0.75;

/** Of the histories that a process remembers, by the sizes that `estimateBytes` gives. */
export const HISTORY_CACHE_BYTES = 32 * 1024 * 1024;

/** For models outside the catalogue: the characters of history, and the context window in tokens. */
export const HISTORY_CHARACTERS = 600_000;
export const CONTEXT_TOKENS = 200_000;

/**
 * Attachments in one request, of all messages together. With more than 20 images Anthropic takes only smaller ones.
 */
export const REQUEST_ATTACHMENTS = 20;

/** Anthropic takes requests of 32 MB, Google and OpenAI larger ones; the rest is for the text. */
export const REQUEST_BASE64_BYTES = 28 * 1024 * 1024;

/** The newest images and files of tool results, which a run stores for the run that resumes it. */
export const KEPT_MEDIA_BASE64_BYTES = 4 * 1024 * 1024;

/** The share of an image in the context: about 1,600 tokens. */
export const IMAGE_CHARACTERS = 6_400;

/** The share of a PDF in the context: at least a page as text and picture; it grows with the size. */
export const PDF_LEAST_CHARACTERS = 12_000;
export const PDF_BYTES_A_CHARACTER = 8;

/**
 * Characters of one tool's output, and of all outputs of a run together. The rest is cut off, with a note. The model
 * gets only as much as its context has room for (`RESULT_SHARE`).
 */
export const MAX_TOOL_OUTPUT = 1_000_000;
export const MAX_TOOL_OUTPUTS = 8_000_000;

/** The share of the context window for one tool's result, and for all results of the exchange together. */
export const RESULT_SHARE = 0.25;
export const RESULTS_SHARE = 0.5;

/** The share to which results of a too long request are shortened, before the media of tools are removed. */
export const SMALL_RESULTS_SHARE = 0.05;

/**
 * When the searchable tools of a run exceed this number, or their definitions this share of the model's context,
 * requests omit them and the model finds them with `find_tools`.
 */
export const MAX_LISTED_TOOLS = 40;
export const MAX_LISTED_SHARE = 0.1;

/** Found tools in one request, and the characters of their definitions; the least recently used are dropped first. */
export const MAX_OFFERED_TOOLS = 40;
export const MAX_OFFERED_CHARACTERS = 200_000;

/** Characters of a schema; a tool with a larger one gets a schema that accepts any object. */
export const MAX_SCHEMA_CHARACTERS = 100_000;

export const MAX_FOUND_TOOLS = 8;
export const MAX_FOUND_DESCRIPTION = 500;

/**
 * Searched characters of one tool's description and of all together, and searched parameters of one tool. Servers send
 * descriptions of any length, and everything else waits while they are indexed.
 */
export const MAX_SEARCHED_DESCRIPTION = 1_000;
export const MAX_SEARCHED_DESCRIPTIONS = 400_000;
export const MAX_SEARCHED_PARAMETERS = 20;

/** Words in the cached indexes, of some hundred bytes each; the least recently used index is dropped first. */
export const MAX_INDEXED_WORDS = 200_000;

export const MAX_QUERY_LENGTH = 1_000;
export const MAX_QUERY_WORDS = 20;

/** Names of tools, and kinds of tools, in one text for the model. */
export const MAX_NAMED_TOOLS = 20;
export const MAX_NAMED_KINDS = 30;

export const HEARTBEAT_MS = 5_000;

/**
 * A run that belongs to this process but is unknown to it is ended after this time: its start was stored, but the
 * response was lost with the connection. Longer than any statement may take.
 */
export const UNKNOWN_RUN_MS = 40_000;

/** How often late starts are looked for, and how many times once the database is back, in all as long as `UNKNOWN_RUN_MS`. */
export const LATE_START_MS = 1_000;
export const LATE_START_LOOKS = UNKNOWN_RUN_MS / LATE_START_MS;

/** Failed starts that a process remembers, to execute or end those at once that were stored. */
export const MAX_LOST_STARTS = 1_000;

/** The newest user messages of one request that hooks check. Contract, section 8. */
export const MAX_JUDGED_PROMPTS = 100;

/**
 * A process without a heartbeat for this long (four heartbeats) counts as dead and loses its runs. A process must be in
 * contact with the database for as long before it ends runs of others: after an outage the others have stored their
 * heartbeats by then.
 */
export const OWNER_SILENT_SECONDS = 20;

/** When the database gets two heartbeats further apart than this, a new contact begins. */
export const CONTACT_GAP_SECONDS = (1.5 * HEARTBEAT_MS) / 1_000;

/** How often the runs of dead processes are ended; a run ends within 35 s of its process. */
export const RECONCILE_MS = 10_000;

/** The pause before a further attempt to store a run's end in the background. */
export const STORE_AGAIN_MS = 2_000;

/** After so many refusals by the database, the end is stored without the observers' rows. */
export const STORE_REFUSALS = 3;

/** How long a run waits for an unreachable database, to store its end or to go on. */
export const OUTAGE_MS = 120_000;

/** Characters of all ends of runs that wait for the database; a further end is not waited for. */
export const HELD_CHARACTERS = 64 * 1024 * 1024;

/** The pause between two looks whether the database is back; processes that lost it together do not look together. */
export const PROBE_MS = 500;
export const PROBE_JITTER_MS = 500;

/** Runs of a process that try again at a time; the other connections serve new requests. */
export const RETRIES_AT_ONCE = 4;

/** How long one of them keeps others from trying, at most. A read or a stored end takes less. */
export const TURN_MS = 250;

/** How often a comment tells the readers of a stream that their run waits. */
export const OUTAGE_NOTICE_MS = 5_000;

/** How long runs still wait in a process that ends its runs; less than the shutdown leaves them. */
export const OUTAGE_STOP_MS = 1_000;
