import type { ToolResult } from '../../conversations/index.js';
import type { ListedTool } from '../domain/tool-list.js';

/** A shorter value is part of many texts, which would be spoiled without it. */
const MIN_LENGTH = 8;
const SCHEME = /^[\w-]+ +/;

/** What a server was sent and may repeat, such as to whoever asks for the headers of the request. */
export class Confidential {
  private readonly values: readonly string[];

  constructor(secrets: readonly string[]) {
    const open = secrets.filter((secret) => !isAddress(secret)).flatMap((secret) => [secret, secret.replace(SCHEME, '')]);
    const values = open.flatMap((value) => [value, JSON.stringify(value).slice(1, -1)]).filter(({ length }) => length >= MIN_LENGTH);
    // The longest first: one may begin with another.
    this.values = [...new Set(values)].sort((one, other) => other.length - one.length);
  }

  isIn(text: string): boolean {
    return this.values.some((value) => text.includes(value));
  }

  leftOut(text: string): string {
    return this.values.reduce((left, value) => left.replaceAll(value, '[redacted]'), text);
  }

  /** Of a result's media nothing is looked at: they are pictures and sound. */
  leftOutOfResult(result: ToolResult): ToolResult {
    return { ...result, output: this.leftOut(result.output) };
  }

  /** A tool that has a secret where nothing can be left out is no tool. */
  leftOutOfTool(tool: ListedTool): ListedTool | undefined {
    if (this.values.length === 0) return tool;
    if (this.isIn(tool.name) || this.isIn(JSON.stringify(tool.inputSchema))) return undefined;
    return { ...tool, description: this.leftOut(tool.description) };
  }
}

/** Where a server finds what it serves: its results are full of links to there. */
function isAddress(value: string): boolean {
  const { protocol, username, password, search } = URL.parse(value) ?? {};
  return (protocol === 'https:' || protocol === 'http:') && username === '' && password === '' && search === '';
}
