import { Parser } from 'htmlparser2';
import { UnreadableDocument } from '../../domain/parsing.errors.js';
import { MAX_OPEN_ELEMENTS } from '../../limits.js';
import { BlockList } from '../formats/block-list.js';
import { languageOf, oneLine } from '../formats/clean-text.js';
import type { Archive } from './archive.js';

export type Attributes = Readonly<Record<string, string>>;

/** Names of elements have no namespace prefix, those of attributes keep theirs. */
export interface XmlHandler {
  readonly open?: (name: string, attributes: Attributes) => void;
  /** Only for the elements of `TEXT`. The others contain only space between their children. */
  readonly text?: (text: string) => void;
  readonly close?: (name: string) => void;
}

const TEXT = new Set(['t', 'v', 'title', 'language']);
const TOO_DEEP = `The file is broken: its XML is nested more than ${MAX_OPEN_ELEMENTS} levels deep.`;

/** Reads a member of an archive while it is inflated. Does not expand entities that the document declares, and fetches none. */
export async function readXml(archive: Archive, member: string, handler: XmlHandler): Promise<void> {
  const decoder = new TextDecoder();
  let [depth, held, isText] = [0, 0, false];
  const parser = new Parser(
    {
      onopentag: (name, attributes) => {
        depth += 1;
        if (depth > MAX_OPEN_ELEMENTS) throw new UnreadableDocument('broken', TOO_DEEP);
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

/** The value of a switch such as `<w:b w:val="0"/>`. Without a value it is on. */
export function isOn(value: string | undefined): boolean {
  return value !== '0' && value !== 'false' && value !== 'off';
}

interface Relation {
  readonly type: string;
  readonly target: string;
}

/** The parts that a part refers to, by their ids in it. */
export async function relationsOf(archive: Archive, member: string): Promise<ReadonlyMap<string, Relation>> {
  const relations = new Map<string, Relation>();
  const slash = member.lastIndexOf('/');
  await readXml(archive, `${member.slice(0, slash + 1)}_rels/${member.slice(slash + 1)}.rels`, {
    open: (name, { Id, Type = '', Target = '', TargetMode }) => {
      if (name !== 'Relationship' || Id === undefined || TargetMode === 'External') return;
      const target = decodeURI(new URL(Target, `zip:///${member}`).pathname.slice(1));
      relations.set(Id, { type: Type.slice(Type.lastIndexOf('/') + 1), target });
    },
  });
  return relations;
}

/** The title and the language that the document declares. The title is empty if it declares none. */
export async function readProperties(archive: Archive): Promise<{ title: string; language: string | null }> {
  let inside = '';
  const found: Record<string, string> = {};
  await readXml(archive, 'docProps/core.xml', {
    open: (name) => (inside = name),
    text: (text) => (found[inside] = `${found[inside] ?? ''}${text}`.slice(0, 1_000)),
  });
  return { title: oneLine(found['title'] ?? ''), language: languageOf(found['language']) };
}
