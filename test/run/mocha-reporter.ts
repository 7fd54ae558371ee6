import Mocha from 'mocha'
import { formatTally } from './tally.ts'

/** Mocha's own report, ended by the line that the runner of all suites adds up. */
export default class TallyReporter extends Mocha.reporters.Spec {
  override epilogue(): void {
    super.epilogue()
    const { passes: passed, failures: failed, pending: skipped } = this.stats
    Mocha.reporters.Base.consoleLog(formatTally({ passed, failed, skipped }))
  }
}
