import { BlockList } from '../formats/block-list.js';
import type { FormatReader } from '../formats/reading.js';
import { Archive } from './archive.js';
import { type Attributes, isOn, readXml, readProperties, relationsOf, type XmlHandler } from './xml.js';

const PRESENTATION = 'ppt/presentation.xml';
const REPEATED = new Set(['sldNum', 'dt', 'ftr', 'hdr', 'sldImg']);

/** The text of one slide. Titles are separate, because the shapes of a slide have no reading order. */
class Slide implements XmlHandler {
  readonly titles: string[] = [];
  readonly parts: (string | string[][])[] = [];
  isHidden = false;
  private isShapeHidden = false;
  private placeholder = '';
  private shape: string[] = [];
  private paragraph = '';
  private table: string[][] | undefined;
  private cell: string[] | undefined;

  readonly open = (name: string, attributes: Attributes): void => {
    if (name === 'sld') this.isHidden = attributes['show'] !== undefined && !isOn(attributes['show']);
    else if (name === 'cNvPr') this.isShapeHidden = isOn(attributes['hidden'] ?? '0');
    else if (name === 'sp') [this.placeholder, this.shape] = ['', []];
    else if (name === 'ph') this.placeholder = attributes['type'] ?? 'body';
    else if (name === 'tbl') this.table = [];
    else if (name === 'tr') this.table?.push([]);
    else if (name === 'tc') this.cell = [];
    else if (name === 'br') this.paragraph += '\n';
    else if (name === 'p') this.paragraph = '';
  };

  readonly text = (text: string): void => {
    this.paragraph += text;
  };

  readonly close = (name: string): void => {
    if (name === 'p') {
      if (this.paragraph.trim() !== '') (this.cell ?? this.shape).push(this.paragraph.trim());
      this.paragraph = '';
    } else if (name === 'tc') {
      this.table?.at(-1)?.push((this.cell ?? []).join('\n'));
      this.cell = undefined;
    } else if (name === 'tbl') {
      if (this.table && !this.isShapeHidden) this.parts.push(this.table);
      this.table = undefined;
    } else if (name === 'sp') this.closeShape();
  };

  private closeShape(): void {
    const text = this.shape.join('\n');
    this.shape = [];
    if (text === '' || this.isShapeHidden || REPEATED.has(this.placeholder)) return;
    if (this.placeholder === 'title' || this.placeholder === 'ctrTitle') this.titles.push(text);
    else this.parts.push(text);
  }
}

async function slidesOf(archive: Archive): Promise<readonly string[]> {
  const relations = await relationsOf(archive, PRESENTATION);
  const slides: string[] = [];
  await readXml(archive, PRESENTATION, {
    open: (name, attributes) => {
      const target = name === 'sldId' ? relations.get(attributes['r:id'] ?? '')?.target : undefined;
      if (target !== undefined && archive.has(target)) slides.push(target);
    },
  });
  return slides.length > 0 ? slides : archive.names(/^ppt\/slides\/slide\d+\.xml$/);
}

async function notesOf(archive: Archive, slide: string): Promise<string> {
  const relations = [...(await relationsOf(archive, slide)).values()];
  const target = relations.find(({ type }) => type === 'notesSlide')?.target;
  if (target === undefined) return '';
  const notes = new Slide();
  await readXml(archive, target, notes);
  return notes.parts.filter((part) => typeof part === 'string').join('\n');
}

export const readPptx: FormatReader = async ({ content }) => {
  const archive = await Archive.open(content);
  if (!archive.has(PRESENTATION)) throw new Error(`The archive has no part ${PRESENTATION}`);
  const blocks = new BlockList();
  let firstTitle: string | null = null;
  for (const [index, member] of (await slidesOf(archive)).entries()) {
    const slide = new Slide();
    await readXml(archive, member, slide);
    if (slide.isHidden) continue;
    blocks.page = index + 1;
    firstTitle ??= slide.titles[0] ?? null;
    for (const title of slide.titles) blocks.heading(2, title);
    for (const part of slide.parts) {
      if (typeof part === 'string') blocks.text(part);
      else blocks.table(part);
    }
    blocks.text(await notesOf(archive, member));
  }
  const { title, language } = await readProperties(archive);
  // PowerPoint's default for a presentation without a title.
  const own = /^(powerpoint[ -]?pr[^ ]*|presentation)$/i.test(title) ? '' : title;
  return { title: own || firstTitle, language, blocks: blocks.blocks };
};
