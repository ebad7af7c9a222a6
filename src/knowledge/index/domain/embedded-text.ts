/** What is embedded of a chunk, and what its digest is of: a passage alone often does not say what it is about. */
export function embeddedText(title: string, heading: string | null, text: string): string {
  return `${title}\n${heading ?? ''}\n${text}`;
}
