import * as l10n from '@vscode/l10n'
import type { SettingsSource } from '../../agents/setting-layers.ts'
import { amountText, limitText } from '../../conversation/limit-text.ts'
import {
  highestCost,
  isLimit,
  LIMIT_KINDS,
  type LimitKind,
  lowestLimits,
  readLimits,
  usedAmount,
} from '../../conversation/session-limit.ts'
import type { LimitSettings, SessionLimiter } from '../../sessions/session-limiter.ts'
import type { ConversationSurfaces } from '../conversation/conversation-surface.ts'
import { type CommandHandlers, CommandId } from '../ids.ts'
import type { Dialogs, Workbench } from '../workbench.ts'

/** Returns the default limits from the settings, and the dialogs that change a session's limits. */
export function limitSettings(
  settings: Pick<SettingsSource, 'layers'>,
  { dialogs, language }: Pick<Workbench, 'dialogs' | 'language'>,
): LimitSettings {
  return {
    read: () => lowestLimits(settings.layers('sessionLimit').map(({ value }) => readLimits(value))),
    edit: limiter => editLimits(limiter, dialogs, language),
    language,
  }
}

/** Returns *Set Session Limit*. */
export function limitCommand(
  surfaces: ConversationSurfaces,
  { dialogs, language }: Pick<Workbench, 'dialogs' | 'language'>,
) {
  return {
    [CommandId.setSessionLimit]: async () => {
      const limiter = surfaces.active.controller.current?.limiter
      if (limiter) await editLimits(limiter, dialogs, language)
      else void dialogs.info(l10n.t('Start a session first.'))
    },
  } satisfies Partial<CommandHandlers>
}

async function editLimits(limiter: SessionLimiter, dialogs: Dialogs, language: string): Promise<void> {
  const { limits, use } = limiter.standing
  const currency = highestCost(use)?.currency
  const names: Record<LimitKind, string> = {
    cost: l10n.t('Cost'),
    minutes: l10n.t('Time'),
    tokens: l10n.t('Tokens'),
  }
  const items = LIMIT_KINDS.map(kind => {
    const limit = limits[kind]
    const description =
      limit === undefined ? l10n.t('No limit') : limitText(kind, limit, use, language, l10n.t)
    return { label: names[kind], description, kind }
  })
  const title = l10n.t('Set Session Limit')
  const kind = (await dialogs.pick(items, { title }))?.kind
  if (!kind) return
  const units: Record<LimitKind, string> = {
    cost:
      currency === undefined ? l10n.t('In the currency that the agent reports') : l10n.t('In {0}', currency),
    minutes: l10n.t('In minutes'),
    tokens: l10n.t('In tokens'),
  }
  const used = usedAmount(kind, use)
  const text = await dialogs.input({
    title: `${title}: ${names[kind]}`,
    prompt: [
      units[kind],
      ...(used > 0 ? [l10n.t('{0} used so far', amountText(kind, used, currency, language))] : []),
      l10n.t('empty for no limit'),
    ].join(' · '),
    value: limits[kind] === undefined ? '' : String(limits[kind]),
    validate: value => {
      const amount = readAmount(value)
      return amount === undefined || isLimit(amount) ? undefined : l10n.t('Enter a number greater than 0.')
    },
  })
  if (text === undefined) return
  const amount = readAmount(text)
  if (amount === undefined || isLimit(amount)) limiter.set(kind, amount)
}

/**
 * Reads a number; `undefined` if the text is empty, `NaN` if it's no number. Spaces are allowed, since some languages separate thousands
 * with them.
 */
function readAmount(text: string): number | undefined {
  const digits = text.replace(/\s/g, '')
  return digits === '' ? undefined : /^\d*\.?\d+$/.test(digits) ? Number(digits) : Number.NaN
}
