// The built service, or with PROGRAM=cli its command line, which kills itself at the step DIE_AT of a rotation of secrets.
import { built } from './extended-service.mjs';

function step(name) {
  if (process.env.DIE_AT === name) process.kill(process.pid, 'SIGKILL');
}

const { MasterKeys, RotateSecrets } = await built('platform/vault/index.js');
const { beginRotation, completeRotation } = MasterKeys.prototype;
Object.assign(MasterKeys.prototype, {
  beginRotation() {
    beginRotation.call(this);
    step('the new key is stored');
  },
  completeRotation() {
    step('every secret is under the new key');
    completeRotation.call(this);
    step('the old key is gone');
  },
});
let batches = 0;
const { rotateBatch } = RotateSecrets.prototype;
RotateSecrets.prototype.rotateBatch = async function (...given) {
  await rotateBatch.apply(this, given);
  batches += 1;
  if (batches === 5) step('some secrets are under the new key');
};

await built(process.env.PROGRAM === 'cli' ? 'cli.unbundled.js' : 'main.unbundled.js');
