import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type MockModel, startMockModel } from '../agents/mock-model/server.ts'
import { AGENTS_CACHE } from '../agents/paths.ts'
import { LoopbackServer } from '../support/loopback-server.ts'
import { ConversationPage } from './support/conversation-page.ts'
import { VsCodeSuite } from './support/vscode-suite.ts'

/** Counts what a new user does, with the real npm package of Gemini CLI and a model on loopback. */
describe('the first minute', () => {
  const env: Record<string, string> = {}
  let registry: LoopbackServer
  let model: MockModel

  // must run before the suite's own hook, which uses both
  before(async () => {
    model = await startMockModel()
    Object.assign(env, {
      npm_config_cache: join(AGENTS_CACHE, 'npm'),
      npm_config_prefer_offline: 'true',
      GOOGLE_GEMINI_BASE_URL: `http://127.0.0.1:${model.port}`,
      GEMINI_CLI_NO_RELAUNCH: 'true',
      GEMINI_CLI_TRUST_WORKSPACE: 'true',
    })
    const gemini = {
      ...{ id: 'gemini', name: 'Gemini CLI', version: '0.61.0', description: 'An agent' },
      distribution: { npx: { package: '@google/gemini-cli@0.61.0', args: ['--acp'] } },
    }
    registry = await LoopbackServer.start((_request, response) =>
      response.end(JSON.stringify({ version: '1.0.0', agents: [gemini], extensions: [] })),
    )
  })
  const vscode = new VsCodeSuite({
    env,
    settings: root => {
      // nothing leaves the machine, but a key is required even for a model on loopback
      mkdirSync(join(root.home, '.gemini'))
      const quiet = {
        security: { auth: { selectedType: 'gemini-api-key' } },
        privacy: { usageStatisticsEnabled: false },
        telemetry: { enabled: false },
        general: { enableAutoUpdate: false, enableAutoUpdateNotification: false },
      }
      writeFileSync(join(root.home, '.gemini/settings.json'), JSON.stringify(quiet))
      return { 'parley.agentRegistry': `${registry.origin}/registry.json`, 'parley.initializeTimeout': 300 }
    },
  })
  after(() => Promise.all([registry.stop(), model.close()]))

  it('takes three clicks, a prompt and a key from nothing to the first answer, and shows why the user waits', async function () {
    // npm downloads 100 MB if its cache is empty
    this.timeout(400_000)
    const patient = { timeout: 300_000 }
    const workbench = await vscode.open()
    const conversation = await ConversationPage.open(workbench)
    const { frame } = conversation
    const offer = frame.locator('.offer', { hasText: 'Gemini CLI' })
    const install = offer.getByRole('button', { name: 'Install Gemini CLI' })
    await install.waitFor()
    await frame.evaluate(WATCH_WAITING)
    let clicks = 0
    const click = async (button: typeof install) => {
      await button.click()
      clicks += 1
    }

    await click(install)
    await offer.getByText(/Runs: npm install --ignore-scripts @google\/gemini-cli@0\.61\.0/).waitFor()
    await click(offer.getByRole('button', { name: /^Run Install/ }))
    await offer.getByRole('progressbar', { name: 'Installing Gemini CLI' }).waitFor()
    await conversation.composer.getByText(/^Ask Gemini CLI…/).waitFor(patient)
    await conversation.waitForFocus(conversation.composer)
    await workbench.page.keyboard.type('please [[hello /there]]')
    await workbench.page.keyboard.press('Enter')
    await frame.locator('.prompt.outgoing', { hasText: 'please' }).waitFor()

    const card = conversation.card('Gemini CLI requires sign-in')
    await card.waitFor(patient)
    await workbench.screenshot('first-minute-sign-in')
    await click(card.getByRole('button', { name: /^Gemini API key/ }))
    await workbench.paletteInput.fill('a-key')
    await workbench.paletteInput.press('Enter')

    await conversation.text('Hello from the').waitFor(patient)
    await conversation.waitForAgent('Gemini CLI')
    assert.ok(clicks <= 3, `${clicks} clicks`)
    assert.ok(model.requests.some(({ scenario }) => scenario === 'hello'))
    const silent = await frame.evaluate<number>('window.longestSilence')
    assert.ok(silent < 3000, `Nothing showed for ${silent} ms that something was going on`)
    const details = await conversation.openDetails()
    await details.getByText('Signed in', { exact: true }).waitFor()
    await workbench.screenshot('first-minute')
  })
})

/**
 * Records the longest time in which the page showed no progress. Counts checks every 50 ms instead of measuring, so
 * that a busy machine doesn't lengthen it.
 */
const WATCH_WAITING = `(() => {
  const signs = '[role="progressbar"], .card, .offer-plan, .activity, .codicon-loading'
  let silence = 0
  window.longestSilence = 0
  setInterval(() => {
    const shown = [...document.querySelectorAll(signs)].some(element => element.checkVisibility())
    silence = shown ? 0 : silence + 50
    window.longestSilence = Math.max(window.longestSilence, silence)
  }, 50)
})()`
