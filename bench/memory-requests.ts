/** What the service's last request to the model had of memory. */
export interface SentMemory {
  /** Memories in the prompt, and how many there are in all: 0 where the prompt names none. */
  readonly shown: number;
  readonly total: number;
  /** Characters of the prompt, which is the summary alone. */
  readonly characters: number;
  readonly offersTools: boolean;
  /** What the run's call was answered; null where it made none. */
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
