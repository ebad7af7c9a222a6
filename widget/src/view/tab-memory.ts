/** Small notes of a widget about its tab, such as that its panel is open. Where the browser forbids storage, nothing is kept. */
export class TabMemory {
  /** @param storageKey identifies the widget if a page has several */
  constructor(private readonly storageKey: string) {}

  get(name: 'open' | 'sound' | 'teaser'): string | null {
    try {
      return sessionStorage.getItem(this.key(name));
    } catch {
      return null;
    }
  }

  /** @param value null removes the note */
  set(name: 'open' | 'sound' | 'teaser', value: string | null): void {
    try {
      if (value === null) sessionStorage.removeItem(this.key(name));
      else sessionStorage.setItem(this.key(name), value);
    } catch {
      // The storage is full or forbidden.
    }
  }

  private key(name: string): string {
    return `agent-chat:${name}:${this.storageKey}`;
  }
}
