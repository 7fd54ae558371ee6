import type { IsolatedRoot } from '../host/isolated-root.ts'
import { type AgentSetting, fixtureAgent, INITIALIZE_V2 } from '../ui/support/fixture-agent.ts'
import {
  ask,
  call,
  content,
  diff,
  elicit,
  type Step,
  say,
  sayFile,
  select,
  text,
  update,
} from './agent-steps.ts'
import { patch, transcriptAgents } from './transcript-agents.ts'

const longName = 'An Agent Whose Name Its Makers Could Not Be Talked Out Of, Enterprise Preview Edition'
const longTitle = Array.from({ length: 25 }, (_, at) => `word${at}`)
  .join(' ')
  .padEnd(200, ' and more')
const longPath = `${Array.from({ length: 12 }, (_, at) => `folder-${at}`).join('/')}/${'a-file-with-a-name'.repeat(3)}.test.ts`

/** Names that tests use, too. */
export const names = { long: longName, endOfRightToLeft: 'const greeting' }

/** The agents for screenshots, in addition to the demo agent. Each has one purpose. */
export function screenshotAgents(root: IsolatedRoot): Record<string, AgentSetting> {
  const agents = {
    fixture: ['Fixture', {}],
    starting: ['Slow Starter', 'hang-new'],
    broken: ['Broken', 'exit-start'],
    future: ['From the Future', 'version-99'],
    crashing: [
      'Crashing',
      {
        prompt: [say('I begin with the first file.'), { stderr: 'fixture: out of memory\n' }, { exit: 1 }],
      },
    ],
    'sign-in': ['Members Only', 'auth-required'],
    'slow-sign-in': [
      'Patient',
      { preset: 'quirk-23', results: { initialize: { authMethods: [browser, key] } } },
    ],
    account: [
      'Account',
      {
        results: initialize(
          { auth: { logout: {}, status: {} }, sessionCapabilities },
          { authMethods: [key] },
        ),
        on: { 'session/new': [{ notify: 'auth/status_update', params: account }] },
      },
    ],
    archivist: [
      'Archivist',
      {
        results: {
          ...initialize({ sessionCapabilities }),
          'session/list': { sessions: listedSessions(), nextCursor: 'more' },
        },
      },
    ],
    'no-list': [
      'Listless',
      { on: { 'session/list': [{ fail: { code: -32603, message: 'The index of sessions is damaged' } }] } },
    ],
    capable: [
      'Capable',
      {
        results: {
          ...initialize({ promptCapabilities: { image: true, embeddedContext: true } }),
          'session/new': { sessionId: '$session', configOptions },
        },
      },
    ],
    careful: ['Careful', { prompt: longRequest }],
    asking: ['Asking', { prompts: [[form], [visit]] }],
    'long-names': [longName, { prompt: longNames }],
    paths: ['Paths', { prompt: longWork }],
    edits: ['Edits', { prompt: [edit, say('Done.')] }],
    rtl: ['Right to Left', { prompt: [sayFile('right-to-left')] }],
    table: ['Tables', { prompt: [sayFile('table')] }],
    code: ['Code', { prompt: [sayFile('code')] }],
    formulas: ['Formulas', { prompt: [sayFile('formulas')] }],
    ...transcriptAgents,
  } satisfies Record<string, [name: string, script: string | object]>
  const settings = Object.entries(agents).map(
    ([id, [name, script]]) => [id, fixtureAgent(root, name, script)] as const,
  )
  return {
    ...Object.fromEntries(settings),
    missing: { name: 'Not Installed', command: 'an-agent-that-is-not-installed' },
    'transcript-changes': {
      ...fixtureAgent(root, 'Patcher', { results: { initialize: INITIALIZE_V2 }, prompt: patch }),
      protocol: 'latest',
    },
  }
}

const initialize = (agentCapabilities: object, more: object = {}) => ({
  initialize: { agentCapabilities, ...more },
})
const sessionCapabilities = { fork: {}, title: {}, archive: {}, status: {} }
const browser = {
  id: 'browser',
  name: 'Sign in with your browser',
  description: 'Opens the page of the maker.',
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

const configOptions = [
  select('mode', 'Mode', 'mode', ['Ask before every edit', 'Edit freely', 'Plan']),
  select('model', 'Model', 'model', ['Large 9.1 Extended Preview', 'Medium 9', 'Small 9']),
  select('effort', 'Thinking', 'thought_level', ['Low', 'Medium', 'High'], 'High'),
  { id: 'web', name: 'Web search', type: 'boolean', currentValue: true, description: 'May look things up.' },
  {
    id: 'memory',
    name: 'Remember across sessions',
    type: 'boolean',
    currentValue: false,
    description: 'What it learns about the project is kept for the next session, in a file of its own.',
  },
  select('tone', 'Tone', 'other', ['Terse', 'Friendly']),
]

const longCommand = [
  'find . -name "*.test.ts" -not -path "*/node_modules/*" -print0',
  '  | xargs -0 -n 1 -P 4 node_modules/.bin/mocha --timeout 90000 --slow 20000 --reporter dot',
  '  && npm run package -- --production --out dist/a-directory-with-a-long-name/parley.vsix',
  '  && git status --short',
].join(' \\\n')
const longRequest: Step[] = [
  say('Before I run all of it, a question.'),
  ask(
    longCommand,
    'execute',
    {
      allow_once: 'Yes, this once',
      allow_always: 'Yes, and do not ask again for commands that begin with “find” in this project',
      reject_once: 'No, and tell the agent what to do instead',
      reject_always: 'Never',
    },
    { rawInput: { command: longCommand, cwd: '$cwd/packages/a-package-with-a-rather-long-name' } },
  ),
]

const titles = (choices: Record<string, string>) =>
  Object.entries(choices).map(([value, title]) => ({ const: value, title }))
/** A field of every kind. */
const form = elicit('form', 'A few things before the release can go out', {
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
        oneOf: titles({ patch: 'Patch', minor: 'Minor', major: 'Major' }),
      },
      parts: {
        type: 'array',
        title: 'Parts',
        items: {
          anyOf: titles({
            ext: 'The extension',
            docs: 'The documentation, with all its pictures',
            site: 'The site',
          }),
        },
        minItems: 1,
      },
    },
  },
})
const visit = elicit('url', 'Link your account to go on', {
  elicitationId: 'visit-1',
  url: `http://ada@xn--exmple-cua.com/account/link?state=${'0123456789abcdef'.repeat(6)}`,
})

/** Earlier sessions of an agent: titles of every length, other folders, no title, archived. */
function listedSessions(): object[] {
  const listed = (sessionId: string, daysAgo: number, title: string | null, more: object = {}) => ({
    sessionId,
    cwd: '$cwd',
    title,
    updatedAt: new Date(Date.now() - daysAgo * 86_400_000).toISOString(),
    ...more,
  })
  return [
    listed('a', 0, 'Fix the flaky parser test'),
    listed(
      'b',
      1,
      'Move the settings out of the package into files of their own, so that each can be read and tested alone',
    ),
    listed('c', 1, 'Explain the build', { cwd: '/elsewhere/another-repository' }),
    listed('d', 4, null),
    listed('e', 12, 'Upgrade TypeScript', { archived: true }),
    listed('f', 60, 'Antwort auf die Frage nach dem Donaudampfschifffahrtsgesellschaftskapitän', {
      cwd: '/elsewhere/a-repository-with-a-name-that-goes-on-and-on-and-on',
    }),
  ]
}

const locations = [{ path: `$cwd/${longPath}`, line: 12_345 }]
const read = call('read', `Read ${longPath}`, { locations, content: [content(text('export {}'))] })
const build = `npm run build -- ${'--with-an-option=value '.repeat(8)}&& npm test`
const run = call('execute', build, { status: 'failed' })
const longNames: Step[] = [
  update('session_info_update', { title: longTitle }),
  read,
  run,
  say(`Read \`${longPath}\` and ${'averylongwordwithoutanyplacetobreakit'.repeat(4)}.`),
]
/** Work of every kind on files far apart. */
const longWork: Step[] = [
  read,
  call('search', 'Search for "a needle in a very large haystack of files that nobody reads"'),
  call('read', 'Read planets.js', { status: 'failed' }),
  say('I looked around.'),
  call('edit', `Edit ${longPath}`, { locations, content: [diff(longPath, 'a\nb\n', 'a\nc\nd\n')] }),
  call('move', `Move ${longPath} to elsewhere.ts`, { locations }),
  call('fetch', `https://example.com/${longPath}`),
  run,
  call('delete', `Delete ${longPath}`, { status: 'in_progress' }),
]

const parser = [
  "import { Token } from './token'",
  '',
  '/** Reads all tokens of a text. */',
  'export function parse(source: string): Token[] {',
  '  const tokens: Token[] = []',
  '  let position = 0',
  '  while (position < source.length) {',
  '    tokens.push(next(source, position))',
  '    position++',
  '  }',
  '  return tokens',
  '}',
  ...Array.from({ length: 12 }, (_, at) => `// note ${at + 1}`),
  'function next(source: string, at: number): Token {',
  '  return { at, text: source[at] }',
  '}',
  '',
].join('\n')
const edited = parser
  .replace(
    '    tokens.push(next(source, position))\n    position++',
    '    const token = next(source, position)\n    tokens.push(token)\n    position += token.text.length',
  )
  .replace('source[at] }', 'source.slice(at, endOfToken(source, at)) }')
const edit = call('edit', 'Edit parser.ts', { content: [diff('src/parser.ts', parser, edited)] })
