/** Invisible characters: spaces, controls, joiners and fillers, and the empty Braille pattern. */
const UNSEEN = /[\p{Default_Ignorable_Code_Point}\p{C}\p{Z}\u2800]+/gu;

/** Whether there is nothing in a text that anybody could see. */
export function isBlank(text: string): boolean {
  return text.replace(UNSEEN, '') === '';
}

/** A text as it looks: two texts that differ only in invisible characters are the same. */
export function visibleText(text: string): string {
  return text.normalize().replace(UNSEEN, ' ').trim();
}
