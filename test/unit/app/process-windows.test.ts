import assert from 'node:assert/strict'
import { ProcessWindows } from '../../../src/app/process-windows.ts'

type Window = Parameters<ProcessWindows['add']>[0]

describe('the windows of a process', () => {
  const told: string[] = []
  const window = (name: string): Window => ({
    network: { strictSSL: name === 'strict' },
    settingValues: {},
    settings: { onDidChange: () => ({ dispose() {} }) } as unknown as Window['settings'],
    dialogs: {
      warn: async (text: string) => {
        told.push(`${name}: ${text}`)
        return name
      },
    } as unknown as Window['dialogs'],
  })
  beforeEach(() => {
    told.length = 0
  })

  it('tell the user what was found before the first one was open, or after the last one closed', async () => {
    const windows = new ProcessWindows()
    const early = windows.warn('early')
    const first = windows.add(window('first'))
    assert.equal(await early, 'first')
    const second = windows.add(window('second'))
    assert.equal(await windows.warn('both'), 'second')
    second.dispose()
    assert.equal(await windows.warn('one'), 'first')
    first.dispose()
    const late = windows.warn('late')
    windows.add(window('third'))
    assert.equal(await late, 'third')
    assert.deepEqual(told, ['first: early', 'second: both', 'first: one', 'third: late'])
  })

  it('answer with the settings of one that is open, or was last', () => {
    const windows = new ProcessWindows()
    assert.deepEqual(windows.network(), {})
    const first = windows.add(window('strict'))
    const second = windows.add(window('loose'))
    assert.deepEqual(windows.network(), { strictSSL: false })
    second.dispose()
    assert.deepEqual(windows.network(), { strictSSL: true })
    first.dispose()
    assert.deepEqual(windows.network(), { strictSSL: true })
  })
})
