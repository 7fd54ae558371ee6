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

  const read = (text: string, name = '.mcp.json') => {
    const file = join(folder, name)
    writeFileSync(file, text)
    const kind = name === '.mcp.json' ? 'mcpJson' : 'vscodeWorkspace'
    return readMcpFile({ kind, label: name, scope: 'folder', folder: 'w', file })
  }
  const list = (count: number, item: (at: number) => string) =>
    Array.from({ length: count }, (_, at) => item(at)).join()
  const shapes: Record<string, (count: number) => string> = {
    keys: count => `{${list(count, at => `"a${at}":1`)}}`,
    servers: count => `{"mcpServers":{${list(count, at => `"a${at}":{}`)}}}`,
    'servers named twice': count => `{"mcpServers":{${list(count * 2, at => `"a${at % count}":{}`)}}}`,
    variables: count => `{"mcpServers":{"a":{"command":"a","env":{${list(count, at => `"a${at}":[]`)}}}}}`,
    arguments: count => `{"mcpServers":{"a":{"command":"a","args":[${list(count, String)}]}}}`,
    inputs: count => `{"inputs":[${list(count, at => `{"id":"a${at}","type":"promptString"}`)}]}`,
    'line ends': count => `${'\n'.repeat(count * 10)}{}`,
    garbage: count => '] '.repeat(count * 5),
  }
  for (const [name, shape] of Object.entries(shapes)) {
    it(`isn't parsed if it has too many ${name}, and has few problems otherwise`, async () => {
      for (const [file, text] of [
        ['.mcp.json', shape(20_000)],
        ['a.code-workspace', `{"settings":{"mcp":${shape(20_000)}}}`],
      ] as const) {
        const source = await read(text, file)
        assert.deepEqual(
          source?.problems.map(({ message }) => message),
          ['the file has too many entries'],
        )
        assert.deepEqual(source.entries, [])
      }
      assert.ok((await read(shape(800)))!.problems.length <= 201)
    })
  }

  it('of a workspace may have many other settings', async () => {
    const words = list(8000, at => `"word${at}"`)
    const source = await read(
      `{"settings":{"cSpell.words":[${words}],"mcp":{"servers":{"a":{"command":"a"}}}}}`,
      'a.code-workspace',
    )
    assert.deepEqual(
      source?.entries.map(({ name }) => name),
      ['a'],
    )
  })

  it('reports names that it has twice, up to a limit', async () => {
    const source = await read(shapes['servers named twice']!(500))
    const twice = source?.problems.filter(({ message }) => message.includes('more than once'))
    assert.equal(twice?.length, 100)
  })
})
