import type { IsolatedRoot } from '../host/isolated-root.ts'
import { type AgentSetting, fixtureAgent } from '../ui/support/fixture-agent.ts'
import { select } from './around-agents.ts'

const longName = 'An Agent Whose Name Its Makers Could Not Be Talked Out Of, Enterprise Preview Edition'
const longTitle = Array.from({ length: 25 }, (_, at) => `word${at}`)
  .join(' ')
  .padEnd(200, ' and more')
const longPath = `${Array.from({ length: 12 }, (_, at) => `folder-${at}`).join('/')}/${'a-file-with-a-name'.repeat(3)}.test.ts`

const row = (cell: (column: number) => string) =>
  `| ${Array.from({ length: 12 }, (_, column) => cell(column)).join(' | ')} |`
const table = [
  'A table of twelve columns:',
  '',
  row(column => `Column ${column + 1}`),
  row(() => '---'),
  ...[1, 2, 3].map(line => row(column => (column % 3 === 0 ? `\`v${line}.${column}\`` : `${line * column}`))),
  '',
  'And the text goes on below it.',
].join('\n')

const codeLine =
  `const everything = [${Array.from({ length: 60 }, (_, at) => `item${at}`).join(', ')}]`.slice(0, 400)
const code = [
  'A line of 400 characters:',
  '',
  '```ts',
  '// short',
  codeLine,
  'export default everything',
  '```',
].join('\n')

const formulas = [
  'The sum $\\sum_{i=1}^n i = \\frac{n(n+1)}{2}$ costs nothing, unlike $5 or $10:',
  '',
  '$$\\int_0^\\infty e^{-x^2}\\,dx = \\frac{\\sqrt{\\pi}}{2}$$',
  '',
  '```mermaid',
  'flowchart TD',
  '  A[Prompt] --> B{A question?}',
  '  B -- yes --> C[You answer]',
  '  B -- no --> D[The agent works]',
  '  C --> D',
  '```',
  '',
  'A diagram that cannot be drawn:',
  '',
  '```mermaid',
  'graph nonsense ->->',
  '```',
  '',
  'That was all.',
].join('\n')

const before = [
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
const after = before
  .replace(
    '    tokens.push(next(source, position))\n    position++',
    '    const token = next(source, position)\n    tokens.push(token)\n    position += token.text.length',
  )
  .replace('source[at] }', 'source.slice(at, endOfToken(source, at)) }')
const edit = {
  sessionUpdate: 'tool_call',
  toolCallId: 'edit',
  title: 'Edit parser.ts',
  kind: 'edit',
  status: 'completed',
  content: [{ type: 'diff', path: '$cwd/src/parser.ts', oldText: before, newText: after }],
}

const rightToLeft = [
  'مرحبا! سأقرأ الملف `src/parser.ts` أولاً، ثم أشغّل الاختبارات.',
  '',
  '- البند الأول',
  '- البند الثاني مع `code` في الوسط',
  '',
  'שלום, זוהי פסקה בעברית עם **הדגשה** ומספר 1,234.',
  '',
  'And a paragraph in English between them.',
  '',
  '```ts',
  'const greeting = "مرحبا"',
  '```',
].join('\n')

/** The agents for screenshots, in addition to the demo agent. Each has one purpose. */
export function screenshotAgents(root: IsolatedRoot): Record<string, AgentSetting> {
  const says = (text: string) => ({ prompt: [{ say: text }] })
  const path = `$cwd/${longPath}`
  const longCall = {
    sessionUpdate: 'tool_call',
    toolCallId: 'long',
    title: `Read ${longPath}`,
    kind: 'read',
    status: 'completed',
    locations: [{ path, line: 12_345 }],
    content: [{ type: 'content', content: { type: 'text', text: 'export {}' } }],
  }
  const longCommand = {
    sessionUpdate: 'tool_call',
    toolCallId: 'command',
    title: `npm run build -- ${'--with-an-option=value '.repeat(8)}&& npm test`,
    kind: 'execute',
    status: 'failed',
  }
  return {
    fixture: fixtureAgent(root, 'Fixture'),
    starting: fixtureAgent(root, 'Slow Starter', 'hang-new'),
    missing: { name: 'Not Installed', command: 'an-agent-that-is-not-installed' },
    broken: fixtureAgent(root, 'Broken', 'exit-start'),
    future: fixtureAgent(root, 'From the Future', 'version-99'),
    crashing: fixtureAgent(root, 'Crashing', {
      prompt: [{ say: 'I begin with the first file.' }, { stderr: 'fixture: out of memory\n' }, { exit: 1 }],
    }),
    'sign-in': fixtureAgent(root, 'Members Only', 'auth-required'),
    'long-names': fixtureAgent(root, longName, {
      prompt: [
        { update: { sessionUpdate: 'session_info_update', title: longTitle } },
        { update: longCall },
        { update: longCommand },
        { say: `Read \`${longPath}\` and ${'averylongwordwithoutanyplacetobreakit'.repeat(4)}.` },
      ],
    }),
    rtl: fixtureAgent(root, 'Right to Left', says(rightToLeft)),
    table: fixtureAgent(root, 'Tables', says(table)),
    code: fixtureAgent(root, 'Code', says(code)),
    formulas: fixtureAgent(root, 'Formulas', says(formulas)),
    capable: fixtureAgent(root, 'Capable', {
      results: {
        initialize: {
          agentCapabilities: { promptCapabilities: { image: true, embeddedContext: true } },
        },
        'session/new': {
          sessionId: '$session',
          configOptions: [
            select('mode', 'Mode', 'mode', ['Ask', 'Code', 'Plan'], 'Code'),
            select('model', 'Model', 'model', ['Large 9', 'Small 9'], 'Large 9'),
            select('effort', 'Thinking', 'thought_level', ['Low', 'Medium', 'High'], 'High'),
          ],
        },
      },
    }),
    delegating: fixtureAgent(root, 'Delegating', {
      prompt: [
        { say: 'I let two others look at it.' },
        ...['Look for bugs', 'Look for missing tests'].map((title, at) => ({
          update: {
            sessionUpdate: 'subagent_update',
            sessionId: `sub-${at}`,
            title,
            state: at === 0 ? { state: 'idle', stopReason: 'end_turn' } : { state: 'running' },
          },
        })),
        { say: 'Both have looked at it.' },
      ],
    }),
    paths: fixtureAgent(root, 'Paths', { prompt: [...longWork(), { say: 'Done.' }] }),
    edits: fixtureAgent(root, 'Edits', { prompt: [{ update: edit }, { say: 'Done.' }] }),
  }
}

/** Work of every kind on files far apart. */
function longWork(): object[] {
  const call = (toolCallId: string, kind: string, title: string, more: object = {}) => ({
    update: {
      sessionUpdate: 'tool_call',
      toolCallId,
      kind,
      title,
      status: 'completed',
      locations: [{ path: `$cwd/${longPath}`, line: 12 }],
      ...more,
    },
  })
  return [
    call('read-1', 'read', `Read ${longPath}`),
    call('search-1', 'search', 'Search for "a needle in a very large haystack of files that nobody reads"'),
    call('read-2', 'read', 'Read planets.js', { status: 'failed' }),
    { say: 'I looked around.' },
    call('edit', 'edit', `Edit ${longPath}`, {
      content: [{ type: 'diff', path: `$cwd/${longPath}`, oldText: 'a\nb\n', newText: 'a\nc\nd\n' }],
    }),
    call('move', 'move', `Move ${longPath} to elsewhere.ts`),
    call('fetch', 'fetch', `https://example.com/${longPath}`),
    call('run', 'execute', `npm test -- --grep "${longPath}"`, { status: 'failed' }),
    call('delete', 'delete', `Delete ${longPath}`, { status: 'in_progress' }),
  ]
}

export const names = { paths: 'Paths', long: longName, endOfRightToLeft: 'const greeting' }
