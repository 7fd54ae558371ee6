import Mocha from 'mocha'
import { formatTally } from './tally.ts'

/**
 * Mocha's own report, followed by the tests that passed only on the retry, each with its first failure, and the totals
 * in one line.
 */
export default class TallyReporter extends Mocha.reporters.Spec {
  readonly #retried = new Map<string, string>()

  constructor(runner: Mocha.Runner, options: Mocha.MochaOptions) {
    super(runner, options)
    runner.on('retry', (test: Mocha.Test, error: Error) => {
      const reason = error.stack ?? String(error)
      this.#retried.set(test.fullTitle(), reason)
      Mocha.reporters.Base.consoleLog(`      tried again after\n${reason.replace(/^/gm, '        ')}`)
    })
    runner.on('fail', (test: Mocha.Test, error: Error) => {
      const title = test.fullTitle()
      const before = this.#retried.get(title)
      this.#retried.delete(title)
      // The first failure says more: the second may only be a consequence.
      if (before !== undefined) error.stack = `${error.stack}\n\nIt had failed before with\n${before}`
    })
  }

  override epilogue(): void {
    super.epilogue()
    const log = Mocha.reporters.Base.consoleLog
    for (const [title, reason] of this.#retried) log(`  ↻ ${title}\n${reason.replace(/^/gm, '      ')}\n`)
    const { passes: passed, failures: failed, pending: skipped } = this.stats
    log(formatTally({ passed, failed, skipped }))
  }
}
