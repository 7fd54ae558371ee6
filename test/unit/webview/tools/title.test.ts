import assert from 'node:assert/strict'
import type { ToolCallEntry } from '../../../../src/conversation/state.ts'
import {
  baseName,
  relativePath,
  runSummary,
  titleOfEdit,
  titleOfTool,
  titleParts,
} from '../../../../src/webview/tools/title.ts'

const roots = { cwd: '/home/ann/project', additional: [{ path: '/home/ann/web', label: 'web' }] }
const parts = (title: string) => {
  const { head, tail, code } = titleParts(title, roots)
  return code ? ['code', head, tail] : [head, tail]
}

const tool = (more: Partial<ToolCallEntry>) =>
  titleOfTool({ title: '', toolKind: 'read', content: [], locations: [], ...more } as ToolCallEntry)

describe('tool titles', () => {
  it('name the tool instead of repeating its input, which is often cut off', () => {
    const rawInput = { message: 'ping' }
    assert.equal(tool({ title: '{"message":"ping"}', toolName: 'echo', rawInput }), 'echo')
    assert.equal(tool({ title: '{"message":"pi', toolName: 'echo', rawInput }), 'echo')
    assert.equal(tool({ title: '{}', toolName: 'echo', rawInput: {} }), 'echo')
    assert.equal(tool({ title: '{"message":"ping"}', rawInput }), 'Read')
    assert.equal(tool({ title: 'apply_patch: {"input":"*** Begin Patch\\n*** Upd', rawInput }), 'apply_patch')
    assert.equal(tool({ title: 'editor({"command": "view"})', rawInput }), 'editor')
    assert.equal(
      tool({ title: 'echo (everything MCP Server): {"message":"ping"}', rawInput }),
      'echo (everything MCP Server)',
    )
    for (const title of ['Read {a,b}.ts', 'Search for {"a": 1} in src', "echo '{}'"])
      assert.equal(tool({ title, rawInput }), title)
    assert.equal(tool({ title: '{"message":"ping"}' }), '{"message":"ping"}')
    assert.equal(tool({ title: 'x {"a": 1}', toolKind: 'execute', rawInput }), 'x {"a": 1}')
  })

  it('name the file if the title is one word', () => {
    assert.equal(tool({ title: 'read', rawInput: { path: '/w/src/a.ts' } }), 'read /w/src/a.ts')
    assert.equal(tool({ title: 'read', locations: [{ path: '/w/b.ts' }] }), 'read /w/b.ts')
    assert.equal(
      tool({ title: 'read', locations: [{ path: 'a/b.ts' }, { path: 'c.ts' }] }),
      'read b.ts, c.ts',
    )
    assert.equal(tool({ title: 'Read the plan', locations: [{ path: '/w/b.ts' }] }), 'Read the plan')
    assert.equal(tool({ title: 'read', toolKind: 'search', rawInput: { path: '/w' } }), 'read')
  })

  it('keep the file name, and show paths relative to the session', () => {
    assert.deepEqual(parts('Edit /home/ann/project/src/a/parser.ts'), ['Edit src/a/', 'parser.ts'])
    assert.deepEqual(parts('Read src/a.ts (1 - 20)'), ['Read src/', 'a.ts (1 - 20)'])
    assert.deepEqual(parts('Move src/a.ts to lib/b.ts'), ['Move src/a.ts to lib/', 'b.ts'])
    assert.deepEqual(parts('/etc/hosts'), ['/etc/', 'hosts'])
    assert.deepEqual(titleParts('Read C:\\Work\\p\\src\\a.ts', { cwd: 'c:\\work\\p', additional: [] }), {
      head: 'Read src\\',
      tail: 'a.ts',
      code: false,
      full: 'Read src\\a.ts',
    })
  })

  it("keep text that isn't a path", () => {
    assert.deepEqual(parts('Search "flaky" in tests'), ['', 'Search "flaky" in tests'])
    assert.deepEqual(parts('Fetch https://example.com/a/b'), ['', 'Fetch https://example.com/a/b'])
    assert.deepEqual(parts(''), ['', ''])
    const escaped = 'printf "\\033[31mred\\033[0m\\nplain\\n"; exit 3'
    assert.deepEqual(parts(escaped), ['', escaped])
  })

  it('remove backticks and join lines', () => {
    assert.deepEqual(parts('`npm test`'), ['code', '', 'npm test'])
    assert.deepEqual(parts('Run `npm\n  test`'), ['', 'Run npm test'])
  })

  it('shorten a long command at its end', () => {
    const command = `cat src/a.ts | ${'grep something | '.repeat(10)}wc`
    assert.deepEqual(parts(command), ['', command])
  })

  it('list the files of an edit without a title', () => {
    assert.equal(titleOfEdit('Edit files', ['/w/a.ts']), 'Edit files /w/a.ts')
    assert.equal(titleOfEdit('Edit a.ts', ['/w/a.ts']), 'Edit a.ts')
    assert.equal(titleOfEdit('Edit', ['/w/a.ts', '/w/a.ts', '/w/b.ts']), 'Edit a.ts, b.ts')
    assert.equal(
      titleOfEdit(
        'Edit',
        ['a', 'b', 'c', 'd'].map(name => `/w/x${name}.ts`),
      ),
      'Edit xa.ts, xb.ts +2',
    )
    assert.equal(titleOfEdit('Run', []), 'Run')
  })

  it('make only paths within the directory relative', () => {
    assert.equal(relativePath('/home/ann/project/a', roots), 'a')
    assert.equal(relativePath('/home/ann/projects/a', roots), '/home/ann/projects/a')
    assert.equal(relativePath('/home/ann/project', roots), '/home/ann/project')
    assert.equal(relativePath('file:///home/ann/project/a', roots), 'a')
    assert.equal(relativePath('/home/ann/web/a/b', roots), 'web/a/b')
    assert.equal(relativePath('/home/ann/website/a', roots), '/home/ann/website/a')
    assert.equal(relativePath('/a', { cwd: '/', additional: [] }), '/a')
    assert.equal(baseName('/a/b/'), 'b')
    assert.equal(baseName('a\\b.ts'), 'b.ts')
  })
})

describe('a run of reads', () => {
  it('is summarized in one line', () => {
    assert.equal(runSummary({ search: 1, read: 2 }), 'Searched once, read 2 files')
    assert.equal(runSummary({ read: 1, fetch: 1 }), 'Read 1 file, fetched 1 page')
  })
})
