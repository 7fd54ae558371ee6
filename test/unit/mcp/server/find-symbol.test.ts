import assert from 'node:assert/strict'
import type { OutlineSymbol } from '../../../../src/mcp/server/editor-features.ts'
import { findSymbol } from '../../../../src/mcp/server/find-symbol.ts'
import type { ToolContext } from '../../../../src/mcp/server/tool.ts'

/** The symbol found in a file, and the CPU time in milliseconds. */
async function find(
  text: string,
  name: string,
  outline: OutlineSymbol[] = [],
  line?: number,
  column?: number,
) {
  const context = {
    features: { open: async () => ({ text, isNew: false }), outline: async () => outline },
    roots: { file: async (file: string) => file },
  } as unknown as ToolContext
  const before = process.cpuUsage()
  const at = await findSymbol({ file: '/a.ts', name, line, column }, context).then(
    found => found.at,
    (error: Error) => error.message,
  )
  const { user, system } = process.cpuUsage(before)
  return { at, ms: (user + system) / 1000 }
}

const symbol = (name: string, children: OutlineSymbol[] = []): OutlineSymbol => {
  const at = { line: 1, column: 1 }
  return { name, kind: 'class', detail: '', at, span: { start: at, end: at }, children } as OutlineSymbol
}

describe('the symbol that an agent names', () => {
  it('is found where it stands as a word, nearest to the column', async () => {
    assert.deepEqual((await find('parser\n  parse(parse)', 'parse')).at, { line: 2, column: 3 })
    assert.deepEqual((await find('x\nparse(parse)', 'parse', [], 2, 6)).at, { line: 2, column: 7 })
    assert.deepEqual((await find('x\nparse(parse)', 'parse', [], 2)).at, { line: 2, column: 1 })
    assert.deepEqual((await find('parse', 'parse')).at, { line: 1, column: 1 })
    assert.match(String((await find('parser', 'parse')).at), /There is no "parse" in that file/)
    assert.match(String((await find('x\ny', 'x', [], 3)).at), /only 2 lines/)
  })

  it('is looked up in a limited number of the files that declare the name', async () => {
    const location = { start: { line: 1, column: 1 }, end: { line: 1, column: 1 } }
    const symbols = async () =>
      Array.from({ length: 20_000 }, (_, i) => ({
        ...{ name: 'create', kind: 'function' },
        location: { ...location, path: `/${i}` },
      }))
    let looks = 0
    const within = async (all: unknown[]) => {
      looks += all.length
      return all
    }
    const context = { features: { symbols }, roots: { within, name: String } } as unknown as ToolContext
    await assert.rejects(findSymbol({ name: 'create' }, context), /very many symbols with that name/)
    assert.ok(looks <= 1000, `${looks} looks`)
  })

  it("isn't unique if other symbols with its name weren't looked up", async () => {
    const location = { path: '/a', start: { line: 1, column: 1 }, end: { line: 1, column: 1 } }
    const symbols = async () =>
      Array.from({ length: 2000 }, () => ({ name: 'create', kind: 'function', location }))
    for (const count of [0, 1]) {
      const roots = { within: async (all: unknown[]) => all.slice(0, count), name: String }
      const context = { features: { symbols }, roots } as unknown as ToolContext
      await assert.rejects(findSymbol({ name: 'create' }, context), /very many symbols with that name/)
    }
  })

  it('is searched for in time that a file or an outline cannot extend', async () => {
    const reference = 'a b '.repeat(500_000)
    const { ms: usual } = await find(reference, 'c')
    const nested = Array.from({ length: 60 }).reduce<OutlineSymbol[]>(inner => [symbol('a', inner)], [])
    const cases: Array<[string, string, OutlineSymbol[]?]> = [
      ['a'.repeat(2_000_000), 'a'.repeat(500)],
      ['+'.repeat(2_000_000), `${'+'.repeat(499)}x`],
      ['a\n'.repeat(1_000_000), 'b'],
      ['x', `${'a.'.repeat(12)}b`, nested],
    ]
    for (const [text, name, outline] of cases) {
      const { at, ms } = await find(text, name, outline)
      assert.equal(typeof at, 'string')
      assert.ok(ms < 25 * usual, `${ms} ms for ${name.slice(0, 20)}, ${usual} ms usually`)
    }
  })
})
