import * as l10n from '@vscode/l10n'
import type { FileState } from '../../changes/model/file-state.ts'
import { readable } from '../../common/file-names.ts'

/** Describes a version of a file in one or two lines, for a review in which at least one side isn't text. */
export function summaryOf(state: FileState | undefined): string {
  if (!state) return ''
  const { attributes, text } = state
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
