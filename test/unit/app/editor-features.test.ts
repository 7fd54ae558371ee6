import assert from 'node:assert/strict'
import type * as Features from '../../../src/workbench/tools/editor-features.ts'
import { loadWithFakeVsCode } from './load-in-workbench.ts'

const position = { line: 0, character: 0 }
const text = { range: { start: position, end: position }, newText: 'x' }
const uri = (path: string, scheme = 'file') => ({ scheme, fsPath: path })

/** As in VS Code, where neither `entries` nor `size` knows file operations. */
class WorkspaceEdit {
  readonly #texts: Array<[ReturnType<typeof uri>, unknown[]]>
  readonly #operations: number
  constructor(texts: Array<[ReturnType<typeof uri>, unknown[]]>, operations = 0) {
    this.#texts = texts
    this.#operations = operations
  }
  entries() {
    return this.#texts
  }
  get size() {
    return this.#texts.length
  }
  _allEntries() {
    return [...this.#texts.flatMap(([, edits]) => edits), ...Array.from({ length: this.#operations })]
  }
}

class Position {
  readonly line: number
  readonly character: number
  constructor(line: number, character: number) {
    this.line = line
    this.character = character
  }
  isAfter({ line, character }: Position) {
    return this.line > line || (this.line === line && this.character > character)
  }
}

class Range {
  readonly start: Position
  readonly end: Position
  constructor(...at: [Position, Position] | [number, number, number, number]) {
    if (at.length === 2) [this.start, this.end] = at
    else {
      this.start = new Position(at[0], at[1])
      this.end = new Position(at[2], at[3])
    }
  }
}

class TextPart {
  readonly value: string
  constructor(value: string) {
    this.value = value
  }
}

describe('what the editor tools ask VS Code', () => {
  let answer: unknown
  let remoteName: string | undefined
  const invoked: object[] = []
  const documents: object[] = []
  let features: ReturnType<typeof Features.createEditorFeatures>

  before(async () => {
    const nothing = () => ({ dispose() {} })
    const { createEditorFeatures } = await loadWithFakeVsCode<typeof Features>(
      'workbench/tools/editor-features.ts',
      {
        DiagnosticSeverity: {},
        CancellationTokenSource: class {
          readonly token = { isCancellationRequested: false }
          cancel() {
            this.token.isCancellationRequested = true
          }
          dispose() {}
        },
        LanguageModelTextPart: TextPart,
        env: {
          get remoteName() {
            return remoteName
          },
        },
        workspace: { workspaceFolders: [{ uri: uri('/one') }], textDocuments: documents },
        lm: {
          tools: [{ name: 'runTests' }],
          invokeTool: async (name: string, options: object, token: object) => {
            invoked.push({ name, ...options, ...token })
            return { content: [new TextPart('passed'), {}, new TextPart('2')] }
          },
        },
        Position,
        Range,
        Uri: { file: (path: string) => uri(path) },
        commands: { executeCommand: async () => answer },
        debug: new Proxy({}, { get: (_, name) => (name === 'activeDebugSession' ? undefined : nothing) }),
        window: new Proxy({}, { get: () => nothing }),
      },
    )
    features = createEditorFeatures({} as never)
  })

  const at = { line: 1, column: 1 }

  it('reads unsaved text only of the file that is asked for, and no more than the editor can read without a stop', async () => {
    const read: Array<[string, Range]> = []
    const document = (path: string, lineCount: number, line: string) => ({
      ...{ uri: uri(path), isDirty: true, lineCount },
      getText(range: Range) {
        read.push([path, range])
        return `${line}\n`.repeat(Math.min(lineCount, range.end.line) - range.start.line)
      },
    })
    documents.push(
      document('/small', 2, 'a'),
      document('/many', 15_000_000, ''),
      document('/long', 1, 'x'.repeat(30_000_000)),
    )
    assert.deepEqual(await features.unsaved(), ['/small', '/many', '/long'])
    assert.equal(read.length, 0)
    assert.deepEqual(await features.readUnsaved('/small'), { text: 'a\na\n', isCut: false })
    assert.deepEqual(
      read.map(([path]) => path),
      ['/small'],
    )
    assert.deepEqual(await features.readUnsaved('/many'), { text: '\n'.repeat(500_000), isCut: true })
    const cut = (await features.readUnsaved('/long'))!
    assert.deepEqual([cut.text.length, cut.isCut], [4 << 20, true])
  })

  it('refuses edits that also rename or delete files', async () => {
    answer = new WorkspaceEdit([[uri('/a.ts'), [text]]], 1)
    await assert.rejects(features.rename('/a.ts', at, 'x'), /create, rename or delete files/)
    answer = new WorkspaceEdit([[uri('/a.ts'), [text]]])
    assert.deepEqual(
      (await features.rename('/a.ts', at, 'x')).map(({ path }) => path),
      ['/a.ts'],
    )
  })

  it("gives VS Code's test tool paths that it accepts, and a cancellation token", async () => {
    assert.equal(await features.hasTestTool('testFailure'), false)
    assert.equal(await features.hasTestTool('runTests'), true)
    const input = { files: ['/one/a.ts', '/two/b.ts'], testNames: ['x'] }
    const call = { name: 'runTests', toolInvocationToken: undefined, isCancellationRequested: false }
    assert.equal(await features.runTestTool('runTests', input, new AbortController().signal), 'passed\n2')
    assert.deepEqual(invoked.pop(), { ...call, input })
    remoteName = 'ssh'
    await features.runTestTool('runTests', input, AbortSignal.abort())
    assert.deepEqual(invoked.pop(), {
      ...{ ...call, isCancellationRequested: true },
      input: { files: ['a.ts', '../two/b.ts'], testNames: ['x'] },
    })
  })

  it('refuses edits one by one among actions', async () => {
    answer = [
      { title: 'Elsewhere', edit: new WorkspaceEdit([[uri('/a', 'vscode-notebook-cell'), [text]]]) },
      { title: 'Move', edit: new WorkspaceEdit([], 1) },
      {
        ...{ title: 'Extract', command: { command: 'rename', title: '' } },
        edit: new WorkspaceEdit([[uri('/a.ts'), [text]]]),
      },
      { title: 'Command', command: 'x' },
    ]
    const found = await features.actions('/a.ts', { start: at, end: at })
    assert.deepEqual(
      found.map(({ title, edit, refusal, hasCommand }) => [title, !!edit, !!refusal, !!hasCommand]),
      [
        ['Elsewhere', false, true, false],
        ['Move', false, true, false],
        ['Extract', true, false, true],
        ['Command', false, false, false],
      ],
    )
  })
})
