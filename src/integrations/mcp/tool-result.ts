import { isDeepStrictEqual } from 'node:util';
import { type ContentBlock, isSpecType } from '@modelcontextprotocol/client';
import { isImageType, mediaTypeOf, recognized } from '../../files/index.js';
import { isJsonObject, type JsonObject, type ModelMedia } from '../../models/index.js';
import type { McpToolResult } from './mcp-connection.js';
import { MAX_COMPARED, MAX_CONTENT_BLOCKS } from './mcp-limits.js';

/** The output of a result without content. */
export const NOTHING_RETURNED = 'The tool returned nothing.';

/** Such an answer does not show whether the call had its effect. */
const UNREADABLE = 'The tool server answered with a result that cannot be read: ';

const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;
const AUDIO = /^audio\/[\w.+-]+$/;
/** Base64 characters that are enough to recognize the type of a file. */
const HEAD_CHARACTERS = 2_048;

interface Part {
  readonly text: string;
  readonly media?: ModelMedia;
  readonly isInvalid?: true;
}

/**
 * A server's result as the model receives it: everything as text in `output`, images, sound and PDFs also in `media`. Notes replace
 * invalid parts.
 * @param result as the server sent it
 */
export function toToolResult({ content, structuredContent, isError }: JsonObject): McpToolResult {
  const blocks: readonly unknown[] = Array.isArray(content) ? content : [];
  const parts = blocks.slice(0, MAX_CONTENT_BLOCKS).map((block, index) => partOf(block, index + 1));
  const excess = blocks.length - parts.length;
  // Servers that return only structured content may leave out the list.
  const isReadable = Array.isArray(content) || (content === undefined && structuredContent !== undefined);
  const problem = content === undefined ? 'it has no content' : 'its content is not a list';
  const texts = [
    ...parts.map(({ text }) => text),
    ...(excess > 0 ? [noteOf(`${excess} further parts of the result`)] : []),
    ...(isReadable ? [] : [`${UNREADABLE}${problem}.`]),
    ...(structuredContent === undefined ? [] : structuredTexts(structuredContent, blocks)),
  ];
  const output = texts.filter((text) => text !== '').join('\n\n');
  const media = parts.flatMap((part) => part.media ?? []);
  const isValid = isReadable && excess === 0 && !parts.some(({ isInvalid }) => isInvalid);
  return {
    output: output === '' ? NOTHING_RETURNED : output.toWellFormed(),
    isError: isError === true || !isReadable,
    ...(media.length > 0 && { media }),
    ...(!(isValid && (isError === undefined || typeof isError === 'boolean')) && { isRepaired: true as const }),
  };
}

/** Replaces a part that is left out of a tool's output. */
function noteOf(what: string): string {
  return `[${what} is left out.]`;
}

function partOf(given: unknown, number: number): Part {
  const block = validBlock(given);
  if (!block) return { text: noteInPlaceOf(given), isInvalid: true };
  switch (block.type) {
    case 'text':
      return { text: block.text };
    case 'image':
    case 'audio':
      return mediaPart({ label: block.type, number, mimeType: block.mimeType, data: block.data });
    case 'resource': {
      const { resource } = block;
      const { uri, mimeType } = resource;
      return 'text' in resource
        ? { text: `Resource ${JSON.stringify(uri)}:\n${resource.text}` }
        : mediaPart({ label: 'resource', number, mimeType, data: resource.blob, uri });
    }
    case 'resource_link': {
      const { uri, name, title, description, mimeType } = block;
      const facts = [title ?? name, mimeType, description].filter((fact) => fact !== undefined && fact !== '');
      return { text: `Link to resource ${JSON.stringify(uri)}: ${facts.join(', ')}` };
    }
    default:
      return block satisfies never;
  }
}

/** Fields that are not used may be invalid. */
function validBlock(given: unknown): ContentBlock | undefined {
  if (!isJsonObject(given)) return undefined;
  const { annotations: _annotations, _meta, icons: _icons, ...block } = given;
  return isSpecType.ContentBlock(block) ? block : undefined;
}

function noteInPlaceOf(block: unknown): string {
  if (!isJsonObject(block)) return noteOf('A part that is no content');
  const type = typeof block['type'] === 'string' ? block['type'].slice(0, 100) : 'unknown';
  return noteOf(`Content of type ${JSON.stringify(type)} that is not valid or not known`);
}

interface EncodedMedia {
  readonly label: string;
  readonly number: number;
  readonly mimeType: string | undefined;
  readonly data: string;
  readonly uri?: string;
}

function mediaPart({ label, number, mimeType, data, uri }: EncodedMedia): Part {
  const name = `${label}-${number}`;
  const media = mediaOf(name, mimeType, data);
  const origin = uri === undefined ? '' : ` of ${JSON.stringify(uri)}`;
  if (media) return { text: `[${media.name}${origin} (${media.mediaType}) is part of this result.]`, media };
  const type = mimeType === undefined ? '' : ` of type ${JSON.stringify(mimeType.slice(0, 100))}`;
  return { text: noteOf(`${name}${origin}${type}, which cannot be shown,`) };
}

/**
 * @param name without extension
 * @returns undefined for what no model can be shown, and for invalid base64. The bytes decide whether it is an image or a PDF:
 * providers refuse a whole request for one image with the wrong type
 */
function mediaOf(name: string, mimeType = '', data: string): ModelMedia | undefined {
  const base64 = data.replace(/\s+/g, '');
  if (!BASE64.test(base64) || base64.length % 4 === 1) return undefined;
  const padded = base64.padEnd(Math.ceil(base64.length / 4) * 4, '=');
  const declared = mediaTypeOf(mimeType);
  if (AUDIO.test(declared)) return { kind: 'audio', name, mediaType: declared, data: padded };
  const type = recognized(Buffer.from(padded.slice(0, HEAD_CHARACTERS), 'base64'));
  if (type === undefined) return undefined;
  if (type === 'application/pdf') return { kind: 'pdf', name: `${name}.pdf`, mediaType: type, data: padded };
  return isImageType(type) ? { kind: 'image', name, mediaType: type, data: padded } : undefined;
}

/** Empty if a text block repeats the structured content, for clients that cannot read it. */
function structuredTexts(structured: unknown, blocks: readonly unknown[]): string[] {
  try {
    const json = JSON.stringify(structured);
    return isRepeated(json, blocks) ? [] : [json];
  } catch {
    return [noteOf('Structured content that is nested too deeply')];
  }
}

/** Compares only the first block of JSON, and only if it is small: repeated content does little harm. */
function isRepeated(json: string, blocks: readonly unknown[]): boolean {
  const texts = blocks
    .slice(0, MAX_CONTENT_BLOCKS)
    .flatMap((block) => (isJsonObject(block) && block['type'] === 'text' ? block['text'] : []));
  const repeated = texts.find((text) => typeof text === 'string' && /^\s*[[{]/.test(text));
  if (typeof repeated !== 'string' || repeated.length + json.length > MAX_COMPARED) return false;
  try {
    const structured = JSON.parse(json) as object;
    const parsed: unknown = JSON.parse(repeated);
    return isDeepStrictEqual(parsed, structured) || isDeepStrictEqual(parsed, onlyValueOf(structured));
  } catch {
    return false;
  }
}

/** Structured content is always an object, so servers wrap a list that they also return as text. */
function onlyValueOf(structured: object): unknown {
  const [value, ...others] = Object.values(structured) as unknown[];
  return others.length === 0 ? value : undefined;
}
