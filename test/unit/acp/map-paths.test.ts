import assert from 'node:assert/strict'
import type { AgentClient } from '../../../src/acp/agent.ts'
import { clientWithPaths, updateHere } from '../../../src/acp/map-paths.ts'
import type { ContentBlock, PermissionRequest, SessionUpdate } from '../../../src/acp/model.ts'
import { PathMapper } from '../../../src/common/path-mapping.ts'

const paths = new PathMapper([{ localRoot: '/here', remoteRoot: '/there' }])

describe('the paths in what an agent sends', () => {
  const link = (root: string): ContentBlock => ({
    type: 'resource_link',
    uri: `file://${root}/a`,
    name: '/there/a',
  })
  const image = (root: string): ContentBlock => ({
    ...{ type: 'image', data: '', mimeType: 'image/png' },
    uri: `file://${root}/a.png`,
  })
  /** The same update with the paths of one of the machines; everything else stays as it is. */
  const updates = (root: string): SessionUpdate[] => [
    { type: 'message_chunk', role: 'user', content: link(root) },
    {
      type: 'message',
      role: 'agent',
      messageId: 'm',
      content: [image(root), { type: 'text', text: '/there/a' }],
    },
    { type: 'message', role: 'agent', messageId: 'm', content: null },
    { type: 'tool_call_content', toolCallId: 't', content: { type: 'content', content: link(root) } },
    {
      ...{ type: 'tool_call_content', toolCallId: 't' },
      content: {
        type: 'diff',
        changes: [{ operation: 'move', path: `${root}/b`, oldPath: `${root}/a` }],
        patch: { format: 'git', text: '+++ /there/a' },
      },
    },
    { type: 'tool_call', toolCall: { toolCallId: 't', rawInput: { command: 'cat /there/a', cwd: root } } },
    {
      type: 'tool_call',
      toolCall: { toolCallId: 't', rawInput: { paths: [`${root}/a`, 'b'], old_string: '/there' } },
    },
    {
      type: 'tool_call',
      toolCall: { toolCallId: 't', rawInput: { uri: `file://${root}/a`, url: 'https://x.org/there' } },
    },
    {
      type: 'tool_call',
      toolCall: { toolCallId: 't', rawInput: '/there/a', rawOutput: { path: '/there/a' } },
    },
    { type: 'tool_call', toolCall: { toolCallId: 't', locations: null, content: null } },
    { type: 'terminal', terminal: { terminalId: 'x', command: 'cat /there/a', cwd: root, output: '/there' } },
    { type: 'terminal', terminal: { terminalId: 'x', cwd: null } },
    { type: 'plan', plan: { planId: 'p', entries: [], uri: `file://${root}/plan.md`, markdown: '/there/a' } },
    { type: 'compaction', compactionId: 'c', status: 'completed', summary: [link(root)] },
    { type: 'compaction_chunk', compactionId: 'c', content: link(root) },
    {
      type: 'subagent',
      subagent: { sessionId: 's', title: '/there', cwd: root, additionalDirectories: [root, '/etc'] },
    },
    { type: 'session_message', message: { messageId: 'm', content: [link(root)] } },
    { type: 'session_message_chunk', messageId: 'm', content: link(root) },
    { type: 'info', title: '/there/a' },
    { type: 'unknown', kind: 'x', raw: { path: '/there/a' } },
  ]

  it('become those of this machine, and no text does', () => {
    assert.deepEqual(
      updates('/there').map(update => updateHere(update, paths)),
      updates('/here'),
    )
  })

  it('become those of this machine in a permission for a command', async () => {
    const asked: unknown[] = []
    const client = clientWithPaths(
      {
        requestPermission: async request => {
          asked.push(request.subject)
          return { type: 'cancelled' }
        },
      } as Partial<AgentClient> as AgentClient,
      paths,
    )
    const ask = (subject: PermissionRequest['subject']) =>
      client.requestPermission(
        { sessionId: 's', title: '', options: [], subject },
        new AbortController().signal,
      )
    await ask({ type: 'command', command: 'cat /there/a', cwd: '/there' })
    await ask({ type: 'none' })
    assert.deepEqual(asked, [{ type: 'command', command: 'cat /there/a', cwd: '/here' }, { type: 'none' }])
    assert.equal(client.createElicitation, undefined)
  })
})
