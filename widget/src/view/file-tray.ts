import type { WireAttachment } from '../client/wire.js';
import { ICONS, iconButton, make } from './dom.js';
import { FileEntry } from './file-entry.js';
import { ACCEPT, limitsText, refusalOf } from './file-limits.js';
import type { ViewContext } from './view-context.js';

/** The files of the next message, uploaded as soon as the visitor chooses them. */
export class FileTray {
  readonly element: HTMLElement;
  readonly button: HTMLElement;
  private readonly context: ViewContext;
  private readonly onChange: () => void;
  private readonly entries = new Set<FileEntry>();
  private readonly open: HTMLButtonElement;
  private isShown = false;

  constructor(context: ViewContext, onChange: () => void) {
    const { strings, locale } = context;
    this.context = context;
    this.onChange = onChange;
    this.element = make('ul', { className: 'tray' });
    const chooser = make('input', {
      attributes: { type: 'file', multiple: '', accept: ACCEPT, tabindex: '-1', 'aria-hidden': 'true' },
      className: 'hidden',
    });
    chooser.addEventListener('change', () => {
      this.add(chooser.files);
      chooser.value = '';
    });
    this.open = iconButton(strings.attach, ICONS.attach, () => chooser.click(), {
      className: 'attach',
      attributes: { title: limitsText(strings, locale) },
    });
    this.button = make('span', {}, this.open, chooser);
    this.show(false);
  }

  get isUploading(): boolean {
    return [...this.entries].some((entry) => entry.isUploading);
  }

  /** Also for files whose upload is under way, has failed or was refused. */
  get isEmpty(): boolean {
    return this.entries.size === 0;
  }

  /** Whether there are uploaded files. */
  get hasFiles(): boolean {
    return [...this.entries].some(({ uploaded }) => uploaded !== null);
  }

  show(isShown: boolean): void {
    this.isShown = isShown;
    this.button.hidden = !isShown;
  }

  /** Uploads files that were chosen, pasted or dropped. What the service does not take is shown with the reason. */
  add(files: Iterable<File> | null | undefined): void {
    if (!this.isShown) return;
    for (const file of files ?? []) this.addOne(file);
  }

  /** Removes and returns the uploaded files. Those whose upload has failed stay. */
  take(): WireAttachment[] {
    const taken: WireAttachment[] = [];
    for (const entry of this.entries) {
      const { uploaded, isRefused } = entry;
      if (uploaded) taken.push({ name: uploaded.name, url: uploaded.url, contentType: uploaded.contentType });
      if (uploaded || isRefused) this.discard(entry);
    }
    this.onChange();
    return taken;
  }

  private addOne(file: File): void {
    const { strings, locale, announce } = this.context;
    const others = [...this.entries].filter(({ isRefused }) => !isRefused).map((entry) => entry.file);
    const refusal = refusalOf(file, others, strings, locale);
    const entry = new FileEntry(file, refusal, this.context, {
      onChange: this.onChange,
      onRemove: () => this.remove(entry),
    });
    this.entries.add(entry);
    this.element.append(entry.element);
    entry.element.scrollIntoView({ block: 'nearest' });
    if (refusal !== null) announce(refusal);
    this.onChange();
  }

  /** The focus stays in the tray, so that the visitor can go on with the keyboard. */
  private remove(entry: FileEntry): void {
    const all = [...this.entries];
    const index = all.indexOf(entry);
    const next = all[index + 1] ?? all[index - 1];
    this.discard(entry);
    if (next) next.focus();
    else this.open.focus();
    this.onChange();
  }

  private discard(entry: FileEntry): void {
    entry.close();
    this.entries.delete(entry);
    entry.element.remove();
  }
}
