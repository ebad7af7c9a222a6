/** Invisible characters: spaces, controls, joiners and fillers, and the empty Braille pattern. */
const UNSEEN = /[\p{Default_Ignorable_Code_Point}\p{C}\p{Z}\u2800]+/gu;

export function isBlank(text: string): boolean {
  return text.replace(UNSEEN, '') === '';
}

/** The text with each sequence of invisible characters replaced by a space, so that texts that look the same are equal. */
export function visibleText(text: string): string {
  return text.normalize().replace(UNSEEN, ' ').trim();
}
