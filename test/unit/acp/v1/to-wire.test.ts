import assert from 'node:assert/strict'
import type { AgentCapabilities, ContentBlock, SessionSetup } from '../../../../src/acp/model.ts'
import { serverToWire } from '../../../../src/acp/v1/to-wire.ts'
import { promptToWire, setupToWire } from '../../../../src/acp/wire/to-wire.ts'

describe('what v1 is sent', () => {
  const capabilities: AgentCapabilities = {
    load: true,
    resume: true,
    list: true,
    close: true,
    delete: true,
    additionalDirectories: true,
    logout: true,
    mcp: { stdio: true, http: false, sse: false },
    prompt: { image: false, audio: false, embeddedContext: false },
  }

  it('names only servers that the agent takes, and folders only if there are any', () => {
    const setup: SessionSetup = {
      cwd: '/w',
      additionalDirectories: [],
      mcpServers: [{ type: 'sse', name: 's', url: 'https://s.test', headers: [] }],
    }
    assert.deepEqual(setupToWire(setup, capabilities, serverToWire), { cwd: '/w', mcpServers: [] })
  })

  it('leaves out what a link does not have', () => {
    const link: ContentBlock = { type: 'resource_link', uri: 'file:///a', name: 'a' }
    assert.deepEqual(JSON.parse(JSON.stringify(promptToWire([link], capabilities))), [link])
  })
})
