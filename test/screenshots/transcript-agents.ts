import type { IsolatedRoot } from '../host/isolated-root.ts'
import { type AgentSetting, fixtureAgent, INITIALIZE_V2 } from '../ui/support/fixture-agent.ts'
import { prose } from './transcript-prose.ts'

/** One step of a script of the fixture agent. */
type Step = Record<string, unknown>

const say = (text: string): Step => ({ say: text })
const think = (text: string): Step => ({
  update: { sessionUpdate: 'agent_thought_chunk', content: { type: 'text', text } },
})
const content = (block: object) => ({ type: 'content', content: block })
const text = (value: string) => content({ type: 'text', text: value })
let calls = 0
const call = (kind: string, title: string, more: object = {}): Step => ({
  update: {
    sessionUpdate: 'tool_call',
    toolCallId: `call-${calls++}`,
    kind,
    title,
    status: 'completed',
    ...more,
  },
})

/** All kinds of tool calls in all states; the last one continues until the turn is stopped. */
const work: Step[] = [
  think('The person wants to know what all of it looks like.\n\nSo I do **one of everything**.'),
  { sleep: 1200 },
  say('I look around first.'),
  call('read', 'Read $cwd/src/server.js', {
    locations: [{ path: '$cwd/src/server.js', line: 12 }],
    content: [text('```js\nimport http from "node:http"\n```')],
    rawInput: { path: 'src/server.js', limit: 200 },
  }),
  call('search', 'Search for `listen(` in **/*.js'),
  call('read', 'Read $cwd/src/planets.js'),
  call('fetch', 'https://example.com/api/reference/http.html', { status: 'failed' }),
  say('Then I change something, and see what comes of it.'),
  call('edit', 'Edit $cwd/src/server.js', {
    locations: [{ path: '$cwd/src/server.js', line: 3 }],
    content: [
      {
        type: 'diff',
        path: '$cwd/src/server.js',
        oldText: 'const port = 80\nlisten(port)\n',
        newText: 'const port = Number(process.env.PORT ?? 8080)\nlisten(port)\n',
      },
    ],
  }),
  call('delete', 'Delete $cwd/src/old-server.js'),
  call('move', 'Move src/a.js to src/lib/a.js'),
  call('execute', 'npm test -- --reporter dot', { content: [text('```\n12 passing (30ms)\n```')] }),
  call('execute', 'npm run lint', {
    status: 'failed',
    content: [text('```\nsrc/server.js:3:7 error `port` is never used\n```')],
    rawOutput: { exitCode: 1, stdout: '', stderr: '' },
  }),
  call('think', 'Weighing two ways to do it', { content: [text('The first is **shorter**.')] }),
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

function terminal(id: string, title: string, output: string, exit?: object): Step[] {
  const meta = (_meta: object, more: object = {}): Step => ({
    update: { sessionUpdate: 'tool_call_update', toolCallId: id, _meta, ...more },
  })
  return [
    {
      update: {
        sessionUpdate: 'tool_call',
        toolCallId: id,
        title,
        kind: 'execute',
        status: 'in_progress',
        content: [{ type: 'terminal', terminalId: id }],
        _meta: { terminal_info: { terminal_id: id, cwd: '$cwd' } },
      },
    },
    ...(output === '' ? [] : [meta({ terminal_output: { terminal_id: id, data: output } })]),
    ...(exit
      ? [meta({ terminal_exit: { terminal_id: id, signal: null, ...exit } }, { status: 'completed' })]
      : []),
  ]
}

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

const within = (session: string, update: object): Step => ({ update, session })
const saidBy = (session: string, value: string): Step =>
  within(session, { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: value } })
const thoughtBy = (session: string, value: string): Step =>
  within(session, { sessionUpdate: 'agent_thought_chunk', content: { type: 'text', text: value } })
const doneBy = (session: string, kind: string, title: string, more: object = {}): Step =>
  within(session, (call(kind, title, more) as { update: object }).update)
const announce = (sessionId: string, title: string | null, more: object = {}): Step => ({
  update: { sessionUpdate: 'subagent_update', sessionId, title, ...more },
})
const state = (sessionId: string, value: object): Step => ({
  update: { sessionUpdate: 'subagent_update', sessionId, state: value },
})

/** Subagents: two concurrent ones whose updates interleave, one that starts another, and one that fails. */
const parallel: Step[] = [
  say('I let three others look at it at the same time.'),
  announce('bugs', 'Look for bugs', {
    description: 'Reads the parser and tries to break it',
    state: { state: 'running' },
  }),
  announce('tests', 'Look for missing tests', { state: { state: 'running' } }),
  thoughtBy('bugs', 'Where do parsers break? At the edges.'),
  saidBy('bugs', 'I read the parser first.'),
  saidBy('tests', 'I list what is tested:\n\n- numbers\n- strings, but not *empty* ones'),
  doneBy('bugs', 'read', 'Read $cwd/src/parser.js'),
  doneBy('bugs', 'search', 'Search for `next(`'),
  doneBy('tests', 'execute', 'npm test -- --list'),
  doneBy('bugs', 'edit', 'Edit $cwd/src/parser.js', {
    content: [{ type: 'diff', path: '$cwd/src/parser.js', oldText: 'a\n', newText: 'b\nc\n' }],
  }),
  within('bugs', {
    sessionUpdate: 'subagent_update',
    sessionId: 'deep',
    title: 'Run the fuzzer',
    state: { state: 'running' },
  }),
  saidBy('deep', 'Ten thousand inputs, none of which breaks it.'),
  saidBy('tests', 'Nothing tests an empty string.'),
  doneBy('deep', 'execute', 'npx fuzz src/parser.js', { status: 'failed' }),
  saidBy('bugs', 'There is **one bug**: the last token is lost.\n\n```js\nreturn tokens.slice(0, -1)\n```'),
  within('bugs', {
    sessionUpdate: 'subagent_update',
    sessionId: 'deep',
    state: { state: 'idle', stopReason: 'error', error: { code: -32603, message: 'Out of memory' } },
  }),
  state('bugs', { state: 'idle', stopReason: 'end_turn' }),
  say('One of them has found something. I wait for the other.'),
  thoughtBy('tests', 'What would break it?'),
  saidBy('tests', 'I write the missing test now.'),
  doneBy('tests', 'edit', 'Edit $cwd/test/parser.test.js', { status: 'in_progress' }),
  { untilCancelled: true },
]

const svg = (width: number, height: number) =>
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}">` +
  '<defs><linearGradient id="g"><stop stop-color="#3b82f6"/><stop offset="1" stop-color="#f59e0b"/></linearGradient>' +
  `</defs><rect width="100%" height="100%" fill="url(#g)"/><circle cx="50%" cy="50%" r="30" fill="#fff8"/></svg>`
const picture = (width: number, height: number) => ({
  type: 'image',
  mimeType: 'image/svg+xml',
  data: Buffer.from(svg(width, height)).toString('base64'),
})
// a tenth of a second of silence
const silence = 'UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA='

const media: Step[] = [
  say('A picture, a sound, and things that are elsewhere:'),
  { update: { sessionUpdate: 'agent_message_chunk', content: picture(240, 120) } },
  { update: { sessionUpdate: 'agent_message_chunk', content: picture(4000, 900) } },
  {
    update: {
      sessionUpdate: 'agent_message_chunk',
      content: { type: 'audio', mimeType: 'audio/wav', data: silence },
    },
  },
  {
    update: {
      sessionUpdate: 'agent_message_chunk',
      content: {
        type: 'resource_link',
        uri: 'https://example.com/specification.html',
        name: 'specification.html',
        title: 'The specification of everything, in its second edition with corrections',
        size: 123_456,
      },
    },
  },
  {
    update: {
      sessionUpdate: 'agent_message_chunk',
      content: {
        type: 'resource',
        resource: {
          uri: 'file:///work/report.json',
          mimeType: 'application/json',
          text: '{\n  "passed": 12\n}',
        },
      },
    },
  },
  {
    update: {
      sessionUpdate: 'agent_message_chunk',
      content: {
        type: 'resource',
        resource: { uri: 'file:///work/archive.zip', mimeType: 'application/zip', blob: silence },
      },
    },
  },
  { update: { sessionUpdate: 'agent_message_chunk', content: { type: 'hologram', depth: 3 } } },
  say('And what a tool brought:'),
  call('other', 'playwright: screenshot', {
    content: [
      text('The page as it is now:'),
      content(picture(640, 360)),
      content({ type: 'resource_link', uri: 'file:///work/page.html', name: 'page.html' }),
    ],
  }),
  say('That was all of it.'),
]

const reported: Step[] = [
  ...['info', 'warning', 'error'].map(severity => ({
    update: {
      sessionUpdate: 'notice',
      severity,
      title: {
        info: 'A new version is there',
        warning: 'Nearly out of credits',
        error: 'The index could not be read',
      }[severity],
      ...(severity === 'info'
        ? {}
        : { description: 'It says so in `~/.agent/log`, with [more about it](https://example.com).' }),
    },
  })),
  say('Something was said between.'),
  { update: { sessionUpdate: 'compaction_update', compactionId: 'one', status: 'in_progress' } },
  {
    update: {
      sessionUpdate: 'compaction_update',
      compactionId: 'one',
      status: 'completed',
      summary: [{ type: 'text', text: 'We looked at the **parser** and mended it.' }],
    },
  },
  {
    update: { sessionUpdate: 'compaction_update', compactionId: 'two', status: 'failed', error: 'too short' },
  },
  { update: { sessionUpdate: 'weather_report', temperature: 21 } },
  say('Then more was said.'),
]

const options = [
  { optionId: 'allow', name: 'Allow', kind: 'allow_once' },
  { optionId: 'reject', name: 'Reject', kind: 'reject_once' },
]
const ask = (toolCallId: string, title: string, kind: string): Step => ({
  request: 'session/request_permission',
  params: { sessionId: '$session', toolCall: { toolCallId, title, kind, status: 'pending' }, options },
})
const asked: Step[] = [
  say('I ask before I do it.'),
  ask('first', 'npm install left-pad', 'execute'),
  ask('second', 'Delete src/server.js', 'delete'),
  say('So be it.'),
]

const patch = [
  'diff --git a/src/parser.js b/src/parser.js',
  '--- a/src/parser.js',
  '+++ b/src/parser.js',
  '@@ -10,7 +10,8 @@ export function parse(source) {',
  '   const tokens = []',
  '   let position = 0',
  '   while (position < source.length) {',
  '-    tokens.push(next(source, position))',
  '+    const token = next(source, position)',
  '+    tokens.push(token)',
  '   }',
  '   return tokens',
  ' }',
  'diff --git a/src/new.js b/src/new.js',
  'new file mode 100644',
  '--- /dev/null',
  '+++ b/src/new.js',
  '@@ -0,0 +1,2 @@',
  '+export const answer = 42',
  '+export default answer',
  'diff --git a/src/old.js b/src/old.js',
  'deleted file mode 100644',
  '--- a/src/old.js',
  '+++ /dev/null',
  '@@ -1,2 +0,0 @@',
  '-const legacy = true',
  '-module.exports = { legacy }',
  'diff --git a/src/a.js b/src/lib/a.js',
  'similarity index 100%',
  'rename from src/a.js',
  'rename to src/lib/a.js',
  'diff --git a/bin/run.sh b/bin/run.sh',
  'old mode 100644',
  'new mode 100755',
  'diff --git a/logo.png b/logo.png',
  'Binary files a/logo.png and b/logo.png differ',
  '',
].join('\n')
const path = (name: string) => `$cwd/${name}`
/** Changed files in the format of protocol version 2. */
const changes: Step[] = [
  { reply: { messageId: 'p1' } },
  { update: { sessionUpdate: 'state_update', state: 'running' } },
  {
    update: {
      sessionUpdate: 'tool_call_update',
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
          patch: { format: 'git_patch', text: patch },
        },
      ],
    },
  },
  {
    update: {
      sessionUpdate: 'agent_message',
      messageId: 'a1',
      content: [{ type: 'text', text: 'The patch is in.' }],
    },
  },
  { update: { sessionUpdate: 'state_update', state: 'idle', stopReason: 'end_turn' } },
]
const chinese = [
  '## 解析器的问题',
  '',
  '我先看了一下 `src/parser.ts`，然后运行了测试。**最后一个记号会丢失**，原因是循环提前结束了。',
  '',
  '1. 在循环之后补上最后一个记号；',
  '2. 为空字符串添加测试。',
  '',
  '> 注意：此更改不会影响公共接口。',
  '',
  '| 文件 | 更改 |',
  '| --- | --- |',
  '| `parser.ts` | 修正循环 |',
  '| `parser.test.ts` | 新增两个测试 |',
].join('\n')

const ends = ['max_tokens', 'max_turn_requests', 'refusal', 'of_a_new_kind']

/** Agents that each demonstrate one part of a conversation. */
export function transcriptAgents(root: IsolatedRoot): Record<string, AgentSetting> {
  const agent = (name: string, prompt: Step[]) => fixtureAgent(root, name, { prompt })
  return {
    'transcript-prose': agent('Writer', [say(prose)]),
    'transcript-work': agent('Worker', work),
    'transcript-terminals': agent('Commander', terminals),
    'transcript-subagents': agent('Manager', parallel),
    'transcript-media': agent('Painter', media),
    'transcript-told': agent('Herald', reported),
    'transcript-asked': agent('Asker', asked),
    'transcript-chinese': agent('Chinese', [say(chinese)]),
    'transcript-changes': {
      ...fixtureAgent(root, 'Patcher', { results: { initialize: INITIALIZE_V2 }, prompt: changes }),
      protocol: 'latest',
    },
    'transcript-ends': fixtureAgent(root, 'Quitter', {
      prompts: [
        ...ends.map(stopReason => [say('I begin, and'), { reply: { stopReason } }]),
        [
          say('I begin, and'),
          { fail: { code: -32603, message: 'The model is overloaded', data: { status: 529, retry: false } } },
        ],
      ],
    }),
  }
}
