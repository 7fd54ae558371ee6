import { setTimeout as sleep } from 'node:timers/promises'
import { waitFor } from '../../host/wait-for.ts'
import type { ConversationPage } from '../../ui/support/conversation-page.ts'
import { floodOf, measurePrompt, type Scenario } from './scenarios.ts'

/** The time for loading and activating the extension, as VS Code reports it. */
export const activation: Scenario = {
  title: 'the activation of the extension',
  figures: [{ name: 'activation, as VS Code tells', unit: 'ms', most: 50 }],
  async run({ workbench }) {
    await workbench.runCommand('Developer: Show Running Extensions')
    const row = workbench.page.locator('.runtime-extensions-editor .extension', { hasText: 'Parley' }).first()
    const text = await row.locator('.activation-time').innerText()
    return { 'activation, as VS Code tells': Number(/(\d+)\s*ms/.exec(text)?.[1]) }
  },
}

const usable = 'usable composer'

/** The time from the shortcut that starts a session until the composer can send, including the agent's start. */
export const firstSession: Scenario = {
  title: 'the first session of a window, and a second one',
  figures: [
    { name: `${usable}, agent started`, unit: 'ms' },
    { name: `${usable}, agent running`, unit: 'ms' },
  ],
  async run(window) {
    const times: number[] = []
    for (let i = 0; i < 2; i++) {
      const { frame } = await window.displayedConversation()
      await window.highlightAgent()
      const ready = await frame.evaluateHandle(whenReady)
      const begun = Date.now()
      await window.acceptHighlighted()
      times.push((await ready.evaluate<number, { time: Promise<number> }>(({ time }) => time)) - begun)
    }
    return { [`${usable}, agent started`]: times[0]!, [`${usable}, agent running`]: times[1]! }
  },
}

/**
 * Runs in the page: resolves to the time at which another session is ready and the composer accepts text. Compares the
 * keys of the sessions, since a running agent can have the next session ready within a frame.
 */
const whenReady = `(() => {
  const key = () => JSON.parse(document.querySelector('.conversation').dataset.vscodeContext).conversation
  const before = key()
  const time = new Promise(resolve => {
    const look = () => {
      const another = key() !== before && !/^(new( \\d+)?)?$/.test(key())
      const ready = document.body.dataset.phase === 'ready'
      if (another && ready && document.querySelector('.composer [contenteditable="true"]')) resolve(Date.now())
      else requestAnimationFrame(look)
    }
    look()
  })
  return { time }
})()`

/** The time until text and messages are restored after a reload. */
export const reload: Scenario = {
  title: 'a reload of the window with a draft in the composer',
  figures: [
    { name: 'drafts lost', unit: '', most: 0 },
    { name: 'sessions lost', unit: '', most: 0 },
    { name: 'workbench on screen', unit: 'ms' },
    { name: 'conversation on screen', unit: 'ms' },
    { name: 'of that, since its page began', unit: 'ms', most: 150 },
    { name: 'the same until it can be used', unit: 'ms' },
    // its page may begin earlier or later
    { name: 'until it can be used, since the reload', unit: 'ms' },
  ],
  async run(window) {
    const conversation = await window.newSession()
    await measurePrompt(window, conversation, floodOf(40))
    await conversation.composer.fill('not to be lost')
    // the browser needs time to write the window's state
    await sleep(3000)
    const { page } = window.workbench
    await page.addInitScript(noteFirstRow)
    const begun = Date.now()
    await window.workbench.reload()
    const workbenchShown = Date.now() - begun
    const shown = await window.displayedConversation()
    const text = shown.frame.locator('.transcript').getByText('[end of flood]').first()
    const sessionsLost = await lost(text.waitFor({ timeout: 20_000 }))
    const draft = waitFor('draft', async () => (await written(shown)) === 'not to be lost', {
      timeout: 10_000,
    })
    const { readable, usable, origin } = await shown.frame.evaluate<Record<string, number>>(
      '({ ...globalThis.parleyTimes, origin: performance.timeOrigin })',
    )
    if (!readable || !usable || !origin) throw new Error('The page recorded no times')
    return {
      'sessions lost': sessionsLost,
      'drafts lost': await lost(draft),
      'workbench on screen': workbenchShown,
      'conversation on screen': readable - begun,
      'of that, since its page began': readable - origin,
      'the same until it can be used': usable - origin,
      'until it can be used, since the reload': usable - begun,
    }
  },
}

/**
 * Records in every page when the first frame with a row of a conversation was rendered, and when the page's script had
 * replaced the preview with the conversation. Frames before VS Code shows the page don't count. VS Code writes the page
 * into an existing document, which cancels requested frames but no timers.
 */
const noteFirstRow = `(() => {
  const times = globalThis.parleyTimes = {}
  const note = (name, selector) => {
    if (document.querySelector(selector)) setTimeout(() => { times[name] ??= Date.now() })
  }
  const look = () => {
    if (getComputedStyle(window.frameElement).visibility === 'visible') {
      note('readable', '.transcript .row')
      note('usable', '#root .transcript .row')
    }
    if (!times.usable) requestAnimationFrame(look)
  }
  const timer = setInterval(() => {
    if (!document.body?.dataset.view) return
    clearInterval(timer)
    look()
  }, 2)
})()`

async function written({ composer }: ConversationPage): Promise<string> {
  return (await composer.innerText()).trim()
}

/** Records a 1 if the expected event doesn't occur. */
async function lost(wait: Promise<unknown>): Promise<number> {
  try {
    await wait
    return 0
  } catch {
    return 1
  }
}
