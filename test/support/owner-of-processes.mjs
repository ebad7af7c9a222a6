// Starts a child that starts others, and waits to be killed. Its argument is the folder for them.
import { setInterval } from 'node:timers';
import { ChildProcesses } from '../../dist/platform/processes/index.js';

const [folder] = process.argv.slice(2);
const script = `trap '' TERM HUP INT
echo $$ >> pids
sh -c 'trap "" TERM; echo $$ >> pids; while :; do sleep 1; done' &
sh -c 'sh -c "echo \\$\\$ >> pids; while :; do sleep 1; done" & exit' 
while :; do sleep 1; done`;
await new ChildProcesses({ programPath: process.env.PATH }).start({
  command: 'sh',
  args: ['-c', script],
  env: {},
  folder,
});
setInterval(() => undefined, 60_000);
