/** What the program that starts VS Code asks of the tests in the extension host, as JSON in this variable. */
export const optionsVariable = 'PARLEY_INTEGRATION'

export interface IntegrationOptions {
  /** Runs only the tests whose title contains this text. */
  grep: string
  /** How often a failed test is tried again. */
  retries: number
  /** The sources of the tests to run, below the project's folder; all if empty. */
  files: string[]
}
