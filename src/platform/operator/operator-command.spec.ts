import { describe, expect, it } from '@jest/globals';
import { type OperatorCommand, readArguments, requiredOption, runCommand, UsageError } from './operator-command.js';

const echo = (name: string): OperatorCommand => ({
  name,
  usage: `${name} <id> --color C [--size S]`,
  run: async (args) => {
    const given = readArguments(args, { options: ['color', 'size'], positionals: ['id'] });
    return { id: given.positionals[0], color: requiredOption(given, 'color'), size: given.options.size };
  },
});
const commands = [echo('paint'), echo('paint wall')];
const run = (line: string) => runCommand(commands, line.split(' '));

describe('an operator command', () => {
  it('is found by its longest name', async () => {
    expect(await run('paint x --color red')).toMatchObject({ id: 'x' });
    expect(await run('paint wall x --color red --size=2')).toEqual({ id: 'x', color: 'red', size: '2' });
  });

  it('takes values that begin with a dash', async () => {
    expect(await run('paint x --color -red,-blue')).toMatchObject({ color: '-red,-blue' });
  });

  it.each([
    ['paint', /expected <id>; usage: paint <id> --color C/],
    ['paint x y --color red', /expected <id>/],
    ['paint x', /--color is required; usage/],
    ['paint x --colour red', /--colour.*usage/],
    ['paint x --color', /--color.*usage/],
    ['paint x --color --size 1', /--color.*usage/],
    ['', /unknown command ''; the commands are: paint, paint wall/],
    ['draw x', /unknown command 'draw x'/],
  ])('is refused when written wrongly: %j', async (line, message) => {
    const failure = await run(line).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(UsageError);
    expect((failure as Error).message).toMatch(message);
    expect((failure as Error).message).not.toContain('\n');
  });
});
