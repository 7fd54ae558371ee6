import type { IsolatedRoot } from '../host/isolated-root.ts'
import { type AgentSetting, fixtureAgent } from '../ui/support/fixture-agent.ts'

/** The agents for everything around the transcript: requests, forms, options, accounts, lists. */
export function aroundAgents(root: IsolatedRoot): Record<string, AgentSetting> {
  return {
    careful: fixtureAgent(root, 'Careful', { prompt: careful }),
    asking: fixtureAgent(root, 'Asking', { prompts: [[form], [visit]] }),
    optional: fixtureAgent(root, 'Optional', {
      results: {
        'session/new': { sessionId: '$session', configOptions: [...wellKnown, ...others] },
      },
    }),
    'slow-sign-in': fixtureAgent(root, 'Patient', {
      preset: 'quirk-23',
      results: {
        initialize: {
          authMethods: [
            { id: 'browser', name: 'Sign in with your browser', description: 'Opens the page of the maker.' },
            key,
          ],
        },
      },
    }),
    account: fixtureAgent(root, 'Account', {
      results: {
        initialize: {
          agentCapabilities: {
            auth: { logout: {}, status: {} },
            sessionCapabilities: { fork: {}, title: {}, archive: {}, status: {} },
          },
          authMethods: [key],
        },
      },
      on: {
        'session/new': [{ notify: 'auth/status_update', params: account }],
      },
    }),
    absent: { name: 'Absent', command: '/opt/agents/absent' },
    archivist: fixtureAgent(root, 'Archivist', {
      results: {
        initialize: {
          agentCapabilities: { sessionCapabilities: { fork: {}, title: {}, archive: {}, status: {} } },
        },
        'session/list': { sessions: listed(), nextCursor: 'more' },
      },
    }),
    'no-list': fixtureAgent(root, 'Listless', {
      on: { 'session/list': [{ fail: { code: -32603, message: 'The index of sessions is damaged' } }] },
    }),
  }
}

const key = {
  id: 'key',
  type: 'env_var',
  name: 'Use an API key',
  vars: [{ name: 'FIXTURE_KEY', label: 'API key', secret: true, optional: false }],
}

const account = {
  state: 'authenticated',
  accounts: [{ label: 'ada', email: 'ada.lovelace@analytical-engines.example.org', active: true }],
}

const longCommand = [
  'find . -name "*.test.ts" -not -path "*/node_modules/*" -print0',
  '  | xargs -0 -n 1 -P 4 node_modules/.bin/mocha --timeout 90000 --slow 20000 --reporter dot',
  '  && npm run package -- --production --out dist/a-directory-with-a-long-name/parley.vsix',
  '  && git status --short',
].join(' \\\n')

const options = [
  { optionId: 'once', name: 'Yes, this once', kind: 'allow_once' },
  {
    optionId: 'always',
    name: 'Yes, and do not ask again for commands that begin with “find” in this project',
    kind: 'allow_always',
  },
  { optionId: 'no', name: 'No, and tell the agent what to do instead', kind: 'reject_once' },
  { optionId: 'never', name: 'Never', kind: 'reject_always' },
]

const careful = [
  { say: 'Before I run all of it, a question.' },
  {
    request: 'session/request_permission',
    params: {
      sessionId: '$session',
      toolCall: {
        toolCallId: 'long-command',
        title: longCommand,
        kind: 'execute',
        status: 'pending',
        rawInput: { command: longCommand, cwd: '$cwd/packages/a-package-with-a-rather-long-name' },
      },
      options,
    },
  },
]

/** A field of every kind. */
const form = {
  request: 'elicitation/create',
  params: {
    sessionId: '$session',
    mode: 'form',
    message: 'A few things before the release can go out',
    requestedSchema: {
      title: 'About the release',
      description: 'All of it can be changed later.',
      type: 'object',
      required: ['name', 'mail', 'level', 'parts'],
      properties: {
        name: { type: 'string', title: 'Name', description: 'As it stands on the tag.', minLength: 2 },
        mail: { type: 'string', title: 'Mail', format: 'email', default: 'ada@example' },
        day: { type: 'string', title: 'Day', format: 'date' },
        count: { type: 'integer', title: 'Parallel builds', minimum: 1, maximum: 8, default: 2 },
        agree: { type: 'boolean', title: 'Announce it', description: 'In the channel of the team.' },
        level: {
          type: 'string',
          title: 'Level',
          oneOf: [
            { const: 'patch', title: 'Patch' },
            { const: 'minor', title: 'Minor' },
            { const: 'major', title: 'Major' },
          ],
        },
        parts: {
          type: 'array',
          title: 'Parts',
          items: {
            anyOf: [
              { const: 'ext', title: 'The extension' },
              { const: 'docs', title: 'The documentation, with all its pictures' },
              { const: 'site', title: 'The site' },
            ],
          },
          minItems: 1,
        },
      },
    },
  },
}

const visit = {
  request: 'elicitation/create',
  params: {
    sessionId: '$session',
    mode: 'url',
    elicitationId: 'visit-1',
    message: 'Link your account to go on',
    url: `http://ada@xn--exmple-cua.com/account/link?state=${'0123456789abcdef'.repeat(6)}`,
  },
}

export const select = (
  id: string,
  name: string,
  category: string,
  choices: string[],
  currentValue: string,
) => ({
  id,
  name,
  category,
  type: 'select',
  currentValue,
  options: choices.map(choice => ({ value: choice, name: choice })),
})
const wellKnown = [
  select('mode', 'Mode', 'mode', ['Ask before every edit', 'Edit freely', 'Plan'], 'Ask before every edit'),
  select(
    'model',
    'Model',
    'model',
    ['Large 9.1 Extended Preview', 'Medium 9', 'Small 9'],
    'Large 9.1 Extended Preview',
  ),
  select('effort', 'Thinking', 'thought_level', ['Low', 'Medium', 'High'], 'High'),
]
const others = [
  { id: 'web', name: 'Web search', type: 'boolean', currentValue: true, description: 'May look things up.' },
  {
    id: 'memory',
    name: 'Remember across sessions',
    type: 'boolean',
    currentValue: false,
    description: 'What it learns about the project is kept for the next session, in a file of its own.',
  },
  select('tone', 'Tone', 'other', ['Terse', 'Friendly'], 'Terse'),
]

/** Earlier sessions of an agent: titles of every length, other folders, no title, archived. */
function listed(): object[] {
  const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString()
  return [
    { sessionId: 'a', cwd: '$cwd', title: 'Fix the flaky parser test', updatedAt: daysAgo(0) },
    {
      sessionId: 'b',
      cwd: '$cwd',
      title:
        'Move the settings out of the package into files of their own, so that each can be read and tested alone',
      updatedAt: daysAgo(1),
    },
    {
      sessionId: 'c',
      cwd: '/elsewhere/another-repository',
      title: 'Explain the build',
      updatedAt: daysAgo(1),
    },
    { sessionId: 'd', cwd: '$cwd', title: null, updatedAt: daysAgo(4) },
    { sessionId: 'e', cwd: '$cwd', title: 'Upgrade TypeScript', updatedAt: daysAgo(12), archived: true },
    {
      sessionId: 'f',
      cwd: '/elsewhere/a-repository-with-a-name-that-goes-on-and-on-and-on',
      title: 'Antwort auf die Frage nach dem Donaudampfschifffahrtsgesellschaftskapitän',
      updatedAt: daysAgo(60),
    },
  ]
}
