import assert from 'node:assert/strict'
import { deferred } from '../../../src/common/async.ts'
import type * as Commands from '../../../src/workbench/tools/terminal-commands.ts'
import type * as Selection from '../../../src/workbench/tools/terminal-selection.ts'
import { loadWithFakeVsCode } from './load-in-workbench.ts'

describe('the selection of a terminal, for the editor tools', () => {
  let clipboard: string
  let selected: string
  let writes: string[]
  let isActive: boolean
  let fails: boolean
  let terminalSelection: typeof Selection.terminalSelection

  before(async () => {
    ;({ terminalSelection } = await loadWithFakeVsCode<typeof Selection>(
      'workbench/tools/terminal-selection.ts',
      {
        window: {
          get activeTerminal() {
            return isActive ? { name: 'zsh' } : undefined
          },
        },
        env: {
          clipboard: {
            readText: async () => clipboard,
            writeText: async (text: string) => {
              writes.push(text)
              clipboard = text
            },
          },
        },
        commands: {
          executeCommand: async () => {
            if (fails) throw new Error('no')
            // VS Code copies nothing without a selection
            if (selected !== '') clipboard = selected
          },
        },
      },
    ))
  })
  beforeEach(() => {
    ;[clipboard, selected, writes, isActive, fails] = ['mine', 'chosen', [], true, false]
  })

  it("is read through the clipboard, whose text is the user's again", async () => {
    assert.deepEqual(await terminalSelection(), { terminal: 'zsh', text: 'chosen' })
    assert.equal(clipboard, 'mine')
    selected = ''
    assert.equal(await terminalSelection(), undefined)
    assert.equal(clipboard, 'mine')
    fails = true
    await assert.rejects(terminalSelection())
    assert.equal(clipboard, 'mine')
  })

  it('leaves a clipboard without a text alone if nothing is selected or there is no terminal', async () => {
    ;[clipboard, selected] = ['', '']
    assert.equal(await terminalSelection(), undefined)
    ;[clipboard, isActive] = ['mine', false]
    assert.equal(await terminalSelection(), undefined)
    assert.deepEqual(writes, [])
  })

  it('is read by one call after the other', async () => {
    const found = await Promise.all([terminalSelection(), terminalSelection(), terminalSelection()])
    assert.deepEqual(
      found.map(one => one?.text),
      ['chosen', 'chosen', 'chosen'],
    )
    assert.equal(clipboard, 'mine')
  })
})

describe('the output of a task, for the editor tools', () => {
  let started: (event: object) => void
  let commands: typeof Commands

  before(async () => {
    commands = await loadWithFakeVsCode<typeof Commands>('workbench/tools/terminal-commands.ts', {
      window: {
        onDidStartTerminalShellExecution: (listener: typeof started) => {
          started = listener
        },
        onDidEndTerminalShellExecution() {},
      },
    })
    commands.followTerminals()
  })

  const run = async (name: string, ...chunks: string[]) => {
    async function* read() {
      yield* chunks
    }
    started({ terminal: { name }, execution: { commandLine: { value: name }, read } })
    await new Promise(resolve => setImmediate(resolve))
  }

  it("is that of its terminal, never of the user's with a similar name or of an earlier run", async () => {
    await run('sh', 'earlier')
    const written = commands.followTask({ name: 'sh', source: 'npm' })
    await run('bash', 'mine')
    await run('sh2', 'mine')
    assert.equal(await written(true), undefined)
    await run('npm: sh (folder)', '\u001b[31mred\u001b[0m\r\n', '10%\r100%')
    assert.equal(await written(true), 'red\n100%')
    const plain = commands.followTask({ name: 'sh', source: 'npm' })
    await run('sh', 'now')
    assert.equal(await plain(true), 'now')
  })

  it('is complete after its end, also if VS Code passes on the last of it later', async () => {
    const written = commands.followTask({ name: 'late', source: 'npm' })
    const last = deferred<string>()
    async function* read() {
      yield 'first, '
      yield await last.promise
    }
    started({ terminal: { name: 'late' }, execution: { commandLine: { value: 'late' }, read } })
    await new Promise(resolve => setImmediate(resolve))
    assert.equal(await written(false), 'first, ')
    const whole = written(true)
    last.resolve('last')
    assert.equal(await whole, 'first, last')
  })

  it('keeps only its end', async () => {
    const written = commands.followTask({ name: 'long', source: 'npm' })
    await run('long', 'x'.repeat(300_000), 'end')
    assert.match((await written(true)) ?? '', /^x{199997}end$/)
  })
})
