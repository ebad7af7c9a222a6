import { button, ICONS, iconButton, make } from './dom.js';
import { safeImage } from './safe-urls.js';
import { fill } from './strings.js';
import type { ViewContext } from './view-context.js';

/** Loads an image only when the visitor asks for it, because the request tells the image's server about the visitor. */
export function imageView(src: string, alt: string, context: ViewContext): HTMLElement {
  const url = safeImage(src);
  if (!url) return make('span', { text: alt });
  if (context.isTrustedImage(url) || context.shownImages.has(url.href)) return picture(url, alt, context);
  const label = fill(context.strings.showImage, { host: url.host });
  const frame = make('span', { className: 'image' });
  const show = button(label, () => {
    context.shownImages.add(url.href);
    const shown = picture(url, alt, context);
    frame.replaceWith(shown);
    shown.focus();
  });
  frame.append(make('span', { className: 'image-alt', text: alt }), show);
  return frame;
}

/** A button that shows the image in full size. */
function picture(url: URL, alt: string, context: ViewContext): HTMLButtonElement {
  const { enlarge } = context.strings;
  const image = imageOf(url, alt, 'picture');
  const opener = make(
    'button',
    {
      className: 'enlarge',
      attributes: { type: 'button', 'aria-label': alt === '' ? enlarge : `${enlarge}: ${alt}`, title: enlarge },
      onClick: () => openLarge(opener, url, alt, context),
    },
    image,
  );
  image.addEventListener('error', () => {
    const hadFocus = opener.matches(':focus');
    const link = linkTo(url, alt);
    opener.replaceWith(link);
    if (hadFocus) link.focus();
  });
  return opener;
}

/** In place of an image that cannot be loaded. */
function linkTo({ href, host }: URL, alt: string): HTMLAnchorElement {
  return make('a', {
    text: alt === '' ? host : alt,
    attributes: { href, target: '_blank', rel: 'noopener noreferrer nofollow' },
  });
}

function imageOf(url: URL, alt: string, className: string): HTMLImageElement {
  const image = make('img', {
    className,
    attributes: { alt, referrerpolicy: 'no-referrer', loading: 'lazy', decoding: 'async' },
  });
  image.src = url.href;
  return image;
}

function openLarge(opener: HTMLElement, url: URL, alt: string, { strings }: ViewContext): void {
  const dialog = make(
    'dialog',
    { className: 'large', attributes: { 'aria-label': alt === '' ? strings.enlarge : alt } },
    iconButton(strings.closeImage, ICONS.close, () => dialog.close()),
    imageOf(url, alt, 'large-picture'),
  );
  dialog.addEventListener('click', () => dialog.close());
  dialog.addEventListener('close', () => {
    dialog.remove();
    opener.focus();
  });
  // Outside of the message, which may be drawn again while the image is open.
  opener.getRootNode().appendChild(dialog);
  dialog.showModal();
}
