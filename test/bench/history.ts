/**
 * How long it takes in a window until History with 10,000 sessions is drawn the first time, and until a session of 10,000 entries that was
 * opened from it is, both without a running agent: the extension in plain Node, and a browser. Prints the times, and
 * fails above the limit. Needs `npm run build` first.
 *
 *   npm run bench -- history
 *
 * PARLEY_BENCH_SESSIONS: another number of sessions.
 */
import { writeFileSync } from 'node:fs'
import { cpus, loadavg } from 'node:os'
import { join } from 'node:path'
import type { Frame } from 'playwright-core'
import type { SessionUpdate } from '../../src/acp/model.ts'
import { SecretRegistry } from '../../src/common/secrets.ts'
import { createSessionState, reduce } from '../../src/conversation/reducer/reduce.ts'
import { conversationLines } from '../../src/history/protocol-lines.ts'
import { launchBrowser } from '../host/browser.ts'
import { IsolatedRoot } from '../host/isolated-root.ts'
import { testDirectory } from '../host/paths.ts'
import { PageWindow } from '../support/page/page-window.ts'
import { ConversationPage } from '../ui/support/conversation-page.ts'
import { fixtureAgent } from '../ui/support/fixture-agent.ts'
import { HistoryPage } from '../ui/support/history-page.ts'

const SESSIONS = Number(process.env.PARLEY_BENCH_SESSIONS ?? 10_000)
const UPDATES = 10_000
/** Milliseconds until the first rows are drawn. */
const MOST = 150
const ROUNDS = 5

/** The lines of a conversation with this number of updates, half of them of tools. */
function lines(number: number, title: string, updates: number): string {
  const state = createSessionState()
  const message = (i: number): SessionUpdate => ({
    type: 'message_chunk',
    role: i % 20 === 0 ? 'user' : 'agent',
    messageId: `m${i}`,
    content: { type: 'text', text: `Message **${i}** of \`session ${number}\`, with some more words in it.` },
  })
  const tool = (i: number): SessionUpdate => ({
    type: 'tool_call',
    toolCall: {
      ...{ toolCallId: `t${i}`, title: `Read file-${i}.ts`, toolKind: 'read', status: 'completed' },
      locations: [{ path: `/work/src/file-${i}.ts` }],
    },
  })
  for (let i = 0; i < updates; i++) reduce(state, i % 2 === 0 ? message(i) : tool(i), i)
  const conversation = { entries: state.entries, terminals: [], head: { title } }
  const time = Date.now() - number * 600_000
  const session = {
    ...{
      agentId: 'able',
      agentName: 'Able',
      sessionId: `s${number}`,
      title,
      createdAt: time,
      updatedAt: time,
    },
    ...{ cwd: `/work/project-${number % 7}`, additionalDirectories: [] },
  }
  return [...conversationLines(conversation, session, new SecretRegistry())].join('\n')
}

/** Resolves in the page to the time at which these are drawn. */
async function whenDrawn(frame: Frame, selector: string) {
  const script = `(() => ({ time: new Promise(resolve => {
    const look = () => {
      const one = [...document.querySelectorAll(${JSON.stringify(selector)})].find(it => it.checkVisibility({ visibilityProperty: true }))
      if (one) setTimeout(() => resolve(Date.now()))
      else requestAnimationFrame(look)
    }
    look()
  }) }))()`
  const handle = await frame.evaluateHandle<{ time: Promise<number> }>(script)
  return () => handle.evaluate(({ time }) => time)
}

let failed = false
function report(what: string, times: number[]): void {
  const [first = 0, ...others] = times
  const median = others.sort((a, b) => a - b)[others.length >> 1] ?? first
  failed ||= median > MOST
  const load = (loadavg()[0]! / cpus().length).toFixed(1)
  console.log(
    `${what}: ${median} ms (median of ${others.length}, at most ${MOST}), ${Math.min(...times)} ms at best, ${first} ms the first time, at a load of ${load} per core`,
  )
}

const root = new IsolatedRoot()
const browser = await launchBrowser()
try {
  root.updateSettings({
    'parley.agents': { able: fixtureAgent(root, 'Able') },
    'parley.history.maximumSize': 0,
  })
  const workspace = root.copyWorkspace(join(testDirectory, 'fixtures/workspace/sample.code-workspace'))
  const window = await PageWindow.open(browser, root, { workspace, env: {} })
  const file = join(root.directory, 'sessions.jsonl')
  const small = Array.from({ length: SESSIONS - 1 }, (_, i) => lines(i + 2, `Session number ${i + 2}`, 4))
  writeFileSync(file, [lines(1, 'The long one', UPDATES), ...small].join('\n'))
  await window.host.call('willPick', file)
  await window.runCommand('Parley: Import Conversations…')
  await window.notification(/Imported: /).waitFor({ timeout: 600_000 })
  const [history, opening]: [number[], number[]] = [[], []]
  for (let i = 0; i <= ROUNDS; i++) {
    await window.reload()
    await window.openViewContainer('Parley')
    const { frame, composer } = await ConversationPage.find(window)
    await composer.waitFor()
    // the start page is drawn, and what it needed is done
    await window.host.call('tabs')
    const drawn = await whenDrawn(frame, '.history-row')
    const begun = Date.now()
    await window.runCommand('Parley: Open History')
    history.push((await drawn()) - begun)
    const page = await HistoryPage.find(window)
    await page.search.fill('The long one')
    const row = page.row('The long one')
    await row.waitFor()
    const opened = await whenDrawn(frame, '.transcript .row')
    // from when the page gets the click: what sends it there is the test
    const clicked = await row.evaluate((element: HTMLElement) => {
      const now = Date.now()
      element.click()
      return now
    })
    opening.push((await opened()) - clicked)
  }
  report(`History with ${SESSIONS.toLocaleString('en')} sessions`, history)
  report(`a session of ${UPDATES.toLocaleString('en')} updates`, opening)
  await window.close()
} finally {
  await browser.close()
  root.remove()
}
if (failed) {
  console.error('History is too slow.')
  process.exitCode = 1
}
