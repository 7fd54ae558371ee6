import assert from 'node:assert/strict'
import type { AgentClient } from '../../../../src/acp/agent.ts'
import { initializeRequest } from '../../../../src/acp/wire/initialize.ts'
import { SchemaCheck } from '../../../support/schema-check.ts'

const clientInfo = { name: 'parley', title: 'Parley', version: '1.0.0' }
const createElicitation: AgentClient['createElicitation'] = async () => ({ action: 'decline' })

describe('the initialize request', () => {
  it('is valid in both versions, stable and unstable', () => {
    for (const version of [1, 2] as const) {
      for (const unstable of [false, true]) {
        for (const terminalAuth of [false, true]) {
          const params = initializeRequest(
            version,
            { createElicitation },
            { clientInfo, features: { terminalAuth } },
          )
          const check = new SchemaCheck({ version, unstable })
          check.see({
            at: 0,
            direction: 'send',
            message: { jsonrpc: '2.0', id: 0, method: 'initialize', params },
          })
          check.assertClean()
          assert.equal(check.checked.get('InitializeRequest'), 1)
        }
      }
    }
  })

  it('reports only supported capabilities', () => {
    const bare = initializeRequest(1, {}, { clientInfo })
    assert.deepEqual(bare, {
      protocolVersion: 1,
      clientInfo,
      clientCapabilities: {
        fs: { readTextFile: true, writeTextFile: true },
        terminal: true,
        session: { configOptions: { boolean: {} }, notices: {}, compaction: {} },
        plan: {},
        subagents: {},
        auth: { terminal: false },
        _meta: { terminal_output: true },
      },
      info: clientInfo,
      capabilities: {},
    })
    const full = initializeRequest(2, { createElicitation }, { clientInfo, features: { terminalAuth: true } })
    assert.deepEqual(full.clientCapabilities.elicitation, { form: {}, url: {} })
    assert.deepEqual(full.clientCapabilities.auth, { terminal: true })
    assert.deepEqual(full.clientCapabilities._meta, { terminal_output: true, 'terminal-auth': true })
    assert.deepEqual(full.capabilities, { auth: { terminal: {} }, elicitation: { form: {}, url: {} } })
  })
})
