import { readFileSync } from 'node:fs'
import {
  ask,
  call,
  content,
  diff,
  type Step,
  say,
  sayBlock,
  sayFile,
  subagent,
  terminal,
  text,
  think,
  update,
  within,
} from './agent-steps.ts'

/** All kinds of tool calls in all states; the last one continues until the turn is stopped. */
const work: Step[] = [
  think('The person wants to know what all of it looks like.\n\nSo I do **one of everything**.'),
  { sleep: 1200 },
  say('I look around first.'),
  call('read', 'Read $cwd/src/server.js', {
    locations: [{ path: '$cwd/src/server.js', line: 12 }],
    content: [content(text('```js\nimport http from "node:http"\n```'))],
    rawInput: { path: 'src/server.js', limit: 200 },
  }),
  call('search', 'Search for `listen(` in **/*.js'),
  call('read', 'Read $cwd/src/planets.js'),
  call('fetch', 'https://example.com/api/reference/http.html', { status: 'failed' }),
  say('Then I change something, and see what comes of it.'),
  call('edit', 'Edit $cwd/src/server.js', {
    locations: [{ path: '$cwd/src/server.js', line: 3 }],
    content: [
      diff(
        'src/server.js',
        'const port = 80\nlisten(port)\n',
        'const port = Number(process.env.PORT ?? 8080)\nlisten(port)\n',
      ),
    ],
  }),
  call('delete', 'Delete $cwd/src/old-server.js'),
  call('move', 'Move src/a.js to src/lib/a.js'),
  call('execute', 'npm test -- --reporter dot', { content: [content(text('```\n12 passing (30ms)\n```'))] }),
  call('execute', 'npm run lint', {
    status: 'failed',
    content: [content(text('```\nsrc/server.js:3:7 error `port` is never used\n```'))],
    rawOutput: { exitCode: 1, stdout: '', stderr: '' },
  }),
  call('think', 'Weighing two ways to do it', { content: [content(text('The first is **shorter**.'))] }),
  call('switch_mode', 'Switch to Code mode'),
  call('other', 'github: create_pull_request', {
    rawInput: { title: 'Read the port from the environment', draft: true },
    rawOutput: { number: 12, url: 'https://example.com/pull/12' },
  }),
  call('other', 'A tool that had nothing to say'),
  call('execute', 'rm -rf build', { status: 'cancelled' }),
  call('execute', 'npm run deploy', { status: 'pending' }),
  call('read', 'Read $cwd/src/a.js'),
  call('read', 'Read $cwd/src/b.js', { status: 'in_progress' }),
  { untilCancelled: true },
]

const colors = [
  ...['30', '31', '32', '33', '34', '35', '36', '37'].map(
    (code, at) => `\u001b[${code}mcolor ${at}\u001b[0m \u001b[${Number(code) + 60}mbright ${at}\u001b[0m`,
  ),
  '\u001b[1mbold\u001b[0m \u001b[2mdim\u001b[0m \u001b[3mitalic\u001b[0m \u001b[4munderlined\u001b[0m \u001b[7mreversed\u001b[0m \u001b[9mstruck\u001b[0m',
  '\u001b[41;97m FAIL \u001b[0m \u001b[42;30m PASS \u001b[0m \u001b[43;30m WARN \u001b[0m \u001b[44;97m INFO \u001b[0m',
  '\u001b[38;5;208m256 colors\u001b[0m and \u001b[38;2;120;180;255mtrue color\u001b[0m',
].join('\r\n')
const failure = [
  '',
  '  \u001b[31m1) parser reads a number\u001b[0m',
  '',
  '     AssertionError: expected \u001b[32m1\u001b[0m to equal \u001b[31m2\u001b[0m',
  '      at Context.<anonymous> (test/parser.test.js:12:5)',
  '      at process.processImmediate (node:internal/timers:485:21)',
  '',
].join('\r\n')

const terminals: Step[] = [
  say('Commands, one after the other:'),
  ...terminal('colors', 'npm run colors', colors, { exit_code: 0 }),
  ...terminal('failure', 'npm test -- parser', failure, { exit_code: 1 }),
  ...terminal('quiet', 'true', '', { exit_code: 0 }),
  ...terminal(
    'long',
    'find . -type f',
    Array.from({ length: 400 }, (_, at) => `./packages/planets-${at}/src/index.js`).join('\r\n'),
    { exit_code: 0 },
  ),
  ...terminal('killed', 'npm run forever', 'Listening on 8080\r\n', { exit_code: null, signal: 'SIGKILL' }),
  ...terminal(
    'several-lines',
    'for file in src/*.js; do\n  node --check "$file" || exit 1\ndone && echo "all of them are well-formed, every single one"',
    'all of them are well-formed, every single one\r\n',
    { exit_code: 0 },
  ),
  ...terminal('running', 'npm run build', 'vite v6 building for production...\r\ntransforming (812)'),
  { untilCancelled: true },
]

/** Subagents: two concurrent ones whose updates interleave, one that starts another, and one that fails. */
const parallel: Step[] = [
  say('I let three others look at it at the same time.'),
  subagent('bugs', 'running', {
    title: 'Look for bugs',
    description: 'Reads the parser and tries to break it',
  }),
  subagent('tests', 'running', { title: 'Look for missing tests' }),
  within('bugs', think('Where do parsers break? At the edges.')),
  within('bugs', say('I read the parser first.')),
  within('tests', say('I list what is tested:\n\n- numbers\n- strings, but not *empty* ones')),
  within('bugs', call('read', 'Read $cwd/src/parser.js')),
  within('bugs', call('search', 'Search for `next(`')),
  within('tests', call('execute', 'npm test -- --list')),
  within(
    'bugs',
    call('edit', 'Edit $cwd/src/parser.js', { content: [diff('src/parser.js', 'a\n', 'b\nc\n')] }),
  ),
  within('bugs', subagent('deep', 'running', { title: 'Run the fuzzer' })),
  within('deep', say('Ten thousand inputs, none of which breaks it.')),
  within('tests', say('Nothing tests an empty string.')),
  within('deep', call('execute', 'npx fuzz src/parser.js', { status: 'failed' })),
  within(
    'bugs',
    say('There is **one bug**: the last token is lost.\n\n```js\nreturn tokens.slice(0, -1)\n```'),
  ),
  within(
    'bugs',
    subagent('deep', 'idle', { stopReason: 'error', error: { code: -32603, message: 'Out of memory' } }),
  ),
  subagent('bugs', 'idle', { stopReason: 'end_turn' }),
  say('One of them has found something. I wait for the other.'),
  within('tests', think('What would break it?')),
  within('tests', say('I write the missing test now.')),
  within('tests', call('edit', 'Edit $cwd/test/parser.test.js', { status: 'in_progress' })),
  { untilCancelled: true },
]

const picture = (width: number, height: number) => ({
  type: 'image',
  mimeType: 'image/svg+xml',
  data: Buffer.from(
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}">` +
      '<defs><linearGradient id="g"><stop stop-color="#3b82f6"/><stop offset="1" stop-color="#f59e0b"/></linearGradient>' +
      '</defs><rect width="100%" height="100%" fill="url(#g)"/><circle cx="50%" cy="50%" r="30" fill="#fff8"/></svg>',
  ).toString('base64'),
})
// a tenth of a second of silence
const silence = 'UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA='

const media: Step[] = [
  say('A picture, a sound, and things that are elsewhere:'),
  ...[
    picture(240, 120),
    picture(4000, 900),
    { type: 'audio', mimeType: 'audio/wav', data: silence },
    {
      type: 'resource_link',
      uri: 'https://example.com/specification.html',
      name: 'specification.html',
      title: 'The specification of everything, in its second edition with corrections',
      size: 123_456,
    },
    ...[
      { uri: 'file:///work/report.json', mimeType: 'application/json', text: '{\n  "passed": 12\n}' },
      { uri: 'file:///work/archive.zip', mimeType: 'application/zip', blob: silence },
    ].map(resource => ({ type: 'resource', resource })),
    { type: 'hologram', depth: 3 },
  ].map(sayBlock),
  say('And what a tool brought:'),
  call('other', 'playwright: screenshot', {
    content: [
      text('The page as it is now:'),
      picture(640, 360),
      { type: 'resource_link', uri: 'file:///work/page.html', name: 'page.html' },
    ].map(content),
  }),
  say('That was all of it.'),
]

const notice = (severity: string, title: string, more: object = {}) =>
  update('notice', { severity, title, ...more })
const description = 'It says so in `~/.agent/log`, with [more about it](https://example.com).'
const compaction = (compactionId: string, status: string, more: object = {}) =>
  update('compaction_update', { compactionId, status, ...more })
const reported: Step[] = [
  notice('info', 'A new version is there'),
  notice('warning', 'Nearly out of credits', { description }),
  notice('error', 'The index could not be read', { description }),
  say('Something was said between.'),
  compaction('one', 'in_progress'),
  compaction('one', 'completed', { summary: [text('We looked at the **parser** and mended it.')] }),
  compaction('two', 'failed', { error: 'too short' }),
  update('weather_report', { temperature: 21 }),
  say('Then more was said.'),
]

const options = { allow_once: 'Allow', reject_once: 'Reject' }
const asked: Step[] = [
  say('I ask before I do it.'),
  ask('npm install left-pad', 'execute', options),
  ask('Delete src/server.js', 'delete', options),
  say('So be it.'),
]

const path = (name: string) => `$cwd/${name}`
/** Changed files in the format of protocol version 2. */
export const patch: Step[] = [
  { reply: { messageId: 'p1' } },
  update('state_update', { state: 'running' }),
  update('tool_call_update', {
    toolCallId: 'patch',
    title: 'Apply a patch',
    kind: 'edit',
    status: 'completed',
    content: [
      {
        type: 'diff',
        changes: [
          { operation: 'modify', path: path('src/parser.js') },
          { operation: 'add', path: path('src/new.js') },
          { operation: 'delete', path: path('src/old.js') },
          { operation: 'move', oldPath: path('src/a.js'), path: path('src/lib/a.js') },
          { operation: 'modify', path: path('bin/run.sh') },
          { operation: 'modify', path: path('logo.png'), fileType: 'binary', mimeType: 'image/png' },
          { operation: 'add', path: path('assets'), fileType: 'directory' },
        ],
        patch: {
          format: 'git_patch',
          text: readFileSync(new URL('../fixtures/screenshots/several-files.patch', import.meta.url), 'utf8'),
        },
      },
    ],
  }),
  update('agent_message', { messageId: 'a1', content: [text('The patch is in.')] }),
  update('state_update', { state: 'idle', stopReason: 'end_turn' }),
]

const overloaded = { code: -32603, message: 'The model is overloaded', data: { status: 529, retry: false } }
const ends: Step[] = [
  ...['max_tokens', 'max_turn_requests', 'refusal', 'of_a_new_kind'].map(stopReason => ({
    reply: { stopReason },
  })),
  { fail: overloaded },
]

/** The names and scripts of agents that each demonstrate one part of a conversation. */
export const transcriptAgents = {
  'transcript-prose': ['Writer', { prompt: [sayFile('prose')] }],
  'transcript-work': ['Worker', { prompt: work }],
  'transcript-terminals': ['Commander', { prompt: terminals }],
  'transcript-subagents': ['Manager', { prompt: parallel }],
  'transcript-media': ['Painter', { prompt: media }],
  'transcript-told': ['Herald', { prompt: reported }],
  'transcript-asked': ['Asker', { prompt: asked }],
  'transcript-chinese': ['Chinese', { prompt: [sayFile('chinese')] }],
  'transcript-ends': ['Quitter', { prompts: ends.map(end => [say('I begin, and'), end]) }],
} satisfies Record<string, [name: string, script: object]>
