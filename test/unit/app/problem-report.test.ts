import assert from 'node:assert/strict'
import { homedir } from 'node:os'
import path from 'node:path'
import { problemReport, type ReportSources, withoutHome } from '../../../src/app/inspector/problem-report.ts'
import { SecretRegistry } from '../../../src/common/secrets.ts'

describe('a problem report', () => {
  const secrets = new SecretRegistry()
  secrets.add('open-sesame')
  const frame = (message: object, method?: string) =>
    `${JSON.stringify({ at: 5, agent: 'Agent A', agentId: 'a', direction: 'send', method, message })}\n`
  const prompt = frame({
    jsonrpc: '2.0',
    id: 7,
    method: 'session/prompt',
    params: { sessionId: 's-1', prompt: [{ type: 'text', text: 'Read the private diary' }] },
  })
  const report = (sources: Partial<ReportSources>) =>
    problemReport({
      ...{ detail: 'structure', secrets, version: '1.2.3', editor: 'Code 1.100.0', agents: [] },
      ...{ settingValues: {}, lines: [] },
      ...sources,
    })

  it('has the versions of everything that takes part', () => {
    const agents = [{ name: 'Agent\n# A <b>', version: '4.5', protocolVersion: 1 }, { name: 'Other' }]
    const text = report({ agents })
    for (const line of [
      '- Parley 1.2.3',
      '- Code 1.100.0',
      '- Agent # A b 4.5 (protocol version 1)',
      '- Other',
    ])
      assert.ok(text.split('\n').includes(line), `${line} is missing:\n${text}`)
    assert.match(text, new RegExp(`^- ${process.platform} .* ${process.arch}$`, 'm'))
  })

  it('has no text of messages unless the user wants that', () => {
    const tool = frame({
      jsonrpc: '2.0',
      method: 'session/update',
      params: {
        sessionId: 's-1',
        update: {
          sessionUpdate: 'tool_call',
          title: 'secret-title',
          status: 'completed',
          rawInput: { '/home/me/private.txt': 'diary', type: 'two words' },
          locations: ['/home/me/private.txt'],
        },
      },
    })
    const bare = report({ lines: [tool, prompt] })
    assert.doesNotMatch(bare, /diary|private|secret-title|two words/)
    for (const kept of ['session/prompt', 's-1', 'tool_call', 'completed', '"text":"… (22)"', '"id":7'])
      assert.ok(bare.includes(kept), `${kept} is missing:\n${bare}`)
    assert.ok(bare.indexOf('session/prompt') < bare.indexOf('tool_call'), 'in their order')
    assert.match(report({ lines: [prompt], detail: 'whole' }), /Read the private diary/)
    assert.doesNotMatch(report({ lines: [prompt], detail: 'none' }), /session\/prompt/)
  })

  it('has the settings that differ from the default, without secrets, prompts and the name of the user', () => {
    const text = report({
      settingValues: {
        sounds: true,
        sendKey: 'enter',
        systemPrompt: 'Always be kind',
        initializeTimeout: 'wrong' as never,
        agents: {
          mine: {
            command: path.join(homedir(), 'bin/agent'),
            args: ['--token', 'abc-def'],
            env: { KEY: 'value-1' },
          },
          other: { command: 'x', args: ['open-sesame'] },
        },
      },
    })
    const json = /```json\n([\s\S]*?)\n```/.exec(text)?.[1] ?? ''
    const settings = JSON.parse(json) as Record<string, Record<string, { command?: string }>>
    assert.deepEqual(Object.keys(settings).sort(), ['parley.agents', 'parley.sounds', 'parley.systemPrompt'])
    assert.equal(settings['parley.agents']?.mine?.command, path.join('~', 'bin/agent'))
    assert.doesNotMatch(text, /abc-def|value-1|open-sesame|kind/)
  })

  it('has nothing that tools, agents and users chose, whatever its members are called', () => {
    const words = { id: 'leak', kind: 'leak', state: 'leak', type: '/leak', leakkey: 1, pin: 4711 }
    const lines = [
      {
        method: 'session/update',
        params: {
          sessionId: '/home/me/leak.jsonl',
          update: {
            ...{ sessionUpdate: 'tool_call', toolCallId: 'call_1', kind: 'read', status: 'https://leak' },
            ...{ rawInput: words, rawOutput: [words], _meta: words },
          },
        },
      },
      { id: 1, result: { action: 'accept', content: words } },
      { id: 2, error: { code: -32_000, message: 'leak', data: words } },
      { method: '_other/leak', params: words },
      { id: 3, method: 'mcp/message', params: { method: 'tools/call', params: { arguments: words } } },
    ].map(message => frame(message, 'elicitation/create'))
    for (const method of ['_other/leak', 'mcp/message', undefined])
      lines.push(frame({ id: 4, result: words }, method))
    lines.push(frame({ id: 6, result: { stopReason: 'end_turn' } }, 'session/prompt'))
    const text = report({ lines }).replaceAll('_other/leak', '')
    assert.doesNotMatch(text, /leak|4711/)
    for (const kept of ['"call_1"', '"read"', '"tool_call"', '-32000', 'tools/call', 'end_turn'])
      assert.ok(text.includes(kept), `${kept} is missing:\n${text}`)
  })

  it('has no prompts, variables and headers of agents and servers, also if they are in arguments', () => {
    const json = JSON.stringify({ mcpServers: { x: { command: 'y', env: { NAME: 'leak' } } } })
    const args = [
      ...['--header=X-Name: leak', '-eNAME=leak', '-e', 'NAME=leak', '--env', 'NAME=leak', '--env=NAME=leak'],
      ...['-k', 'leak', '-p', 'leak-2', '-k=leak', '-kleak123', '-y', 'kept', '-verbose', '-it'],
      ...['--mcp-config', json, `--mcp-config=${json}`, '--other', 'kept'],
    ]
    const text = report({
      settingValues: {
        agents: { mine: { command: 'x', args, systemPrompt: 'leak' } },
        mcpServers: { server: { command: 'docker', args } },
      },
    })
    assert.doesNotMatch(text, /leak/)
    assert.equal([...text.matchAll(/"kept"/g)].length, 4)
    for (const kept of ['"-k"', '"-verbose"', '"-it"']) assert.ok(text.includes(kept), kept)
    assert.equal([...text.matchAll(/-eNAME=/g)].length, 2)
  })

  it('has no home of the user, however it is written', () => {
    for (const [home, text, expected] of [
      [
        '/home/me',
        '/home/me/a file:///home/me/b %2Fhome%2Fme "/home/me" /home/melissa',
        '~/a file://~/b ~ "~" /home/melissa',
      ],
      ['/home/José', 'file:///home/Jos%C3%A9/a /home/José', 'file://~/a ~'],
      ['C:\\Users\\Me', 'c:\\Users\\me\\a C:/users/me C:\\\\Users\\\\Me\\\\a', '~\\a ~ ~\\\\a'],
      [
        'C:\\Users\\Me',
        'C:\\\\\\\\Users\\\\\\\\Me /c/Users/Me/a /mnt/c/Users/Me file:///c%3A/Users/Me/b',
        '~ ~/a ~ file:///~/b',
      ],
    ] as const)
      assert.equal(withoutHome(text, home), expected)
  })

  it('is short and stays one document, whatever the messages contain', () => {
    const long = frame({ jsonrpc: '2.0', method: 'x', params: { text: 'word '.repeat(1e6) } })
    const fences = frame({ jsonrpc: '2.0', method: 'x', params: { text: '````\n# Not a heading' } })
    const many = Array.from({ length: 10_000 }, () => prompt)
    assert.ok(report({ lines: [long, ...many], detail: 'whole' }).length < 400_000)
    assert.ok(report({ lines: many, detail: 'whole' }).length < 400_000)
    const ticks = frame({ jsonrpc: '2.0', method: 'x', params: { text: '` '.repeat(145_000) } })
    assert.match(report({ lines: [ticks], detail: 'whole' }), /^```jsonl$/m)
    assert.match(report({ lines: [fences], detail: 'whole' }), /^`{5}jsonl\n.*\n`{5}$/m)
  })
})
