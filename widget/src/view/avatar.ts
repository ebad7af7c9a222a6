import { make } from './dom.js';
import type { Look } from './look.js';

/** The agent's picture, or the first letter of its name. Decorative: the heading and each message have the name as text. */
export function avatarView({ avatar, name }: Look): HTMLElement {
  const frame = make('span', { className: 'avatar', attributes: { 'aria-hidden': 'true' } });
  // Code points, so that the letter is not half of a surrogate pair.
  const letter = ([...name.trim()][0] ?? '').toLocaleUpperCase();
  if (avatar === null) {
    frame.textContent = letter;
    return frame;
  }
  const image = make('img', { attributes: { alt: '', referrerpolicy: 'no-referrer', decoding: 'async' } });
  image.addEventListener('error', () => {
    frame.textContent = letter;
  });
  image.src = avatar;
  frame.append(image);
  return frame;
}
