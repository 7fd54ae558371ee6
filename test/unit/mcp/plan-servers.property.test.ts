import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { readMcpFile } from '../../../src/mcp/mcp-files.ts'
import { isOfWorkspace, type McpPlace, readMcpSource } from '../../../src/mcp/mcp-settings.ts'
import { planServers } from '../../../src/mcp/plan-servers.ts'

const name = fc.constantFrom('a', 'b', 'c', '__proto__', 'toString', '')
const entry = fc.oneof(
  fc.record({ command: fc.constant('x'), disabled: fc.boolean() }),
  fc.record({ type: fc.constantFrom('http', 'sse'), url: fc.constant('https://x/') }),
  fc.jsonValue({ maxDepth: 2 }),
)
const place: fc.Arbitrary<McpPlace> = fc.oneof(
  fc.constant<McpPlace>({ kind: 'settings', label: 'parley.mcpServers', scope: 'user' }),
  fc.constant<McpPlace>({ kind: 'vscodeUser', label: 'user', scope: 'user', file: '/u/mcp.json' }),
  fc.nat(4).map<McpPlace>(at => {
    const file = `/${at}/.mcp.json`
    return { kind: 'mcpJson', label: file, scope: 'folder', folder: String(at), file }
  }),
)
const source = fc
  .tuple(place, fc.array(fc.tuple(name, entry), { maxLength: 6 }))
  .map(([where, entries]) => readMcpSource(where, { servers: Object.fromEntries(entries) }))
/** Each place occurs once. */
const sources = fc.uniqueArray(source, { selector: one => one.file ?? one.label, maxLength: 5 })
const capabilities = fc.record({ stdio: fc.boolean(), http: fc.boolean(), sse: fc.boolean() })

describe('the plan of servers', () => {
  it('names each entry once, and passes at most one of a name: the first one that is on', () => {
    fc.assert(
      fc.property(sources, capabilities, fc.func(fc.boolean()), fc.boolean(), (all, can, off, trusted) => {
        const isOff = (key: string) => (off(key) ? 'everywhere' : undefined)
        const planned = planServers(all, { capabilities: can, isOff, trusted })
        assert.deepEqual(
          planned.map(one => [one.source, one.name]),
          all.flatMap(one => one.entries.map(entry => [one, entry.name])),
        )
        assert.equal(new Set(planned.map(({ key }) => key)).size, planned.length)
        for (const { key, server, source, exclusion } of planned) {
          assert.equal(exclusion?.because === 'off', off(key))
          if (exclusion) continue
          assert.ok(server && can[server.type] && !server.disabled)
          assert.ok(trusted || !isOfWorkspace(source))
        }
        for (const one of new Set(planned.map(({ name }) => name))) {
          const inOrder = planned.filter(
            ({ name, exclusion }) => name === one && exclusion?.because !== 'off',
          )
          assert.ok(inOrder.every(({ exclusion }, at) => (exclusion?.because === 'shadowed') === at > 0))
        }
      }),
    )
  })
})

describe('a file with servers', () => {
  let folder: string
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'parley-mcp-'))
  })
  afterEach(() => rmSync(folder, { recursive: true, force: true }))

  it('is read whatever it contains, and a problem names the file', async () => {
    const file = join(folder, '.mcp.json')
    const text = fc.oneof(
      fc.string(),
      fc.json(),
      fc
        .record({ mcpServers: fc.dictionary(name, entry), inputs: fc.jsonValue() })
        .map(one => JSON.stringify(one)),
      // cut off, as while it is being written
      fc
        .tuple(fc.dictionary(name, entry), fc.nat(100))
        .map(([mcpServers, length]) => JSON.stringify({ mcpServers }).slice(0, length)),
    )
    await fc.assert(
      fc.asyncProperty(text, async content => {
        writeFileSync(file, content)
        const read = await readMcpFile({
          kind: 'mcpJson',
          label: '.mcp.json',
          scope: 'folder',
          folder: 'x',
          file,
        })
        assert.ok(read)
        assert.ok(
          read.problems.every(problem => problem.where.startsWith('.mcp.json') && problem.file === file),
        )
        const names = read.entries.map(one => one.name)
        assert.equal(new Set(names).size, names.length)
      }),
    )
  })
})
