import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { waitFor } from '../host/wait-for.ts'
import { PageSuite } from '../support/page/page-suite.ts'
import type { PageWindow } from '../support/page/page-window.ts'
import { ConversationPage } from '../ui/support/conversation-page.ts'
import { fixtureAgent } from '../ui/support/fixture-agent.ts'

/** What a page showed right before and right after its script displayed the conversation. */
interface Takeover {
  before: Place[]
  after: Place[]
  isInert: boolean
}
interface Place {
  text: string
  left: number
  top: number
  width: number
}

/** Runs in every page: records what is displayed when the preview is removed. */
const recordTakeover = `(() => {
  const remove = Element.prototype.remove
  const placesIn = element => [...element.querySelectorAll('.header-title, .row p, .row li, .row pre')].map(one => {
    const { left, top, width } = one.getBoundingClientRect()
    return { text: one.textContent, left, top, width }
  })
  Element.prototype.remove = function () {
    if (this.id !== 'preview' || globalThis.takeover) return remove.call(this)
    const before = placesIn(this)
    const isInert = this.inert && this.getAttribute('aria-hidden') === 'true'
    remove.call(this)
    globalThis.takeover = { before, isInert, after: placesIn(document.getElementById('root')) }
  }
})()`

describe('the saved conversation after a reload', () => {
  const vscode = new PageSuite({
    settings: root => ({ 'parley.agents': { fixture: fixtureAgent(root, 'Fixture') } }),
  })
  let workbench: PageWindow

  const folder = () => join(vscode.root.directory, 'user-data/User/globalStorage/parley.parley/previews')
  const stored = () => {
    try {
      return readdirSync(folder())
        .filter(name => name.endsWith('.json'))
        .map(name => readFileSync(join(folder(), name), 'utf8'))
    } catch {
      return []
    }
  }
  const takeoverIn = ({ frame }: ConversationPage) =>
    frame.evaluate<Takeover | null>('globalThis.takeover ?? null')

  it("is displayed in place before the page's script runs, and never after the user left the session", async () => {
    workbench = await vscode.open()
    let page = await ConversationPage.startSession(workbench, 'Fixture')
    await page.send(
      '[[title Planets]] [[think]] [[flood 60]] [[say <script>bad</script> Mercury **is** hot.]]',
    )
    await page.agentMessage('Mercury').waitFor()
    await waitFor('a stored preview', () => stored().some(text => text.includes('Mercury')))

    await workbench.page.context().addInitScript(recordTakeover)
    await workbench.reload()
    page = await ConversationPage.find(workbench)
    await page.agentMessage('Mercury').waitFor()
    const takeover = await takeoverIn(page)
    assert.ok(takeover, 'there was a preview')
    assert.ok(takeover.isInert)
    const seen = takeover.before.filter(({ top }) => top > 0)
    assert.equal(seen[0]?.text, 'Planets')
    assert.match(seen.at(-1)!.text, /Mercury is hot/)
    for (const place of seen.slice(1)) {
      const same = takeover.after.find(({ text }) => text === place.text)
      assert.ok(same, `${place.text} is in the conversation`)
      for (const side of ['left', 'top', 'width'] as const)
        assert.ok(
          Math.abs(same[side] - place[side]) < 1.5,
          `${side} of ${place.text}: ${place[side]}, ${same[side]}`,
        )
    }

    await page.waitForPhase('ready')
    await waitFor('a preview of the restored conversation', () => stored().length === 1)
    await ConversationPage.startSession(workbench, 'Fixture')
    await waitFor('no preview of the other session', () => stored().length === 0)
  })
})
