/** The part of the service's last request to the model that is from memory. */
export interface SentMemory {
  /** Memories in the prompt, and the number of all memories; 0 if the prompt has none. */
  readonly shown: number;
  readonly total: number;
  /** Characters of the prompt, which is only the summary. */
  readonly characters: number;
  readonly offersTools: boolean;
  /** The result of the run's tool call; null if it made none. */
  readonly result: string | null;
}

type Content = string | readonly { readonly type: string; readonly text?: string; readonly content?: Content }[];

interface ModelRequest {
  readonly system?: Content;
  readonly tools?: readonly { readonly name: string }[];
  readonly messages: readonly { readonly content: Content }[];
}

export async function lastSentMemory(upstreamOrigin: string): Promise<SentMemory> {
  const { last } = (await (await fetch(upstreamOrigin)).json()) as { readonly last: string };
  const { system = '', tools = [], messages } = JSON.parse(last) as ModelRequest;
  const prompt = textOf(system);
  const shown = prompt.includes('## What you remember of this user') ? prompt.split('\n⟦memory ').length - 1 : 0;
  const more = Number(/^There (?:is|are) (\d+) more memor/m.exec(prompt)?.[1] ?? 0);
  const names = tools.map(({ name }) => name);
  return {
    ...{ shown, total: shown + more, characters: prompt.length },
    offersTools: names.includes('memory_save') && names.includes('memory_search'),
    result: resultIn(messages.at(-1)?.content ?? ''),
  };
}

function resultIn(content: Content): SentMemory['result'] {
  const result = typeof content === 'string' ? undefined : content.find(({ type }) => type === 'tool_result');
  return result ? textOf(result.content ?? '') : null;
}

function textOf(content: Content): string {
  return typeof content === 'string' ? content : content.map(({ text }) => text ?? '').join('');
}
