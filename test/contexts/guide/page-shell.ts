import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { type PageStep, stepsOf } from './page-blocks.js';
import { differenceOf, type Variables } from './shown-answers.js';

/** Programs that a page calls, each in front of the one with its name: they report what the page's commands do not show. */
const PROGRAMS = {
  // Ends each answer with a line break, and reports its status.
  curl: `#!/bin/sh
PATH="\${PATH#*:}" command curl -w '%{stderr}\\nHTTP %{http_code}\\n' "$@"; code=$?; echo; exit $code
`,
  // What npm's script of that name runs, without the half of a second that npm takes to start.
  npm: `#!/bin/sh
[ "$1 $2 $3 $4" = "run -s cli --" ] || { echo "not a command that a page may run: npm $*" >&2; exit 64; }
shift 4
exec "${process.execPath}" --liftoff-only "${resolve('dist/cli.js')}" "$@"
`,
};
const REFUSED = /^HTTP ([45]\d\d)$/m;
/** Some refusals have no `statusCode`. */
const SHOWN_REFUSAL = /"(statusCode|error)": ["\d]/;
/** A process that a block leaves running in the background ends with its page. */
const KILL_GROUP = 'SIGKILL';

/** Runs the commands of one page, in a folder of its own. */
export class PageShell {
  private readonly folder = mkdtempSync(join(tmpdir(), 'guide-'));
  private readonly groups: number[] = [];

  constructor(private readonly variables: Variables) {
    const programs = join(this.folder, '.programs');
    mkdirSync(programs);
    for (const [name, script] of Object.entries(PROGRAMS)) {
      writeFileSync(join(programs, name), script);
      chmodSync(join(programs, name), 0o755);
    }
    symlinkSync(resolve('node_modules'), join(this.folder, 'node_modules'));
    variables['PATH'] = [programs, resolve('node_modules/.bin'), process.env['PATH']].join(delimiter);
  }

  /** @returns the first problem of the page, or undefined */
  async run(page: string): Promise<string | undefined> {
    try {
      for (const step of stepsOf(page)) {
        const problem = await this.problemOf(step);
        if (problem !== undefined) return problem;
      }
      return undefined;
    } finally {
      this.close();
    }
  }

  private async problemOf({ commands, answers, files }: PageStep): Promise<string | undefined> {
    for (const { file = '', text } of files) writeFileSync(join(this.folder, file), text);
    const { code, output, complaints } = await this.execute(commands.text);
    const seen = `\n${output}${complaints}`;
    if (code !== 0) return `line ${commands.line}: the commands end with ${code}:${seen}`;
    const refused = REFUSED.exec(complaints)?.[1];
    if (refused !== undefined && !answers.some(({ text }) => SHOWN_REFUSAL.test(text)))
      return `line ${commands.line}: the service answers ${refused}:${seen}`;
    return differenceOf(output, answers, this.variables);
  }

  /** With the variables of the blocks before it. */
  private async execute(script: string): Promise<{ code: number | null; output: string; complaints: string }> {
    const kept = join(this.folder, '.variables');
    const whole = `set -euo pipefail; set -a\n${script}\nset +a; env -0 > '${kept}'`;
    const child = spawn('bash', ['--noprofile', '--norc', '-c', whole], {
      cwd: this.folder,
      env: this.variables,
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    });
    if (child.pid !== undefined) this.groups.push(child.pid);
    const [output, complaints] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
    if (child.exitCode === 0) Object.assign(this.variables, variablesIn(readFileSync(kept, 'utf8')));
    // Headers end with a carriage return.
    return { code: child.exitCode, output: output.replaceAll('\r', ''), complaints };
  }

  private close(): void {
    for (const group of this.groups) {
      try {
        process.kill(-group, KILL_GROUP);
      } catch {
        // It has ended.
      }
    }
    rmSync(this.folder, { recursive: true, force: true });
  }
}

function variablesIn(environment: string): Variables {
  const lines = environment.split('\0').filter((line) => line.includes('='));
  return Object.fromEntries(lines.map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]));
}
