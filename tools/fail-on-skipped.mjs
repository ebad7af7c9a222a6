// A jest reporter that fails the run when a test was skipped, unless the caller chose
// tests by their names.
export default class FailOnSkipped {
  #error;

  constructor(globalConfig) {
    this.chosen = Boolean(globalConfig.testNamePattern);
  }

  onRunComplete(_contexts, results) {
    const { numPendingTests: skipped, numTodoTests: todo, testResults } = results;
    if (this.chosen || skipped + todo === 0) return;
    const names = testResults.flatMap((file) =>
      file.testResults
        .filter(({ status }) => status === 'pending' || status === 'todo')
        .map(({ fullName }) => `  ${file.testFilePath}: ${fullName}`),
    );
    this.#error = new Error(`${skipped + todo} tests were skipped where none may be:\n${names.join('\n')}`);
    process.stderr.write(`${this.#error.message}\n`);
  }

  /** Jest calls this at the end; an error fails the run. */
  getLastError() {
    return this.#error;
  }
}
