import { z } from 'zod';
import type { OfferedTool } from '../../conversations/index.js';
import type { JsonObject } from '../../models/index.js';
import { type ComponentName, toolNameOf } from './component-names.js';
import type { Release } from './widget-version.js';

/** A component that is ready to be shown. */
export interface Presented {
  readonly props: JsonObject;
  /** The content as Markdown. */
  readonly fallback: string;
  /** The first release of the widget that draws it. */
  readonly since: Release;
}

export type ReadProps =
  | { readonly ok: true; readonly presented: Presented }
  /** Each names a field, what is wrong with it and what is allowed. */
  | { readonly ok: false; readonly problems: readonly string[] };

export interface ComponentKind {
  readonly name: ComponentName;
  readonly tool: OfferedTool['definition'];
  read(input: JsonObject): ReadProps;
}

interface KindDefinition<Schema extends z.ZodType<JsonObject>> {
  readonly name: ComponentName;
  readonly description: string;
  /** Of the props, which are the tool's input. */
  readonly schema: Schema;
  readonly fallback: (props: z.output<Schema>) => string;
  readonly since: (props: z.output<Schema>) => Release;
}

const PLAIN_TEXT = 'All texts are plain text, without Markdown.';

export function componentKind<Schema extends z.ZodType<JsonObject>>(definition: KindDefinition<Schema>): ComponentKind {
  const { name, description, schema, fallback, since } = definition;
  const { $schema: _, ...inputSchema } = z.toJSONSchema(schema, { io: 'input' });
  return {
    name,
    tool: { name: toolNameOf(name), description: `${description} ${PLAIN_TEXT}`, inputSchema },
    read: (input) => {
      const { success, data: props, error } = schema.safeParse(input);
      if (!success) return { ok: false, problems: problemsOf(error) };
      return { ok: true, presented: { props, fallback: fallback(props), since: since(props) } };
    },
  };
}

const MAX_PROBLEMS = 3;

function problemsOf({ issues }: z.ZodError): string[] {
  const problems = issues.slice(0, MAX_PROBLEMS).map(({ path, message }) => `${pathOf(path)} ${message}.`);
  const more = issues.length - problems.length;
  return more === 0 ? problems : [...problems, `There are ${more} more mistakes.`];
}

function pathOf(path: readonly PropertyKey[]): string {
  if (path.length === 0) return 'The input';
  return path
    .map((part, index) => (typeof part === 'number' ? `[${part}]` : `${index === 0 ? '' : '.'}${String(part)}`))
    .join('');
}
