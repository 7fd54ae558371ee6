import assert from 'node:assert/strict'
import { homedir } from 'node:os'
import path from 'node:path'
import { problemReport, type ReportSources } from '../../../src/app/inspector/problem-report.ts'
import { SecretRegistry } from '../../../src/common/secrets.ts'

describe('a problem report', () => {
  const secrets = new SecretRegistry()
  secrets.add('open-sesame')
  const frame = (message: object) =>
    `${JSON.stringify({ at: 5, agent: 'Agent A', agentId: 'a', direction: 'send', message })}\n`
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

  it('is short and stays one document, whatever the messages contain', () => {
    const long = frame({ jsonrpc: '2.0', method: 'x', params: { text: 'word '.repeat(1e6) } })
    const fences = frame({ jsonrpc: '2.0', method: 'x', params: { text: '````\n# Not a heading' } })
    const many = Array.from({ length: 10_000 }, () => prompt)
    assert.ok(report({ lines: [long, ...many], detail: 'whole' }).length < 400_000)
    assert.ok(report({ lines: many, detail: 'whole' }).length < 400_000)
    assert.match(report({ lines: [fences], detail: 'whole' }), /^`{5}jsonl\n.*\n`{5}$/m)
  })
})
