// Completes package-lock.json: npm leaves optional platform packages out of the lock when it cannot see them
// while writing it, and `npm ci` then refuses the lock ("Missing: ... from lock file"). Each one gets an entry
// with its platform, so that npm skips it on all others. Run this after every change of the lock.
import { readFileSync, writeFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

// A name comes before every name that is a part of it ('arm64' before 'arm').
const SYSTEMS = ['darwin', 'win32', 'android', 'freebsd', 'openharmony', 'aix', 'sunos', 'netbsd', 'openbsd', 'linux'];
const PROCESSORS = ['arm64', 'x64', 'ia32', 'ppc64', 's390x', 'riscv64', 'loong64', 'mips64el', 'wasm32', 'arm'];

/** Whether Node finds `name`, which the package at `location` requires, in the tree. */
function isLocked(packages, location, name) {
  for (let at = location; ; at = at.slice(0, Math.max(0, at.lastIndexOf('node_modules/') - 1))) {
    if (packages[`${at === '' ? '' : `${at}/`}node_modules/${name}`] !== undefined) return true;
    if (at === '') return false;
  }
}

/** The lock entry of a package with only its name and the required version. */
function stub(name, range, dependent) {
  const version = /\d+\.\d+\.\d+[^\s|]*$/.exec(range)?.[0];
  if (version === undefined) throw new Error(`${name}: cannot tell a version from "${range}"`);
  const os = name.includes('-win-') ? 'win32' : SYSTEMS.find((system) => name.includes(system));
  const cpu = PROCESSORS.find((processor) => name.includes(processor));
  // Without a platform, npm would install the stub unchecked on every machine.
  if (os === undefined && cpu === undefined) throw new Error(`${name}: names no platform; run npm install instead`);
  return {
    version,
    ...(cpu === undefined ? {} : { cpu: [cpu] }),
    ...(dependent.dev ? { dev: true } : {}),
    optional: true,
    ...(os === undefined ? {} : { os: [os] }),
  };
}

/**
 * Adds the missing platform packages and drops download addresses, which differ by registry.
 * Returns the names added; `lock` is changed in place.
 */
export function completeLock(lock) {
  const added = [];
  for (const [location, dependent] of Object.entries(lock.packages)) {
    delete dependent.resolved;
    for (const [name, range] of Object.entries(dependent.optionalDependencies ?? {})) {
      if (isLocked(lock.packages, location, name)) continue;
      lock.packages[`node_modules/${name}`] = stub(name, range, dependent);
      added.push(name);
    }
  }
  lock.packages = Object.fromEntries(Object.entries(lock.packages).sort(([a], [b]) => a.localeCompare(b, 'en')));
  return added;
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  const file = process.argv[2] ?? 'package-lock.json';
  const lock = JSON.parse(readFileSync(file, 'utf8'));
  const added = completeLock(lock);
  writeFileSync(file, `${JSON.stringify(lock, null, 2)}\n`);
  process.stdout.write(`${file}: ${added.length} platform packages added\n`);
}
