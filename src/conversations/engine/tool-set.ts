import type { ModelMessage, ToolDefinition } from '../../models/index.js';
import type { OfferedTool } from '../ports/index.js';
import { FIND_TOOLS, findTools, namesFoundIn } from './find-tools.js';
import { MAX_LISTED_SHARE, MAX_LISTED_TOOLS, MAX_NAMED_TOOLS } from './limits.js';

/**
 * The tools of one run. All of them can be called; where there are very many, a request has only those that
 * cannot be searched for, `find_tools`, and those that were found or called.
 */
export class ToolSet {
  private readonly byName = new Map<string, OfferedTool>();
  private readonly hidden = new Set<string>();
  private readonly listed: ToolDefinition[] = [];

  /** @param contextCharacters what the model takes */
  constructor(offered: readonly OfferedTool[], contextCharacters: number) {
    for (const tool of offered) if (!this.byName.has(tool.definition.name)) this.byName.set(tool.definition.name, tool);
    const searchable = [...this.byName.values()].filter((tool) => tool.searchable === true);
    if (areTooMany(searchable, contextCharacters)) {
      for (const { definition } of searchable) this.hidden.add(definition.name);
      const search = findTools(searchable.map(({ definition }) => definition), (names) => {
        for (const name of names) this.list(name);
      });
      this.byName.set(FIND_TOOLS, search);
      this.hidden.delete(FIND_TOOLS);
    }
    for (const [name, { definition }] of this.byName) if (!this.hidden.has(name)) this.listed.push(definition);
  }

  /** What the next request has. New ones come last, so that what providers have cached of the list stays of use. */
  definitions(): readonly ToolDefinition[] {
    return [...this.listed];
  }

  find(name: string): OfferedTool | undefined {
    return this.byName.get(name);
  }

  /** The tool that is called; from then on requests have it. */
  use(name: string): OfferedTool | undefined {
    this.list(name);
    return this.byName.get(name);
  }

  /** Makes requests have what was called or found in an exchange that a run goes on with. */
  useAgain(exchange: readonly ModelMessage[]): void {
    for (const entry of exchange) {
      if (entry.role === 'assistant') for (const { name } of entry.toolCalls) this.list(name);
      if (entry.role === 'tool' && entry.toolName === FIND_TOOLS) for (const name of namesFoundIn(entry.output)) this.list(name);
    }
  }

  /** Some names, to be told to a model that has called what there is not. */
  names(): string {
    const some = this.listed.slice(0, MAX_NAMED_TOOLS).map(({ name }) => name);
    const more = this.byName.size - some.length;
    if (more === 0) return some.join(', ') || 'none';
    const searched = this.byName.has(FIND_TOOLS) && this.hidden.size > 0 ? `, to be found with ${FIND_TOOLS}` : '';
    return `${some.join(', ')} and ${more} more${searched}`;
  }

  private list(name: string): void {
    const tool = this.byName.get(name);
    if (tool && this.hidden.delete(name)) this.listed.push(tool.definition);
  }
}

function areTooMany(tools: readonly OfferedTool[], contextCharacters: number): boolean {
  if (tools.length > MAX_LISTED_TOOLS) return true;
  let left = contextCharacters * MAX_LISTED_SHARE;
  for (const { definition } of tools) {
    left -= charactersOf(definition);
    if (left < 0) return true;
  }
  return false;
}

/** Sources offer the same definitions run after run, and schemas may be large. */
const knownCharacters = new WeakMap<ToolDefinition, number>();

function charactersOf(definition: ToolDefinition): number {
  const characters = knownCharacters.get(definition) ?? JSON.stringify(definition).length;
  knownCharacters.set(definition, characters);
  return characters;
}
