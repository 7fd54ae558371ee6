import assert from 'node:assert/strict'
import { CheckedSecrets } from '../../../src/app/checked-secrets.ts'
import { silentLogger } from '../../../src/common/logger.ts'
import { McpInputs } from '../../../src/mcp/inputs.ts'
import type { McpInput, McpServerDefinition } from '../../../src/mcp/mcp-settings.ts'
import { secretsContract } from '../../support/contracts/secrets.ts'
import { MemorySecrets } from '../sessions/memory-secrets.ts'

describe('secrets that are checked', () => {
  let secrets: MemorySecrets
  let values: Map<string, unknown>
  let warnings: string[]
  const memory = {
    get: <T>(key: string) => values.get(key) as T | undefined,
    set: (key: string, value: unknown) => void values.set(key, structuredClone(value)),
  }
  /** As a new window creates them, which is also what a reload does. */
  const open = () =>
    new CheckedSecrets(
      secrets,
      memory,
      {
        // stays open
        warn(text) {
          warnings.push(text)
          return new Promise(() => {})
        },
      },
      silentLogger,
    )
  const lost = /didn't keep a value that you entered before/
  const refused = /couldn't store the value/

  beforeEach(() => {
    secrets = new MemorySecrets()
    values = new Map()
    warnings = []
  })

  secretsContract(async () => [open(), open()])

  it('cause no warning if they are kept, changed elsewhere or deleted', async () => {
    await open().store('a', '1')
    await open().delete('a')
    const again = open()
    assert.equal(await again.get('a'), undefined)
    await again.store('a', '2')
    const next = open()
    assert.equal(await next.get('a'), '2')
    await next.store('a', '3')
    assert.deepEqual(warnings, [])
  })

  it('work until the reload if they are refused, with a warning when they are entered', async () => {
    secrets.store = async () => {
      throw new Error('no keyring')
    }
    const first = open()
    await first.store('a', '1')
    assert.equal(await first.get('a'), '1')
    assert.match(warnings.join(), refused)
    assert.equal(await open().get('a'), undefined)
    await first.delete('a')
    assert.equal(await first.get('a'), undefined)
  })

  it('cause a warning if another value is read back', async () => {
    secrets.get = async () => undefined
    const first = open()
    await first.store('a', '1')
    assert.equal(await first.get('a'), '1')
    assert.match(warnings.join(), refused)
  })

  it('cause a warning when they are entered again after a reload that lost them', async () => {
    await open().store('a', '1')
    secrets = new MemorySecrets()
    const second = open()
    assert.equal(await second.get('a'), undefined)
    assert.deepEqual(warnings, [])
    await second.store('a', '1')
    assert.match(warnings.join(), lost)
    // every value of that storage is affected
    warnings = []
    secrets = new MemorySecrets()
    const third = open()
    await third.store('b', '1')
    assert.match(warnings.join(), lost)
    // it's over once a value is still there in another window
    warnings = []
    const fourth = open()
    assert.equal(await fourth.get('b'), '1')
    await fourth.store('c', '1')
    assert.deepEqual(warnings, [])
  })

  it('tell the user that an input of an MCP server is lost, with one warning', async () => {
    const input = { id: 'token', type: 'promptString', scope: 'user', options: [] } as unknown as McpInput
    const server = { name: 'vault', scope: 'user' } as McpServerDefinition
    const enter = () =>
      new McpInputs({ prompt: async () => 'open-sesame' }, open(), '').value('token', server, [input])
    assert.deepEqual(await enter(), { value: 'open-sesame' })
    secrets = new MemorySecrets()
    assert.deepEqual(await enter(), { value: 'open-sesame' })
    assert.equal(warnings.length, 1)
  })
})
