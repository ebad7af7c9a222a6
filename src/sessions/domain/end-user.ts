/** No name of a user that stays the same, and personal data besides. */
export function looksLikeEmail(text: string): boolean {
  const at = text.indexOf('@');
  return at > 0 && at === text.lastIndexOf('@') && /^[^\s@]+\.[^\s@.]+$/.test(text.slice(at + 1)) && !/\s/.test(text);
}
