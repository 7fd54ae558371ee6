/** One test in the extension host, as written to the results file. */
export interface TestResult {
  title: string
  state: 'passed' | 'failed' | 'skipped'
  milliseconds: number
  /** The stack, with the difference if there is one. */
  error?: string
  /** The stack of the first try, if the test passed only when it was tried again. */
  retriedAfter?: string
}

/** Names the file for an array of `TestResult` as JSON, which is rewritten after every test. */
export const resultsVariable = 'PARLEY_TEST_RESULTS'
/** Runs only the tests whose title contains this text. */
export const grepVariable = 'PARLEY_TEST_GREP'
