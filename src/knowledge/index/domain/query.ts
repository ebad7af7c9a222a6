/** Of a search, in code points. */
export const MAX_QUERY_LENGTH = 8_000;
