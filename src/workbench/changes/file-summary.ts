import * as l10n from '@vscode/l10n'
import type * as vscode from 'vscode'
import type { ChangeTracker } from '../../changes/change-tracker.ts'
import type { FileState } from '../../changes/model/file-state.ts'
import { readable } from '../../common/file-names.ts'
import { baseUri } from './base-files.ts'

/**
 * The URI of a text that describes a file which isn't text, with or without the changes of one session, or of all agents: VS Code's review
 * shows only texts. `to`: see {@link baseUri}.
 */
export function summaryUri(path: string, when: 'before' | 'now', session?: string, to?: string): vscode.Uri {
  const base = baseUri(path, session, false, to)
  const query = new URLSearchParams(base.query)
  query.set('summary', when)
  return base.with({ query: query.toString() })
}

/** The text for {@link summaryUri}. */
export async function summaryOf(
  { views }: ChangeTracker,
  path: string,
  isBefore: boolean,
  session?: string,
): Promise<Uint8Array> {
  // a file without changes is as it is on disk
  const state = (isBefore ? undefined : views.at(path)?.state) ?? (await views.before(path, session))
  return Buffer.from(state ? describe(state) : '')
}

function describe({ attributes, text }: FileState): string {
  switch (attributes.type) {
    case 'absent':
      return ''
    case 'text':
      return l10n.t('Text file, {0}', bytes(Buffer.byteLength(text)))
    case 'link':
      return l10n.t('Symbolic link to {0}', readable(attributes.target))
    case 'binary':
      return `${l10n.t('Binary file, {0}', bytes(attributes.size))}\nSHA-256: ${attributes.hash}`
    case 'large':
      return `${l10n.t('File too large to compare, {0}', bytes(attributes.size))}\n${new Date(attributes.modified).toISOString()}`
  }
}

function bytes(count: number): string {
  return l10n.t('{0} bytes', count.toLocaleString('en-US'))
}
