import type { ToolDefinition } from '../../models/index.js';
import { MAX_OFFERED_CHARACTERS, MAX_OFFERED_TOOLS } from './limits.js';
import { charactersOf } from './request-definition.js';

/** The searchable tools in requests. Their number and size are bounded; the least recently used are dropped first. */
export class FoundTools {
  /** New tools come last, so that the prompt caches of providers stay valid. */
  private readonly offered = new Map<string, ToolDefinition>();
  /** The least recently used first. */
  private readonly used = new Set<string>();
  private characters = 0;

  get definitions(): readonly ToolDefinition[] {
    return [...this.offered.values()];
  }

  get size(): number {
    return this.offered.size;
  }

  has(name: string): boolean {
    return this.offered.has(name);
  }

  /** Call when the tool was found by a search or called. */
  use(definition: ToolDefinition): void {
    const { name } = definition;
    if (!this.offered.has(name)) this.characters += charactersOf(definition);
    this.offered.set(name, definition);
    this.used.delete(name);
    this.used.add(name);
    for (const oldest of this.used) {
      const fits = this.used.size <= MAX_OFFERED_TOOLS && this.characters <= MAX_OFFERED_CHARACTERS;
      if (fits || oldest === name) break;
      this.drop(oldest);
    }
  }

  private drop(name: string): void {
    const definition = this.offered.get(name);
    if (definition) this.characters -= charactersOf(definition);
    this.offered.delete(name);
    this.used.delete(name);
  }
}
