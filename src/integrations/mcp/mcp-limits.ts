/** One event stream in all; each of its messages is bounded by `MAX_MESSAGE_BYTES`. */
export const MAX_STREAM_BYTES = 67_108_864;
/** A stream that tells of changed tools is open for as long as its connection; the pool lets none become older than this. */
export const STREAM_MS = 3_600_000;
/** What is no request, and so waits for no tool: a notification, a reply, the end of a session. */
export const NOTICE_MS = 10_000;
/** After an answer its stream should end by itself; one that does not is cut off. */
export const STREAM_END_MS = 1_000;
/** Ending a session politely. */
export const CLOSE_MS = 2_000;
/** Until the SDK's own timers fire, which are not the clock's: they are never to be first. */
export const SDK_TIMEOUT_MS = 7_200_000;

/** Between a stream that ended and the attempt to go on with it, whatever the server asks for. */
export const MIN_RESUME_MS = 500;
export const MAX_RESUME_MS = 15_000;
/** Attempts in the life of a connection. */
export const MAX_RESUMES = 100;
/** Requests of a server (such as pings) that are being answered at once, and within a second; further ones are not. */
export const MAX_REPLIES = 8;
export const MAX_REPLIES_PER_SECOND = 20;
/** Messages of a server within a second, and their bytes: reading more would keep this process from its other work. */
export const MAX_MESSAGES_PER_SECOND = 1_000;
export const MAX_BYTES_PER_SECOND = 33_554_432;
/** What is read at once of a stream: at most half as many events as lines. */
export const MAX_STEP_LINES = 100;
export const MAX_STEP_BYTES = 16_384;
/** Messages in the one answer to a request. */
export const MAX_BATCH = 50;
/** Changes of the tools within this time are told once. */
export const CHANGES_WITHIN_MS = 500;

/** Pages of a tool list. */
export const MAX_PAGES = 50;
export const MAX_TOOLS = 500;
/** All tools of a server together, as JSON. */
export const MAX_LIST_BYTES = 1_048_576;
export const MAX_TOOL_NAME = 128;
export const MAX_DESCRIPTION = 10_000;
export const MAX_SCHEMA_BYTES = 262_144;
/** Schemas and their keywords within one tool's schema: checking each takes time, and no real tool has so many. */
export const MAX_SCHEMA_PARTS = 5_000;
/** Of schemas within a schema. */
export const MAX_SCHEMA_DEPTH = 32;
export const MAX_PATTERN = 1_000;

/** Blocks of one result; each is checked by itself. The rest is left out with a note. */
export const MAX_CONTENT_BLOCKS = 500;

/** Characters of a result's text and its structured content, up to which the one is looked for in the other. */
export const MAX_COMPARED = 100_000;

/** How long checking a list may keep the process from its other work. */
export const CHECK_SLICE_MS = 10;

/** Of a server's own words in an error. */
export const MAX_ERROR_TEXT = 500;

/** A connection that nobody uses is closed after this time. */
export const IDLE_MS = 300_000;
/** An older connection is not handed out any more; calls that have it may end. Less than `STREAM_MS`. */
export const MAX_AGE_MS = 2_700_000;
/** How long a failed connect is everybody's answer. */
export const FAILURE_MS = 5_000;
/** Open connections of a process, and of one organization among them. */
export const MAX_CONNECTIONS = 500;
export const MAX_CONNECTIONS_PER_ORGANIZATION = 50;
