/** What a customer's message asks the model for. It travels in the text of the message. */
export interface Script {
  /** Which message of which thread. */
  readonly thread: string;
  readonly number: number;
  /** Names the message anywhere. */
  readonly nonce: string;
  readonly words: number;
  readonly everyMs: number;
  /** The tool to call before the reply: the agent's own, or the caller's. */
  readonly call?: 'pay' | 'stock';
  /** A word of an attached file, which the model must be sent. */
  readonly attached?: string;
}

const BEGIN = '<<';
const END = '>>';

export function textOf(script: Script): string {
  return `Message ${script.number} ${BEGIN}${JSON.stringify(script)}${END}`;
}

/** The scripts of a text, in order. */
export function scriptsIn(text: string): Script[] {
  return [...text.matchAll(/<<(\{.*?\})>>/g)].map(([, json = '']) => JSON.parse(json) as Script);
}

/** The reply, word by word. */
export function wordsOf({ nonce, words }: Script): string[] {
  return Array.from({ length: words }, (_, index) => (index === 0 ? `Reply to ${nonce}:` : ` word-${index}-${nonce}`));
}

export function replyOf(script: Script): string {
  return wordsOf(script).join('');
}
