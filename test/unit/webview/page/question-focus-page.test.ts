import assert from 'node:assert/strict'
import type { Entry } from '../../../../src/conversation/state.ts'
import { head, permission } from '../conversation/entries.ts'
import { openPage, type Page } from './page.ts'

describe('the focus when a request arrives', () => {
  let page: Page
  let revision = 0
  /** callbacks for the next frame, while frames are held back */
  let held: Map<number, FrameRequestCallback> | undefined

  beforeEach(async () => {
    held = undefined
    let count = 0
    page = await openPage('conversation', {
      prepare(window) {
        const request = window.requestAnimationFrame.bind(window)
        const cancel = window.cancelAnimationFrame.bind(window)
        window.requestAnimationFrame = callback => {
          if (!held) return request(callback)
          held.set(--count, callback)
          return count
        }
        window.cancelAnimationFrame = handle => void (held?.delete(handle) || cancel(handle))
      },
    })
    let ready = false
    page.hear('conversation/ready', () => {
      ready = true
    })
    await page.until(() => ready)
    await show()
    await page.until(area)
    area().focus()
  })
  afterEach(() => page.close())

  const show = (...entries: Entry[]) =>
    page.send('conversation/snapshot', {
      revision: ++revision,
      head: head({ activity: entries.length > 0 ? 'requires_action' : 'running' }),
      entries,
      first: 0,
      total: entries.length,
      terminals: [],
      draft: { text: '', chips: [], items: [] },
    })
  const add = (index: number, entry: Entry) =>
    page.send('conversation/patch', {
      revision: ++revision,
      ops: [{ op: 'entry', index, entry }],
    })
  const area = () => page.document.querySelector<HTMLElement>('.composer [role="textbox"]')!
  const focus = () => page.document.activeElement as HTMLElement
  const options = [
    { optionId: 'yes', name: 'Allow', kind: 'allow_once' as const },
    { optionId: 'no', name: 'Reject', kind: 'reject_once' as const },
  ]
  /** Draws the pending frame. */
  const frame = () => {
    const due = [...(held ?? [])]
    held?.clear()
    for (const [, callback] of due) callback(page.window.performance.now())
  }

  it('moves to its first option', async () => {
    await show(permission('1', { options }))
    await page.until(() => focus().textContent?.includes('Allow'))
  })

  for (const frames of [0, 1])
    it(`stays in the composer if the user types ${frames + 1} frames before it would move`, async () => {
      held = new Map()
      await show(permission('1', { options }))
      await page.until(() => held!.size > 0)
      for (let drawn = frames; drawn < 1; drawn++) {
        frame()
        // it moves after some time without a key
        await page.until(() => held!.size > 0)
      }
      page.type('But first')
      while (held.size > 0) {
        frame()
        await new Promise(setImmediate)
      }
      assert.equal(focus(), area())
      assert.equal(page.written, 'But first')
    })

  it('stays on the current option when another request arrives', async () => {
    await show(permission('1', { options }))
    await page.until(() => focus().textContent?.includes('Allow'))
    const reject = [...page.document.querySelectorAll<HTMLElement>('[data-option]')].find(one =>
      one.textContent?.includes('Reject'),
    )!
    reject.focus()
    await add(1, permission('2', { options }))
    await page.until(() => page.document.querySelectorAll('[data-request]').length === 2)
    let frames = 0
    const count = () => {
      frames++
      page.window.requestAnimationFrame(count)
    }
    count()
    await page.until(() => frames > 5)
    assert.equal(focus(), reject)
  })
})
