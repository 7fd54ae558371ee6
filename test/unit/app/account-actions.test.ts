import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type AccountActionsOptions, addAccount } from '../../../src/app/agents/account-actions.ts'
import type { InputOptions, PickItem } from '../../../src/app/workbench.ts'

const claude = {
  ...{ id: 'claude', name: 'Claude Code', command: 'c', args: [], env: {}, startable: true },
  source: 'settings' as const,
}

describe('Add Account', () => {
  let root: string
  let written: unknown[]
  let typed: string[]
  let update: (value: unknown) => Promise<void>
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'parley-add-account-'))
    written = []
    typed = ['Work']
    update = async value => void written.push(value)
  })
  afterEach(() => rmSync(root, { recursive: true, force: true }))

  const options = () =>
    ({
      settings: { layers: () => [{ scope: 'user', value: { claude: { command: 'c' } } }] },
      definitions: () => [claude],
      folder: join(root, 'accounts'),
      forget: async () => {},
      workbench: {
        isTrusted: true,
        execute: async () => {},
        settings: {},
        dialogs: {
          input: async ({ validate }: InputOptions) => typed.find(text => validate?.(text) === undefined),
          pick: async (items: PickItem[]) => items[0],
          info: async () => undefined,
        },
      },
    }) as unknown as AccountActionsOptions
  const add = () => {
    const all = options()
    Object.assign(all.workbench.settings, { update: (_: string, value: unknown) => update(value) })
    return addAccount(all, 'claude')
  }

  it('writes an entry with a folder of its own, which has no name from outside', async () => {
    typed = ['', ' ', '../../../Wörk \u202e/..']
    await add()
    const folder = join(root, 'accounts', 'claude-wo-rk')
    const [value] = written as [Record<string, { account: unknown }>]
    assert.deepEqual(Object.keys(value), ['claude', 'claude-wo-rk'])
    assert.deepEqual(value['claude-wo-rk']?.account, { of: 'claude', folder })
    if (process.platform !== 'win32') assert.equal(statSync(folder).mode & 0o777, 0o700)
  })

  it('leaves nothing behind if the settings cannot be written, and has the same folder after that', async () => {
    const folder = join(root, 'accounts', 'claude-work')
    const write = update
    update = async () => {
      assert.ok(existsSync(folder))
      throw new Error('Unable to write into user settings because the file has unsaved changes.')
    }
    await assert.rejects(add(), /unsaved changes/)
    assert.equal(existsSync(folder), false)
    update = write
    await add()
    assert.deepEqual(Object.keys(written[0] as object), ['claude', 'claude-work'])
  })

  it('says if the folder cannot be created, and writes no entry', async () => {
    writeFileSync(join(root, 'accounts'), '')
    await assert.rejects(add(), /^Error: Can't create the folder of the account: /)
    assert.deepEqual(written, [])
  })
})
