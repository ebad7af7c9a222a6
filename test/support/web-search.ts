import type { ModelScript } from './scripted-models.js';

export interface FoundPage {
  readonly url: string;
  readonly title: string;
}

/** A block of an answer as Anthropic streams it: begun, and filled by deltas. */
export type AnswerBlock = readonly [block: object, ...deltas: object[]];

export function textBlock(text: string, ...more: object[]): AnswerBlock {
  return [{ type: 'text', text: '' }, ...more, { type: 'text_delta', text }];
}

/** What the model asks the provider's own search. */
export function searchBlock(id: string, input: object): AnswerBlock {
  const [first, ...rest] = JSON.stringify(input);
  const parts = [first ?? '', rest.join('')];
  const block = { type: 'server_tool_use', id, name: 'web_search', input: {} };
  return [block, ...parts.map((partial_json) => ({ type: 'input_json_delta', partial_json }))];
}

/** What the search has found; the text of the pages is for the model alone. */
export function foundBlock(id: string, pages: readonly FoundPage[]): AnswerBlock {
  const content = pages.map((page) => ({
    type: 'web_search_result',
    ...page,
    encrypted_content: SEALED_PAGE,
    page_age: null,
  }));
  return [{ type: 'web_search_tool_result', tool_use_id: id, content }];
}

export function searchErrorBlock(id: string, error_code: string): AnswerBlock {
  return [
    { type: 'web_search_tool_result', tool_use_id: id, content: { type: 'web_search_tool_result_error', error_code } },
  ];
}

export function toolBlock(id: string, name: string, input: object): AnswerBlock {
  return [
    { type: 'tool_use', id, name, input: {} },
    { type: 'input_json_delta', partial_json: JSON.stringify(input) },
  ];
}

/** In every page that is found. */
export const SEALED_PAGE = 'sealed-page-text';

/** The frames of one answer of Anthropic. */
export function blockFrames(blocks: readonly AnswerBlock[], stopReason = 'end_turn'): string[] {
  return [
    frame({ type: 'message_start', message: { usage: { input_tokens: 5, output_tokens: 1 } } }),
    ...blocks.flatMap(([content_block, ...deltas], index) => [
      frame({ type: 'content_block_start', index, content_block }),
      ...deltas.map((delta) => frame({ type: 'content_block_delta', index, delta })),
      frame({ type: 'content_block_stop', index }),
    ]),
    frame({ type: 'message_delta', delta: { stop_reason: stopReason }, usage: { output_tokens: 4 } }),
    frame({ type: 'message_stop' }),
  ];
}

export function answersBlocks(blocks: readonly AnswerBlock[], stopReason?: string): ModelScript {
  return (exchange) => exchange.sendAll(blockFrames(blocks, stopReason));
}

function frame(data: { readonly type: string } & Readonly<Record<string, unknown>>): string {
  return `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`;
}
