import type { UploadedFile } from '../client/chat-state.js';
import type { WireAttachment } from '../client/wire.js';
import { ICONS, iconButton, make } from './dom.js';
import { fill } from './strings.js';
import type { ViewContext } from './view-context.js';

const MAX_FILES = 10;
const MAX_BYTES = 50 * 1024 * 1024;

interface Entry {
  readonly element: HTMLElement;
  /** Null during the upload. */
  file: UploadedFile | null;
}

/** The files of the next message, uploaded as soon as the visitor chooses them. */
export class FileTray {
  readonly element = make('ul', { className: 'tray' });
  readonly button: HTMLElement;
  private readonly context: ViewContext;
  private readonly onChange: () => void;
  private readonly entries = new Set<Entry>();
  private isShown = false;

  constructor(context: ViewContext, onChange: () => void) {
    this.context = context;
    this.onChange = onChange;
    const chooser = make('input', {
      attributes: { type: 'file', multiple: '', tabindex: '-1', 'aria-hidden': 'true' },
      className: 'hidden',
    });
    chooser.addEventListener('change', () => {
      this.add(chooser.files);
      chooser.value = '';
    });
    const open = iconButton(context.strings.attach, ICONS.attach, () => chooser.click());
    this.button = make('span', {}, open, chooser);
    this.show(false);
  }

  get isUploading(): boolean {
    return [...this.entries].some(({ file }) => file === null);
  }

  show(isShown: boolean): void {
    this.isShown = isShown;
    this.button.hidden = !isShown;
  }

  add(files: FileList | null | undefined): void {
    if (!this.isShown) return;
    for (const file of files ?? []) this.addOne(file);
  }

  /** Removes and returns the uploaded files. */
  take(): WireAttachment[] {
    const taken = [...this.entries].flatMap(({ file }) =>
      file ? [{ name: file.name, url: file.url, contentType: file.contentType }] : [],
    );
    for (const entry of this.entries) this.remove(entry);
    return taken;
  }

  private addOne(file: File): void {
    const { strings } = this.context;
    if (this.entries.size >= MAX_FILES) {
      this.complain(strings.tooManyFiles);
      return;
    }
    if (file.size > MAX_BYTES) {
      this.complain(fill(strings.fileTooLarge, { name: file.name }));
      return;
    }
    const label = make('span', { text: fill(strings.uploading, { name: file.name }) });
    const entry: Entry = { element: make('li', { className: 'file' }, label), file: null };
    entry.element.append(
      iconButton(fill(strings.removeFile, { name: file.name }), ICONS.close, () => this.remove(entry)),
    );
    this.entries.add(entry);
    this.element.append(entry.element);
    this.onChange();
    void this.upload(file, entry, label);
  }

  private async upload(file: File, entry: Entry, label: HTMLElement): Promise<void> {
    try {
      entry.file = await this.context.chat.upload(file);
      label.textContent = file.name;
    } catch {
      this.remove(entry);
      this.complain(fill(this.context.strings.uploadFailed, { name: file.name }));
    }
    this.onChange();
  }

  private complain(text: string): void {
    const note = make('li', { className: 'file problem', text });
    note.append(iconButton(this.context.strings.close, ICONS.close, () => note.remove()));
    this.element.append(note);
    this.context.announce(text);
  }

  private remove(entry: Entry): void {
    this.entries.delete(entry);
    entry.element.remove();
    this.onChange();
  }
}
