import type Anthropic from '@anthropic-ai/sdk';

const FAILED = 'The web search failed.';

const FAILURES: Readonly<Record<Anthropic.WebSearchToolResultErrorCode, string>> = {
  invalid_tool_input: `${FAILED} Its input is not valid.`,
  unavailable: `${FAILED} Web search is not available at the moment.`,
  max_uses_exceeded: `${FAILED} The limit of searches in one response is reached.`,
  too_many_requests: `${FAILED} There are too many searches at the moment.`,
  query_too_long: `${FAILED} The query is too long.`,
  request_too_large: `${FAILED} The request is too large.`,
};

/** Title and address of each page that the search found. The text of the pages is encrypted, for the model only. */
export function searchResult(content: Anthropic.WebSearchToolResultBlockContent): { output: string; isError: boolean } {
  if (!Array.isArray(content)) return { output: failureOf(content.error_code), isError: true };
  const pages = content.map(({ title, url }) => (title === '' ? url : `${title}\n${url}`));
  return { output: pages.length === 0 ? 'No pages found.' : pages.join('\n\n'), isError: false };
}

/** The API may send a code that the SDK does not know yet. */
function failureOf(code: string): string {
  return Object.entries(FAILURES).find(([known]) => known === code)?.[1] ?? FAILED;
}
