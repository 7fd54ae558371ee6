import * as l10n from '@vscode/l10n'
import * as z from 'zod'
import { folded, jsonMarkdown } from '../markdown.ts'
import type { EntryBase } from '../state-base.ts'
import { append, type Reducers } from '../step.ts'
import type { EntryKind } from './entry-kind.ts'

/** An update of a kind that this version of Parley doesn't know. */
export interface UnknownEntry extends EntryBase {
  kind: 'unknown'
  updateKind: string
  raw: unknown
}

export const UNKNOWN: EntryKind<UnknownEntry> = {
  kind: 'unknown',
  schema: () => ({ updateKind: z.string() }),
  // such updates may come in great numbers, and in the middle of a word
  isWork: () => false,
  splitsNothing: true,
  mergeKey: ({ updateKind, raw }) => [updateKind, raw],
  markdown: ({ updateKind, raw }) => folded(l10n.t('Unknown update: {0}', updateKind), [jsonMarkdown(raw)]),
  text: ({ updateKind, raw }) => ({ head: updateKind, body: JSON.stringify(raw) ?? '' }),
}

export const UNKNOWN_REDUCERS: Reducers<'unknown'> = {
  unknown: (step, { kind, raw }) => {
    append(step, UNKNOWN, { updateKind: kind, raw })
  },
}
