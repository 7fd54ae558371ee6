import type { IsolatedRoot } from '../host/isolated-root.ts'
import { type AgentSetting, fixtureAgent } from '../ui/support/fixture-agent.ts'

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

/** The agents whose states are shown, besides the demo agent: each does one thing. */
export function shownAgents(root: IsolatedRoot): Record<string, AgentSetting> {
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
  }
}

export const names = { long: longName, endOfRightToLeft: 'const greeting' }
