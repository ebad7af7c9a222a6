// Otherwise a file of a minute may start last and leave the other core idle. Jest reads durations from its cache, which a clean clone
// does not have; without it jest orders files by size, and these are small.
import { createRequire } from 'node:module';

const { default: Sequencer } = createRequire(import.meta.url)('@jest/test-sequencer');

/** Files of more than 15 seconds on two cores, the slowest first. */
const SLOW = [
  'bad-input',
  'hostile-input',
  'kill-at-each-step',
  'database-maintenance',
  'claude-agent-runs',
  'route-declarations',
  'crawl-killed',
  'recall-against-brute-force',
  'provider-faults',
  'rotate-secrets',
  'website-crawl-faults',
  'tool-servers',
  'document-parser',
  'drive-sync',
  'drive-sync-repeated',
  'start',
  'kill',
  'website-polite-crawl',
  'command-line',
  'uploads-take-turns',
  'archive',
  'resumed-run',
  'kill-in-hooks',
  'conformance',
  'long-results',
];

export default class SlowFilesFirst extends Sequencer {
  sort(tests) {
    const place = ({ path }) => {
      const [name] = path.slice(path.lastIndexOf('/') + 1).split('.');
      const index = SLOW.indexOf(name);
      return index === -1 ? SLOW.length : index;
    };
    return super.sort(tests).sort((a, b) => place(a) - place(b));
  }
}
