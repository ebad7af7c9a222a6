type Body = Readonly<Record<string, unknown>>;

/** The names of the tools in a request, as any of the providers was sent them. */
export function sentToolNames({ tools }: Body): string[] {
  const sent = (tools ?? []) as readonly { name?: string; functionDeclarations?: readonly { name: string }[] }[];
  return sent.flatMap(({ name, functionDeclarations }) => {
    if (name !== undefined) return [name];
    return (functionDeclarations ?? []).map((declared) => declared.name);
  });
}
