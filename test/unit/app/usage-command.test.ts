import assert from 'node:assert/strict'
import { usageCommand } from '../../../src/app/commands/usage-command.ts'
import { toDisposable } from '../../../src/common/disposable.ts'
import { dayOf } from '../../../src/history/local-sessions.ts'
import type { DayUsage } from '../../../src/history/session-store.ts'

const DAY_MS = 24 * 60 * 60 * 1000

/** The rows of the list for an agent that was used so many days ago; separators in brackets. */
async function listFor(...daysAgo: number[]): Promise<string[]> {
  const rows = daysAgo.map(
    (days): DayUsage => ({
      agentId: 'a',
      day: dayOf(Date.now() - days * DAY_MS),
      currency: 'USD',
      cost: 1,
      totalTokens: 10,
      inputTokens: 5,
      outputTokens: 5,
    }),
  )
  let shown: string[] = []
  let hide = () => {}
  const picker = {
    items: [] as Array<{ label: string; isSeparator?: boolean; description?: string }>,
    onDidGoBack: () => toDisposable(() => {}),
    onDidAccept: () => toDisposable(() => {}),
    onDidHide: (listener: () => void) => {
      hide = listener
      return toDisposable(() => {})
    },
    show() {
      shown = picker.items.map(({ label, isSeparator, description }) =>
        isSeparator ? `[${label}]` : `${label} ${description}`,
      )
      hide()
    },
    dispose() {},
  }
  const commands = usageCommand({
    surfaces: { active: { controller: {} } },
    records: { usage: () => rows, sessionUsage: () => [] },
    nameOf: () => 'Agent',
    workbench: { dialogs: { createPicker: () => picker }, language: 'en' },
  } as unknown as Parameters<typeof usageCommand>[0])
  await commands['parley.showUsage']()
  return shown
}

describe('the list of usage and cost', () => {
  it('has no row that only repeats one of a shorter period', async () => {
    assert.deepEqual(await listFor(0), ['[Today]', '$(graph) Agent $1.00 · 10 tokens'])
    assert.deepEqual(await listFor(0, 20), [
      '[Today]',
      '$(graph) Agent $1.00 · 10 tokens',
      '[Last 30 Days]',
      '$(graph) Agent $2.00 · 20 tokens',
    ])
    assert.deepEqual(await listFor(100), ['[Last 12 Months]', '$(graph) Agent $1.00 · 10 tokens'])
  })
})
