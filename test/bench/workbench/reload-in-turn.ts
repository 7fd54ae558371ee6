import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { waitFor } from '../../host/wait-for.ts'
import { endAgentHosts } from '../../support/agent-hosts-of.ts'
import { ConversationPage } from '../../ui/support/conversation-page.ts'
import { pacedPrompt, type Scenario } from './scenarios.ts'

const profileSeconds = 1
const live = 'live text since Parley was activated'
const back = 'the same since the workbench was back'

/**
 * The time until a window that was reloaded in the middle of a turn shows what the agent says: the first chunk on screen that
 * the agent wrote after Parley was activated. The user's login shell takes as long as one with a version manager.
 */
export const reloadInTurn: Scenario = {
  title: `a reload of the window in a turn, with a login shell that takes ${profileSeconds} s`,
  figures: [
    { name: live, unit: 'ms', most: 1000 },
    // includes the start of the extension host
    { name: back, unit: 'ms' },
  ],
  async run({ rig, workbench }) {
    const { root } = rig.server
    const profiles = ['.profile', '.bash_profile', '.bashrc', '.zprofile'].map(name => join(root.home, name))
    root.updateSettings({ 'parley.keepAgentsRunning': undefined })
    try {
      await workbench.reload()
      const conversation = await ConversationPage.startSession(workbench, rig.agentName)
      await conversation.send(pacedPrompt(120))
      await conversation.text(/c9 /).waitFor()
      // the browser needs time to write the window's state
      await sleep(3000)
      for (const profile of profiles) writeFileSync(profile, `sleep ${profileSeconds}\n`)
      await workbench.page.addInitScript(noteChunks)
      const begun = Date.now()
      await workbench.reload()
      const { frame } = await ConversationPage.find(workbench)
      const restored = await workbench.page.evaluate<number>(
        "performance.timeOrigin + performance.getEntriesByName('code/didStartWorkbench')[0].startTime",
      )
      const activated = lastActivation(root.userData)
      const seen = await waitFor('live text', async () => {
        const chunks = await frame.evaluate<Array<[index: number, at: number]>>('globalThis.parleyChunks')
        const written = rig.logSince(begun).filter(({ event, at }) => event === 'paced' && at! >= activated)
        return chunks.find(([index]) => written.some(line => line.index! <= index))
      })
      return { [live]: seen[1] - activated, [back]: seen[1] - restored }
    } finally {
      for (const profile of profiles) rmSync(profile, { force: true })
      root.updateSettings({ 'parley.keepAgentsRunning': 'off' })
      await endAgentHosts(root.directory)
      await workbench.reload()
    }
  },
}

/** When an extension host last began to load Parley, in milliseconds since the epoch. */
function lastActivation(userData: string): number {
  const logs = join(userData, 'logs')
  const times = readdirSync(logs, { recursive: true, encoding: 'utf8' })
    .filter(file => file.endsWith('remoteexthost.log'))
    .flatMap(file => readFileSync(join(logs, file), 'utf8').split('\n'))
    .filter(line => line.includes('_doActivateExtension parley.parley'))
    // 2026-01-31 23:59:59.999 [info] …
    .map(line => new Date(line.slice(0, 23)).getTime())
  return Math.max(...times)
}

/** Records in every page which chunk of a stream is the last one on screen, whenever that changes, and when. */
const noteChunks = `(() => {
  const chunks = globalThis.parleyChunks = []
  setInterval(() => {
    const row = [...document.querySelectorAll('.transcript .row')].at(-1)
    const last = [...(row?.textContent ?? '').matchAll(/c(\\d+) /g)].at(-1)
    if (last && Number(last[1]) !== chunks.at(-1)?.[0]) chunks.push([Number(last[1]), Date.now()])
  }, 10)
})()`
