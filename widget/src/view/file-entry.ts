import type { UploadedFile } from '../client/chat-state.js';
import { ICONS, icon, iconButton, make, setText } from './dom.js';
import { isPicture, sizeText, withReadableType } from './file-limits.js';
import { fill } from './strings.js';
import type { ViewContext } from './view-context.js';

/** In CSS pixels. */
const PICTURE_SIZE = 40;

export interface EntryEvents {
  /** After each change of `uploaded` and `isUploading`. */
  readonly onChange: () => void;
  /** The visitor has removed the entry. */
  readonly onRemove: () => void;
}

/** A file of the next message: a card with its upload, or with the reason why it is not attached. */
export class FileEntry {
  readonly element: HTMLLIElement;
  readonly file: File;
  /** Null before the end of the upload. */
  uploaded: UploadedFile | null = null;
  private readonly context: ViewContext;
  private readonly events: EntryEvents;
  private readonly name: HTMLElement;
  private readonly detail = make('span', { className: 'file-detail' });
  private readonly bar = make('span', { className: 'file-sent' });
  private readonly progress: HTMLElement;
  private readonly again: HTMLButtonElement;
  private readonly remove: HTMLButtonElement;
  /** Null while no upload is under way. */
  private upload: AbortController | null = null;

  /** @param refusal why the file cannot be attached; null uploads it */
  constructor(file: File, refusal: string | null, context: ViewContext, events: EntryEvents) {
    const { strings } = context;
    const { name } = file;
    this.file = file;
    this.context = context;
    this.events = events;
    this.progress = make(
      'span',
      { className: 'file-progress', attributes: { role: 'progressbar', 'aria-label': name, 'aria-valuemin': '0' } },
      this.bar,
    );
    this.progress.setAttribute('aria-valuemax', '100');
    this.again = iconButton(strings.tryAgain, ICONS.retry, () => this.start(), { className: 'file-button' });
    this.remove = iconButton(fill(strings.removeFile, { name }), ICONS.close, events.onRemove, {
      className: 'file-button',
    });
    this.name = this.nameView();
    const about = make('span', { className: 'file-about' }, this.name, this.detail, this.progress);
    this.element = make('li', { className: 'file' }, this.pictureView(), about, this.again, this.remove);
    if (refusal === null) this.start();
    else this.show('refused', refusal);
  }

  get isUploading(): boolean {
    return this.upload !== null;
  }

  /** Whether the service has refused the file, or would. */
  get isRefused(): boolean {
    return this.element.dataset['state'] === 'refused';
  }

  focus(): void {
    this.remove.focus();
  }

  /** Ends an upload that is under way. */
  close(): void {
    this.upload?.abort();
    this.upload = null;
  }

  private start(): void {
    const upload = new AbortController();
    this.upload = upload;
    // The button that has the focus is hidden next.
    if (this.again.matches(':focus')) this.remove.focus();
    this.show('uploading', '');
    this.showSent(0);
    void this.send(upload.signal);
    this.events.onChange();
  }

  private async send(signal: AbortSignal): Promise<void> {
    const { context, file } = this;
    const { name, size } = file;
    const { chat, strings, locale, announce } = context;
    try {
      this.uploaded = await chat.upload(withReadableType(file), {
        signal,
        onProgress: (sent) => {
          if (!signal.aborted) this.showSent(sent);
        },
      });
      if (signal.aborted) return;
      this.show('uploaded', sizeText(size, locale));
      announce(fill(strings.uploaded, { name }));
    } catch {
      if (signal.aborted) return;
      const problem = fill(strings.uploadFailed, { name });
      this.show('failed', problem);
      announce(problem);
    }
    this.upload = null;
    this.events.onChange();
  }

  private show(state: 'uploading' | 'uploaded' | 'failed' | 'refused', detail: string): void {
    this.element.dataset['state'] = state;
    this.progress.hidden = state !== 'uploading';
    this.again.hidden = state !== 'failed';
    const { name } = this.file;
    // The detail is a sentence with the name.
    this.name.hidden = detail.includes(name);
    setText(
      this.detail,
      detail.replace(name, () => shortOf(name)),
    );
  }

  private showSent(sent: number): void {
    const { strings, locale } = this.context;
    const { name, size } = this.file;
    const percent = String(Math.round(sent * 100));
    this.progress.setAttribute('aria-valuenow', percent);
    this.progress.setAttribute('aria-valuetext', fill(strings.uploading, { name, percent }));
    this.bar.style.setProperty('inline-size', `${percent}%`);
    setText(this.detail, sizeText(size, locale));
  }

  /** The end of a name tells its kind, so a long name loses its middle. */
  private nameView(): HTMLElement {
    const { name } = this.file;
    const cut = Math.max(0, name.length - 8);
    return make(
      'span',
      { className: 'file-name', attributes: { title: name, dir: 'auto' } },
      make('span', { className: 'file-start', text: name.slice(0, cut) }),
      make('span', { text: name.slice(cut) }),
    );
  }

  private pictureView(): HTMLElement {
    const isImage = isPicture(this.file);
    const view = make('span', { className: 'file-picture' }, icon(isImage ? ICONS.image : ICONS.file));
    if (isImage) void drawPicture(this.file, view);
    return view;
  }
}

/** Without the middle of a long name. */
function shortOf(name: string): string {
  return name.length <= 40 ? name : `${name.slice(0, 28)}…${name.slice(-8)}`;
}

/** On a canvas, because the policy of a page may forbid images from `blob:` URLs. The icon stays for what is no image. */
async function drawPicture(file: File, view: HTMLElement): Promise<void> {
  try {
    const side = PICTURE_SIZE * Math.ceil(globalThis.devicePixelRatio);
    const bitmap = await createImageBitmap(file);
    const canvas = make('canvas', { attributes: { width: String(side), height: String(side), 'aria-hidden': 'true' } });
    const scale = Math.max(side / bitmap.width, side / bitmap.height);
    const [width, height] = [bitmap.width * scale, bitmap.height * scale];
    canvas.getContext('2d')?.drawImage(bitmap, (side - width) / 2, (side - height) / 2, width, height);
    bitmap.close();
    view.replaceChildren(canvas);
  } catch {
    // The icon stays.
  }
}
