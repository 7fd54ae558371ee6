import * as l10n from '@vscode/l10n'
import { DisposableStore } from '../../common/disposable.ts'
import { formatCost } from '../../common/format-cost.ts'
import { shortened, visible, withoutIcons } from '../../common/visible.ts'
import { currentLimits, limitName, limitReset, limitState } from '../../conversation/usage-limit.ts'
import { dayOf, type LocalSessions } from '../../history/local-sessions.ts'
import type { DayUsage, ModelUsage, UsageSum } from '../../history/session-store.ts'
import { titleOf } from '../../sessions/session-title.ts'
import type { ConversationSurfaces } from '../conversation/conversation-surface.ts'
import { type CommandHandlers, CommandId } from '../ids.ts'
import type { Dialogs, PickItem, Workbench } from '../workbench.ts'

interface UsageCommandOptions {
  surfaces: ConversationSurfaces
  records: Pick<LocalSessions, 'usage' | 'modelUsage' | 'sessionUsage'>
  nameOf: (agentId: string) => string
  workbench: Workbench
}

/** The maximum length of a name in the list, in characters. */
const MAX_NAME = 32

type Item = PickItem & { agentId?: string; setsLimit?: true }

/** *Show Usage and Cost*: shows the usage of the session, and of each agent by day, as agents report it. */
export function usageCommand(options: UsageCommandOptions) {
  return { [CommandId.showUsage]: () => showUsage(options) } satisfies Partial<CommandHandlers>
}

async function showUsage({ surfaces, records, nameOf, workbench }: UsageCommandOptions): Promise<void> {
  const { dialogs, language } = workbench
  const { current } = surfaces.active.controller
  const session = current ? records.sessionUsage(current.agentId, current.session.sessionId) : []
  // the agent's own report takes precedence over the amount counted here
  const cost = current?.session.state.usage?.cost
  const costs: UsageSum[] = cost
    ? [{ currency: cost.currency, cost: cost.amount, totalTokens: 0, inputTokens: 0, outputTokens: 0 }]
    : []
  const own = [...session.filter(({ currency }) => currency === '' || costs.length === 0), ...costs]
  const rows = records.usage('')
  const periods: Array<[string, number]> = [
    [l10n.t('Today'), 1],
    [l10n.t('Last 7 Days'), 7],
    [l10n.t('Last 30 Days'), 30],
    [l10n.t('Last 12 Months'), 365],
  ]
  let listed = 0
  const items: Item[] = periods.flatMap(([label, days]) => {
    const used = rows.filter(({ day }) => day >= daysAgo(days - 1))
    // omits a period that has the same rows as a shorter one
    if (used.length === listed) return []
    listed = used.length
    const agents = byAgent(used)
    return [
      { label, isSeparator: true },
      ...[...agents]
        .map(([agentId, used]) => ({ name: nameOf(agentId), used, agentId }))
        .sort((a, b) => a.name.localeCompare(b.name))
        .map(({ name, used, agentId }) => ({
          label: `$(graph) ${shortName(name)}`,
          description: usageText(used, language),
          agentId,
        })),
    ]
  })
  if (current && isUsed(own)) {
    items.unshift(
      { label: l10n.t('This Session'), isSeparator: true },
      {
        label: `$(comment-discussion) ${shortName(visible(titleOf(current.session) ?? '')) || l10n.t('Untitled session')}`,
        description: usageText(own, language),
        agentId: current.agentId,
      },
    )
  }
  const limits = currentLimits(current?.session.state.usage?.limits, Date.now())
  if (current && limits.length > 0) {
    items.unshift(
      { label: l10n.t('{0} Usage Limits', shortName(current.agentName)), isSeparator: true },
      ...limits.map(limit => ({
        label: `$(dashboard) ${shortName(limitName(limit, l10n.t))}`,
        description: [limitState(limit, l10n.t), limitReset(limit, language, l10n.t)]
          .filter(Boolean)
          .join(' · '),
        agentId: current.agentId,
      })),
    )
  }
  if (current?.limiter)
    items.push(
      { label: '', isSeparator: true },
      { label: `$(dashboard) ${l10n.t('Set Session Limit…')}`, setsLimit: true },
    )
  if (items.length === 0) {
    void dialogs.info(l10n.t('No agent has reported usage or cost yet.'))
    return
  }
  for (;;) {
    const picked = await pick(
      dialogs,
      l10n.t('Usage and Cost'),
      l10n.t('Select an agent to see its days'),
      items,
    )
    if (picked === 'back' || !picked) return
    if (picked.setsLimit) return void workbench.execute(CommandId.setSessionLimit)
    const { agentId } = picked
    if (agentId === undefined) return
    const days = rows.filter(row => row.agentId === agentId)
    const title = l10n.t('Usage and Cost of {0}', nameOf(agentId))
    const shown = [
      ...modelItems(records.modelUsage(agentId, daysAgo(29)), language),
      ...dayItems(days, language),
    ]
    if ((await pick(dialogs, title, l10n.t('Models and days with reported usage'), shown, true)) !== 'back')
      return
  }
}

/** Resolves to the selected item, to `back`, or to `undefined`. */
async function pick(
  dialogs: Dialogs,
  title: string,
  placeholder: string,
  items: Item[],
  hasBack = false,
): Promise<Item | 'back' | undefined> {
  const owned = new DisposableStore()
  const box = owned.add(dialogs.createPicker<Item>())
  Object.assign(box, { title, placeholder, items, matchOnDescription: true })
  box.canGoBack = hasBack
  try {
    return await new Promise(resolve => {
      owned.add(box.onDidGoBack(() => resolve('back')))
      owned.add(box.onDidAccept(item => resolve(hasBack ? 'back' : item)))
      owned.add(box.onDidHide(() => resolve(undefined)))
      box.show()
    })
  } finally {
    owned.dispose()
  }
}

/** Returns an item for each model, the most used model first; none if the agent doesn't report usage by model. */
function modelItems(rows: readonly ModelUsage[], language: string): Item[] {
  if (rows.length === 0) return []
  const models = new Map<string, number>()
  for (const { model, totalTokens } of rows) models.set(model, (models.get(model) ?? 0) + totalTokens)
  return [
    { label: l10n.t('Models, Last 30 Days'), isSeparator: true },
    ...[...models]
      .sort(([, a], [, b]) => b - a)
      .map(([model, tokens]) => ({
        label: shortName(model),
        description: tokenText(tokens, language),
      })),
    { label: l10n.t('Days'), isSeparator: true },
  ]
}

/** Returns an item for each day, the latest first. */
function dayItems(rows: readonly DayUsage[], language: string): Item[] {
  const days = [...new Set(rows.map(({ day }) => day))].sort().reverse()
  return days.map(day => ({
    label: new Date(`${day}T12:00`).toLocaleDateString(language, { dateStyle: 'medium' }),
    description: usageText(
      rows.filter(row => row.day === day),
      language,
    ),
  }))
}

function byAgent(rows: readonly DayUsage[]): Map<string, DayUsage[]> {
  const agents = new Map<string, DayUsage[]>()
  for (const row of rows) agents.set(row.agentId, [...(agents.get(row.agentId) ?? []), row])
  return agents
}

/** Returns a text such as `$0.42 · 12,000 tokens`. Amounts in different currencies aren't added. */
function usageText(rows: readonly UsageSum[], language: string): string {
  const costs = new Map<string, number>()
  let tokens = 0
  for (const { currency, cost, totalTokens } of rows) {
    tokens += totalTokens
    if (currency !== '') costs.set(currency, (costs.get(currency) ?? 0) + cost)
  }
  const words = [...costs].map(([currency, amount]) => formatCost({ amount, currency }, language))
  if (words.length === 0) words.push(l10n.t('cost not reported'))
  if (tokens > 0) words.push(tokenText(tokens, language))
  return words.join(' · ')
}

function tokenText(tokens: number, language: string): string {
  if (tokens === 1) return l10n.t('1 token')
  return l10n.t('{0} tokens', new Intl.NumberFormat(language).format(tokens))
}

/** Returns a short name, so that the usage, which follows it and matters most, is visible. */
function shortName(text: string): string {
  return shortened(withoutIcons(text), MAX_NAME - 1)
}

function isUsed(rows: readonly UsageSum[]): boolean {
  return rows.some(({ currency, totalTokens }) => currency !== '' || totalTokens > 0)
}

/** Returns the local day that was this many days before today. */
function daysAgo(days: number): string {
  const date = new Date()
  return dayOf(new Date(date.getFullYear(), date.getMonth(), date.getDate() - days, 12).getTime())
}
