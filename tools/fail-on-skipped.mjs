// A reporter for runs in which nothing may be left out: a test that was skipped fails the run, unless the caller chose
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

  /** Asked when everything is over; an error fails the run. */
  getLastError() {
    return this.#error;
  }
}
