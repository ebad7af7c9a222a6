// Otherwise a file of a minute may start last and leave the other core idle. Jest reads durations from its cache, which a clean clone
// does not have; without it jest orders files by size, and these are small.
import { createRequire } from 'node:module';

const { default: Sequencer } = createRequire(import.meta.url)('@jest/test-sequencer');

/** Files of more than 15 seconds on two cores, the slowest first. */
const SLOW = [
  'kill',
  'crawl-killed',
  'kill-at-each-step',
  'former-release',
  'start',
  'hostile-input',
  'bad-input',
  'rotate-secrets',
  'replicas',
  'pages',
  'matrix',
  'claude-agent-runs',
  'provider-faults',
  'tool-servers',
  'migrations-under-load',
  'redis-topologies',
  'memory-of-runs',
  'backup',
  'webhooks-killed',
  'jobs',
  'bucket-credentials',
  'guide',
  'website-crawl-faults',
  'kill-between-call-and-result',
  'deliveries',
  'search-quality-hybrid',
  'command-line',
  'stop',
  'migrate',
  'claude-agent-faults',
  'document-parser',
  'recall-against-brute-force',
  'kill-in-hooks',
  'drive-sync-repeated',
  'changed-elsewhere',
  'website-polite-crawl',
  'route-declarations',
  'push-killed',
  'attachments-refused',
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
