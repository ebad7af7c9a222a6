/** Of a chunk's text, in letters of a Latin script; one of a Chinese text takes the room of two. */
export const CHUNK_SIZE = { target: 1_200, max: 2_000 } as const;

const WIDE = /[\u1100-\u11ff\u2e80-\ua4cf\uac00-\ud7ff\uf900-\ufaff\uff00-\uff60]/g;

/** How much room a text takes. */
export function sizeOf(text: string): number {
  return text.length + (text.match(WIDE)?.length ?? 0);
}
