import assert from 'node:assert/strict'
import { answerText, DataMark } from '../../../../src/mcp/server/answer.ts'
import { applyChanges } from '../../../../src/mcp/server/apply-changes.ts'
import { debugTools } from '../../../../src/mcp/server/debug-tools.ts'
import { editingTools } from '../../../../src/mcp/server/editing-tools.ts'
import type { EditorFeatures, Location, TaskInfo } from '../../../../src/mcp/server/editor-features.ts'
import { readingTools } from '../../../../src/mcp/server/reading-tools.ts'
import { TaskReferences } from '../../../../src/mcp/server/seen-tasks.ts'
import { haveSameLines } from '../../../../src/mcp/server/text-lines.ts'
import type { EditorTool, ToolContext } from '../../../../src/mcp/server/tool.ts'
import { dataOf } from '../../../support/tool-rig.ts'

const LINES = 200_000
const span = (line: number) => ({ start: { line, column: 1 }, end: { line, column: 2 } })

/** The answer of a tool, and the CPU time in milliseconds. */
async function call(name: string, input: object, features: Partial<EditorFeatures>) {
  const tools = [...readingTools, ...editingTools, ...debugTools] as unknown as EditorTool<object>[]
  const conversation = { permitted: (_: unknown, __: unknown, work: () => unknown) => work(), write() {} }
  const context = {
    features,
    roots: {
      file: async (file: string) => file,
      has: async () => true,
      within: async (all: unknown[]) => all,
      same: async (file: string, all: string[]) => all.find(one => one === file),
      name: String,
    },
    conversation: async () => conversation,
    signal: new AbortController().signal,
    allowed: new Set(),
  } as unknown as ToolContext
  const before = process.cpuUsage()
  const answer = await tools.find(tool => tool.name === name)!.run(input, context)
  const text = answerText(answer, new DataMark())
  const { user, system } = process.cpuUsage(before)
  return { text, data: dataOf(text), ms: (user + system) / 1000 }
}

describe('an editor tool', () => {
  const text = Array.from({ length: LINES }, (_, i) => `line ${i + 1}`).join('\n')
  const open = async () => ({ text, isNew: false })
  const at = { file: '/a', line: 1, column: 1 }

  it('quotes the lines of many places without reading the file for each', async () => {
    const uses = (count: number): Location[] =>
      Array.from({ length: count }, (_, i) => ({ path: '/a', ...span(LINES - i) }))
    const { data, text: whole } = await call('references', at, { open, locations: async () => uses(6000) })
    assert.equal(data[0], `/a:${LINES}:1: line ${LINES}`)
    assert.match(whole, /Only 5000 of 6000 are listed\./)
    const { ms: few } = await call('references', at, { open, locations: async () => uses(50) })
    const { ms: many } = await call('references', at, { open, locations: async () => uses(5000) })
    assert.ok(many < 50 * Math.max(few, 1), `${many} ms, ${few} ms for a hundredth`)
  })

  it('shows messages with much white space on one line', async () => {
    const message = (length: number) => `wrong\n  ${' '.repeat(length)}here`
    const problems = (length: number) => async () => [
      { path: '/a', problems: [{ severity: 'error' as const, message: message(length), ...span(1) }] },
    ]
    const { data } = await call('diagnostics', {}, { problems: problems(3) })
    assert.deepEqual(data, ['/a:1:1: error: wrong here'])
    const { ms: some } = await call('diagnostics', {}, { problems: problems(5000) })
    const { ms: much } = await call('diagnostics', {}, { problems: problems(500_000) })
    assert.ok(much < 50 * Math.max(some, 1), `${much} ms, ${some} ms for a hundredth`)
  })

  it('reads only the problems that are in the answer', async () => {
    let read = 0
    const problem = (line: number) => ({
      severity: 'error' as const,
      ...span(line),
      get message() {
        read++
        return 'a\n'.repeat(5000)
      },
    })
    const problems = async () => [
      { path: '/a', problems: Array.from({ length: 5000 }, (_, i) => problem(i + 1)) },
    ]
    const { text: answer } = await call('diagnostics', { offset: 4000 }, { problems })
    assert.match(answer, /more lines of 5000\./)
    assert.ok(read < 20, `${read} messages`)
  })

  it('lists a limited number of problems, and counts all', async () => {
    const problems = async () => [
      {
        path: '/a',
        problems: Array.from({ length: 7000 }, (_, i) => ({
          severity: 'error' as const,
          message: '',
          ...span(i + 1),
        })),
      },
    ]
    const { text: answer } = await call('diagnostics', {}, { problems })
    assert.match(answer, /^7000 problems\. Only 5000 of 7000 are listed\./)
    assert.match(answer, /more lines of 5000\./)
  })

  it('gives any part of a long text', async () => {
    const unsaved = async () => ['/a']
    const readUnsaved = async () => ({ text })
    const first = await call('unsaved_text', { file: '/a' }, { unsaved, readUnsaved })
    assert.equal(first.data[0], 'line 1')
    const offset = Number(/"offset": (\d+)/.exec(first.text)?.[1])
    const next = await call('unsaved_text', { file: '/a', offset }, { unsaved, readUnsaved })
    assert.equal(next.data[0], `line ${offset + 1}`)
    assert.equal(first.data.length, offset)
    const last = await call('unsaved_text', { file: '/a', offset: LINES - 1 }, { unsaved, readUnsaved })
    assert.deepEqual(last.data, [`line ${LINES}`])
    assert.match(
      (await call('unsaved_text', { file: '/a', offset: LINES }, { unsaved, readUnsaved })).text,
      /only 200000 lines/,
    )
  })

  it('names the lines that it changed, wherever they are', async () => {
    const format = (...lines: number[]) =>
      call(
        'format',
        { file: '/a' },
        { open, format: async () => lines.map(line => ({ ...span(line), text: 'L' })) },
      )
    assert.deepEqual((await format(1)).data, ['/a:1'])
    assert.deepEqual((await format(LINES)).data, [`/a:${LINES}`])
    assert.deepEqual((await format(3, 5000, 120_000)).data, ['/a:3, 5000, 120000'])
    const many = (await format(...Array.from({ length: 30 }, (_, i) => 10 + i))).data
    assert.match(many[0]!, /^\/a:10, 11, .*, 29 and more$/)
  })

  it('names changed lines of texts with other line ends and lengths, as many as they are', async () => {
    const format = async (before: string, after: string) => {
      const all = { start: { line: 1, column: 1 }, end: { line: 99, column: 1 } }
      const features = {
        open: async () => ({ text: before, isNew: false }),
        format: async () => [{ ...all, text: after }],
      }
      return (await call('format', { file: '/a' }, features)).data[0]
    }
    assert.equal(await format('a\nb\nc', 'a\nlonger\nc'), '/a:2')
    assert.equal(await format('a\nb\nc', 'x\nb\n'), '/a:1, 3')
    assert.equal(await format('a\nb\n', 'a\nb\nc\n'), '/a:3')
    assert.equal(await format('a\nb\nc\n', 'a\nc\n'), '/a:2')
    assert.equal(await format('a\r\nb\n', 'a\nb\n'), '/a:1')
    assert.equal(await format('ab\nc', 'a\nc'), '/a:1')
  })

  it('applies many changes to one long line in time that grows with them', () => {
    const line = 'abc '.repeat(500_000)
    const changes = (count: number) =>
      Array.from({ length: count }, (_, i) => {
        const at = { line: 1, column: 4 * i + 1 }
        return { start: at, end: at, text: 'x' }
      })
    const apply = (count: number) => {
      const before = process.cpuUsage()
      const { length } = applyChanges(line, changes(count))
      const { user, system } = process.cpuUsage(before)
      assert.equal(length, line.length + count)
      return (user + system) / 1000
    }
    const few = apply(500)
    const many = apply(50_000)
    assert.ok(many < 50 * Math.max(few, 1), `${many} ms, ${few} ms for a hundredth`)
  })

  it('waits for a text of the editor whose line ends may be others', () => {
    assert.ok(haveSameLines('a\r\nb\n', 'a\nb\r\n'))
    assert.ok(haveSameLines('', ''))
    for (const [one, other] of [
      ['a\n', 'a'],
      ['a', 'a\r\n'],
      ['a\rb', 'a\nb'],
      ['a\r\r\nb', 'a\r\nb'],
      ['ab', 'ac'],
    ] as const)
      assert.ok(!haveSameLines(one, other) && !haveSameLines(other, one), JSON.stringify([one, other]))
  })

  it('applies changes to lines, also after the last one', () => {
    const change = (line: number, column: number, more: string) => ({
      start: { line, column },
      end: { line, column },
      text: more,
    })
    assert.equal(
      applyChanges('a\r\nb\n', [change(1, 9, '1'), change(2, 2, '2'), change(3, 1, '3')]),
      'a1\r\nb2\n3',
    )
    assert.equal(applyChanges('a', [change(5, 1, 'b')]), 'ab')
  })

  it('refuses a symbol name with too many parts', async () => {
    const name = `${'a.'.repeat(50)}b`
    const outline = async () => []
    await assert.rejects(call('hover', { file: '/a', name }, { open, outline }), /too many parts/)
  })
})

describe('references to tasks', () => {
  const task = (name: string, more: Partial<TaskInfo> = {}): TaskInfo => ({ name, source: 'npm', ...more })

  it('are names, names with a source, the default build task, or objects', () => {
    const object = JSON.stringify({ type: 'npm', script: 'b' })
    const a = task('a', { dependsOn: ['npm: b', 'none'] })
    const b = task('b', {
      group: 'build',
      isDefault: true,
      content: JSON.stringify([{ type: 'npm', script: 'b' }]),
    })
    // named like the object
    const decoy = task(object)
    const references = new TaskReferences([a, b, decoy])
    assert.deepEqual(references.find('b', undefined), [b])
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a variable of launch.json
    assert.deepEqual(references.find('${defaultBuildTask}', undefined), [b])
    assert.deepEqual(references.find(object, undefined), [decoy, b])
    assert.deepEqual(references.before([a]), [b])
    assert.deepEqual(references.missing([a]), ['none'])
  })

  it('are followed once, however many tasks have them', () => {
    const names = Array.from({ length: 500 }, (_, i) => `t${i}`)
    const all = names.map(name => task(name, { dependsOn: [...names, 'none'] }))
    const references = new TaskReferences(all)
    let searches = 0
    const find = references.find.bind(references)
    references.find = (...args) => {
      searches++
      return find(...args)
    }
    assert.equal(references.before([all[0]!]).length, 499)
    assert.deepEqual(references.missing(all), ['none'])
    assert.equal(searches, 2 * 501)
  })

  it('compare all tasks with a limited number of objects', () => {
    let compared = 0
    const other: TaskInfo = {
      ...task('a'),
      get content() {
        compared++
        return '[{}]'
      },
    }
    const references = new TaskReferences([other])
    for (let i = 0; i < 1000; i++) references.find(`{"x":${i}}`, undefined)
    assert.ok(compared <= 2, `${compared} readings`)
  })
})
