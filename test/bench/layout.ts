/**
 * The cost of very long parts of a conversation in a browser: the page of the Conversation view, with a host that only
 * sends them. Prints for each part the CPU time of the longest task of the page's thread, from the browser's trace, and
 * the number of nodes in the page. Fails above the limits.
 *
 *   npm run bench -- layout
 *
 * PARLEY_BENCH_ONLY: a regular expression for the names.
 */
import type { Page } from 'playwright-core'
import type { ConversationSnapshot, PatchOp, TerminalNote } from '../../src/bridge/conversation.ts'
import type { Entry } from '../../src/conversation/state.ts'
import { launchBrowser } from '../host/browser.ts'
import { head, message, toolCall } from '../unit/webview/conversation/entries.ts'
import { servePage } from './serve-page.ts'
import { TaskTrace } from './workbench/task-trace.ts'

/** Milliseconds of CPU time. */
const MAX_TASK = 50
const MAX_NODES = 3000
const MB = 1_000_000

const codeLine = 'const answer = compute(42, "text") // and a comment\n'
const code = codeLine.repeat(MB / codeLine.length)
const prose = `${'Some prose with **bold** words in it. '.repeat(9)}\n\n`
const colored = Array.from(
  { length: 10_000 },
  (_, i) => `\u001b[3${i % 8}mline ${i}\u001b[0m of the output\r\n`,
)
const before = Array.from({ length: 100_000 }, (_, i) => `line ${i} of the file`)
const after = before.map((line, i) => (i % 1000 === 7 ? `${line}, changed` : line))

interface Case {
  entry: Entry
  /** text that is appended, one chunk per frame */
  pieces?: string[]
  terminals?: TerminalNote[]
  /** opened by a click */
  isFolded?: true
  /** a text that the page contains when everything has arrived */
  end: string
  maxNodes?: number
}

const texts: Record<string, string> = {
  'a code block of 1 MB': `\`\`\`ts\n${code}\`\`\`\n`,
  'a list item with a fence of 1 MB': `- item\n\n  \`\`\`ts\n${code.replace(/^/gm, '  ')}  \`\`\`\n`,
  'a fold of 1 MB': `<details>\n<summary>x</summary>\n\n${prose.repeat(MB / prose.length)}</details>\n`,
  'a million backticks': '`'.repeat(MB),
}
const LAST = '\n\nThe end of it.\n'
const ofText = (text: string): Case => ({ entry: message('a', 'agent', text + LAST), end: 'The end of it.' })
const inPieces = (text: string, length: number): Case => ({
  entry: message('a', 'agent', ''),
  pieces: Array.from({ length: Math.ceil(text.length / length) }, (_, i) =>
    text.slice(i * length, (i + 1) * length),
  ).concat(LAST),
  end: 'The end of it.',
})

const cases: Record<string, Case> = {
  ...Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, ofText(text)])),
  'a code block of 5,000 lines': {
    ...ofText(`\`\`\`ts\n${codeLine.repeat(5000)}\`\`\`\n`),
    maxNodes: MAX_NODES,
  },
  'a code block of 1 MB in pieces': inPieces(texts['a code block of 1 MB']!, 4000),
  'a list item with a fence of 1 MB in pieces': inPieces(texts['a list item with a fence of 1 MB']!, 4000),
  'a fold of 1 MB in pieces': inPieces(texts['a fold of 1 MB']!, 4000),
  '100,000 chunks': inPieces(prose.repeat(Math.ceil(2_000_000 / prose.length)), 8000),
  'a tool output of 5 MB': {
    entry: toolCall('t', {
      content: [
        { type: 'content', content: { type: 'text', text: 'a line of output\n'.repeat((5 * MB) / 17) } },
      ],
    }),
    isFolded: true,
    end: 'a line of output',
  },
  'a tool output of 5 MB without Markdown': {
    entry: toolCall('t', { rawOutput: 'a line of output\n'.repeat((5 * MB) / 17) }),
    isFolded: true,
    end: 'a line of output',
  },
  'a diff of 100,000 lines': {
    entry: toolCall('t', {
      toolKind: 'edit',
      content: [
        {
          type: 'diff',
          changes: [
            { operation: 'modify', path: '/w/a.ts', oldText: before.join('\n'), newText: after.join('\n') },
          ],
        },
      ],
    }),
    isFolded: true,
    end: 'line 7 of the file, changed',
  },
  'a terminal of 10,000 colored lines': {
    entry: toolCall('t', { toolKind: 'execute', content: [{ type: 'terminal', terminalId: 'x' }] }),
    terminals: [{ terminalId: 'x', output: colored.join(''), truncated: false }],
    maxNodes: MAX_NODES,
    isFolded: true,
    end: 'of the output',
  },
}

const only = new RegExp(process.env.PARLEY_BENCH_ONLY ?? '')
const served = await servePage(
  {
    conversation: 'src/webview/conversation/main.tsx',
    'conversation-styles': 'src/webview/conversation/main.css',
  },
  html(),
)
const browser = await launchBrowser()
try {
  for (const [name, one] of Object.entries(cases)) if (only.test(name)) await measure(name, one)
} finally {
  await browser.close()
  served.close()
}

async function measure(name: string, one: Case): Promise<void> {
  const page = await browser.newPage({ viewport: { width: 600, height: 800 } })
  await page.goto(served.url)
  await page.waitForFunction('globalThis.isReady')
  const { entry, pieces = [], terminals = [] } = one
  const first = message('first', 'agent', '```ts\nconst warm = 1\n```\n')
  // load what the page loads on first use
  const warm = toolCall('warm', {
    toolKind: 'edit',
    content: [
      { type: 'diff', changes: [{ operation: 'modify', path: '/w/b.ts', oldText: 'a', newText: 'b' }] },
      { type: 'terminal', terminalId: 'warm' },
    ],
  })
  await send(
    page,
    'conversation/snapshot',
    snapshotOf([first, warm], [{ terminalId: 'warm', output: 'x\r\n', truncated: false }]),
  )
  await page.click('.work .line')
  await page.waitForSelector('.terminal')
  await page.click('.work .line')
  await page.waitForFunction("!document.querySelector('.work-body')")
  let revision = 1
  const patches = [
    [...terminals.map(({ output: _, ...terminal }) => terminal), ...terminals].map(
      (terminal): PatchOp => ({ op: 'terminal', terminal }),
    ),
    [{ op: 'entry', index: 2, entry } satisfies PatchOp],
    ...pieces.map((text): PatchOp[] => [{ op: 'text', id: entry.id, block: 0, text }]),
  ].map(ops => ({ jsonrpc: '2.0', method: 'conversation/patch', params: { revision: ++revision, ops } }))
  // only what follows is measured
  await page.evaluate(json => Object.assign(window, { patches: JSON.parse(json) }), JSON.stringify(patches))
  const trace = await TaskTrace.start(browser, page)
  await page.evaluate(playPatches())
  if (one.isFolded) await page.locator('.work .line').last().click()
  await page.waitForFunction(whenShown(one.end), undefined, { timeout: 60_000 })
  await page.evaluate('new Promise(resolve => requestIdleCallback(resolve, { timeout: 5000 }))')
  const longest = await trace.longest()
  const nodes = await page.evaluate<number>("document.querySelectorAll('*').length")
  console.log(`${name}: longest task ${longest.toFixed(1)} ms, ${nodes} nodes`)
  if (longest > MAX_TASK) fail(`A task of more than ${MAX_TASK} ms.`)
  if (one.maxNodes !== undefined && nodes > one.maxNodes) fail(`More than ${one.maxNodes} nodes.`)
  await page.close()
}

function fail(reason: string): void {
  console.error(reason)
  process.exitCode = 1
}

/** Runs in the page: applies one patch per frame, as the host sends them. */
function playPatches(): string {
  return `(async () => {
    for (const data of window.patches) {
      window.dispatchEvent(new MessageEvent('message', { data }))
      await new Promise(requestAnimationFrame)
    }
  })()`
}

/** Runs in the page: whether it contains the text. Expanded content is at the top, messages at the end. */
function whenShown(text: string): string {
  return `(() => {
    const list = document.querySelector('.transcript')
    if (!document.querySelector('.work-body')) list.scrollTop = list.scrollHeight
    return [...list.querySelectorAll('.row')].some(row => row.textContent.includes(${JSON.stringify(text)}))
  })()`
}

/** Delivers a message like VS Code, which parses it before the page's own code gets it. */
async function send(page: Page, method: string, params: unknown): Promise<void> {
  await page.evaluate(
    json => window.postMessage(JSON.parse(json)),
    JSON.stringify({ jsonrpc: '2.0', method, params }),
  )
}

function snapshotOf(entries: Entry[], terminals: TerminalNote[]): ConversationSnapshot {
  const draft = { text: '', chips: [], items: [] }
  return { revision: 1, head: head(), entries, first: 0, total: entries.length, terminals, draft }
}

function html(): string {
  return `<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><link rel="stylesheet" href="conversation-styles.css"></head>
<body data-view="conversation" style="margin: 0; height: 800px"><div id="root" style="height: 100%"></div>
<script type="application/json" id="l10n">{}</script>
<script>
globalThis.acquireVsCodeApi = () => ({
  postMessage: ({ method }) => { if (method === 'conversation/ready') globalThis.isReady = true },
  getState: () => undefined,
  setState: () => undefined,
})
</script>
<script type="module" src="conversation.js"></script></body></html>`
}
