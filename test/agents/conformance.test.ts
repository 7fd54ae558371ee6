import assert from 'node:assert/strict'
import { plainReport } from '../../src/acp/conformance/report-text.ts'
import { conformanceOf, findingsOf, type Results } from './conformance.ts'
import results from './conformance-results.json' with { type: 'json' }
import type { AgentName } from './install.ts'

/** The help has these results as a table; `test/unit/package/help.test.ts` compares it. */
describe('the check of agents', function () {
  this.timeout(600_000)

  for (const [name, { agent, versions }] of Object.entries(results as Results)) {
    // Parley installs it, see `registry.test.ts`, so its row in the help is that of a run by hand
    if (name === 'opencode') continue
    it(`finds in ${name} what the help says`, async () => {
      const report = await conformanceOf(name as AgentName)
      assert.deepEqual(
        { agent: report.agent, versions: findingsOf(report) },
        { agent, versions },
        plainReport(report),
      )
    })
  }
})
