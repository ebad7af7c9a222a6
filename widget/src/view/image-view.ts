import { button, make } from './dom.js';
import { safeImage } from './safe-urls.js';
import { fill } from './strings.js';
import type { ViewContext } from './view-context.js';

/** Loads an image only when the visitor asks for it, because the request tells the image's server about the visitor. */
export function imageView(src: string, alt: string, context: ViewContext): HTMLElement {
  const url = safeImage(src);
  if (!url) return make('span', { text: alt });
  if (context.isTrustedImage(url) || context.shownImages.has(url.href)) return picture(url, alt);
  const label = fill(context.strings.showImage, { host: url.host });
  const frame = make('span', { className: 'image' });
  const show = button(label, () => {
    context.shownImages.add(url.href);
    const shown = picture(url, alt);
    frame.replaceWith(shown);
    shown.tabIndex = -1;
    shown.focus();
  });
  frame.append(make('span', { className: 'image-alt', text: alt }), show);
  return frame;
}

function picture(url: URL, alt: string): HTMLImageElement {
  const image = make('img', {
    className: 'picture',
    attributes: { alt, referrerpolicy: 'no-referrer', loading: 'lazy', decoding: 'async' },
  });
  image.src = url.href;
  return image;
}
