import { isDeepStrictEqual } from 'node:util';
import type { CallToolResult, ContentBlock } from '@modelcontextprotocol/client';
import type { ToolResult } from '../../conversations/index.js';
import type { ModelMedia } from '../../models/index.js';
import { MAX_COMPARED } from './mcp-limits.js';
import { mediaOf } from './tool-media.js';
import { noteOf } from './tool-notes.js';

/** The output of a result without content. */
export const NOTHING_RETURNED = 'The tool returned nothing.';

interface Part {
  readonly text: string;
  readonly media?: ModelMedia;
}

type EmbeddedResource = Extract<ContentBlock, { type: 'resource' }>;
type ResourceLink = Extract<ContentBlock, { type: 'resource_link' }>;

/** A server's result as the model gets it: everything in `output`, what can be seen or heard in `media` as well. */
export function toToolResult({ content, structuredContent, isError }: CallToolResult): ToolResult {
  const parts = content.map((block, index) => partOf(block, index + 1));
  const structured = structuredContent === undefined ? [] : structuredParts(structuredContent, content);
  const output = [...parts.map(({ text }) => text), ...structured].filter((text) => text !== '').join('\n\n');
  const media = parts.flatMap((part) => part.media ?? []);
  return {
    output: output === '' ? NOTHING_RETURNED : output.toWellFormed(),
    isError: isError === true,
    ...(media.length > 0 && { media }),
  };
}

function partOf(block: ContentBlock, number: number): Part {
  switch (block.type) {
    case 'text':
      return { text: block.text };
    case 'image':
    case 'audio':
      return shown({ label: block.type, number, mimeType: block.mimeType, data: block.data });
    case 'resource':
      return resourcePart(block, number);
    case 'resource_link':
      return { text: linkText(block) };
    default:
      block satisfies never;
      return { text: noteOf('Content of an unknown type') };
  }
}

interface Shown {
  readonly label: string;
  readonly number: number;
  readonly mimeType: string | undefined;
  readonly data: string;
  readonly uri?: string;
}

function shown({ label, number, mimeType, data, uri }: Shown): Part {
  const media = mediaOf({ name: `${label}-${number}`, mimeType, data });
  const origin = uri === undefined ? '' : ` of ${JSON.stringify(uri)}`;
  if (media) return { text: `[${media.name}${origin} (${media.mediaType}) is part of this result.]`, media };
  const type = mimeType === undefined ? '' : ` of type ${JSON.stringify(mimeType.slice(0, 100))}`;
  return { text: noteOf(`${label}-${number}${origin}${type}, which cannot be shown,`) };
}

function resourcePart({ resource }: EmbeddedResource, number: number): Part {
  if ('text' in resource) return { text: `Resource ${JSON.stringify(resource.uri)}:\n${resource.text}` };
  const { blob, mimeType, uri } = resource;
  return shown({ label: 'resource', number, mimeType, data: blob, uri });
}

function linkText({ uri, name, title, description, mimeType }: ResourceLink): string {
  const facts = [title ?? name, mimeType, description].filter((fact) => fact !== undefined && fact !== '');
  return `Link to resource ${JSON.stringify(uri)}: ${facts.join(', ')}`;
}

/** Servers repeat it as text for clients that do not know it. */
function structuredParts(structured: unknown, content: readonly ContentBlock[]): string[] {
  let text: string;
  try {
    text = JSON.stringify(structured);
  } catch {
    // Nested more deeply than the stack allows.
    return [noteOf('Structured content that is nested too deeply')];
  }
  return repeats(content, text) ? [] : [text];
}

/** Looked for in one block alone, and only where it is soon compared: what is told twice does little harm. */
function repeats(content: readonly ContentBlock[], json: string): boolean {
  const said = content.find((block) => block.type === 'text' && /^\s*[[{]/.test(block.text));
  if (said?.type !== 'text' || said.text.length + json.length > MAX_COMPARED) return false;
  try {
    const text: unknown = JSON.parse(said.text);
    const structured = JSON.parse(json) as object;
    return isDeepStrictEqual(text, structured) || isDeepStrictEqual(text, onlyValueOf(structured));
  } catch {
    return false;
  }
}

/** Structured content is always an object, so servers wrap a list that they also say as text. */
function onlyValueOf(structured: object): unknown {
  const [value, ...others] = Object.values(structured) as unknown[];
  return others.length === 0 ? value : undefined;
}
