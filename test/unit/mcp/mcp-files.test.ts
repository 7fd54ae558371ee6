import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readMcpFile } from '../../../src/mcp/mcp-files.ts'

describe('a file with MCP servers', () => {
  let folder = ''
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'parley-mcp-files-'))
  })
  after(() => rmSync(folder, { recursive: true, force: true }))

  /** Milliseconds of CPU time. */
  const read = async (text: string) => {
    const file = join(folder, '.mcp.json')
    writeFileSync(file, text)
    const before = process.cpuUsage()
    const source = await readMcpFile({
      kind: 'mcpJson',
      label: '.mcp.json',
      scope: 'folder',
      folder: 'w',
      file,
    })
    const { user, system } = process.cpuUsage(before)
    return { source, ms: (user + system) / 1000 }
  }
  const shapes: Record<string, (count: number) => string> = {
    servers: count =>
      `{"mcpServers":{${Array.from({ length: count * 2 }, (_, at) => `"a${at}":{}`).join(',')}}}`,
    'servers named twice': count =>
      `{"mcpServers":{${Array.from({ length: count * 2 }, (_, at) => `"a${at % count}":{}`).join(',')}}}`,
    inputs: count =>
      `{"inputs":[${Array.from({ length: count / 2 }, (_, at) => `{"id":"a${at}","type":"promptString"}`).join(',')}]}`,
  }
  for (const [name, shape] of Object.entries(shapes)) {
    it(`takes time in proportion to its size, with many ${name}`, async () => {
      await read(shape(5000))
      const { ms: some } = await read(shape(5000))
      const { ms: many } = await read(shape(40_000))
      assert.ok(many < 30 * some, `${many} ms, ${some} ms for an eighth`)
    })
  }

  it('reports names that it has twice, up to a limit', async () => {
    const { source } = await read(shapes['servers named twice']!(1000))
    const twice = source?.problems.filter(({ message }) => message.includes('more than once'))
    assert.equal(twice?.length, 100)
  })
})
