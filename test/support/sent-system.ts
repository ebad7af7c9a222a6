type Body = Readonly<Record<string, unknown>>;

/** The system prompt of a request, as any of the providers was sent it. Anthropic is sent it in parts. */
export function sentSystem({ system, instructions, systemInstruction }: Body): string {
  return textOf(system ?? instructions ?? systemInstruction ?? '');
}

function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  if (Array.isArray(value)) return value.map(textOf).join('\n\n');
  const { parts, text } = value as { parts?: unknown; text?: unknown };
  return textOf(parts ?? text ?? '');
}
