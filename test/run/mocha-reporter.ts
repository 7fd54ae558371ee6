import { relative } from 'node:path'
import Mocha from 'mocha'
import { projectDirectory } from '../host/paths.ts'
import { formatTally } from './tally.ts'
import { eventsVariable, recordEvents } from './test-events.ts'

/** Mocha's own report, with the totals in one line at the end. Records the events if it's asked to. */
export default class TallyReporter extends Mocha.reporters.Spec {
  constructor(runner: Mocha.Runner, options: Mocha.MochaOptions) {
    super(runner, options)
    const events = process.env[eventsVariable]
    // what tests start has no part in it
    delete process.env[eventsVariable]
    if (events) recordEvents(runner, events, file => relative(projectDirectory, file).replaceAll('\\', '/'))
    runner.on('retry', (_test: Mocha.Test, error: Error) => {
      const reason = error.stack ?? String(error)
      Mocha.reporters.Base.consoleLog(`      tried again after\n${reason.replace(/^/gm, '        ')}`)
    })
  }

  override epilogue(): void {
    super.epilogue()
    const { passes: passed, failures: failed, pending: skipped } = this.stats
    Mocha.reporters.Base.consoleLog(formatTally({ passed, failed, skipped }))
  }
}
