import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

export interface ClaudeAgentProcess {
  readonly pid: number;
  readonly environment: Readonly<Record<string, string>>;
}

/** The processes of the Claude Agent SDK that a service with this data folder has, as Linux lists them. */
export function claudeAgentProcesses(dataDir: string): ClaudeAgentProcess[] {
  const home = `${resolve(dataDir, 'claude-agent')}/`;
  return readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name)) return [];
    try {
      const [command = ''] = readFileSync(join('/proc', name, 'cmdline'), 'utf8').split('\0');
      const environment = environmentOf(readFileSync(join('/proc', name, 'environ'), 'utf8'));
      return command.endsWith('/claude') && environment['HOME']?.startsWith(home) === true
        ? [{ pid: Number(name), environment }]
        : [];
    } catch {
      // It has ended meanwhile.
      return [];
    }
  });
}

function environmentOf(text: string): Record<string, string> {
  return Object.fromEntries(
    text
      .split('\0')
      .filter((line) => line.includes('='))
      .map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
  );
}
