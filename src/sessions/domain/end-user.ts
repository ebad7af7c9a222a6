/** An e-mail address may change and is personal data, so it is refused as `endUser`. */
export function looksLikeEmail(text: string): boolean {
  const at = text.indexOf('@');
  return at > 0 && at === text.lastIndexOf('@') && /^[^\s@]+\.[^\s@.]+$/.test(text.slice(at + 1)) && !/\s/.test(text);
}
