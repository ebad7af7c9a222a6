import { execFileSync } from 'node:child_process';
import { resolve } from 'node:path';
import { expect, it } from '@jest/globals';

/** The stack of an error that built code throws, in a process of its own: it holds for the whole of one. */
function stackIn(program: string): string {
  const prelude = `
    const { mapStacks } = await import(${JSON.stringify(resolve('dist/platform/stack-traces/index.js'))});
    const { readSettings } = await import(${JSON.stringify(resolve('dist/platform/config/index.js'))});
    mapStacks();
  `;
  return execFileSync(process.execPath, ['--input-type=module', '-e', prelude + program], { encoding: 'utf8' });
}

it('makes stacks name the lines of the sources', () => {
  const stack = stackIn(
    `try { readSettings({ PORT: 'none' }, { role: 'all', demo: false }); } catch (error) { console.log(error.stack); }`,
  );
  expect(stack).toMatch(/^Error: PORT: must be /);
  expect(stack).toMatch(/\n {4}at .+src\/platform\/config\/settings\.ts:\d+:\d+/);
  expect(stack).not.toContain('dist/platform/config/settings.js');
});

it('leaves the positions of what has no map, and of what is no file, as they are', () => {
  const stack = stackIn(`
    const { default: Ajv } = await import('ajv');
    try { new Ajv().compile({ type: 'nothing' }); } catch (error) { console.log(error.stack); }
    console.log(new RangeError('short').stack);
  `);
  expect(stack).toContain('node_modules/ajv/dist/');
  expect(stack).toMatch(/\nRangeError: short\n {4}at .*\[eval/);
});
