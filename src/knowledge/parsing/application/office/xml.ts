import { Parser } from 'htmlparser2';
import { UnreadableDocument } from '../../domain/parsing.errors.js';
import { MAX_OPEN_ELEMENTS } from '../../limits.js';
import { BlockList } from '../formats/block-list.js';
import { languageOf, oneLine } from '../formats/text-of.js';
import type { Archive } from './archive.js';

export type Attributes = Readonly<Record<string, string>>;

/** Elements are named without their namespace's prefix, attributes with it. */
export interface XmlHandler {
  readonly open?: (name: string, attributes: Attributes) => void;
  /** Of the elements that hold text: others have only space between what is in them. */
  readonly text?: (text: string) => void;
  readonly close?: (name: string) => void;
}

const TEXT = new Set(['t', 'v', 'title', 'language']);

/** Reads a member of an archive as it is inflated. Entities of a document's own are not expanded, external ones not fetched. */
export async function readXml(archive: Archive, member: string, handler: XmlHandler): Promise<void> {
  const decoder = new TextDecoder();
  let [depth, held, isText] = [0, 0, false];
  const parser = new Parser(
    {
      onopentag: (name, attributes) => {
        depth += 1;
        if (depth > MAX_OPEN_ELEMENTS)
          throw new UnreadableDocument(
            'broken',
            `The file is broken: its XML is nested more than ${MAX_OPEN_ELEMENTS} levels deep.`,
          );
        isText = TEXT.has(localName(name));
        handler.open?.(localName(name), attributes);
      },
      ontext: (text) => {
        if (!isText) return;
        held += text.length;
        BlockList.checkHeld(held);
        handler.text?.(text);
      },
      onclosetag: (name) => {
        depth -= 1;
        isText = false;
        handler.close?.(localName(name));
      },
    },
    { xmlMode: true },
  );
  for await (const part of archive.read(member)) parser.write(decoder.decode(part, { stream: true }));
  parser.end(decoder.decode());
}

function localName(name: string): string {
  return name.slice(name.indexOf(':') + 1);
}

/** The value of a switch such as `<w:b w:val="0"/>`, which is on where nothing is said. */
export function isOn(value: string | undefined): boolean {
  return value !== '0' && value !== 'false' && value !== 'off';
}

/** The parts that a part refers to, by the ids that it uses for them. */
export async function relationsOf(
  archive: Archive,
  member: string,
): Promise<ReadonlyMap<string, { readonly type: string; readonly target: string }>> {
  const relations = new Map<string, { readonly type: string; readonly target: string }>();
  const slash = member.lastIndexOf('/');
  await readXml(archive, `${member.slice(0, slash + 1)}_rels/${member.slice(slash + 1)}.rels`, {
    open: (name, { Id, Type = '', Target = '', TargetMode }) => {
      if (name !== 'Relationship' || Id === undefined || TargetMode === 'External') return;
      relations.set(Id, { type: Type.slice(Type.lastIndexOf('/') + 1), target: resolved(member, Target) });
    },
  });
  return relations;
}

function resolved(member: string, target: string): string {
  return decodeURI(new URL(target, `zip:///${member}`).pathname.slice(1));
}

/** The document's own title, empty where it has none, and its language. */
export async function readProperties(
  archive: Archive,
): Promise<{ readonly title: string; readonly language: string | null }> {
  let inside = '';
  const found: Record<string, string> = {};
  await readXml(archive, 'docProps/core.xml', {
    open: (name) => (inside = name),
    text: (text) => (found[inside] = `${found[inside] ?? ''}${text}`.slice(0, 1_000)),
  });
  return { title: oneLine(found['title'] ?? ''), language: languageOf(found['language']) };
}
