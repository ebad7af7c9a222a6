import { describe, expect, it } from '@jest/globals';
import { operatorKernel } from '../../../test/support/operator-kernel.js';
import type { OpenDatabase } from '../database/index.js';
import { SystemClock } from '../clock/index.js';
import { helpOn, helpOnAll, helpTopic } from './command-help.js';
import { readLine, runCommand } from './command-line.js';
import { type CommandArguments, type OperatorCommand, UsageError } from './operator-command.js';

const echo = (name: string): OperatorCommand => ({
  name,
  about: `Does ${name}.`,
  positionals: ['id'],
  options: [
    { name: 'color', value: 'C', required: true, about: 'of the paint' },
    { name: 'size', value: 'S', about: 'in metres' },
    { name: 'twice', about: 'two coats' },
  ],
  handler:
    async () =>
    async (_kernel, { positionals, options, switches }) => ({ positionals, ...options, switches: [...switches] }),
});
const many: OperatorCommand = {
  name: 'mix',
  about: 'Mixes.',
  positionals: ['first', 'other...'],
  handler: async () => async (_kernel, given) => given,
};
const commands = [echo('paint'), echo('paint wall'), many];
const words = (line: string): string[] => (line === '' ? [] : line.split(' '));
const kernel = operatorKernel({} as OpenDatabase, new SystemClock());
const run = (line: string): Promise<object> => runCommand(commands, kernel, words(line));
const read = (line: string): CommandArguments => readLine(commands, words(line)).given;

describe('an operator command', () => {
  it('is found by its longest name', async () => {
    expect(await run('paint x --color red')).toMatchObject({ positionals: ['x'] });
    expect(await run('paint wall x --color red --size=2')).toEqual({
      positionals: ['x'],
      color: 'red',
      size: '2',
      switches: [],
    });
  });

  it('accepts values that begin with a dash, options without a value, and any number of words where declared', () => {
    expect(read('paint x --color -red,-blue').options).toEqual({ color: '-red,-blue' });
    expect(read('paint --twice x --color red').switches).toEqual(new Set(['twice']));
    expect(read('mix a').positionals).toEqual(['a']);
    expect(read('mix a b c').positionals).toEqual(['a', 'b', 'c']);
  });

  it.each([
    ['paint', /^expected <id>; usage: paint <id> --color C \[--size S\] \[--twice\]$/],
    ['paint x y --color red', /^expected <id>/],
    ['mix', /^expected <first> <other...>; usage: mix <first> \[<other>...\]$/],
    ['paint x', /^--color is required; usage/],
    ['paint x --colour red', /^unknown option --colour; did you mean --color\?; usage/],
    ['paint x --colour=red', /^unknown option --colour; did you mean --color\?/],
    ['mix a --color red', /^unknown option --color; usage: mix/],
    ['paint x -c red', /-c.*usage/],
    ['paint x --color', /--color.*usage/],
    ['paint x --color --size 1', /--color.*usage/],
    ['paint x --color red --twice=no', /--twice.*usage/],
    ['draw x', /^unknown command 'draw'; did you mean 'paint'\? --help lists all commands$/],
    ['paint.wall', /^unknown command 'paint.wall'; did you mean 'paint wall'\?/],
  ])('is refused in one line when written wrongly: %j', async (line, message) => {
    const failure = await run(line).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(UsageError);
    expect((failure as Error).message).toMatch(message);
    expect((failure as Error).message).not.toContain('\n');
  });
});

describe('help', () => {
  it('is requested by a word before, or an option anywhere', () => {
    expect(['--help', '-h', 'help'].map((line) => helpTopic(words(line)))).toEqual([[], [], []]);
    expect(['help paint wall', 'paint wall --help', '-h paint wall'].map((line) => helpTopic(words(line)))).toEqual([
      ['paint', 'wall'],
      ['paint', 'wall'],
      ['paint', 'wall'],
    ]);
    expect(helpTopic(['paint', 'x', '--color', 'red'])).toBeUndefined();
  });

  it('lists every command, and the arguments of one', () => {
    expect(helpOnAll(commands, 'brush')).toContain(
      '\n  mix         Mixes.\n  paint       Does paint.\n  paint wall  Does paint wall.\n',
    );
    expect(helpOn(commands[0]!, 'brush')).toBe(
      'usage: brush paint <id> --color C [--size S] [--twice]\n\nDoes paint.\n\n' +
        '  --color C  of the paint (required)\n  --size S   in metres\n  --twice    two coats\n',
    );
  });
});
