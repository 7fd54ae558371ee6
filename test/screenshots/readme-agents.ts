import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { IsolatedRoot } from '../host/isolated-root.ts'
import { testDirectory } from '../host/paths.ts'
import { type AgentSetting, fixtureAgent } from '../ui/support/fixture-agent.ts'
import { select } from './around-agents.ts'

const sample = (file: string) =>
  readFileSync(join(testDirectory, 'fixtures/workspace/planets-api', file), 'utf8')
const planets = sample('planets.js')
const server = sample('server.js')

const after = {
  planets: planets.replace(
    'export function findPlanet(name) {\n  return planets.find(planet => planet.name === name)\n}',
    [
      '/** Finds a planet by its name, in capitals or not. */',
      'export function findPlanet(name) {',
      '  const wanted = name.trim().toLowerCase()',
      '  return planets.find(planet => planet.name.toLowerCase() === wanted)',
      '}',
    ].join('\n'),
  ),
  server: server.replace(/(error: `.*`) \}/, '$1, known: planets.map(one => one.name) }'),
}

const say = (text: string) => ({ say: text })
const update = (of: object) => ({ update: of })
const call = (toolCallId: string, kind: string, title: string, more: object = {}) =>
  update({ sessionUpdate: 'tool_call', toolCallId, kind, title, status: 'completed', ...more })
const done = (toolCallId: string, more: object = {}) =>
  update({ sessionUpdate: 'tool_call_update', toolCallId, status: 'completed', ...more })
const plan = (finished: number) =>
  update({
    sessionUpdate: 'plan',
    entries: [
      'Find names whatever their case',
      'Tell the known names with a 404',
      'Run the tests',
      'Describe it in the README',
    ].map((content, at) => ({
      content,
      priority: 'medium',
      status: at < finished ? 'completed' : at === finished ? 'in_progress' : 'pending',
    })),
  })
const diff = (file: string, oldText: string, newText: string) => ({
  content: [{ type: 'diff', path: `$cwd/${file}`, oldText, newText }],
  locations: [{ path: `$cwd/${file}` }],
})
const write = (file: string, content: string) => ({
  request: 'fs/write_text_file',
  params: { sessionId: '$session', path: `$cwd/${file}`, content },
})

const work = [
  update({ sessionUpdate: 'session_info_update', title: 'Find planets whatever their case' }),
  update({
    sessionUpdate: 'agent_thought_chunk',
    content: { type: 'text', text: 'Names are compared as they are written. Where are they compared?' },
  }),
  { sleep: 3200 },
  say('I look at how names are compared first.'),
  call('search', 'search', 'Search for `findPlanet` in **/*.js'),
  call('read-1', 'read', 'Read $cwd/planets.js'),
  call('read-2', 'read', 'Read $cwd/server.js'),
  plan(0),
  say(
    '\n\n`findPlanet` compares with `===`, so **earth** is not found. I compare in lower case in `planets.js:9`, and let the answer name the planets there are.',
  ),
  call('edit-1', 'edit', 'Edit $cwd/planets.js', {
    ...diff('planets.js', planets, after.planets),
    status: 'in_progress',
  }),
  write('planets.js', after.planets),
  done('edit-1'),
  call('test', 'execute', 'npm test', { status: 'in_progress' }),
  { sleep: 1800 },
  done('test', {
    content: [{ type: 'content', content: { type: 'text', text: '```\n12 passing (30ms)\n```' } }],
  }),
  plan(1),
  update({ sessionUpdate: 'usage_update', used: 41_000, size: 200_000 }),
  call('edit-2', 'edit', 'Edit $cwd/server.js', {
    ...diff('server.js', server, after.server),
    status: 'pending',
  }),
  {
    request: 'session/request_permission',
    params: {
      sessionId: '$session',
      toolCall: { toolCallId: 'edit-2' },
      options: [
        { optionId: 'once', name: 'Allow once', kind: 'allow_once' },
        { optionId: 'always', name: 'Always allow', kind: 'allow_always' },
        { optionId: 'no', name: 'Reject', kind: 'reject_once' },
      ],
    },
  },
  write('server.js', after.server),
  done('edit-2'),
  plan(4),
  say('\n\nNames are found in capitals or not, and a 404 tells which planets there are.'),
]

const hoursAgo = (hours: number) => new Date(Date.now() - hours * 3_600_000).toISOString()
const session = (sessionId: string, title: string, hours: number, cwd = '$cwd') => ({
  sessionId,
  cwd,
  title,
  updatedAt: hoursAgo(hours),
})

/** The agents on the pictures of the README: nobody else's names and words. */
export function readmeAgents(root: IsolatedRoot): Record<string, AgentSetting> {
  const initialize = {
    agentCapabilities: {
      promptCapabilities: { image: true, embeddedContext: true },
      sessionCapabilities: { fork: {}, title: {}, list: {} },
    },
  }
  const configOptions = [
    select('mode', 'Mode', 'mode', ['Ask', 'Code', 'Plan'], 'Code'),
    select('model', 'Model', 'model', ['Large 9', 'Small 9'], 'Large 9'),
    select('effort', 'Thinking', 'thought_level', ['Low', 'Medium', 'High'], 'High'),
  ]
  const begun = { sessionId: '$session', configOptions }
  // in a file: code of the settings may look as if it had variables
  const ada = join(root.directory, 'ada.json')
  const results = { initialize, 'session/new': begun, 'session/list': { sessions: [] } }
  writeFileSync(ada, JSON.stringify({ results, prompt: work }))
  return {
    ada: fixtureAgent(root, 'Ada', ada),
    grace: fixtureAgent(root, 'Grace', {
      results: {
        initialize,
        'session/new': begun,
        'session/list': {
          sessions: [
            session('g1', 'Why does the build take four minutes?', 20),
            session('g2', 'Upgrade TypeScript and mend what it finds', 26, '/work/planets-shop'),
            session('g3', 'Explain how orbits are drawn', 50),
            session('g4', 'Move the settings into a file of their own', 75),
            session('g5', 'Add dark mode to the map', 120, '/work/planets-shop'),
          ],
        },
      },
    }),
  }
}
