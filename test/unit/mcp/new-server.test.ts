import assert from 'node:assert/strict'
import fc from 'fast-check'
import { parse } from 'jsonc-parser'
import { addToFile, addToSetting, parseNewServer, removeFromText } from '../../../src/mcp/new-server.ts'

const parsed = (text: string, platform: NodeJS.Platform = 'linux') => parseNewServer(text, platform)

describe('a server that the user enters', () => {
  it('is a URL, named after its host', () => {
    assert.deepEqual(parsed(' https://mcp.example.com/mcp '), {
      name: 'example',
      server: { type: 'http', url: 'https://mcp.example.com/mcp' },
    })
    assert.deepEqual(parsed('http://localhost:3000/sse'), {
      name: 'local',
      server: { type: 'sse', url: 'http://localhost:3000/sse' },
    })
    for (const wrong of ['ftp://example.com', 'https://', 'file:///etc/passwd', '', '  ', 'a "b'])
      assert.equal(parsed(wrong), undefined, wrong)
  })

  it('is a command line, named after its package or program', () => {
    assert.deepEqual(parsed('npx -y @modelcontextprotocol/server-filesystem@1.2 "/a b" \'c\' d\\ e ""'), {
      name: 'filesystem',
      server: {
        command: 'npx',
        args: ['-y', '@modelcontextprotocol/server-filesystem@1.2', '/a b', 'c', 'd e', ''],
      },
    })
    assert.deepEqual(parsed('TOKEN="a b" /opt/mcp-server-clock.exe'), {
      name: 'clock',
      server: { command: '/opt/mcp-server-clock.exe', env: { TOKEN: 'a b' } },
    })
    assert.deepEqual(parsed('C:\\tools\\clock.exe --file "C:\\a b\\c"', 'win32'), {
      name: 'clock',
      server: { command: 'C:\\tools\\clock.exe', args: ['--file', 'C:\\a b\\c'] },
    })
  })

  it('keeps every word that was quoted', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ minLength: 1 }), { minLength: 1 }), words => {
        const line = words.map(word => `'${word.replaceAll("'", `'"'"'`)}'`).join(' ')
        const server = parsed(`run ${line}`)?.server
        assert.ok(server && 'command' in server)
        assert.deepEqual(server.args, words)
      }),
    )
  })

  it('is added to the setting in the form that it has', () => {
    const server = { command: 'x' }
    assert.deepEqual(addToSetting(undefined, 'a', server), { servers: { a: server } })
    assert.deepEqual(addToSetting({ mcpServers: { b: 1 }, inputs: [] }, 'a', server), {
      mcpServers: { b: 1, a: server },
      inputs: [],
    })
  })

  it('is removed in each form, and nothing else is', () => {
    const own = '{"servers": {"a": {"command": "x"}, "b": 1}, "a": 1}'
    assert.deepEqual(parse(removeFromText(own, 'a')), { servers: { b: 1 }, a: 1 })
    const text = '{\n  "a": { "url": "x" },\n  "mcpServers": { "a": {} },\n  "inputs": [] // mine\n}'
    assert.deepEqual(parse(removeFromText(text, 'a')), { mcpServers: {}, inputs: [] })
    assert.match(removeFromText(text, 'a'), /mine/)
    assert.equal(removeFromText(text, 'inputs'), text)
    assert.throws(() => removeFromText('[', 'a'), /isn't valid JSON/)
  })

  it('is added to a file, whose comments and other servers stay', () => {
    const server = { command: 'x', args: ['y'] }
    const before = '{\n\t// mine\n\t"servers": {\n\t\t"b": { "command": "z" } // last\n\t}\n}\n'
    const after = addToFile(before, 'a', server)
    assert.deepEqual(parse(after), { servers: { b: { command: 'z' }, a: server } })
    assert.match(after, /^\t\/\/ mine$[\s\S]*\/\/ last$/m)
    assert.match(after, /^\t\t"a": \{$/m)
    assert.deepEqual(parse(addToFile('', 'a', server)), { servers: { a: server } })
    for (const invalid of ['{', '[]', 'nonsense'])
      assert.throws(() => addToFile(invalid, 'a', server), /isn't valid JSON/)
  })
})
