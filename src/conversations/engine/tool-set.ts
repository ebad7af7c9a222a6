import type { ModelMessage, ToolDefinition } from '../../models/index.js';
import type { OfferedTool } from '../ports/index.js';
import { FIND_TOOLS, findTools, namesFoundIn } from './find-tools.js';
import { FoundTools } from './found-tools.js';
import { MAX_LISTED_SHARE, MAX_LISTED_TOOLS, MAX_NAMED_TOOLS } from './limits.js';
import { charactersOf, requestDefinition } from './request-definition.js';

/**
 * The tools of one run. The model can call all of them. When there are very many, requests have only those that are not
 * searchable, `find_tools`, and the tools that were found or called most recently.
 */
export class ToolSet {
  private readonly byName = new Map<string, OfferedTool>();
  /** The searchable tools, when requests do not list them; empty otherwise. */
  private readonly searched = new Map<string, ToolDefinition>();
  private readonly listed: ToolDefinition[] = [];
  private readonly found = new FoundTools();
  /** The names of the caller's own tools. */
  private readonly ofCaller = new Set<string>();

  /**
   * @param contextCharacters the size of the model's context
   * @param callerTools tools that the caller executes. A tool of the agent that has the same name since then wins
   */
  constructor(offered: readonly OfferedTool[], contextCharacters: number, callerTools: readonly ToolDefinition[] = []) {
    for (const tool of offered) if (!this.byName.has(tool.definition.name)) this.byName.set(tool.definition.name, tool);
    const searchable = [...this.byName.values()]
      .filter((tool) => tool.searchable === true)
      .map(({ definition }) => definition);
    if (areTooMany(searchable, contextCharacters)) {
      for (const definition of searchable) this.searched.set(definition.name, definition);
      this.byName.set(
        FIND_TOOLS,
        findTools(searchable, (results) => this.offer(results)),
      );
      this.searched.delete(FIND_TOOLS);
    }
    for (const definition of callerTools) {
      if (this.byName.has(definition.name)) continue;
      this.byName.set(definition.name, callerTool(definition));
      this.ofCaller.add(definition.name);
    }
    for (const [name, { definition }] of this.byName)
      if (!this.searched.has(name)) this.listed.push(requestDefinition(definition));
  }

  definitions(): readonly ToolDefinition[] {
    return [...this.listed, ...this.found.definitions];
  }

  find(name: string): OfferedTool | undefined {
    return this.byName.get(name);
  }

  isOfCaller(name: string): boolean {
    return this.ofCaller.has(name);
  }

  /** Finds a tool to call, and adds it to further requests. */
  use(name: string): OfferedTool | undefined {
    this.list(name);
    return this.byName.get(name);
  }

  /** Adds the tools that were called or found in a resumed exchange to further requests. */
  useAgain(exchange: readonly ModelMessage[]): void {
    for (const entry of exchange) {
      if (entry.role === 'assistant') for (const { name } of entry.toolCalls) this.list(name);
      if (entry.role === 'tool' && entry.toolName === FIND_TOOLS)
        for (const name of namesFoundIn(entry.output).toReversed()) this.list(name);
    }
  }

  /** Some names, for a model that has called a tool that does not exist. */
  names(): string {
    const some = this.definitions()
      .slice(0, MAX_NAMED_TOOLS)
      .map(({ name }) => name);
    const more = this.byName.size - some.length;
    if (more === 0) return some.join(', ') || 'none';
    const searched = this.searched.size > this.found.size ? `, to be found with ${FIND_TOOLS}` : '';
    return `${some.join(', ')} and ${more} more${searched}`;
  }

  /** Adds results of a search to further requests. @returns those for which there is room, the best first */
  private offer(results: readonly ToolDefinition[]): readonly ToolDefinition[] {
    for (const { name } of results.toReversed()) this.list(name);
    return results.filter(({ name }) => this.found.has(name));
  }

  private list(name: string): void {
    const definition = this.searched.get(name);
    if (definition) this.found.use(requestDefinition(definition));
  }
}

function callerTool(definition: ToolDefinition): OfferedTool {
  const call: OfferedTool['call'] = () =>
    Promise.reject(new Error('The caller of the run makes the calls of this tool'));
  return { definition, step: 'tool', effect: 'exempt', call };
}

function areTooMany(tools: readonly ToolDefinition[], contextCharacters: number): boolean {
  if (tools.length > MAX_LISTED_TOOLS) return true;
  let left = contextCharacters * MAX_LISTED_SHARE;
  for (const definition of tools) {
    left -= charactersOf(requestDefinition(definition));
    if (left < 0) return true;
  }
  return false;
}
