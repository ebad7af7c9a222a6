/** The text of a chunk that is embedded, and of which its digest is: a passage alone often lacks its subject. */
export function embeddedText(title: string, heading: string | null, text: string): string {
  return `${title}\n${heading ?? ''}\n${text}`;
}
