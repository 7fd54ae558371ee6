import assert from 'node:assert/strict'
import { usageCommand } from '../../../src/app/commands/usage-command.ts'
import { toDisposable } from '../../../src/common/disposable.ts'
import { dayOf } from '../../../src/history/local-sessions.ts'
import type { DayUsage, ModelUsage } from '../../../src/history/session-store.ts'

const DAY_MS = 24 * 60 * 60 * 1000

/** The rows of the list for an agent that was used so many days ago, then those of the agent; separators in brackets. */
async function listsFor(daysAgo: number[], models: Array<[string, number]> = []): Promise<string[][]> {
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
  const modelRows = models.map(
    ([model, totalTokens]): ModelUsage => ({
      ...{ agentId: 'a', day: dayOf(Date.now()), model, totalTokens, inputTokens: 1, outputTokens: 0 },
    }),
  )
  const shown: string[][] = []
  const picker = {
    items: [] as Array<{ label: string; isSeparator?: boolean; description?: string }>,
    onDidGoBack: () => toDisposable(() => {}),
    onDidAccept: (listener: (item: unknown) => void) => {
      if (shown.length === 0) queueMicrotask(() => listener(picker.items.find(item => !item.isSeparator)))
      return toDisposable(() => {})
    },
    onDidHide: (listener: () => void) => {
      if (shown.length > 0) queueMicrotask(listener)
      return toDisposable(() => {})
    },
    show() {
      const rows = picker.items.map(({ label, isSeparator, description }) =>
        isSeparator ? `[${label}]` : `${label} ${description}`,
      )
      shown.push(rows)
    },
    dispose() {},
  }
  const commands = usageCommand({
    surfaces: { active: { controller: {} } },
    records: { usage: () => rows, modelUsage: () => modelRows, sessionUsage: () => [] },
    nameOf: () => 'Agent',
    workbench: { dialogs: { createPicker: () => picker }, language: 'en' },
  } as unknown as Parameters<typeof usageCommand>[0])
  await commands['parley.showUsage']()
  return shown
}

const listFor = async (...daysAgo: number[]) => (await listsFor(daysAgo))[0]

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

  it("has an agent's models, the most used one first, and its days", async () => {
    const day = new Date().toLocaleDateString('en', { dateStyle: 'medium' })
    const [, withModels] = await listsFor(
      [0],
      [
        ['small', 3],
        ['large', 4],
        ['small', 2],
        ['$(flame) tiny', 1],
      ],
    )
    assert.deepEqual(withModels, [
      '[Models, Last 30 Days]',
      'small 5 tokens',
      'large 4 tokens',
      '$ (flame) tiny 1 token',
      '[Days]',
      `${day} $1.00 · 10 tokens`,
    ])
    assert.deepEqual((await listsFor([0]))[1], [`${day} $1.00 · 10 tokens`])
  })
})
