// The built service, which kills itself after it has stored DIE_AFTER parts of large documents.
import { built, startExtended } from './extended-service.mjs';

const { DocumentWriter } = await built('knowledge/index/application/indexing/document-writer.js');
const { step } = DocumentWriter.prototype;
let left = Number(process.env.DIE_AFTER);
DocumentWriter.prototype.step = async function (...parameters) {
  if (left === 0) process.kill(process.pid, 'SIGKILL');
  left -= 1;
  return step.apply(this, parameters);
};

await startExtended({});
