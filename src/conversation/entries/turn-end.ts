import * as l10n from '@vscode/l10n'
import * as z from 'zod'
import type { AgentErrorInfo, StopReason } from '../../acp/model.ts'
import { escaped } from '../markdown.ts'
import type { EntryBase } from '../state-base.ts'
import type { EntryKind } from './entry-kind.ts'

/** The end of a turn with a stop reason other than `end_turn`. */
export interface TurnEndEntry extends EntryBase {
  kind: 'turn_end'
  stopReason: StopReason
  /** The turn was canceled, but not by the user. */
  canceledBy?: 'agent'
  error?: AgentErrorInfo
}

/** The kind of the entries that `reducer/reduce-turn.ts` adds. */
export const TURN_END: EntryKind<TurnEndEntry> = {
  kind: 'turn_end',
  schema: () => ({ stopReason: z.string() }),
  isWork: () => true,
  // a turn ends only once
  mergeKey: () => [],
  markdown: ({ error, stopReason, canceledBy }) =>
    !error && stopReason === 'cancelled' && !canceledBy
      ? `*${l10n.t('Stopped by you')}*`
      : `*${l10n.t('The turn ended: {0}', escaped(error?.message ?? stopReason))}*`,
  text: ({ error }) => ({ head: error?.message ?? '', body: error?.detail ?? '' }),
}
