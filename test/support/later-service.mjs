// The built service, for which it is LATER_MS later than it is: what its predecessor held has lapsed.
const later = Number(process.env.LATER_MS ?? 0);

globalThis.Date = class extends Date {
  constructor(...given) {
    if (given.length === 0) super(Date.now());
    else super(...given);
  }

  static now() {
    return super.now() + later;
  }
};

await import('../../dist/main.js');
