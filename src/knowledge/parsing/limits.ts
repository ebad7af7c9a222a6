/** Parser processes of one service. One organization uses at most all but one of them. */
export const MAX_PARSERS = 3;
/** Of these, for slow documents, at most one of each organization. The rest is left to quick documents. */
export const MAX_SLOW_PARSERS = 2;
/** A larger document is slow from the beginning. */
export const MAX_QUICK_BYTES = 1024 * 1024;
/** A document that uses more processor time is slow: its parsing continues if there is room for a slow one, and otherwise starts again later. */
export const QUICK_PROCESSOR_MS = 1_000;
/** An idle parser process ends after this time. */
export const PARSER_IDLE_MS = 60_000;
/** The old and the young generation of a parser's heap, in MiB. Memory outside the heap counts against the process's resident memory. */
export const PARSER_HEAP_MIB = 320;
/** Of 19: parsers leave the processor to requests. */
export const PARSER_NICENESS = 10;
/** A process that is not ready after this time is killed. */
export const PARSER_START_MS = 30_000;

/** Processor time of all attempts at a document: a fixed part, a part for each whole MiB, and a maximum. Then it fails as `too_slow`. */
export const PROCESSOR_MS = 10_000;
export const PROCESSOR_MS_PER_MIB = 1_000;
export const MAX_PROCESSOR_MS = 60_000;
/** An attempt also ends when this many times its processor time has elapsed: the parser waits for something, or for the processor. */
export const ELAPSED_PER_PROCESSOR_TIME = 4;
/** The interval at which a parser's processor time is read. */
export const TIME_CHECK_MS = 100;
/** The next part of a document's content must arrive within this time. */
export const CONTENT_STALL_MS = 30_000;

/** One part of a document that is sent to a parser. */
export const MAX_PART_BYTES = 256 * 1024;
/** One document. More than the 50 MB of an upload. */
export const MAX_DOCUMENT_BYTES = 64 * 1024 * 1024;

/** One part of an answer: parsing its JSON must not block the service's thread for long. */
export const ANSWER_PART_CHARACTERS = 128 * 1024;
/** A frame of an answer. Larger blocks are split. */
export const MAX_FRAME_BYTES = 4 * 1024 * 1024;
/** All frames of an answer. */
export const MAX_ANSWER_BYTES = 96 * 1024 * 1024;

/** The text of one document, in UTF-16 code units. */
export const MAX_TEXT_CHARACTERS = 20_000_000;
export const MAX_TITLE_CHARACTERS = 500;
/** Of one table cell. */
export const MAX_CELL_CHARACTERS = 32_768;
/** Of all tables of a document. */
export const MAX_CELLS = 2_000_000;
/** Of one table; further ones are left out. */
export const MAX_COLUMNS = 500;

/** Members of an Office file's archive. */
export const MAX_ARCHIVE_MEMBERS = 20_000;
/** All members that are read of one archive, inflated. */
export const MAX_INFLATED_BYTES = 256 * 1024 * 1024;
/** Tags of deeper HTML elements are left out, and deeper XML is refused: parsing takes time quadratic in the depth. */
export const MAX_OPEN_ELEMENTS = 1_000;
/** Tags and texts of one HTML document, which are all in memory at once. */
export const MAX_HTML_PIECES = 1_000_000;
export const MAX_LINKS = 5_000;
export const MAX_LINK_CHARACTERS = 2_048;
export const MAX_PDF_PAGES = 5_000;
/** Steps in the path of a value in a JSON document. */
export const MAX_JSON_DEPTH = 32;
